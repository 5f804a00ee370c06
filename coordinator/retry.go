package coordinator

import (
	"context"
	"fmt"
	"time"

	"foible.dev/foible/coordinator/active"
	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/store"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// What has failed of a sweep can be tried again: its failures are removed from the results, with what rests on them, and
// the sweep begins another life, in which it computes what is missing. That happens only when every job has a result, so
// that nothing that rests on a failure is still on its way.
//
// First the record of the sweep says so, with the place of the last result that there is. Whoever takes the sweep up then
// removes the failures up to that place, and says that it is done. It may be interrupted anywhere, and several coordinators
// may do it at once: what rests on a failure is removed before the failure.

// RetrySweep implements [service.Sweeps].
func (c *Coordinator) RetrySweep(ctx context.Context, id string) (*foiblev1.Sweep, *foiblev1.Retried, error) {
	c.find(ctx, id)
	defer c.taking.lock(id)()
	if damage := c.damages.Of(id); damage != "" {
		return nil, nil, fmt.Errorf("%w: it is damaged: %s", service.ErrPrecondition, damage)
	}
	spec, revision, err := c.store.Sweep(ctx, id)
	switch {
	case err != nil:
		return nil, nil, err
	case spec.GetVersion() != c.cfg.Version:
		return nil, nil, fmt.Errorf("%w: it was made by version %s, and results of different versions are not mixed; submit its study again", service.ErrPrecondition, spec.GetVersion())
	case spec.GetState() == store.FailedInPart:
		return c.retry(ctx, spec)
	case spec.GetState() == store.Cancelled:
		return nil, nil, store.ErrEnded(spec, c.cfg.Version)
	case !store.Unended(spec.GetState()):
		return nil, nil, fmt.Errorf("%w: nothing of it has failed", service.ErrPrecondition)
	}
	run, taken := c.run(id)
	if !taken { // what was begun was cut short
		if err := c.takeUp(c.ctx, spec, revision); err != nil {
			return nil, nil, err
		}
		run, _ = c.run(id)
	}
	retried := store.RetriedOf(run.Counted())
	if retried == nil {
		return nil, nil, fmt.Errorf("%w: nothing of it has failed so far; it is still running", service.ErrPrecondition)
	}
	_, _, err = c.update(ctx, id, func(s *foiblev1.Sweep) error {
		if !store.SameLife(s, run.Spec) || !store.Unended(s.GetState()) {
			return store.ErrOtherLife
		}
		s.RetryDue = true
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	c.log.Info("failures are tried again when all other jobs are done", "sweep", id, "jobs", retried.GetJobs(), "cells", retried.GetCells())
	return run.Snapshot(), retried, nil
}

// retry lets a sweep that has ended, and failed in part, begin another life. The caller holds its lock in taking.
func (c *Coordinator) retry(ctx context.Context, spec *foiblev1.Sweep) (*foiblev1.Sweep, *foiblev1.Retried, error) {
	id := spec.GetSweepId()
	if err := c.store.CheckStudy(ctx, spec, map[string]error{}); err != nil {
		return nil, nil, fmt.Errorf("%w: %w; submit it again", service.ErrPrecondition, err)
	}
	planned, err := active.New(ctx, c.env, spec)
	if err != nil {
		return nil, nil, err
	}
	if err := c.reserve(id, planned.Plan); err != nil {
		return nil, nil, err
	}
	defer c.arrived(id)
	last, err := c.store.LastResult(ctx, id)
	if err != nil {
		return nil, nil, store.Sentinel(err)
	}
	var retried *foiblev1.Retried
	spec, revision, err := c.update(ctx, id, func(s *foiblev1.Sweep) error {
		if s.GetState() != store.FailedInPart || !store.SameLife(s, spec) { // another coordinator was faster
			return store.ErrOtherLife
		}
		retried = store.RetriedOf(s.GetProgress())
		store.BeginLife(s, last)
		s.State = store.Running
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if run, taken := c.run(id); taken {
		c.discard(run)
	}
	c.log.Info("sweep is tried again", "sweep", id, "jobs_failed", retried.GetJobs(), "cells_failed", retried.GetCells())
	if err := c.takeUp(c.ctx, spec, revision); err != nil {
		c.takeUpLater(id)
		return nil, nil, err
	}
	run, _ := c.run(id)
	return run.Snapshot(), retried, nil
}

// takeUpLater tries to take up what is stored of a sweep, after a while.
func (c *Coordinator) takeUpLater(id string) {
	c.background.Go(func() error {
		select {
		case <-time.After(takeUpPause):
			c.catchUp(c.ctx, id)
		case <-c.ctx.Done():
		}
		return nil
	})
}
