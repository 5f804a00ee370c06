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

// demand is the queue of free slots: what is fetched from the engine is bounded by it.
type demand struct {
	wake chan struct{} // holds one token when there may be something to do

	mu      sync.Mutex
	waiting []chan offer // each has room for one; guarded by mu
}

func newDemand() *demand { return &demand{wake: make(chan struct{}, 1)} }

// signal makes the dispatcher look again, at new slots or new jobs.
func (d *demand) signal() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// take waits for a job.
func (d *demand) take(ctx context.Context) (offer, error) {
	slot := make(chan offer, 1)
	d.mu.Lock()
	d.waiting = append(d.waiting, slot)
	d.mu.Unlock()
	d.signal()
	select {
	case o := <-slot:
		return o, nil
	case <-ctx.Done():
	}
	d.mu.Lock()
	for i, s := range d.waiting {
		if s == slot {
			d.waiting = append(d.waiting[:i], d.waiting[i+1:]...)
			break
		}
	}
	d.mu.Unlock()
	select {
	case o := <-slot: // it came at the same moment
		return o, nil
	default:
		return offer{}, context.Cause(ctx)
	}
}

// size is the number of slots that wait.
func (d *demand) size() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.waiting)
}

// give hands a job to the slot that has waited longest; false if none waits any more.
func (d *demand) give(o offer) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.waiting) == 0 {
		return false
	}
	d.waiting[0] <- o
	d.waiting = d.waiting[1:]
	return true
}
