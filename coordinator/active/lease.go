package active

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"foible.dev/foible/coordinator/answer"
	"foible.dev/foible/coordinator/crew"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/store"
	"foible.dev/foible/coordinator/web"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Lease is a job that a worker has. The engine's lease is what counts; this one says whose heartbeats extend it.
type Lease struct {
	ID       uint64
	run      *Sweep
	job      int
	Since    time.Time
	delivery *engine.Delivery
	attempt  int // how often the job has been sent to a worker, with this time
	span     trace.Span
	fits     []answer.ExpectedFit // what is known of the fits of a score job
	worker   string               // id of the one that it was given to
	session  uint64               // number of the connection by which it was sent
	owner    *crew.Member         // nil while its worker is away; guarded by the mutex of Leases

	copies int       // how often the job was given to another worker because it took too long; guarded by the sweep's mu
	copied time.Time // when last
}

// begin makes the span of a job that is sent to a worker, from then until its result is recorded or it is given back, and tells
// the worker of it.
func (l *Lease) begin(tracer trace.Tracer, assign *foiblev1.Assign) {
	ctx, span := tracer.Start(context.Background(), "job", trace.WithAttributes(
		attribute.String("foible.sweep", l.run.ID), attribute.Int("foible.job", l.job), attribute.Int("foible.attempt", l.delivery.Attempt()),
		attribute.String("foible.kind", Kind(assign.GetScore() != nil)), attribute.String("foible.stimulus", assign.GetInfer().GetStimulus()),
	))
	l.span = span
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	assign.TraceParent = carrier["traceparent"]
}

// end ends the span, with the reason why the job is given back, if it is.
func (l *Lease) end(reason string) {
	if reason != "" {
		l.span.SetStatus(codes.Error, reason)
	}
	l.span.End()
}

// Leases are those of all workers of this coordinator, by their numbers. It is safe for concurrent use.
type Leases struct {
	env *Env

	mu       sync.Mutex // guards byNumber, and the owners of the leases
	byNumber map[uint64]*Lease
}

// NewLeases are none.
func NewLeases(env *Env) *Leases { return &Leases{env: env, byNumber: map[uint64]*Lease{}} }

// Claim says which of the leases there are, and that their worker is connected as a member of the crew.
func (t *Leases) Claim(numbers []uint64, m *crew.Member) (claimed []*Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range numbers {
		if l := t.byNumber[id]; l != nil {
			l.owner = m
			claimed = append(claimed, l)
		}
	}
	return claimed
}

// Jobs are those that the members of the crew have; those whose workers are away are under nil.
func (t *Leases) Jobs() map[*crew.Member][]web.Job {
	t.mu.Lock()
	defer t.mu.Unlock()
	jobs := map[*crew.Member][]web.Job{}
	for _, l := range t.byNumber {
		jobs[l.owner] = append(jobs[l.owner], web.Job{Sweep: l.run.ID, Number: l.job, Since: l.Since})
	}
	return jobs
}

// lend keeps a lease under a new number. It is false if the delivery is not needed: the job has got a result by now,
// or is in the queue twice and its other entry is leased.
func (t *Leases) lend(l *Lease) bool {
	l.run.mu.Lock()
	before := l.run.leases[l.job] // of the same entry, it has run out
	needed := !l.run.ledger.Done(l.job) && (before == nil || before.delivery.Entry() == l.delivery.Entry())
	if needed {
		l.run.lend(l, before)
	}
	l.run.mu.Unlock()
	if !needed {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if before != nil && before.owner != nil {
		before.owner.Lost()
	}
	t.number(l)
	return true
}

// forgotten says whether the queue delivers a job that a worker already has, with no note of having delivered it: its
// count of deliveries begins at 1 again. A full disk causes that, as notes cannot be written. The lease stays valid:
// what the queue hears about the earlier delivery counts for this one too.
func (r *Sweep) forgotten(d *engine.Delivery) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	held := r.leases[d.Job()]
	return held != nil && held.delivery.Entry() == d.Entry() && held.delivery.Attempt() >= d.Attempt()
}

// number keeps a lease under a new number. The caller holds mu.
func (t *Leases) number(l *Lease) {
	for l.ID == 0 || t.byNumber[l.ID] != nil {
		l.ID = rand.Uint64() // numbers of an earlier life, or of another coordinator, must not be met again
	}
	t.byNumber[l.ID] = l
}

// lend notes a lease, which may follow one that was lost. The caller holds mu.
func (r *Sweep) lend(l, lost *Lease) {
	r.leases[l.job] = l
	delete(r.copies, l.job) // their workers have not been heard of either
	if lost != nil {
		r.tallied.Lost++
		r.env.Counters.Lost.Inc()
		r.troubles.Lost(l.job, lost.worker)
	}
	if l.attempt > 1 {
		r.tallied.Retries++
		r.env.Counters.Again.Inc()
	}
	l.Since = time.Now()
	r.eta.Begun(l.Since, l.job, l.session)
}

// Settle takes a lease away, of a job that is done or is to be given back; nil if there is none of that number.
func (t *Leases) Settle(id uint64) *Lease {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.byNumber[id]
	delete(t.byNumber, id)
	return l
}

// Finished ends a lease whose job has a result.
func (t *Leases) Finished(l *Lease) {
	l.run.forget(l)
	l.end("")
	if err := l.delivery.Ack(); err != nil { // it comes again, and is known to be done
		t.env.Log.Debug("acknowledge", "sweep", l.run.ID, "job", l.job, "error", err)
	}
}

// GiveBack ends a lease whose job is still to be done, after a while, by whoever is free. A job that another worker has
// too, or that the engine has delivered again since because the lease ran out, is in other hands already.
func (t *Leases) GiveBack(l *Lease, wait time.Duration) {
	l.end("given back")
	if !l.run.forget(l) {
		return
	}
	if err := l.delivery.ReleaseAfter(wait); err != nil { // it comes again when the engine's lease runs out
		t.env.Log.Warn("give job back", "sweep", l.run.ID, "job", l.job, "error", err)
	}
	t.env.Home.Signal()
}

// Orphan gives the jobs of a session that has ended to others, after a while unless their worker comes back.
func (t *Leases) Orphan(m *crew.Member, grace time.Duration) (orphans int) {
	var left []*Lease
	t.mu.Lock()
	for _, l := range t.byNumber {
		if l.owner == m {
			l.owner = nil
			left = append(left, l)
		}
	}
	t.mu.Unlock()
	if len(left) == 0 {
		return 0
	}
	t.env.Go(func() error {
		select {
		case <-time.After(grace):
		case <-t.env.Context.Done():
			return nil
		}
		for _, l := range left {
			t.mu.Lock()
			lost := t.byNumber[l.ID] == l && l.owner == nil
			if lost {
				delete(t.byNumber, l.ID)
			}
			t.mu.Unlock()
			if lost {
				m.Lost()
				l.run.lose(l)
				t.GiveBack(l, l.run.troubles.Wait(l.job))
			}
		}
		return nil
	})
	return len(left)
}

// lose counts a lease whose worker is not heard of, unless another has taken its place: then it has been counted.
func (r *Sweep) lose(l *Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leases[l.job] == l || slices.Contains(r.copies[l.job], l) {
		r.tallied.Lost++
		r.env.Counters.Lost.Inc()
		r.troubles.Lost(l.job, l.worker)
	}
}

// forget ends a lease. It says whether nobody has the job any more; false too if the lease has been replaced.
func (r *Sweep) forget(l *Lease) (last bool) {
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

// dropLeases forgets which jobs workers have: what comes of them is refused.
func (r *Sweep) dropLeases() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for job, l := range r.leases {
		for _, l := range append(r.copies[job], l) {
			r.eta.Dropped(time.Now(), job, l.session)
		}
	}
	clear(r.leases)
	clear(r.copies)
	r.change()
}

// Kind of a job, as a label.
func Kind(score bool) string {
	if score {
		return "score"
	}
	return "infer"
}

// Wanted says whether a result of the lease's job is still of use.
func (l *Lease) Wanted() bool { return l.run.State() != store.Cancelled && !l.run.Done(l.job) }

// Extend makes the engine's lease last longer.
func (l *Lease) Extend(log hclog.Logger) {
	if err := l.delivery.InProgress(); err != nil {
		log.Warn("extend lease", "sweep", l.run.ID, "job", l.job, "error", err)
	}
}

// Of says why the lease is not for a job of a run. A lease of another life of the sweep is ended, and is nil then.
func (l *Lease) Of(run *Sweep, job int) (*Lease, error) {
	switch {
	case l == nil || l.run == run && l.job == job:
		return l, nil
	case l.run.ID == run.ID && l.job == job:
		l.end("not needed")
		return nil, nil
	}
	return l, fmt.Errorf("the lease is of job %d of sweep %s", l.job, l.run.ID)
}

// Elapsed is how long the worker has had the job.
func (l *Lease) Elapsed() time.Duration { return time.Since(l.Since) }
