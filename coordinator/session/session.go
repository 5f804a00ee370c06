// Package session is the coordinator's side of a worker's connection. A [Dispatcher] admits workers; a session waits for jobs
// as long as its worker has free slots, takes the results, and gives the jobs of a worker that has left to others.
package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	foiblev1 "foible.dev/foible/proto/foible/v1"

	"github.com/hashicorp/go-hclog"

	"foible.dev/foible/coordinator/active"
	"foible.dev/foible/coordinator/answer"
	"foible.dev/foible/coordinator/crew"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/schedule"
	"foible.dev/foible/coordinator/service"
)

// Dispatcher admits workers. It implements [service.Dispatcher].
type Dispatcher struct {
	Home    Home
	Leases  *active.Leases
	Demand  *schedule.Demand[active.Offer]
	Metrics *Metrics
	Log     hclog.Logger

	Version string        // must be that of the workers
	Lease   time.Duration // how long a job that is not heard of stays with its worker
	Grace   time.Duration // how long the jobs of a broken connection wait for their worker to come back
}

// Home is what a session asks of its coordinator.
type Home interface {
	// Join adds a connection of a worker to the crew, and tells the sweeps of it.
	Join(id, host string, slots int) *crew.Member
	// Leave removes it.
	Leave(m *crew.Member)
	// Sweep finds a sweep that has been taken up, here or, by now, by another coordinator.
	Sweep(ctx context.Context, id string) (*active.Sweep, bool)
	// TooLate says what becomes of a result of a sweep that is not in memory.
	TooLate(ctx context.Context, id string) (foiblev1.Verdict, string, error)
	// Touch lets those who watch sweeps look again.
	Touch()
}

// session is one connection of a worker.
type session struct {
	dispatcher *Dispatcher
	log        hclog.Logger
	member     *crew.Member
	offers     []active.Offer // fetched, not yet opened; only Next touches them

	freed chan struct{} // holds a token when a slot may have become free

	mu      sync.Mutex          // guards what follows
	held    map[uint64]struct{} // leases that occupy a slot
	unnamed int                 // slots that Hello said are occupied, until the first heartbeat names the leases
	vacated map[uint64]struct{} // leases that came to an end before that; then nil
}

// Join implements [service.Dispatcher].
func (d *Dispatcher) Join(hello *foiblev1.Hello) (service.Session, error) {
	if hello.GetVersion() != d.Version {
		return nil, fmt.Errorf("%w: this coordinator is version %s, the worker %s; results of different versions are not mixed",
			service.ErrPrecondition, d.Version, hello.GetVersion())
	}
	if hello.GetSlots() < 1 || hello.GetSlots() > 1024 || hello.GetBusy() < 0 {
		return nil, fmt.Errorf("%w: %d slots, %d of them busy", service.ErrInvalid, hello.GetSlots(), hello.GetBusy())
	}
	s := &session{
		dispatcher: d, log: d.Log.With("host", hello.GetHost()),
		member: d.Home.Join(cmp.Or(hello.GetWorkerId(), rand.Text()), hello.GetHost(), int(hello.GetSlots())),
		held:   map[uint64]struct{}{}, unnamed: int(hello.GetBusy()), vacated: map[uint64]struct{}{},
		freed: make(chan struct{}, 1),
	}
	s.log.Info("worker joined", "slots", s.member.Slots, "busy", hello.GetBusy())
	return s, nil
}

// Welcome implements [service.Session].
func (s *session) Welcome() *foiblev1.Welcome {
	return &foiblev1.Welcome{LeaseSeconds: s.dispatcher.Lease.Seconds()}
}

// Next implements [service.Session].
func (s *session) Next(ctx context.Context) (*foiblev1.Assign, error) {
	for {
		if len(s.offers) == 0 {
			free, err := s.free(ctx)
			if err != nil {
				return nil, err
			}
			s.offers = s.dispatcher.Demand.Take(ctx, s, free)
			continue
		}
		o := s.offers[0]
		s.offers = s.offers[1:]
		if n, _ := s.member.Allowed(1, 0); n == 0 || ctx.Err() != nil || s.member.IsDraining() {
			s.putBack(o)
			continue
		}
		assign, err := s.open(ctx, o)
		switch {
		case err == nil && assign != nil:
			return assign, nil
		case err == nil, errors.Is(err, active.ErrCancelled):
		case errors.Is(err, engine.ErrStalled): // until there are jobs again
			s.putBack(append(s.offers, o)...)
			s.offers = nil
		case ctx.Err() != nil:
			s.putBack(o)
		default: // the coordinator cannot make the job, which is not the worker's fault
			o.CannotMake(err)
		}
	}
}

// free waits until there are free slots, and counts them.
func (s *session) free(ctx context.Context) (int, error) {
	for {
		s.mu.Lock()
		held := len(s.held) + s.unnamed
		s.mu.Unlock()
		n, again := s.member.Allowed(s.member.Slots-held, held)
		if n > 0 && !s.member.IsDraining() {
			return n, context.Cause(ctx)
		}
		var allowed <-chan time.Time // nil: when a slot is free
		if again > 0 {
			allowed = time.After(again)
		}
		select {
		case <-s.freed:
		case <-allowed:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// putBack returns jobs that were not sent.
func (s *session) putBack(offers ...active.Offer) {
	for _, o := range offers {
		_ = o.Release(0)
	}
	s.dispatcher.Demand.Signal()
}

// open makes an assignment of a job that has been fetched; nil if there is nothing to do.
func (s *session) open(ctx context.Context, o active.Offer) (*foiblev1.Assign, error) {
	assign, err := o.Open(ctx, s.member, s.dispatcher.Leases)
	if assign == nil || err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.held[assign.GetLease()] = struct{}{}
	s.mu.Unlock()
	s.member.Given()
	s.dispatcher.Metrics.given.Inc()
	s.log.Debug("job sent", "sweep", assign.GetSweepId(), "job", assign.GetJob(), "attempt", assign.GetAttempt())
	return assign, nil
}

// vacate frees the slot of a lease. One of an earlier connection that no heartbeat has named frees one of the
// unnamed; one that has been vacated already frees nothing.
func (s *session) vacate(id uint64) {
	s.mu.Lock()
	if _, ok := s.held[id]; ok {
		delete(s.held, id)
	} else if s.unnamed > 0 {
		s.unnamed--
	}
	if s.vacated != nil {
		s.vacated[id] = struct{}{}
	}
	s.mu.Unlock()
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

// Heartbeat implements [service.Session]. By the first one, a worker that has come back takes its leases up again.
func (s *session) Heartbeat(ids []uint64) (unwanted []uint64) {
	s.mu.Lock()
	if s.vacated != nil {
		for _, id := range ids {
			if _, gone := s.vacated[id]; !gone {
				s.held[id] = struct{}{}
			}
		}
		s.unnamed, s.vacated = 0, nil
	}
	s.mu.Unlock()
	s.member.Heard()
	for _, l := range s.dispatcher.Leases.Claim(ids, s.member) {
		if l.Wanted() {
			l.Extend(s.log)
		} else {
			unwanted = append(unwanted, l.ID)
		}
	}
	return unwanted
}

// Record implements [service.Session].
func (s *session) Record(ctx context.Context, m *foiblev1.Result) (*foiblev1.Recorded, error) {
	s.answers()
	s.vacate(m.GetLease())
	r := &received{
		session: s, result: m.GetResult(), left: ctx.Done(), lease: s.dispatcher.Leases.Settle(m.GetLease()),
		answer: &foiblev1.Recorded{SweepId: m.GetSweepId(), Job: m.GetJob(), Lease: m.GetLease()},
	}
	err := r.take(context.WithoutCancel(ctx)) // what is done with it goes on when the worker leaves
	switch {
	case r.lease == nil:
	case r.done:
		s.dispatcher.Leases.Finished(r.lease)
	default:
		s.dispatcher.Leases.GiveBack(r.lease, r.wait)
	}
	if err != nil {
		return nil, err
	}
	s.dispatcher.Metrics.results.WithLabelValues(outcome(r.answer.GetVerdict(), r.result)).Inc()
	return r.answer, nil
}

// received is a result that a worker has sent.
type received struct {
	session *session
	lease   *active.Lease // nil if the worker has none
	result  *foiblev1.JobResult
	left    <-chan struct{} // closed when the worker leaves
	answer  *foiblev1.Recorded

	done bool          // the job needs nobody else
	wait time.Duration // else it waits for so long until it is tried again
}

// refuse makes the answer that a result is refused, and why.
func (r *received) refuse(reason string) {
	r.answer.Verdict, r.answer.Reason = foiblev1.Verdict_VERDICT_REFUSED, reason
}

// take finds the job of the result, and records the result if that is to be done. Its error is of the store.
func (r *received) take(ctx context.Context) (err error) {
	home, id, job := r.session.dispatcher.Home, r.answer.GetSweepId(), int(r.answer.GetJob())
	run, ok := home.Sweep(ctx, id)
	if !ok {
		r.answer.Verdict, r.answer.Reason, err = home.TooLate(ctx, id)
		return err
	}
	if job < 0 || job >= run.Plan.Jobs() {
		r.refuse(NoSuchJob)
		return nil
	}
	var other error
	if r.lease, other = r.lease.Of(run, job); other != nil {
		r.refuse(other.Error())
		return nil
	}
	if run.Done(job) {
		run.Duplicate()
		r.duplicate(run, job)
		return nil
	}
	return r.record(ctx, run, job)
}

// duplicate makes the answer that the job has a result.
func (r *received) duplicate(run *active.Sweep, job int) {
	r.done = true
	r.answer.Verdict = foiblev1.Verdict_VERDICT_DUPLICATE
	r.session.log.Debug("duplicate result refused", "sweep", run.ID, "job", job)
}

// record judges a result of a job that has none, and records it, or what is to be recorded instead.
func (r *received) record(ctx context.Context, run *active.Sweep, job int) error {
	s, log := r.session, r.session.log.With("sweep", run.ID, "job", job)
	if err := run.Complete(ctx, job, r.result); err != nil {
		return err
	}
	verdict, reason, err := run.Judge(ctx, r.lease, job, r.result)
	if err != nil {
		return err
	}
	if verdict != foiblev1.Verdict_VERDICT_RECORDED {
		failure := &foiblev1.Failure{Reason: answer.Printable(reason), Kind: r.result.GetFailure().GetKind()}
		var final bool
		if final, r.wait = s.failed(run, job, r.lease, failure, log); !final {
			r.answer.Verdict, r.answer.Reason = verdict, reason
			return nil
		}
		r.result = &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Failure{Failure: failure}}
	}
	again, different := run.SecondOpinion(s.member, r.lease, job, r.result)
	if again {
		r.answer.Verdict = foiblev1.Verdict_VERDICT_AGAIN
		s.succeed()
		return nil
	}
	if different != nil {
		log.Error("two computations of one job differ", "difference", different)
		r.result = answer.FailedResult(different.Error())
	}
	fresh, err := run.Record(ctx, job, r.result, active.Arrival{Lease: r.lease, Left: r.left})
	switch {
	case errors.Is(err, active.ErrCancelled):
		r.refuse(err.Error())
		return nil
	case err != nil:
		return err
	case !fresh:
		r.duplicate(run, job)
		return nil
	}
	r.done = true
	r.answer.Verdict = foiblev1.Verdict_VERDICT_RECORDED
	s.member.Recorded()
	if r.result.GetFailure() == nil {
		s.succeed()
	}
	if r.lease != nil {
		s.dispatcher.Metrics.duration.WithLabelValues(active.Kind(run.Job(job).Score)).Observe(r.lease.Elapsed().Seconds())
	}
	return nil
}

// NoSuchJob is why a result is refused that is of nothing here.
const NoSuchJob = "no such sweep or job here"

// failed says what becomes of a failure that the worker reports, or of a wrong answer: it is recorded, or the job waits
// for a while before it is tried again. The lease is nil if the worker has none.
func (s *session) failed(run *active.Sweep, job int, l *active.Lease, f *foiblev1.Failure, log hclog.Logger) (final bool, wait time.Duration) {
	if f.GetKind() == foiblev1.FailureKind_FAILURE_KIND_COMPUTATION {
		log.Info("job cannot be done", "reason", f.GetReason())
		return true, 0
	}
	if l == nil { // it has been counted: it is sent again, or of a job given to another
		return false, 0
	}
	unknown := f.GetKind() == foiblev1.FailureKind_FAILURE_KIND_UNSPECIFIED
	final, wait, warns := run.Fail(job, s.member.ID, unknown, f.GetReason())
	switch {
	case !warns:
		log.Debug("job failed", "reason", f.GetReason(), "final", final)
	case final:
		log.Warn("job failed for good", "reason", f.GetReason())
	default:
		log.Warn("job failed and is tried again", "reason", f.GetReason())
	}
	if aside, failures := s.member.Strike(l.Since, unknown, f.GetReason()); aside > 0 {
		s.log.Warn("worker keeps failing and is set aside", "for", aside.String(), "failures", failures, "last", f.GetReason())
		s.dispatcher.Home.Touch()
	}
	return final, wait
}

// succeed notes that the worker has done a job.
func (s *session) succeed() {
	if s.member.Succeed() {
		s.log.Info("worker does jobs again")
		s.dispatcher.Home.Touch()
	}
}

// answers notes that the worker has sent a result.
func (s *session) answers() {
	if s.member.Answered() {
		s.log.Info("worker sends results again")
		s.dispatcher.Home.Touch()
	}
}

// Drain implements [service.Session].
func (s *session) Drain(released []uint64) {
	s.member.Drain()
	for _, id := range released {
		s.vacate(id)
		if l := s.dispatcher.Leases.Settle(id); l != nil {
			s.dispatcher.Leases.GiveBack(l, 0)
		}
	}
	s.log.Info("worker drains", "released", len(released))
}

// Leave implements [service.Session].
func (s *session) Leave(handedBack bool) {
	s.dispatcher.Home.Leave(s.member)
	grace := s.dispatcher.Grace
	if handedBack {
		grace = 0 // what is left is a job that it never saw
	}
	s.log.Info("worker left", "jobs_held", s.dispatcher.Leases.Orphan(s.member, grace))
}

// ID is that of the worker.
func (s *session) ID() string { return s.member.ID }

// Takes says whether the worker may have a job: it does not have it already, and the job is not kept for others.
func (s *session) Takes(o active.Offer) bool { return o.Takes(s.member.ID) }

// Open is how many of its free slots may be given jobs now.
func (s *session) Open(free int) int {
	n, _ := s.member.Allowed(free, 0)
	return n
}

// Draining is closed when the worker takes no more jobs.
func (s *session) Draining() <-chan struct{} { return s.member.Draining() }
