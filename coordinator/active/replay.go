package active

import (
	"context"
	"errors"
	"time"

	"foible.dev/foible/coordinator/answer"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/store"
	"foible.dev/foible/core/cost"
	"foible.dev/foible/core/sweep"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// start replays what is recorded, and queues what the plan has and the queue
// has not; queueing goes on in the background.
func (r *Sweep) start(ctx context.Context) error {
	var err error
	if r.queue, err = r.env.Store.Queue(ctx, r.ID); err != nil {
		return err
	}
	var after uint64
	if r.env.Store.Shared() {
		if after, err = r.env.Store.LastResult(ctx, r.ID); err != nil {
			return err
		}
	}
	if err := r.replay(ctx); err != nil {
		return err
	}
	if r.env.Store.Shared() {
		following, stop := context.WithCancel(ctx)
		r.mu.Lock()
		r.stopFollowing = stop
		r.mu.Unlock()
		r.env.Go(func() error { return r.follow(following, after) })
	}
	ctx, stop := context.WithCancel(ctx)
	stopped := make(chan struct{})
	r.stopQueueing = func() {
		stop()
		<-stopped
	}
	r.env.Go(func() error {
		defer close(stopped)
		for {
			err := r.enqueue(ctx)
			if err == nil {
				break
			}
			if ctx.Err() != nil {
				return nil
			}
			if !errors.Is(err, engine.ErrStalled) {
				r.env.Log.Error("queue the jobs of a sweep; trying again", "sweep", r.ID, "error", err)
			}
			select {
			case <-time.After(RetryPause):
			case <-ctx.Done():
				return nil
			}
		}
		r.mu.Lock()
		r.queued, r.noted = true, time.Now()
		r.mu.Unlock()
		r.env.Log.Info("sweep queued", "sweep", r.ID, "jobs", r.Plan.FitJobs())
		r.env.Home.Signal()
		r.finish(ctx)
		return nil
	})
	return nil
}

// enqueue makes sure that the jobs that can be done are in the queue; of a sweep in its first life, which has a queue from
// then on, all those that can be done from the start.
func (r *Sweep) enqueue(ctx context.Context) error {
	if r.Spec.GetRetries() == 0 {
		return r.env.Store.Enqueue(ctx, r.ID, r.Plan.FitJobs())
	}
	// What another coordinator, or this one before a restart, has put there does. If that was cut short, audit finds out.
	if waiting, leased, err := r.queue.Pending(ctx); waiting+leased > 0 || err != nil {
		return err
	}
	r.mu.Lock()
	missing := r.ledger.Missing()
	r.mu.Unlock()
	return r.env.Store.RequeueReady(ctx, r.ID, missing)
}

// replay makes the ledger from the results. Jobs that have become possible were queued when the last result that
// they rest on was recorded; should that have been cut short, audit finds out.
func (r *Sweep) replay(ctx context.Context) error {
	recorded, begun := make([]bool, r.Plan.Jobs()), map[sweep.Chunk]bool{}
	r.mu.Lock()
	r.eta = cost.NewEstimator(r.Plan, &r.Config, time.Now())
	r.eta.Running(time.Now(), r.state == store.Running)
	r.mu.Unlock()
	err := r.env.Store.Recorded(ctx, r.ID, r.Plan.Jobs(), func(job int) error {
		r.eta.Known(job)
		recorded[job], begun[r.Plan.Job(job).Chunk] = true, true
		return nil
	})
	if err != nil {
		return err
	}
	for chunk := range r.Plan.Chunks() {
		if begun[chunk] {
			if err := r.recall(ctx, chunk, recorded); err != nil {
				return err
			}
		}
	}
	r.replayed = int64(r.ledger.JobsDone())
	return nil
}

// recall enters the recorded results of a chunk into the ledger, in the order of its jobs. If it was scored, its fits say
// whether any of its cells failed; else nothing follows from its infer jobs but that they are done, and they are not read.
func (r *Sweep) recall(ctx context.Context, chunk sweep.Chunk, recorded []bool) error {
	number := r.Plan.ScoreJob(chunk)
	var score *foiblev1.JobResult
	if recorded[number] {
		var err error
		if score, err = r.Result(ctx, number); err != nil {
			return err
		}
	}
	for i := range r.Plan.Stimuli {
		job := r.Plan.InferJob(chunk, i)
		if !recorded[job] {
			continue
		}
		result := &foiblev1.JobResult{}
		if score.GetScore() == nil || answer.LacksCells(score) {
			var err error
			if result, err = r.Result(ctx, job); err != nil && !errors.Is(err, service.ErrNotFound) {
				return err
			}
		}
		if _, _, err := r.Enter(job, result); err != nil {
			return err
		}
	}
	if score != nil {
		_, _, err := r.Enter(number, score)
		return err
	}
	return nil
}

// Enter takes a recorded result into the ledger. It says whether that is news, and which jobs can be done now that could
// not be done before. The error says that the result is damaged; then nothing has changed.
func (r *Sweep) Enter(job int, result *foiblev1.JobResult) (news bool, ready []int, err error) {
	entry, err := answer.Entry(result)
	if err != nil {
		return false, nil, store.Damaged(job, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	news, ready = r.ledger.Record(job, entry)
	return news, ready, nil
}
