package coordinator

import (
	"slices"
	"time"

	"foible.dev/foible/coordinator/engine"
)

// offer is a job on its way to a worker.
type offer struct {
	run      *sweepRun
	delivery *engine.Delivery
	overdue  *lease   // of a job that takes too long, and is to be given to another worker too; nil: of no other
	holders  []string // ids of the workers that have such a job, which are not to have it again
}

// release puts the job back into the queue, to come again after a while; one that takes too long stays with who has it.
// Its error is of no consequence: the job comes again when its lease runs out.
func (o *offer) release(wait time.Duration) error {
	if o.overdue != nil {
		o.run.withdraw(o.overdue)
		return nil
	}
	o.run.mu.Lock()
	o.run.returned[o.delivery.Job()]++
	o.run.mu.Unlock()
	return o.delivery.ReleaseAfter(wait)
}

// attempt is how often the job has been given to a worker, with this time.
func (o *offer) attempt() int {
	o.run.mu.Lock()
	defer o.run.mu.Unlock()
	return max(1, o.delivery.Attempt()-o.run.returned[o.delivery.Job()])
}

// ID is that of the worker.
func (s *session) ID() string { return s.member.ID }

// Takes says whether the worker may have a job: it does not have it already, and the job is not kept for others.
func (s *session) Takes(o offer) bool {
	return !slices.Contains(o.holders, s.member.ID) && !o.run.avoids(o.delivery.Job(), s.member.ID)
}

// Open is how many of its free slots may be given jobs now.
func (s *session) Open(free int) int {
	n, _ := s.member.Allowed(free, 0)
	return n
}

// Draining is closed when the worker takes no more jobs.
func (s *session) Draining() <-chan struct{} { return s.member.Draining() }

// cannotMake lets a job wait of which the coordinator cannot say what it is, because what it rests on cannot be read.
func (o *offer) cannotMake(err error) {
	r, job := o.run, o.delivery.Job()
	wait := r.troubles.Unmade(job, err.Error())
	log := r.c.log.With("sweep", r.id, "job", job, "error", err, "again_in", wait.String())
	if r.troubles.Warns("make a job") {
		log.Error("a job cannot be sent; trying again")
	} else {
		log.Debug("a job cannot be sent; trying again")
	}
	_ = o.release(wait)
}

// avoids says whether a job is to be kept for other workers.
func (r *sweepRun) avoids(job int, worker string) bool {
	r.mu.Lock()
	first := r.first[job]
	r.mu.Unlock()
	return r.troubles.Avoids(job, worker, first != nil && first.worker == worker)
}
