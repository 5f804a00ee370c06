package coordinator

import (
	"errors"

	"foible.dev/foible/coordinator/store"
)

// A sweep that has ended leaves memory: what is stored of it answers all questions from then on. Its plan is made again
// when its results are asked for, see opened and viewed.

// retire lets a run go that has ended.
func (c *Coordinator) retire(run *sweepRun) {
	c.background.Go(func() error {
		defer c.taking.lock(run.id)()
		if now, taken := c.run(run.id); !taken || now != run || !run.ended() { // it goes on in another life
			return nil
		}
		err := c.store.DeleteJobs(c.ctx, run.id)
		if run.spec.GetRetries() > 0 && run.now() != store.Cancelled {
			err = errors.Join(err, c.store.DropFormer(c.ctx, run.id))
		}
		if err != nil && c.ctx.Err() == nil { // the next start tries again
			c.log.Error("delete what is left of the queue of a sweep that has ended", "sweep", run.id, "error", err)
		}
		c.discard(run)
		return nil
	})
}

// discard forgets a run that is of no more use: its sweep has ended, is deleted, or goes on in another life. The caller
// holds the sweep's lock in taking.
func (c *Coordinator) discard(run *sweepRun) {
	run.stopQueueing()
	run.dropLeases()
	run.mu.Lock()
	if run.stopFollowing != nil {
		run.stopFollowing()
	}
	run.discarded = true
	state := run.state
	run.change() // who watches it looks again
	run.mu.Unlock()
	run.recent.clear()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sweeps[run.id] == run {
		delete(c.sweeps, run.id)
		c.ended[run.id] = state
	}
}

func (r *sweepRun) isDiscarded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.discarded
}
