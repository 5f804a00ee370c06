package schedule

import (
	"context"
	"slices"
	"sync"
)

// Worker is what a Demand asks of a worker that waits for jobs. The methods may be called while the Demand is locked, so
// they must not call it.
type Worker[Job any] interface {
	// ID is the same for all connections of the worker.
	ID() string
	// Open says how many of its free slots may be given jobs now.
	Open(free int) int
	// Takes says whether the worker may have the job.
	Takes(job Job) bool
	// Draining is closed when the worker takes no more jobs.
	Draining() <-chan struct{}
}

// Demand is the queue of free slots. No more jobs are fetched from the engine than there are slots in it. It is safe for
// concurrent use.
type Demand[Job any] struct {
	wake chan struct{} // holds a token when there may be something to do

	mu      sync.Mutex // guards waiting
	waiting []*wish[Job]
}

// wish is the free slots of a worker.
type wish[Job any] struct {
	worker Worker[Job]
	free   int
	got    chan []Job // buffers one message, so that the sender does not wait
}

// open is how many jobs the worker may be given now.
func (w *wish[Job]) open() int { return w.worker.Open(w.free) }

// NewDemand returns a queue without slots.
func NewDemand[Job any]() *Demand[Job] { return &Demand[Job]{wake: make(chan struct{}, 1)} }

// Signal says that there may be new slots or new jobs.
func (d *Demand[Job]) Signal() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Signalled receives after a Signal. Several signals may be received as one.
func (d *Demand[Job]) Signalled() <-chan struct{} { return d.wake }

// Take waits until there are jobs for a worker: at least one, and at most as many as it has free slots. It returns none when
// the context ends or the worker drains.
func (d *Demand[Job]) Take(ctx context.Context, worker Worker[Job], free int) []Job {
	w := &wish[Job]{worker: worker, free: free, got: make(chan []Job, 1)}
	d.mu.Lock()
	d.waiting = append(d.waiting, w)
	d.mu.Unlock()
	d.Signal()
	select {
	case jobs := <-w.got:
		return jobs
	case <-ctx.Done():
	case <-worker.Draining():
	}
	d.mu.Lock()
	if i := slices.Index(d.waiting, w); i >= 0 {
		d.waiting = slices.Delete(d.waiting, i, i+1)
	}
	d.mu.Unlock()
	select {
	case jobs := <-w.got: // they came at the same moment
		return jobs
	default:
		return nil
	}
}

// Slots counts the slots that may be given jobs now.
func (d *Demand[Job]) Slots() (slots int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.waiting {
		slots += w.open()
	}
	return slots
}

// Other says whether a worker waits that is none of these, and that may be given a job now.
func (d *Demand[Job]) Other(workers []string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.waiting, func(w *wish[Job]) bool { return w.open() > 0 && !slices.Contains(workers, w.worker.ID()) })
}

// Deal gives jobs to the workers that wait, one to each in turn, beginning with the one that has waited longest. It returns
// those for which there is no slot, or no worker that may have them.
func (d *Demand[Job]) Deal(jobs []Job) (rest []Job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	given, slots := make([][]Job, len(d.waiting)), make([]int, len(d.waiting))
	for i, w := range d.waiting {
		slots[i] = w.open()
	}
	for dealt := true; dealt; {
		dealt = false
		for i, w := range d.waiting {
			if len(given[i]) == slots[i] {
				continue
			}
			if at := slices.IndexFunc(jobs, w.worker.Takes); at >= 0 {
				given[i] = append(given[i], jobs[at])
				jobs = slices.Delete(jobs, at, at+1)
				dealt = true
			}
		}
	}
	var still []*wish[Job]
	for i, w := range d.waiting {
		if len(given[i]) > 0 {
			w.got <- given[i]
		} else {
			still = append(still, w)
		}
	}
	d.waiting = still
	return jobs
}
