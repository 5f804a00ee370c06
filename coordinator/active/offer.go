package active

import (
	"context"
	"errors"
	"slices"
	"time"

	"foible.dev/foible/coordinator/answer"
	"foible.dev/foible/coordinator/crew"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/store"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Offer is a job on its way to a worker.
type Offer struct {
	run      *Sweep
	delivery *engine.Delivery
	overdue  *Lease   // of a job that takes too long, and is to be given to another worker too; nil: of no other
	holders  []string // ids of the workers that have such a job, which are not to have it again
}

// Release puts the job back into the queue, to come again after a while; one that takes too long stays with who has it.
// Its error is of no consequence: the job comes again when its lease runs out.
func (o *Offer) Release(wait time.Duration) error {
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
func (o *Offer) attempt() int {
	o.run.mu.Lock()
	defer o.run.mu.Unlock()
	return max(1, o.delivery.Attempt()-o.run.returned[o.delivery.Job()])
}

// CannotMake lets a job wait that the coordinator cannot make, because what it rests on cannot be read.
func (o *Offer) CannotMake(err error) {
	r, job := o.run, o.delivery.Job()
	wait := r.troubles.Unmade(job, err.Error())
	log := r.env.Log.With("sweep", r.ID, "job", job, "error", err, "again_in", wait.String())
	if r.troubles.Warns("make a job") {
		log.Error("a job cannot be sent; trying again")
	} else {
		log.Debug("a job cannot be sent; trying again")
	}
	_ = o.Release(wait)
}

// avoids says whether a job is to be kept for other workers.
func (r *Sweep) avoids(job int, worker string) bool {
	r.mu.Lock()
	first := r.first[job]
	r.mu.Unlock()
	return r.troubles.Avoids(job, worker, first != nil && first.Worker == worker)
}

// avoidPause is how long a job waits that only workers could take on which it failed.
const avoidPause = time.Second

// Fetch takes at most n jobs out of the queue. If it has fewer, jobs that take too long elsewhere are offered too.
func (r *Sweep) Fetch(ctx context.Context, n int) (offers []Offer, fetched int, err error) {
	deliveries, err := r.queue.Fetch(ctx, n)
	if errors.Is(err, engine.ErrNotFound) { // the sweep has just ended
		err = nil
	}
	offers = make([]Offer, 0, len(deliveries))
	for _, d := range deliveries {
		needed := d.Job() < r.Plan.Jobs() && !r.Done(d.Job()) // else an acknowledgement was lost
		if needed {
			var unsure error
			if needed, unsure = r.knows(ctx, d.Job()); unsure != nil {
				o := Offer{run: r, delivery: d}
				err = errors.Join(err, unsure, o.Release(0))
				continue
			}
		}
		if !needed { // or results were lost: those of the fits on which the report rests
			_ = d.Ack()
			continue
		}
		offers = append(offers, Offer{run: r, delivery: d})
	}
	fetched = len(deliveries)
	if fetched < n { // there is nothing else to do
		overdue := r.overdue(n - fetched)
		fetched += len(overdue)
		offers = append(offers, overdue...)
	}
	return offers, fetched, err
}

// Keep puts a job back that no slot has taken, and says whether it is an overdue one, which stays with who has it.
func (o *Offer) Keep() (overdue bool) {
	var wait time.Duration
	if job := o.delivery.Job(); o.overdue == nil && (o.run.troubles.Failed(job) || o.run.computedOnce(job)) {
		wait = avoidPause // it is kept for workers that are busy
	}
	_ = o.Release(wait)
	return o.overdue != nil
}

// Takes says whether a worker may have the job: it does not have it already, and the job is not kept for others.
func (o *Offer) Takes(worker string) bool {
	return !slices.Contains(o.holders, worker) && !o.run.avoids(o.delivery.Job(), worker)
}

// Open makes an assignment of the job for a worker, with a lease of it; nil if there is nothing to do.
func (o *Offer) Open(ctx context.Context, m *crew.Member, all *Leases) (*foiblev1.Assign, error) {
	job, attempt := o.delivery.Job(), o.attempt()
	switch state := o.run.State(); {
	case state == store.Cancelled || o.run.isDiscarded(): // its queue is gone
		return nil, nil
	case state == store.Paused:
		return nil, o.Release(0)
	case o.run.Ended() || o.run.Done(job):
		return nil, o.delivery.Ack()
	}
	if o.overdue == nil && o.run.forgotten(o.delivery) { // one that is overdue is of the lease's own delivery
		return nil, nil
	}
	if wait := o.run.troubles.Wait(job); wait > 0 {
		return nil, o.Release(wait)
	}
	if reason := o.run.troubles.Hopeless(job); reason != "" {
		if _, err := o.run.Record(ctx, job, answer.FailedResult(reason), Arrival{}); err != nil {
			return nil, err
		}
		return nil, o.delivery.Ack()
	}
	assign, fits, err := o.run.assign(ctx, job)
	if err != nil {
		return nil, err
	}
	if assign == nil {
		return nil, o.delivery.Ack()
	}
	l := &Lease{run: o.run, job: job, delivery: o.delivery, attempt: attempt, fits: fits, worker: m.ID, session: m.Number, owner: m}
	l.begin(o.run.env.Tracer, assign)
	switch {
	case o.overdue != nil && !all.lendCopy(l, o.overdue):
		l.end("not needed")
		return nil, nil
	case o.overdue == nil && !all.lend(l):
		l.end("not needed")
		return nil, o.delivery.Ack()
	}
	assign.Attempt, assign.Lease, assign.LastTry = int32(attempt), l.ID, o.run.troubles.LastTry(job, m.ID)
	return assign, nil
}
