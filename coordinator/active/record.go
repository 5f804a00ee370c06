package active

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator/answer"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/replica"
	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/store"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Arrival is how a result came to be recorded.
type Arrival struct {
	Lease *Lease // says how long a worker took; nil if that is not known, or none was needed
	// Left is closed when the worker that sent it has left: it keeps the result then, and sends it again. nil: no worker
	// has sent it.
	Left <-chan struct{}
}

// patient waits until the store accepts writes, and returns true then. It returns false if the worker that sent the
// result leaves first or the coordinator stops, and at once if no worker sent the result.
func (env *Env) patient(a Arrival) bool {
	for a.Left != nil {
		reason, changed := env.Store.Stalled()
		if reason == "" {
			return true
		}
		select {
		case <-changed:
		case <-a.Left:
			return false
		case <-env.Context.Done():
			return false
		}
	}
	return false
}

// Record makes a result durable, and does what follows from it; false if the job has one already, which stands.
func (r *Sweep) Record(ctx context.Context, job int, result *foiblev1.JobResult, from Arrival) (fresh bool, err error) {
	r.recording.RLock()
	defer r.recording.RUnlock()
	if r.State() == store.Cancelled {
		return false, ErrCancelled
	}
	value, err := proto.Marshal(result)
	if err != nil {
		return false, err
	}
	err = r.env.Store.Record(ctx, r.ID, job, value)
	for errors.Is(err, engine.ErrStalled) && r.env.patient(from) {
		err = r.env.Store.Record(ctx, r.ID, job, value)
	}
	var session uint64
	switch {
	case err == nil:
		fresh = true
		r.recent.Put(job, result.GetInfer(), len(value))
		if l := from.Lease; l != nil {
			session = l.session
			r.tally(func(t *replica.Tally) {
				t.Timed++
				t.Seconds += time.Since(l.Since).Seconds()
			})
		}
	case errors.Is(err, engine.ErrRecorded):
		r.tally(func(t *replica.Tally) { t.Duplicates++ })
		if r.Done(job) {
			return false, nil
		}
		// Whoever recorded it has not said so yet, or never came to.
		if result, err = r.Result(ctx, job); err != nil {
			return false, err
		}
	default:
		return false, store.Sentinel(err)
	}
	r.note(ctx, job, result, session)
	return fresh, nil
}

// note takes a recorded result into the ledger. session is the number of the connection that it came from, 0 if that is not
// known. A failure in what follows from the result is not one of the result; audit tries again.
func (r *Sweep) note(ctx context.Context, job int, result *foiblev1.JobResult, session uint64) {
	if !r.Known(job) { // another coordinator found out which parameter sets it has
		if err := r.learn(ctx, r.round(job)); err != nil {
			r.env.Log.Error("find what a job is of", "sweep", r.ID, "job", job, "error", err)
		}
	}
	entry, err := answer.Entry(result)
	if err != nil {
		r.spoil(store.Damaged(job, err))
		return
	}
	r.mu.Lock()
	before := r.ledger.CellsDone()
	news, ready := r.ledger.Record(job, entry)
	r.env.Counters.Cells.Add(float64(r.ledger.CellsDone() - before))
	r.noted = time.Now()
	if news {
		r.eta.Done(r.noted, job, session)
	}
	r.troubles.Forget(job)
	delete(r.returned, job)
	delete(r.first, job)
	delete(r.leases, job) // what comes of them is a duplicate
	delete(r.copies, job)
	r.change()
	r.rest()
	r.mu.Unlock()
	if len(ready) > 0 {
		if err := r.queueReady(ctx, ready); err != nil {
			r.env.Log.Error("queue jobs that are ready", "sweep", r.ID, "jobs", len(ready), "error", err)
		}
		r.env.Home.Signal()
	}
	r.finish(ctx)
}

// queueReady queues jobs that could not be done before.
func (r *Sweep) queueReady(ctx context.Context, jobs []int) error {
	if r.env.Store.Shared() { // others may have been faster, up to the sweep's end
		spec, _, err := r.env.Store.Sweep(ctx, r.ID)
		if err != nil || !store.Unended(spec.GetState()) {
			return err
		}
	}
	return r.env.Store.RequeueReady(ctx, r.ID, jobs)
}

// learn reads the fits that decide the parameter sets of a round: other coordinators have recorded them, and they have not
// been seen here yet.
func (r *Sweep) learn(ctx context.Context, round int) error {
	r.mu.Lock()
	unscored := r.ledger.Unscored(round)
	r.mu.Unlock()
	for _, job := range unscored {
		result, err := r.Result(ctx, job)
		if errors.Is(err, engine.ErrDamaged) {
			r.spoil(err)
		}
		if err != nil {
			return err
		}
		r.note(ctx, job, result, 0)
	}
	return nil
}

// follow takes what others record into the progress, until all is there or the sweep is cancelled.
func (r *Sweep) follow(ctx context.Context, after uint64) error {
	for {
		err := r.env.Store.Follow(ctx, r.ID, after, func(job int, value []byte) error {
			if job >= r.Plan.Jobs() || r.Done(job) {
				return nil
			}
			result := &foiblev1.JobResult{}
			if err := proto.Unmarshal(value, result); err != nil {
				r.spoil(store.Damaged(job, err))
				return nil
			}
			r.note(ctx, job, result, 0)
			return nil
		})
		if ctx.Err() != nil || errors.Is(err, engine.ErrClosed) || errors.Is(err, engine.ErrNotFound) {
			return nil
		}
		r.env.Log.Error("follow results; trying again", "sweep", r.ID, "error", err)
		select {
		case <-time.After(RetryPause):
		case <-ctx.Done():
		}
	}
}

// knows says whether it is known, or can be known by now, what a job is.
func (r *Sweep) knows(ctx context.Context, job int) (bool, error) {
	if r.Known(job) || !r.env.Store.Shared() {
		return r.Known(job), nil
	}
	// Another coordinator queued it; the fits that it rests on are recorded, though not seen here yet.
	if err := r.learn(ctx, r.round(job)); err != nil && !errors.Is(err, service.ErrNotFound) {
		return false, err
	}
	return r.Known(job), nil
}

// RetryPause is how long to wait before what could not be done with the store is tried again.
const RetryPause = 5 * time.Second
