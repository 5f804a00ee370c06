package active

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"foible.dev/foible/coordinator/answer"
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

// Sweep is a sweep that a coordinator has taken up.
type Sweep struct {
	env    *Env
	ID     string
	Spec   *foiblev1.Sweep // as stored when it was taken up
	Config sweep.Config
	Plan   *sweep.Plan
	queue  *engine.Queue
	parent *parent        // the sweep that it extends; nil if there is none
	share  schedule.Share // of the slots; only the dispatcher uses it

	stopQueueing func() // returns when no more jobs are being queued from the start

	recent store.Recent // results that score jobs will need

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
	final         *foiblev1.Progress          // as stored when it ended
	queued        bool                        // every job that can be done from the start is in the queue
	ending        bool                        // its end is being stored
	returned      map[int]int                 // by job without a result, deliveries that were put back and do not count as tries
	first         map[int]*answer.Computation // by job without a result, the first one of a job that is computed twice
	leases        map[int]*Lease              // by job, the last lease for a delivery of the queue
	copies        map[int][]*Lease            // by job, further leases for the same delivery, see overdue; none without the one in leases
	lookedOver    time.Time                   // when overdue jobs were last looked for
	tallied       replica.Tally               // since the coordinator started
	eta           *cost.Estimator             // nil until the sweep is started
	forecast      forecast                    // what it said last
	remaining     remaining                   // see remainingWork
	retryDue      bool                        // failures are tried again when all other jobs are done
	discarded     bool                        // see discard
	replayed      int64                       // jobs that were recorded before
	audited       time.Time                   // when the queue was last compared with the results
	changed       chan struct{}               // closed at the next change
}

// tally changes what is counted.
func (r *Sweep) tally(change func(*replica.Tally)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.tallied)
	r.change()
}

// New plans a sweep from its spec.
func New(ctx context.Context, env *Env, spec *foiblev1.Sweep) (*Sweep, error) {
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
		if extended, err = newParent(ctx, env, spec.GetExtends(), plan); err != nil {
			return nil, fmt.Errorf("sweep %s, which it extends: %w", spec.GetExtends(), err)
		}
	}
	return &Sweep{
		env: env, ID: spec.GetSweepId(), Spec: spec, Config: config.Config, Plan: plan, parent: extended,
		ledger: ledger.New(plan),
		state:  spec.GetState(), priority: spec.GetPriority(), endTime: spec.GetEndTime(), retryDue: spec.GetRetryDue(),
		troubles: crew.NewTroubles(env.Crew, env.Bounds),
		returned: map[int]int{},
		first:    map[int]*answer.Computation{},
		leases:   map[int]*Lease{},
		copies:   map[int][]*Lease{},
		changed:  make(chan struct{}),
	}, nil
}

// Result reads what is recorded of a job.
func (r *Sweep) Result(ctx context.Context, job int) (*foiblev1.JobResult, error) {
	return r.env.Store.JobResult(ctx, r.ID, job)
}

// ErrCancelled refuses results of a sweep that was cancelled.
var ErrCancelled = errors.New("the sweep was cancelled")

// Adopt takes over what has been stored of the sweep at a revision, and says so, unless a later one is known, or it is of
// another life.
func (r *Sweep) Adopt(spec *foiblev1.Sweep, revision uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if revision < r.revision || !store.SameLife(spec, r.Spec) {
		return false
	}
	r.revision, r.state, r.priority = revision, spec.GetState(), spec.GetPriority()
	r.endTime, r.final, r.retryDue = spec.GetEndTime(), spec.GetProgress(), spec.GetRetryDue()
	r.eta.Running(time.Now(), r.state == store.Running)
	if !store.Unended(r.state) {
		r.recent.Clear()
	}
	r.change()
	r.rest()
	return true
}

// rest ends the following of results once there will be none to follow. The caller holds mu.
func (r *Sweep) rest() {
	if r.stopFollowing != nil && (r.state == store.Cancelled || !store.Unended(r.state) && r.ledger.Complete()) {
		r.stopFollowing()
	}
}

// Weight is the sweep's share of the workers.
func (r *Sweep) Weight() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return float64(cmp.Or(r.priority, store.DefaultPriority))
}

// Joined tells the sweep of a worker that has come.
func (r *Sweep) Joined(m *crew.Member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.eta.Joined(time.Now(), m.Number, m.Slots)
	r.troubles.CameBack(m.ID)
}

// Left tells the sweep of a worker that has gone.
func (r *Sweep) Left(m *crew.Member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.eta.Left(time.Now(), m.Number)
}

// KnownRounds is the number of rounds whose parameter sets are known; what is known stays the same.
func (r *Sweep) KnownRounds() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ledger.KnownRounds()
}

// round is that of a job.
func (r *Sweep) round(number int) int { return r.Job(number).Round }

// Known says whether it is known what a job is: one after the fit stage is not before its parameters are chosen.
func (r *Sweep) Known(number int) bool { return r.round(number) < r.KnownRounds() }

// Job is what a number stands for, now.
func (r *Sweep) Job(number int) sweep.Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ledger.Job(number)
}

// State is the present state.
func (r *Sweep) State() foiblev1.SweepState {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// Ended says whether the sweep is over: done, failed in part or cancelled.
func (r *Sweep) Ended() bool { return !store.Unended(r.State()) }

// Done says whether a job has a recorded result.
func (r *Sweep) Done(job int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ledger.Done(job)
}

// JobsDone counts the jobs that have a recorded result.
func (r *Sweep) JobsDone() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ledger.JobsDone()
}

// change tells who watches. The caller holds mu.
func (r *Sweep) change() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// Touch tells who watches.
func (r *Sweep) Touch() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.change()
}

// Changes is closed at the next change.
func (r *Sweep) Changes() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

func (r *Sweep) isDiscarded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.discarded
}

// Older says whether what is known of the sweep is older than this revision of its record.
func (r *Sweep) Older(revision uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.revision < revision
}

// HoldResults keeps results from being recorded until release is called.
func (r *Sweep) HoldResults() (release func()) {
	r.recording.Lock()
	return r.recording.Unlock
}

// Discard ends what goes on for a run that is of no more use, and returns its last state.
func (r *Sweep) Discard() foiblev1.SweepState {
	r.stopQueueing()
	r.dropLeases()
	r.mu.Lock()
	if r.stopFollowing != nil {
		r.stopFollowing()
	}
	r.discarded = true
	state := r.state
	r.change() // who watches it looks again
	r.mu.Unlock()
	r.recent.Clear()
	return state
}

// Stall says that nothing of the sweep is written for now, or is again: what could not be stored meanwhile is looked after
// at once.
func (r *Sweep) Stall(ctx context.Context, stalled bool) {
	r.mu.Lock()
	r.audited = time.Time{}
	r.eta.Running(time.Now(), r.state == store.Running && !stalled)
	r.change()
	r.mu.Unlock()
	if !stalled {
		r.finish(ctx)
	}
}

// Load is what the other coordinators learn about the sweep.
func (r *Sweep) Load() replica.Load {
	r.mu.Lock()
	defer r.mu.Unlock()
	return replica.Load{Leased: int64(len(r.leases)), Tally: r.tallied}
}

// Begin lets a run go on from what is stored at a revision. Nobody else has it yet.
func (r *Sweep) Begin(ctx context.Context, revision uint64) error {
	r.revision = revision
	if r.Spec.GetRetryUntil() > 0 {
		if err := r.clearFailures(ctx); err != nil {
			return err
		}
	}
	return store.Sentinel(r.start(ctx))
}

// Look makes the progress of a run that is only looked at from what is stored at a revision.
func (r *Sweep) Look(ctx context.Context, revision uint64) error {
	r.revision = revision
	return r.replay(ctx)
}

// IsOf says whether what is known of the sweep was stored at a revision.
func (r *Sweep) IsOf(revision uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.revision == revision
}

// Share is the sweep's share of the slots, with its weight as it is now.
func (r *Sweep) Share() *schedule.Share {
	r.share.Weight = r.Weight()
	return &r.share
}

// Duplicate counts a result that is refused because there is one.
func (r *Sweep) Duplicate() { r.tally(func(t *replica.Tally) { t.Duplicates++ }) }

// Fail counts a failure that a worker reported, other than one of the computation. It says whether the failure is to be
// recorded, how long the job waits if it is not, and whether to warn of the cause.
func (r *Sweep) Fail(job int, worker string, unknown bool, reason string) (final bool, wait time.Duration, warns bool) {
	final, wait = r.troubles.Fail(job, worker, unknown, reason)
	r.Touch()
	return final, wait, r.troubles.Warns(reason)
}
