package coordinator

import (
	"context"
	"sync"

	"foible/coordinator/engine"
)

// offer is a job on its way to a worker.
type offer struct {
	run      *sweepRun
	delivery *engine.Delivery
}

// wish is a session's free slots.
type wish struct {
	slots int
	got   chan []offer // has room for one
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

// take waits for jobs, at least one and at most so many as there are slots. It gives up, with none, when a
// context ends.
func (d *demand) take(ctx, draining context.Context, slots int) []offer {
	w := &wish{slots: slots, got: make(chan []offer, 1)}
	d.mu.Lock()
	d.waiting = append(d.waiting, w)
	d.mu.Unlock()
	d.signal()
	select {
	case offers := <-w.got:
		return offers
	case <-ctx.Done():
	case <-draining.Done():
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
		slots += w.slots
	}
	return slots
}

// deal hands jobs out, one a wish in turn, oldest wish first, and returns those that no slot waits for.
func (d *demand) deal(offers []offer) (rest []offer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	hands := make([][]offer, len(d.waiting))
	for dealt := true; dealt; {
		dealt = false
		for i, w := range d.waiting {
			if len(offers) > 0 && len(hands[i]) < w.slots {
				hands[i] = append(hands[i], offers[0])
				offers = offers[1:]
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
