package active

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator/answer"
	"foible.dev/foible/coordinator/store"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// clearFailures removes the failures of the life before, of a run that has not been started, and says so in the record.
func (r *Sweep) clearFailures(ctx context.Context) error {
	if err := r.env.Store.DeleteJobs(ctx, r.ID); err != nil { // the queue of that life, which holds nothing any more
		return store.Sentinel(err)
	}
	if err := r.removeFailures(ctx, r.Spec.GetRetryUntil()); err != nil {
		return err
	}
	spec, revision, err := r.env.Home.Update(ctx, r.ID, func(s *foiblev1.Sweep) error {
		if !store.SameLife(s, r.Spec) || !store.Unended(s.GetState()) {
			return store.ErrOtherLife
		}
		s.RetryUntil = 0
		return nil
	})
	if err != nil {
		return err
	}
	r.Spec, r.revision = spec, revision
	r.state, r.priority, r.retryDue = spec.GetState(), spec.GetPriority(), spec.GetRetryDue()
	return nil
}

// removeFailures removes what failed from the results up to a place, and what rests on it.
func (r *Sweep) removeFailures(ctx context.Context, until uint64) error {
	void, err := r.Void(ctx, until)
	if err != nil {
		return err
	}
	for _, job := range void {
		if err := r.KeepGood(ctx, job, until); err != nil {
			return err
		}
		if err := r.env.Store.ForgetUntil(ctx, r.ID, job, until); err != nil {
			return store.Sentinel(err)
		}
	}
	r.env.Log.Info("failures removed, with what rests on them", "sweep", r.ID, "jobs", len(void))
	return nil
}

// KeepGood keeps the result of an infer job that is to be removed, if it has cells that are not to be computed again.
func (r *Sweep) KeepGood(ctx context.Context, job int, until uint64) error {
	if r.Job(job).Score {
		return nil
	}
	m, err := r.env.Store.JobResultUntil(ctx, r.ID, job, until)
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
	return store.Sentinel(r.env.Store.KeepFormer(ctx, r.ID, job, value))
}

// formerJobs are the numbers of the jobs that may have had cells of a job before it was tried again, ascending. Those of
// rounds after the fit stage may have been shared out otherwise.
func (r *Sweep) formerJobs(job *sweep.Job) []int {
	if job.Round == 0 {
		return []int{job.Number}
	}
	var jobs []int
	for chunk := range r.Plan.RoundChunks(job.Round) {
		jobs = append(jobs, r.Plan.InferJob(chunk, job.Stimulus))
	}
	return jobs
}

// Void are the jobs whose results up to a place do not count when what failed is tried again. Of the first round that has
// failures, these are the failures and the scores of their chunks; of later rounds, whose parameter sets were chosen by
// these scores, it is everything. They are in the order in which to remove them: what is left after an interruption tells
// what else does not count.
func (r *Sweep) Void(ctx context.Context, until uint64) ([]int, error) {
	for round := range r.Plan.Rounds() {
		var scores, cells []int
		for chunk := range r.Plan.RoundChunks(round) {
			scored, failed, err := r.failuresOf(ctx, chunk, until)
			if err != nil {
				return nil, err
			}
			if scored {
				scores = append(scores, r.Plan.ScoreJob(chunk))
			}
			cells = append(cells, failed...)
		}
		if len(scores)+len(cells) == 0 {
			continue
		}
		var later []int
		err := r.env.Store.Recorded(ctx, r.ID, r.Plan.Jobs(), func(job int) error {
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
func (r *Sweep) failuresOf(ctx context.Context, chunk sweep.Chunk, until uint64) (score bool, failed []int, err error) {
	m, err := r.env.Store.JobResultUntil(ctx, r.ID, r.Plan.ScoreJob(chunk), until)
	if err != nil {
		return false, nil, err
	}
	if m.GetScore() != nil && !answer.LacksCells(m) {
		return false, nil, nil
	}
	score = m != nil
	for i := range r.Plan.Stimuli {
		job := r.Plan.InferJob(chunk, i)
		m, err := r.env.Store.JobResultUntil(ctx, r.ID, job, until)
		if err != nil {
			return false, nil, err
		}
		if m != nil && (m.GetInfer() == nil || answer.HasFailedCells(m.GetInfer())) {
			failed = append(failed, job)
		}
	}
	return score, failed, nil
}
