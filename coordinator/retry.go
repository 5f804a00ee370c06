package coordinator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/store"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/proto/codec"
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
	if damage := c.damageOf(id); damage != "" {
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
		return nil, nil, c.errEnded(spec)
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
	retried := store.RetriedOf(run.counted())
	if retried == nil {
		return nil, nil, fmt.Errorf("%w: nothing of it has failed so far; it is still running", service.ErrPrecondition)
	}
	_, _, err = c.update(ctx, id, func(s *foiblev1.Sweep) error {
		if !store.SameLife(s, run.spec) || !store.Unended(s.GetState()) {
			return store.ErrOtherLife
		}
		s.RetryDue = true
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	c.log.Info("failures are tried again when all other jobs are done", "sweep", id, "jobs", retried.GetJobs(), "cells", retried.GetCells())
	return run.snapshot(), retried, nil
}

// retry lets a sweep that has ended, and failed in part, begin another life. The caller holds its lock in taking.
func (c *Coordinator) retry(ctx context.Context, spec *foiblev1.Sweep) (*foiblev1.Sweep, *foiblev1.Retried, error) {
	id := spec.GetSweepId()
	if err := c.store.CheckStudy(ctx, spec, map[string]error{}); err != nil {
		return nil, nil, fmt.Errorf("%w: %w; submit it again", service.ErrPrecondition, err)
	}
	planned, err := c.newRun(ctx, spec)
	if err != nil {
		return nil, nil, err
	}
	if err := c.reserve(id, planned.plan); err != nil {
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
	return run.snapshot(), retried, nil
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

// clearFailures removes the failures of the life before, of a run that has not been started, and says so in the record.
func (r *sweepRun) clearFailures(ctx context.Context) error {
	if err := r.c.store.DeleteJobs(ctx, r.id); err != nil { // the queue of that life, which holds nothing any more
		return store.Sentinel(err)
	}
	if err := r.removeFailures(ctx, r.spec.GetRetryUntil()); err != nil {
		return err
	}
	spec, revision, err := r.c.update(ctx, r.id, func(s *foiblev1.Sweep) error {
		if !store.SameLife(s, r.spec) || !store.Unended(s.GetState()) {
			return store.ErrOtherLife
		}
		s.RetryUntil = 0
		return nil
	})
	if err != nil {
		return err
	}
	r.spec, r.revision = spec, revision
	r.state, r.priority, r.retryDue = spec.GetState(), spec.GetPriority(), spec.GetRetryDue()
	return nil
}

// removeFailures removes what failed from the results up to a place, and what rests on it.
func (r *sweepRun) removeFailures(ctx context.Context, until uint64) error {
	void, err := r.void(ctx, until)
	if err != nil {
		return err
	}
	for _, job := range void {
		if err := r.keepGood(ctx, job, until); err != nil {
			return err
		}
		if err := r.c.store.ForgetUntil(ctx, r.id, job, until); err != nil {
			return store.Sentinel(err)
		}
	}
	r.c.log.Info("failures removed, with what rests on them", "sweep", r.id, "jobs", len(void))
	return nil
}

// keepGood keeps the result of an infer job that is to be removed, if it has cells that are not to be computed again.
func (r *sweepRun) keepGood(ctx context.Context, job int, until uint64) error {
	if r.job(job).Score {
		return nil
	}
	m, err := r.c.store.JobResultUntil(ctx, r.id, job, until)
	if err != nil {
		return err
	}
	good := codec.CellCount(m.GetInfer())
	for range codec.FailedCells(m.GetInfer()) {
		good--
	}
	if good <= 0 {
		return nil
	}
	value, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	return store.Sentinel(r.c.store.KeepFormer(ctx, r.id, job, value))
}

// formerJobs are the numbers of the jobs that may have had cells of a job before it was tried again, ascending. Those of
// rounds after the fit stage may have been shared out otherwise.
func (r *sweepRun) formerJobs(job *sweep.Job) []int {
	if job.Round == 0 {
		return []int{job.Number}
	}
	var jobs []int
	for chunk := range r.plan.RoundChunks(job.Round) {
		jobs = append(jobs, r.plan.InferJob(chunk, job.Stimulus))
	}
	return jobs
}

// void are the jobs whose results up to a place do not count when what failed is tried again. Of the first round that has
// failures, these are the failures and the scores of their chunks; of later rounds, whose parameter sets were chosen by
// these scores, it is everything. They are in the order in which to remove them: what is left after an interruption tells
// what else does not count.
func (r *sweepRun) void(ctx context.Context, until uint64) ([]int, error) {
	for round := range r.plan.Rounds() {
		var scores, cells []int
		for chunk := range r.plan.RoundChunks(round) {
			scored, failed, err := r.failuresOf(ctx, chunk, until)
			if err != nil {
				return nil, err
			}
			if scored {
				scores = append(scores, r.plan.ScoreJob(chunk))
			}
			cells = append(cells, failed...)
		}
		if len(scores)+len(cells) == 0 {
			continue
		}
		var later []int
		err := r.c.store.Recorded(ctx, r.id, r.plan.Jobs(), func(job int) error {
			if r.round(job) > round {
				later = append(later, job)
			}
			return nil
		})
		return slices.Concat(later, scores, cells), store.Sentinel(err)
	}
	return nil, nil
}

// failuresOf are the failures of a chunk among the results up to a place: whether its score is to be computed again, and the
// infer jobs that failed, or have cells that did.
func (r *sweepRun) failuresOf(ctx context.Context, chunk sweep.Chunk, until uint64) (score bool, failed []int, err error) {
	m, err := r.c.store.JobResultUntil(ctx, r.id, r.plan.ScoreJob(chunk), until)
	if err != nil {
		return false, nil, err
	}
	if m.GetScore() != nil && !lacksCells(m) {
		return false, nil, nil
	}
	score = m != nil
	for i := range r.plan.Stimuli {
		job := r.plan.InferJob(chunk, i)
		m, err := r.c.store.JobResultUntil(ctx, r.id, job, until)
		if err != nil {
			return false, nil, err
		}
		if m != nil && (m.GetInfer() == nil || hasFailedCells(m.GetInfer())) {
			failed = append(failed, job)
		}
	}
	return score, failed, nil
}

// hasFailedCells says whether an infer job has cells that could not be computed.
func hasFailedCells(m *foiblev1.InferResult) bool {
	for range codec.FailedCells(m) {
		return true
	}
	return false
}
