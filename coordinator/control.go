package coordinator

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"foible.dev/foible/coordinator/active"
	"foible.dev/foible/coordinator/store"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// update changes what is stored of a sweep, and then what this coordinator knows of it. It returns what [store.Store.Change] does.
func (c *Coordinator) update(ctx context.Context, id string, change func(*foiblev1.Sweep) error) (*foiblev1.Sweep, uint64, error) {
	spec, revision, err := c.store.Change(ctx, id, change)
	if run, ok := c.run(id); ok && err == nil {
		run.Adopt(spec, revision)
	}
	return spec, revision, err
}

// setState moves a sweep that has not ended to another state.
func (c *Coordinator) setState(ctx context.Context, id string, state foiblev1.SweepState) (*foiblev1.Sweep, error) {
	_, _, err := c.update(ctx, id, func(s *foiblev1.Sweep) error {
		if !store.Unended(s.GetState()) {
			return store.ErrEnded(s, c.cfg.Version)
		}
		s.State = state
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.log.Info("sweep changed", "sweep", id, "state", state.String())
	c.demand.Signal()
	return c.Sweep(ctx, id)
}

// PauseSweep implements [service.Sweeps].
func (c *Coordinator) PauseSweep(ctx context.Context, id string) (*foiblev1.Sweep, error) {
	return c.setState(ctx, id, store.Paused)
}

// ResumeSweep implements [service.Sweeps].
func (c *Coordinator) ResumeSweep(ctx context.Context, id string) (*foiblev1.Sweep, error) {
	return c.setState(ctx, id, store.Running)
}

// SetPriority implements [service.Sweeps].
func (c *Coordinator) SetPriority(ctx context.Context, id string, priority int) (*foiblev1.Sweep, error) {
	_, _, err := c.update(ctx, id, func(s *foiblev1.Sweep) error {
		if !store.Unended(s.GetState()) {
			return store.ErrEnded(s, c.cfg.Version)
		}
		s.Priority = int32(priority)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c.Sweep(ctx, id)
}

// CancelSweep implements [service.Sweeps].
func (c *Coordinator) CancelSweep(ctx context.Context, id string) (*foiblev1.Sweep, error) {
	if err := c.stop(ctx, id); err != nil {
		return nil, err
	}
	c.log.Info("sweep cancelled", "sweep", id)
	return c.Sweep(ctx, id)
}

// stop cancels a sweep, and what goes on for it here.
func (c *Coordinator) stop(ctx context.Context, id string) error {
	c.find(ctx, id)
	defer c.taking.lock(id)()
	run, taken := c.run(id)
	if err := c.cancel(ctx, id, run); err != nil {
		return err
	}
	c.damages.Clear(id)
	if taken {
		c.discard(run)
	}
	if err := c.store.DeleteJobs(context.WithoutCancel(ctx), id); err != nil { // the next start tries again
		c.log.Error("delete the queue of a cancelled sweep", "sweep", id, "error", err)
	}
	return nil
}

// cancel stores that a sweep is cancelled, and its progress if there is a run of it.
func (c *Coordinator) cancel(ctx context.Context, id string, run *active.Sweep) error {
	if run != nil {
		defer run.HoldResults()()
	}
	_, _, err := c.update(ctx, id, func(s *foiblev1.Sweep) error {
		switch {
		case s.GetState() == store.Cancelled:
			return nil
		case !store.Unended(s.GetState()):
			return store.ErrEnded(s, c.cfg.Version)
		}
		s.State, s.EndTime = store.Cancelled, timestamppb.New(time.Now())
		if run != nil {
			s.Progress = run.Counted()
			s.Progress.JobsLeased = 0
		}
		return nil
	})
	return err
}
