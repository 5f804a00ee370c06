package active

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/store"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// finish ends the sweep if all is done: the state is stored, the queue is removed. If that fails, audit tries again.
func (r *Sweep) finish(ctx context.Context) {
	r.mu.Lock()
	due := r.ledger.Complete() && r.queued && store.Unended(r.state) && !r.ending
	if !due {
		r.mu.Unlock()
		return
	}
	r.ending = true
	progress := r.count()
	progress.JobsLeased = 0 // the last one is being answered
	r.mu.Unlock()
	spec, revision, err := r.storeEnd(ctx, progress)
	r.mu.Lock()
	r.ending = false
	r.mu.Unlock()
	switch {
	case errors.Is(err, service.ErrPrecondition): // it was cancelled at this moment, or ended by another coordinator
		r.Adopt(spec, revision)
	case err == nil && store.Unended(spec.GetState()):
		r.env.Log.Info("what failed of a sweep is tried again", "sweep", r.ID, "jobs_failed", progress.GetJobsFailed(), "cells_failed", progress.GetCellsFailed())
		r.env.Go(func() error {
			r.env.Home.CatchUp(r.env.Context, r.ID)
			return nil
		})
	case err == nil:
		r.env.Log.Info("sweep ended", "sweep", r.ID, "state", spec.GetState().String(), "jobs_failed", progress.GetJobsFailed(), "cells_failed", progress.GetCellsFailed())
		r.env.Home.Retire(r)
	case ctx.Err() == nil:
		r.env.Log.Error("end sweep", "sweep", r.ID, "error", err)
	}
}

// storeEnd stores how a sweep has ended once all is done, or that it begins another life, if what failed of it is to
// be tried again.
func (r *Sweep) storeEnd(ctx context.Context, progress *foiblev1.Progress) (spec *foiblev1.Sweep, revision uint64, err error) {
	failed := store.RetriedOf(progress) != nil
	var last uint64
	if failed {
		if last, err = r.env.Store.LastResult(ctx, r.ID); err != nil {
			return nil, 0, store.Sentinel(err)
		}
	}
	return r.env.Home.Update(ctx, r.ID, func(s *foiblev1.Sweep) error {
		switch {
		case !store.SameLife(s, r.Spec):
			return store.ErrOtherLife
		case !store.Unended(s.GetState()):
			return store.ErrEnded(s, r.env.Version)
		case failed && s.GetRetryDue():
			store.BeginLife(s, last)
			return nil
		}
		s.Progress, s.EndTime, s.RetryDue = progress, timestamppb.New(time.Now()), false
		s.State = store.Succeeded
		if failed {
			s.State = store.FailedInPart
		}
		return nil
	})
}

const (
	// auditInterval is how often an idle sweep is checked for jobs that the queue has lost.
	auditInterval = 10 * time.Second
	// settleTime is how long a sweep must have been quiet before it is looked whether jobs are missing.
	settleTime = 3 * time.Second
)

// Audit gives jobs that neither the queue nor the results know to the queue
// again, so that a damaged queue loses no work.
func (r *Sweep) Audit(ctx context.Context) error {
	r.mu.Lock()
	noted := r.noted
	// Just after they were stored, the queue may not have heard of jobs.
	due := r.queued && len(r.leases) == 0 && time.Since(noted) > settleTime && time.Since(r.audited) > auditInterval
	if due {
		r.audited = time.Now()
	}
	r.mu.Unlock()
	if !due || r.Ended() {
		return nil
	}
	waiting, leased, err := r.queue.Pending(ctx)
	gone := r.env.Store.Shared() && errors.Is(err, engine.ErrNotFound) // it may be that of an earlier life of the sweep
	if err != nil && !gone || waiting+leased > 0 {
		return err
	}
	if behind, err := r.behind(ctx); behind || err != nil {
		return err
	}
	if gone {
		if r.queue, err = r.env.Store.Queue(ctx, r.ID); err != nil {
			return err
		}
	}
	r.mu.Lock()
	if !r.noted.Equal(noted) { // a result has come, and what it made possible may have been queued after it was asked
		r.mu.Unlock()
		return nil
	}
	missing := r.ledger.Missing()
	r.mu.Unlock()
	if len(missing) == 0 {
		r.finish(ctx)
		return nil
	}
	r.env.Log.Warn("jobs missing from the queue are queued again", "sweep", r.ID, "jobs", len(missing))
	return r.env.Store.Requeue(ctx, r.ID, missing)
}

// behind says whether others have recorded results, or ended the sweep, and it has not been seen here yet.
func (r *Sweep) behind(ctx context.Context) (bool, error) {
	if !r.env.Store.Shared() {
		return false, nil
	}
	spec, revision, err := r.env.Store.Sweep(ctx, r.ID)
	if err != nil {
		return false, err
	}
	if !store.Unended(spec.GetState()) || r.Older(revision) {
		return true, nil
	}
	recorded := 0
	err = r.env.Store.Recorded(ctx, r.ID, r.Plan.Jobs(), func(int) error { recorded++; return nil })
	return recorded > r.JobsDone(), store.Sentinel(err)
}

// spoil stops work on a sweep, because something of it cannot be read any more.
func (r *Sweep) spoil(damage error) {
	if r.env.Damages.Of(r.ID) != "" {
		return
	}
	r.env.Damages.Set(r.ID, damage)
	r.Touch()
}

// Sound says whether a recorded result can be read and answers its job. The job's parameter sets must be known.
func (r *Sweep) Sound(number int, value []byte) bool {
	m := &foiblev1.JobResult{}
	if proto.Unmarshal(value, m) != nil {
		return false
	}
	job := r.Job(number)
	switch {
	case m.GetFailure() != nil:
		return true
	case m.GetInfer() != nil:
		return !job.Score && r.checkCells(job, m.GetInfer()) == nil
	}
	return m.GetScore() != nil && r.checkRecordedFits(&job, m.GetScore()) == nil
}
