package coordinator

import (
	"context"

	"foible.dev/foible/coordinator/active"
	"foible.dev/foible/coordinator/store"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// QueueAgain puts jobs into the queue of a sweep once more, as an audit does that takes them for lost.
func (c *Coordinator) QueueAgain(ctx context.Context, sweep string, jobs ...int) error {
	return c.store.Requeue(ctx, sweep, jobs)
}

// CutRetryShort lets a sweep that failed in part begin another life, as retry does, but stops when so many results are
// removed. It returns how many there were to remove.
func (c *Coordinator) CutRetryShort(ctx context.Context, id string, removals int) (void int, err error) {
	until, err := c.store.LastResult(ctx, id)
	if err != nil {
		return 0, err
	}
	spec, _, err := c.update(ctx, id, func(s *foiblev1.Sweep) error {
		store.BeginLife(s, until)
		s.State = store.Running
		return nil
	})
	if err != nil {
		return 0, err
	}
	run, err := active.New(ctx, c.env, spec)
	if err != nil {
		return 0, err
	}
	jobs, err := run.Void(ctx, until)
	if err != nil {
		return 0, err
	}
	for _, job := range jobs[:min(removals, len(jobs))] {
		if err := run.KeepGood(ctx, job, until); err != nil {
			return 0, err
		}
		if err := c.store.ForgetUntil(ctx, id, job, until); err != nil {
			return 0, err
		}
	}
	return len(jobs), nil
}

// CutDeletionShort marks a sweep as being deleted, and does no more.
func (c *Coordinator) CutDeletionShort(ctx context.Context, id string) error {
	_, _, err := c.update(ctx, id, func(s *foiblev1.Sweep) error {
		s.Deleted = true
		return nil
	})
	return err
}

// BeginTakingUp does what keeps others from a sweep while it is taken up; the function returned ends that.
func (c *Coordinator) BeginTakingUp(id string) (end func()) { return c.taking.lock(id) }

// InMemory says how many sweeps the coordinator holds in memory, those included that are kept to be looked at.
func (c *Coordinator) InMemory() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.sweeps) + len(c.past)
}

// Has says whether a sweep is in memory: one that has not ended, or has just done so.
func (c *Coordinator) Has(id string) bool {
	_, taken := c.run(id)
	return taken
}
