package coordinator

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/store"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// DefaultPriority is that of a sweep which names none.
const DefaultPriority = 10

// errEnded refuses to change a sweep that has ended.
func (c *Coordinator) errEnded(s *foiblev1.Sweep) error {
	switch {
	case s.GetState() == store.Cancelled && s.GetVersion() != c.cfg.Version:
		return fmt.Errorf("%w: it was cancelled; only version %s would go on with the results that it has, submitted to this coordinator it begins anew", service.ErrPrecondition, s.GetVersion())
	case s.GetState() == store.Cancelled:
		return fmt.Errorf("%w: it was cancelled; submit it again, and it goes on with the results that it has", service.ErrPrecondition)
	}
	return fmt.Errorf("%w: it has ended; fetch its results, or extend it", service.ErrPrecondition)
}

// update changes what is stored of a sweep, and then what this coordinator knows of it. It returns what [store.Store.Change] does.
func (c *Coordinator) update(ctx context.Context, id string, change func(*foiblev1.Sweep) error) (*foiblev1.Sweep, uint64, error) {
	spec, revision, err := c.store.Change(ctx, id, change)
	if run, ok := c.run(id); ok && err == nil {
		run.adopt(spec, revision)
	}
	return spec, revision, err
}

// setState moves a sweep that has not ended to another state.
func (c *Coordinator) setState(ctx context.Context, id string, state foiblev1.SweepState) (*foiblev1.Sweep, error) {
	_, _, err := c.update(ctx, id, func(s *foiblev1.Sweep) error {
		if !store.Unended(s.GetState()) {
			return c.errEnded(s)
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
			return c.errEnded(s)
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
	c.clearDamage(id)
	if taken {
		c.discard(run)
	}
	if err := c.store.DeleteJobs(context.WithoutCancel(ctx), id); err != nil { // the next start tries again
		c.log.Error("delete the queue of a cancelled sweep", "sweep", id, "error", err)
	}
	return nil
}

// cancel stores that a sweep is cancelled, and its progress if there is a run of it.
func (c *Coordinator) cancel(ctx context.Context, id string, run *sweepRun) error {
	if run != nil {
		run.recording.Lock()
		defer run.recording.Unlock()
	}
	_, _, err := c.update(ctx, id, func(s *foiblev1.Sweep) error {
		switch {
		case s.GetState() == store.Cancelled:
			return nil
		case !store.Unended(s.GetState()):
			return c.errEnded(s)
		}
		s.State, s.EndTime = store.Cancelled, timestamppb.New(time.Now())
		if run != nil {
			s.Progress = run.counted()
			s.Progress.JobsLeased = 0
		}
		return nil
	})
	return err
}

// dropLeases forgets which jobs workers have: what comes of them is refused.
func (r *sweepRun) dropLeases() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for job, l := range r.leases {
		for _, l := range append(r.copies[job], l) {
			r.eta.Dropped(time.Now(), job, l.session)
		}
	}
	clear(r.leases)
	clear(r.copies)
	r.change()
}

// adopt takes over what has been stored of the sweep at a revision, and says so, unless a later one is known, or it is of
// another life.
func (r *sweepRun) adopt(spec *foiblev1.Sweep, revision uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if revision < r.revision || !store.SameLife(spec, r.spec) {
		return false
	}
	r.revision, r.state, r.priority = revision, spec.GetState(), spec.GetPriority()
	r.endTime, r.final, r.retryDue = spec.GetEndTime(), spec.GetProgress(), spec.GetRetryDue()
	r.eta.Running(time.Now(), r.state == store.Running)
	if !store.Unended(r.state) {
		r.recent.clear()
	}
	r.change()
	r.rest()
	return true
}

// rest ends the following of results once there will be none to follow. The caller holds mu.
func (r *sweepRun) rest() {
	if r.stopFollowing != nil && (r.state == store.Cancelled || !store.Unended(r.state) && r.ledger.Complete()) {
		r.stopFollowing()
	}
}

// weight is the sweep's share of the workers.
func (r *sweepRun) weight() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return float64(cmp.Or(r.priority, DefaultPriority))
}
