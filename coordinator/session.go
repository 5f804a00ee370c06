package coordinator

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/hashicorp/go-hclog"

	"foible.dev/foible/coordinator/crew"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/replica"
	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/store"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// session is one connection of a worker.
type session struct {
	c      *Coordinator
	log    hclog.Logger
	member *crew.Member
	offers []offer // fetched, not yet opened; Next alone touches them

	freed chan struct{} // holds a token when a slot may have become free

	mu      sync.Mutex          // guards what follows
	held    map[uint64]struct{} // leases that occupy a slot
	unnamed int                 // slots that Hello said are occupied, until the first heartbeat names the leases
	vacated map[uint64]struct{} // leases that came to an end before that; then nil
}

// Join implements [service.Dispatcher].
func (c *Coordinator) Join(hello *foiblev1.Hello) (service.Session, error) {
	if hello.GetVersion() != c.cfg.Version {
		return nil, fmt.Errorf("%w: this coordinator is version %s, the worker %s; results of different versions are not mixed",
			service.ErrPrecondition, c.cfg.Version, hello.GetVersion())
	}
	if hello.GetSlots() < 1 || hello.GetSlots() > 1024 || hello.GetBusy() < 0 {
		return nil, fmt.Errorf("%w: %d slots, %d of them busy", service.ErrInvalid, hello.GetSlots(), hello.GetBusy())
	}
	s := &session{
		c: c, log: c.log.With("host", hello.GetHost()),
		held: map[uint64]struct{}{}, unnamed: int(hello.GetBusy()), vacated: map[uint64]struct{}{},
		freed: make(chan struct{}, 1),
	}
	c.mu.Lock() // a sweep that is added at this moment hears of the worker once
	s.member = c.crew.Join(cmp.Or(hello.GetWorkerId(), rand.Text()), hello.GetHost(), int(hello.GetSlots()))
	for _, run := range c.sweeps {
		run.joined(s.member)
		run.troubles.CameBack(s.member.ID)
	}
	c.mu.Unlock()
	c.tellOthers()
	s.log.Info("worker joined", "slots", s.member.Slots, "busy", hello.GetBusy())
	return s, nil
}

// joined tells the sweep of a worker that has come.
func (r *sweepRun) joined(m *crew.Member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.eta.Joined(time.Now(), m.Number, m.Slots)
}

// left tells the sweep of a worker that has gone.
func (r *sweepRun) left(m *crew.Member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.eta.Left(time.Now(), m.Number)
}

// connectedAnywhere counts those of the other coordinators too.
func (c *Coordinator) connectedAnywhere() (workers, slots int) {
	workers, slots = c.crew.Connected()
	moreWorkers, moreSlots, _ := c.others.Sum("")
	return workers + moreWorkers, slots + moreSlots
}

// slotsElsewhere counts the slots of workers of the other coordinators.
func (c *Coordinator) slotsElsewhere() int {
	_, slots, _ := c.others.Sum("")
	return slots
}

// Welcome implements [service.Session].
func (s *session) Welcome() *foiblev1.Welcome {
	return &foiblev1.Welcome{LeaseSeconds: s.c.cfg.Lease.Seconds()}
}

// Next implements [service.Session].
func (s *session) Next(ctx context.Context) (*foiblev1.Assign, error) {
	for {
		if len(s.offers) == 0 {
			free, err := s.free(ctx)
			if err != nil {
				return nil, err
			}
			s.offers = s.c.demand.Take(ctx, s, free)
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
		case err == nil, errors.Is(err, errCancelled):
		case errors.Is(err, engine.ErrStalled): // until there are jobs again
			s.putBack(append(s.offers, o)...)
			s.offers = nil
		case ctx.Err() != nil:
			s.putBack(o)
		default: // the worker has no part in it
			o.cannotMake(err)
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

// putBack returns jobs that were not given out.
func (s *session) putBack(offers ...offer) {
	for _, o := range offers {
		_ = o.release(0)
	}
	s.c.demand.Signal()
}

// open makes an assignment of a job that has been fetched; nil if there is nothing to do.
func (s *session) open(ctx context.Context, o offer) (*foiblev1.Assign, error) {
	job, attempt := o.delivery.Job(), o.attempt()
	switch state := o.run.now(); {
	case state == store.Cancelled || o.run.isDiscarded(): // its queue is gone
		return nil, nil
	case state == store.Paused:
		return nil, o.release(0)
	case o.run.ended() || o.run.done(job):
		return nil, o.delivery.Ack()
	}
	if o.overdue == nil && o.run.forgotten(o.delivery) { // one that is overdue is of the lease's own delivery
		return nil, nil
	}
	if wait := o.run.troubles.Wait(job); wait > 0 {
		return nil, o.release(wait)
	}
	if reason := o.run.troubles.Hopeless(job); reason != "" {
		if _, err := o.run.record(ctx, job, failed(reason), arrival{}); err != nil {
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
	l := &lease{run: o.run, job: job, delivery: o.delivery, attempt: attempt, fits: fits, worker: s.member.ID, session: s.member.Number, owner: s.member}
	l.begin(s.c.tracer, assign)
	switch {
	case o.overdue != nil && !s.c.lendCopy(l, o.overdue):
		l.end("not needed")
		return nil, nil
	case o.overdue == nil && !s.c.lend(l):
		l.end("not needed")
		return nil, o.delivery.Ack()
	}
	s.mu.Lock()
	s.held[l.id] = struct{}{}
	s.mu.Unlock()
	s.member.Given()
	assign.Attempt, assign.Lease, assign.LastTry = int32(attempt), l.id, o.run.troubles.LastTry(job, s.member.ID)
	s.c.metrics.given.Inc()
	s.log.Debug("job sent", "sweep", o.run.id, "job", job, "attempt", attempt)
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
	var kept []*lease
	s.member.Heard()
	s.c.mu.Lock()
	for _, id := range ids {
		if l := s.c.leases[id]; l != nil {
			l.owner = s.member
			kept = append(kept, l)
		}
	}
	s.c.mu.Unlock()
	for _, l := range kept {
		if l.run.now() == store.Cancelled || l.run.done(l.job) {
			unwanted = append(unwanted, l.id)
		} else if err := l.delivery.InProgress(); err != nil {
			s.log.Warn("extend lease", "sweep", l.run.id, "job", l.job, "error", err)
		}
	}
	return unwanted
}

// Record implements [service.Session].
func (s *session) Record(ctx context.Context, m *foiblev1.Result) (answer *foiblev1.Recorded, err error) {
	result := m.GetResult()
	defer func() {
		if err == nil {
			s.c.metrics.results.WithLabelValues(outcome(answer.GetVerdict(), result)).Inc()
		}
	}()
	left := ctx.Done()
	ctx = context.WithoutCancel(ctx) // what is done with it goes on when the worker leaves
	s.answers()
	s.vacate(m.GetLease())
	answer = &foiblev1.Recorded{SweepId: m.GetSweepId(), Job: m.GetJob(), Lease: m.GetLease()}
	l := s.c.settle(m.GetLease())
	done := false          // the job needs nobody else
	var wait time.Duration // else it waits for so long until it is tried again
	defer func() {
		switch {
		case l == nil:
		case done:
			s.c.finished(l)
		default:
			s.c.giveBack(l, wait)
		}
	}()
	job := int(m.GetJob())
	run, ok := s.c.run(m.GetSweepId())
	if !ok {
		run, ok = s.c.find(ctx, m.GetSweepId())
	}
	if !ok {
		answer.Verdict, answer.Reason, err = s.c.tooLate(ctx, m.GetSweepId())
		return answer, err
	}
	if job < 0 || job >= run.plan.Jobs() {
		answer.Verdict, answer.Reason = foiblev1.Verdict_VERDICT_REFUSED, noSuchJob
		return answer, nil
	}
	if l != nil && l.run != run && l.run.id == run.id && l.job == job { // of another life of the sweep
		l.end("not needed")
		l = nil
	}
	if l != nil && (l.run != run || l.job != job) {
		answer.Verdict = foiblev1.Verdict_VERDICT_REFUSED
		answer.Reason = fmt.Sprintf("the lease is of job %d of sweep %s", l.job, l.run.id)
		return answer, nil
	}
	log := s.log.With("sweep", run.id, "job", job)

	if run.done(job) {
		run.tally(func(t *replica.Tally) { t.Duplicates++ })
		done = true
		answer.Verdict = foiblev1.Verdict_VERDICT_DUPLICATE
		log.Debug("duplicate result refused")
		return answer, nil
	}
	if err := run.complete(ctx, job, result); err != nil {
		return nil, err
	}
	verdict, reason, err := run.judge(ctx, l, job, result)
	if err != nil {
		return nil, err
	}
	if verdict != foiblev1.Verdict_VERDICT_RECORDED {
		failure := &foiblev1.Failure{Reason: printable(reason), Kind: result.GetFailure().GetKind()}
		var final bool
		if final, wait = s.failed(run, job, l, failure, log); !final {
			answer.Verdict, answer.Reason = verdict, reason
			return answer, nil
		}
		result = &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Failure{Failure: failure}}
	}
	again, different := run.secondOpinion(s, l, job, result)
	if again {
		answer.Verdict = foiblev1.Verdict_VERDICT_AGAIN
		s.succeed()
		return answer, nil
	}
	if different != nil {
		log.Error("two computations of one job differ", "difference", different)
		result = failed(different.Error())
	}
	fresh, err := run.record(ctx, job, result, arrival{l, left})
	if errors.Is(err, errCancelled) {
		answer.Verdict, answer.Reason = foiblev1.Verdict_VERDICT_REFUSED, err.Error()
		return answer, nil
	}
	if err != nil {
		return nil, err
	}
	done = true
	answer.Verdict = foiblev1.Verdict_VERDICT_RECORDED
	if !fresh {
		answer.Verdict = foiblev1.Verdict_VERDICT_DUPLICATE
		log.Debug("duplicate result refused")
		return answer, nil
	}
	s.member.Recorded()
	if result.GetFailure() == nil {
		s.succeed()
	}
	if l != nil {
		s.c.metrics.duration.WithLabelValues(kind(run.job(job).Score)).Observe(time.Since(l.since).Seconds())
	}
	return answer, nil
}

// noSuchJob is why a result is refused that is of nothing here.
const noSuchJob = "no such sweep or job here"

// tooLate says what becomes of a result of a sweep that is not in memory.
func (c *Coordinator) tooLate(ctx context.Context, id string) (foiblev1.Verdict, string, error) {
	spec, _, err := c.store.Sweep(ctx, id)
	switch {
	case errors.Is(err, service.ErrNotFound), errors.Is(err, store.ErrRecordDamaged), errors.Is(err, service.ErrInvalid):
	case err != nil:
		return 0, "", err
	case spec.GetState() == store.Cancelled:
		return foiblev1.Verdict_VERDICT_REFUSED, errCancelled.Error(), nil
	case !store.Unended(spec.GetState()): // so that every job has a result
		return foiblev1.Verdict_VERDICT_DUPLICATE, "", nil
	}
	return foiblev1.Verdict_VERDICT_REFUSED, noSuchJob, nil
}

// maxReason bounds the reason of a failure, in bytes.
const maxReason = 2000

// printable is what a worker says, without what a terminal would obey, and not too long.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return text
}

// failed says what becomes of a failure that the worker reports, or of a wrong answer: it is recorded, or the job waits
// for a while before it is tried again. The lease is nil if the worker has none.
func (s *session) failed(run *sweepRun, job int, l *lease, f *foiblev1.Failure, log hclog.Logger) (final bool, wait time.Duration) {
	if f.GetKind() == foiblev1.FailureKind_FAILURE_KIND_COMPUTATION {
		log.Info("job cannot be done", "reason", f.GetReason())
		return true, 0
	}
	if l == nil { // it has been counted: it is sent again, or of a job given to another
		return false, 0
	}
	unknown := f.GetKind() == foiblev1.FailureKind_FAILURE_KIND_UNSPECIFIED
	final, wait = run.troubles.Fail(job, s.member.ID, unknown, f.GetReason())
	run.touch()
	switch {
	case !run.troubles.Warns(f.GetReason()):
		log.Debug("job failed", "reason", f.GetReason(), "final", final)
	case final:
		log.Warn("job failed for good", "reason", f.GetReason())
	default:
		log.Warn("job failed and is tried again", "reason", f.GetReason())
	}
	if aside, failures := s.member.Strike(l.since, unknown, f.GetReason()); aside > 0 {
		s.log.Warn("worker keeps failing and is set aside", "for", aside.String(), "failures", failures, "last", f.GetReason())
		s.c.tellRuns()
	}
	return final, wait
}

// succeed notes that the worker has done a job.
func (s *session) succeed() {
	if s.member.Succeed() {
		s.log.Info("worker does jobs again")
		s.c.tellRuns()
	}
}

// answers notes that the worker has sent a result.
func (s *session) answers() {
	if s.member.Answered() {
		s.log.Info("worker sends results again")
		s.c.tellRuns()
	}
}

// tellRuns lets those who watch sweeps look again.
func (c *Coordinator) tellRuns() {
	for _, run := range c.taken() {
		run.touch()
	}
}

// Drain implements [service.Session].
func (s *session) Drain(released []uint64) {
	s.member.Drain()
	for _, id := range released {
		s.vacate(id)
		if l := s.c.settle(id); l != nil {
			s.c.giveBack(l, 0)
		}
	}
	s.log.Info("worker drains", "released", len(released))
}

// Leave implements [service.Session].
func (s *session) Leave(handedBack bool) {
	s.c.mu.Lock()
	s.member.Leave()
	for _, run := range s.c.sweeps {
		run.left(s.member)
	}
	s.c.mu.Unlock()
	s.c.tellOthers()
	grace := s.c.cfg.Grace
	if handedBack {
		grace = 0 // what is left is a job that it never saw
	}
	s.log.Info("worker left", "jobs_held", s.c.orphan(s.member, grace))
}
