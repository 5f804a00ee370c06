package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"foible.dev/foible/coordinator/crew"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/ledger"
	"foible.dev/foible/coordinator/replica"
	"foible.dev/foible/coordinator/schedule"
	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/store"
	"foible.dev/foible/core/cost"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// sweepRun is a sweep that a coordinator has taken up.
type sweepRun struct {
	c      *Coordinator
	id     string
	spec   *foiblev1.Sweep // as stored when it was taken up
	config sweep.Config
	plan   *sweep.Plan
	queue  *engine.Queue
	parent *parent        // the sweep that it extends; nil if there is none
	share  schedule.Share // of the slots; of the dispatcher alone

	stopQueueing func() // returns when no more jobs are being queued from the start

	recent recent // results that score jobs will need

	troubles *crew.Troubles

	recording sync.RWMutex // held for reading while a result is recorded, for writing while the sweep is cancelled

	mu            sync.Mutex     // guards what follows
	stopFollowing func()         // nil where there are no other coordinators to follow
	ledger        *ledger.Ledger // of the recorded results, as far as they have been seen
	noted         time.Time      // when a result was last taken into the ledger, or the jobs were queued
	revision      uint64         // of what is stored, as far as it is known
	state         foiblev1.SweepState
	priority      int32
	endTime       *timestamppb.Timestamp
	final         *foiblev1.Progress // as stored when it ended
	queued        bool               // every job that can be done from the start is in the queue
	ending        bool               // its end is being stored
	returned      map[int]int        // by job without a result, deliveries that were put back and do not count as tries
	first         map[int]*computed  // by job without a result, the first one of a job that is computed twice
	leases        map[int]*lease     // by job, the lease given out last for a delivery of the queue
	copies        map[int][]*lease   // by job, further leases for the same delivery, see overdue; none without the one in leases
	lookedOver    time.Time          // when overdue jobs were last looked for
	tallied       replica.Tally      // since the coordinator started
	eta           *cost.Estimator    // nil until the sweep is started
	forecast      forecast           // what it said last
	remaining     remaining          // see remainingWork
	retryDue      bool               // failures are tried again when all other jobs are done
	discarded     bool               // see discard
	replayed      int64              // jobs that were recorded before
	audited       time.Time          // when the queue was last compared with the results
	changed       chan struct{}      // closed at the next change
}

// tally changes what is counted.
func (r *sweepRun) tally(change func(*replica.Tally)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.tallied)
	r.change()
}

// newRun plans a sweep from its spec.
func (c *Coordinator) newRun(ctx context.Context, spec *foiblev1.Sweep) (*sweepRun, error) {
	config, err := codec.Config(spec.GetConfig())
	if err != nil {
		return nil, err
	}
	plan, err := config.Plan(codec.Shapes(spec.GetStimuli()), int(spec.GetCellsPerJob()))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", service.ErrInvalid, err)
	}
	var extended *parent
	if spec.GetExtends() != "" && store.Unended(spec.GetState()) {
		if extended, err = c.newParent(ctx, spec.GetExtends(), plan); err != nil {
			return nil, fmt.Errorf("sweep %s, which it extends: %w", spec.GetExtends(), err)
		}
	}
	return &sweepRun{
		c: c, id: spec.GetSweepId(), spec: spec, config: config.Config, plan: plan, parent: extended,
		ledger: ledger.New(plan),
		state:  spec.GetState(), priority: spec.GetPriority(), endTime: spec.GetEndTime(), retryDue: spec.GetRetryDue(),
		troubles: crew.NewTroubles(c.crew, crew.Bounds{MaxFailures: c.cfg.MaxFailures, MaxLost: c.cfg.MaxLost}),
		returned: map[int]int{},
		first:    map[int]*computed{},
		leases:   map[int]*lease{},
		copies:   map[int][]*lease{},
		changed:  make(chan struct{}),
	}, nil
}

// result reads what is recorded of a job.
func (r *sweepRun) result(ctx context.Context, job int) (*foiblev1.JobResult, error) {
	return r.c.store.JobResult(ctx, r.id, job)
}

// errCancelled refuses results of a sweep that was cancelled.
var errCancelled = errors.New("the sweep was cancelled")

// record makes a result durable, and does what follows from it; false if the job has one already, which stands.
func (r *sweepRun) record(ctx context.Context, job int, result *foiblev1.JobResult, from arrival) (fresh bool, err error) {
	r.recording.RLock()
	defer r.recording.RUnlock()
	if r.now() == store.Cancelled {
		return false, errCancelled
	}
	value, err := proto.Marshal(result)
	if err != nil {
		return false, err
	}
	err = r.c.store.Record(ctx, r.id, job, value)
	for errors.Is(err, engine.ErrStalled) && r.c.patient(from) {
		err = r.c.store.Record(ctx, r.id, job, value)
	}
	var session uint64
	switch {
	case err == nil:
		fresh = true
		r.recent.put(job, result.GetInfer(), len(value))
		if l := from.lease; l != nil {
			session = l.session
			r.tally(func(t *replica.Tally) {
				t.Timed++
				t.Seconds += time.Since(l.since).Seconds()
			})
		}
	case errors.Is(err, engine.ErrRecorded):
		r.tally(func(t *replica.Tally) { t.Duplicates++ })
		if r.done(job) {
			return false, nil
		}
		// Whoever recorded it has not said so yet, or never came to.
		if result, err = r.result(ctx, job); err != nil {
			return false, err
		}
	default:
		return false, store.Sentinel(err)
	}
	r.note(ctx, job, result, session)
	return fresh, nil
}

// note takes a recorded result into the ledger; the number is of the worker that it came from, 0 if that is not known. A failure in what follows from it is not one of the result;
// audit tries again.
func (r *sweepRun) note(ctx context.Context, job int, result *foiblev1.JobResult, session uint64) {
	if !r.known(job) { // another coordinator found out what it is of
		if err := r.learn(ctx, r.round(job)); err != nil {
			r.c.log.Error("find what a job is of", "sweep", r.id, "job", job, "error", err)
		}
	}
	entry, err := entryOf(result)
	if err != nil {
		r.spoil(store.Damaged(job, err))
		return
	}
	r.mu.Lock()
	before := r.ledger.CellsDone()
	news, ready := r.ledger.Record(job, entry)
	r.c.metrics.cells.Add(float64(r.ledger.CellsDone() - before))
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
			r.c.log.Error("queue jobs that are ready", "sweep", r.id, "jobs", len(ready), "error", err)
		}
		r.c.demand.Signal()
	}
	r.finish(ctx)
}

// queueReady queues jobs that could not be done before.
func (r *sweepRun) queueReady(ctx context.Context, jobs []int) error {
	if r.c.store.Shared() { // others may have been faster, up to the sweep's end
		spec, _, err := r.c.store.Sweep(ctx, r.id)
		if err != nil || !store.Unended(spec.GetState()) {
			return err
		}
	}
	return r.c.store.RequeueReady(ctx, r.id, jobs)
}

// learn takes up the fits on which the parameter sets of a round rest, and which others have recorded, though they have not been seen here
// yet.
func (r *sweepRun) learn(ctx context.Context, round int) error {
	r.mu.Lock()
	unscored := r.ledger.Unscored(round)
	r.mu.Unlock()
	for _, job := range unscored {
		result, err := r.result(ctx, job)
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

// knownRounds is the number of rounds whose parameter sets are known; what is known stays the same.
func (r *sweepRun) knownRounds() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ledger.KnownRounds()
}

// round is that of a job.
func (r *sweepRun) round(number int) int { return r.job(number).Round }

// known says whether it is known what a job is: one after the fit stage is not before its parameters are chosen.
func (r *sweepRun) known(number int) bool { return r.round(number) < r.knownRounds() }

// job is what a number stands for, now.
func (r *sweepRun) job(number int) sweep.Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ledger.Job(number)
}

// finish ends the sweep if all is done: the state is stored, the queue is removed. If that fails, audit tries again.
func (r *sweepRun) finish(ctx context.Context) {
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
		r.adopt(spec, revision)
	case err == nil && store.Unended(spec.GetState()):
		r.c.log.Info("what failed of a sweep is tried again", "sweep", r.id, "jobs_failed", progress.GetJobsFailed(), "cells_failed", progress.GetCellsFailed())
		r.c.background.Go(func() error {
			r.c.catchUp(r.c.ctx, r.id)
			return nil
		})
	case err == nil:
		r.c.log.Info("sweep ended", "sweep", r.id, "state", spec.GetState().String(), "jobs_failed", progress.GetJobsFailed(), "cells_failed", progress.GetCellsFailed())
		r.c.retire(r)
	case ctx.Err() == nil:
		r.c.log.Error("end sweep", "sweep", r.id, "error", err)
	}
}

// storeEnd stores how a sweep has ended of which all is done, or that it begins another life, if what failed of it is to
// be tried again.
func (r *sweepRun) storeEnd(ctx context.Context, progress *foiblev1.Progress) (spec *foiblev1.Sweep, revision uint64, err error) {
	failed := store.RetriedOf(progress) != nil
	var last uint64
	if failed {
		if last, err = r.c.store.LastResult(ctx, r.id); err != nil {
			return nil, 0, store.Sentinel(err)
		}
	}
	return r.c.update(ctx, r.id, func(s *foiblev1.Sweep) error {
		switch {
		case !store.SameLife(s, r.spec):
			return store.ErrOtherLife
		case !store.Unended(s.GetState()):
			return r.c.errEnded(s)
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

// audit gives jobs that neither the queue nor the results know to the queue
// again, so that a damaged queue loses no work.
func (r *sweepRun) audit(ctx context.Context) error {
	r.mu.Lock()
	noted := r.noted
	// Just after they were stored, the queue may not have heard of jobs.
	due := r.queued && len(r.leases) == 0 && time.Since(noted) > settleTime && time.Since(r.audited) > auditInterval
	if due {
		r.audited = time.Now()
	}
	r.mu.Unlock()
	if !due || r.ended() {
		return nil
	}
	waiting, leased, err := r.queue.Pending(ctx)
	gone := r.c.store.Shared() && errors.Is(err, engine.ErrNotFound) // it may be that of an earlier life of the sweep
	if err != nil && !gone || waiting+leased > 0 {
		return err
	}
	if behind, err := r.behind(ctx); behind || err != nil {
		return err
	}
	if gone {
		if r.queue, err = r.c.store.Queue(ctx, r.id); err != nil {
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
	r.c.log.Warn("jobs missing from the queue are queued again", "sweep", r.id, "jobs", len(missing))
	return r.c.store.Requeue(ctx, r.id, missing)
}

// forget ends a lease. It says whether the lease was the one given out last.
func (r *sweepRun) forget(l *lease) (last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	copies := r.copies[l.job]
	at := slices.Index(copies, l)
	switch {
	case at >= 0:
		copies = slices.Delete(copies, at, at+1)
	case r.leases[l.job] != l:
		return false
	case len(copies) > 0:
		r.leases[l.job], copies = copies[0], copies[1:]
	default:
		delete(r.leases, l.job)
		last = true
	}
	if r.copies[l.job] = copies; len(copies) == 0 {
		delete(r.copies, l.job)
	}
	r.eta.Dropped(time.Now(), l.job, l.session)
	return last
}

// change tells who watches. The caller holds mu.
func (r *sweepRun) change() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// touch tells who watches.
func (r *sweepRun) touch() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.change()
}

// changes is closed at the next change.
func (r *sweepRun) changes() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

// now is the state.
func (r *sweepRun) now() foiblev1.SweepState {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

func (r *sweepRun) ended() bool { return !store.Unended(r.now()) }

func (r *sweepRun) done(job int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ledger.Done(job)
}

func (r *sweepRun) jobsDone() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ledger.JobsDone()
}
