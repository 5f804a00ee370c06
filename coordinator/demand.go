package coordinator

import (
	"context"
	"slices"
	"sync"
	"time"

	"foible.dev/foible/coordinator/engine"
)

// offer is a job on its way to a worker.
type offer struct {
	run      *sweepRun
	delivery *engine.Delivery
	overdue  *lease   // of a job that takes too long, and is to be given to another worker too; nil: of no other
	holders  []string // ids of the workers that have such a job, which are not to have it again
}

// release puts the job back into the queue, to come again after a while; one that takes too long stays with who has it.
// Its error is of no consequence: the job comes again when its lease runs out.
func (o *offer) release(wait time.Duration) error {
	if o.overdue != nil {
		o.run.withdraw(o.overdue)
		return nil
	}
	o.run.mu.Lock()
	o.run.returned[o.delivery.Job()]++
	o.run.mu.Unlock()
	return o.delivery.ReleaseAfter(wait)
}

// attempt is how often the job has been given to a worker, with this time.
func (o *offer) attempt() int {
	o.run.mu.Lock()
	defer o.run.mu.Unlock()
	return max(1, o.delivery.Attempt()-o.run.returned[o.delivery.Job()])
}

// wish is a session's free slots.
type wish struct {
	session *session
	slots   int
	got     chan []offer // has room for one
}

// takes says whether the session may have a job: it has not got it already, and the job is not kept for others.
func (w *wish) takes(o offer) bool {
	return !slices.Contains(o.holders, w.session.worker) && !o.run.avoids(o.delivery.Job(), w.session.worker)
}

// open is how many jobs may go to the session now.
func (w *wish) open() int {
	n, _ := w.session.allowed(w.slots, 0)
	return n
}

// demand is the queue of free slots: what is fetched from the engine is bounded by it.
type demand struct {
	wake chan struct{} // holds a token when there may be something to do

	mu      sync.Mutex // guards waiting
	waiting []*wish
}

func newDemand() *demand { return &demand{wake: make(chan struct{}, 1)} }

// signal makes the dispatcher look again, at new slots or new jobs.
func (d *demand) signal() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// take waits for jobs, at least one and at most so many as there are slots. It gives up, with none, when the context
// ends or the session drains.
func (d *demand) take(ctx context.Context, s *session, slots int) []offer {
	w := &wish{session: s, slots: slots, got: make(chan []offer, 1)}
	d.mu.Lock()
	d.waiting = append(d.waiting, w)
	d.mu.Unlock()
	d.signal()
	select {
	case offers := <-w.got:
		return offers
	case <-ctx.Done():
	case <-s.draining.Done():
	}
	d.mu.Lock()
	for i := range d.waiting {
		if d.waiting[i] == w {
			d.waiting = append(d.waiting[:i], d.waiting[i+1:]...)
			break
		}
	}
	d.mu.Unlock()
	select {
	case offers := <-w.got: // they came at the same moment
		return offers
	default:
		return nil
	}
}

// size is the number of slots that wait.
func (d *demand) size() (slots int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.waiting {
		slots += w.open()
	}
	return slots
}

// waits says whether a worker has free slots that is none of these.
func (d *demand) waits(but []string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.waiting, func(w *wish) bool { return w.open() > 0 && !slices.Contains(but, w.session.worker) })
}

// deal hands jobs out, one a wish in turn, oldest wish first, and returns those that no slot waits for, or none that may
// have them.
func (d *demand) deal(offers []offer) (rest []offer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	hands, slots := make([][]offer, len(d.waiting)), make([]int, len(d.waiting))
	for i, w := range d.waiting {
		slots[i] = w.open()
	}
	for dealt := true; dealt; {
		dealt = false
		for i, w := range d.waiting {
			if len(hands[i]) == slots[i] {
				continue
			}
			if at := slices.IndexFunc(offers, w.takes); at >= 0 {
				hands[i] = append(hands[i], offers[at])
				offers = slices.Delete(offers, at, at+1)
				dealt = true
			}
		}
	}
	var still []*wish
	for i, w := range d.waiting {
		if len(hands[i]) > 0 {
			w.got <- hands[i]
		} else {
			still = append(still, w)
		}
	}
	d.waiting = still
	return offers
}
