package active

import (
	"foible.dev/foible/coordinator/answer"
	"foible.dev/foible/coordinator/crew"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// A sweep may ask that a share of its infer jobs is computed twice, by different workers where there are others. The first
// result of such a job is not recorded: its cells are noted, and the job goes back into the queue. The second one is
// recorded if all numbers of its cells are the same; if not, the job has failed, since nobody knows which of them is right.
// Notes are not stored: after a restart the job is computed twice again, and with several coordinators it may be noted by
// each of them.

// twice says whether a job is to be computed twice.
func (r *Sweep) twice(job *sweep.Job) bool {
	return r.Plan.ComputedTwice(job, r.Config.Seed, r.Spec.GetVerify())
}

// SecondOpinion compares a right result of an infer job with the first one. If there was none, the result is noted and
// again is true: the job is to be computed once more. What is different is an error. The lease is nil if the worker has none.
func (r *Sweep) SecondOpinion(m *crew.Member, l *Lease, number int, result *foiblev1.JobResult) (again bool, different error) {
	job := r.Job(number)
	if result.GetInfer() == nil || !r.twice(&job) {
		return false, nil
	}
	now := &answer.Computation{Worker: m.ID, Host: answer.Printable(m.Host())}
	var err error
	if now.Cells, err = codec.CellDigests(result.GetInfer(), &r.Plan.Stimuli[job.Stimulus]); err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.first[number]
	switch {
	case first == nil:
		r.first[number] = now
		r.returned[number]++ // the next delivery is no new try
		r.change()
		return true, nil
	case l == nil && first.Worker == m.ID: // it is the first result, sent again
		return true, nil
	}
	if err := first.Compare(now, &job, r.Plan.Stimuli[job.Stimulus].Stimulus); err != nil {
		return false, err
	}
	r.tallied.Verified += int64(len(now.Cells))
	if first.Worker == now.Worker {
		r.tallied.Alone += int64(len(now.Cells))
	}
	return false, nil
}

// computedOnce says whether a job without a result has been computed once, and waits to be computed again.
func (r *Sweep) computedOnce(job int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first[job] != nil
}
