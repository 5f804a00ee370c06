package coordinator

import (
	"errors"

	"foible.dev/foible/coordinator/active"
	"foible.dev/foible/coordinator/store"
)

// A sweep that has ended leaves memory: what is stored of it answers all questions from then on. Its plan is made again
// when its results are asked for, see opened and viewed.

// retire lets a run go that has ended.
func (c *Coordinator) retire(run *active.Sweep) {
	c.background.Go(func() error {
		defer c.taking.lock(run.ID)()
		if now, taken := c.run(run.ID); !taken || now != run || !run.Ended() { // it goes on in another life
			return nil
		}
		err := c.store.DeleteJobs(c.ctx, run.ID)
		if run.Spec.GetRetries() > 0 && run.State() != store.Cancelled {
			err = errors.Join(err, c.store.DropFormer(c.ctx, run.ID))
		}
		if err != nil && c.ctx.Err() == nil { // the next start tries again
			c.log.Error("delete what is left of the queue of a sweep that has ended", "sweep", run.ID, "error", err)
		}
		c.discard(run)
		return nil
	})
}

// discard forgets a run that is of no more use: its sweep has ended, is deleted, or goes on in another life. The caller
// holds the sweep's lock in taking.
func (c *Coordinator) discard(run *active.Sweep) {
	state := run.Discard()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sweeps[run.ID] == run {
		delete(c.sweeps, run.ID)
		c.ended[run.ID] = state
	}
}
