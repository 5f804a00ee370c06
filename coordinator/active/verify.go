package active

import (
	"fmt"

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

// computed is the first result of a job that is computed twice.
type computed struct {
	worker, host string
	cells        []codec.CellDigest // one a parameter set
}

// twice says whether a job is to be computed twice.
func (r *Sweep) twice(job *sweep.Job) bool {
	return r.Plan.ComputedTwice(job, r.Config.Seed, r.Spec.GetVerify())
}

// secondOpinion compares a right result of an infer job with the first one. If there was none, the result is noted and
// again is true: the job is to be computed once more. What is different is an error. The lease is nil if the worker has none.
func (r *Sweep) SecondOpinion(m *crew.Member, l *Lease, number int, result *foiblev1.JobResult) (again bool, different error) {
	job := r.Job(number)
	if result.GetInfer() == nil || !r.twice(&job) {
		return false, nil
	}
	now := &computed{worker: m.ID, host: Printable(m.Host())}
	var err error
	if now.cells, err = codec.CellDigests(result.GetInfer(), &r.Plan.Stimuli[job.Stimulus]); err != nil {
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
	case l == nil && first.worker == m.ID: // it is the first result, sent again
		return true, nil
	}
	if err := first.compare(now, &job, r.Plan.Stimuli[job.Stimulus].Stimulus); err != nil {
		return false, err
	}
	r.tallied.Verified += int64(len(now.cells))
	if first.worker == now.worker {
		r.tallied.Alone += int64(len(now.cells))
	}
	return false, nil
}

// compare says which cells of a job differ between two computations; nil if none does.
func (c *computed) compare(o *computed, job *sweep.Job, stimulus string) error {
	differ, first := 0, 0
	for i := range c.cells {
		if c.cells[i] != o.cells[i] {
			if differ == 0 {
				first = i
			}
			differ++
		}
	}
	if differ == 0 {
		return nil
	}
	who := fmt.Sprintf("the worker on %s and the worker on %s", c.host, o.host)
	if c.worker == o.worker {
		who = fmt.Sprintf("the worker on %s, asked twice,", c.host)
	}
	more := ""
	if differ > 1 {
		more = fmt.Sprintf(" and %d other parameter sets", differ-1)
	}
	return fmt.Errorf("%s computed different numbers for stimulus %s, %s%s; whichever is wrong may have computed other wrong ones",
		who, stimulus, &job.Sets[first], more)
}

// computedOnce says whether a job without a result has been computed once, and waits to be computed again.
func (r *Sweep) computedOnce(job int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first[job] != nil
}
