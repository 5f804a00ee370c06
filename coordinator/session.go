package coordinator

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"foible/coordinator/engine"
	"foible/coordinator/service"
	foiblev1 "foible/proto/foible/v1"
)

// lease is a job that a worker has. The engine's lease is what counts; this one says whose heartbeats extend it.
type lease struct {
	id       uint64
	run      *sweepRun
	job      int
	delivery *engine.Delivery
	owner    *session // nil while its worker is away
}

// session is one connection of a worker.
type session struct {
	c    *Coordinator
	log  hclog.Logger
	host string

	mu       sync.Mutex // guards what follows
	slots    int
	busy     int // slots with a job
	draining bool
	freed    chan struct{} // holds a token when busy or draining has changed
}

// Join implements [service.Dispatcher].
func (c *Coordinator) Join(hello *foiblev1.Hello) (service.Session, error) {
	if hello.GetVersion() != c.cfg.Version {
		return nil, fmt.Errorf("%w: this coordinator is version %s, the worker %s; results of different versions are not mixed",
			service.ErrPrecondition, c.cfg.Version, hello.GetVersion())
	}
	if hello.GetSlots() < 1 || hello.GetSlots() > 1024 || hello.GetBusy() < 0 || hello.GetBusy() > hello.GetSlots() {
		return nil, fmt.Errorf("%w: %d slots, %d of them busy", service.ErrInvalid, hello.GetSlots(), hello.GetBusy())
	}
	s := &session{
		c: c, log: c.log.With("host", hello.GetHost()), host: hello.GetHost(),
		slots: int(hello.GetSlots()), busy: int(hello.GetBusy()), freed: make(chan struct{}, 1),
	}
	c.mu.Lock()
	c.slots[s] = s.slots
	c.mu.Unlock()
	s.log.Info("worker joined", "slots", s.slots, "busy", s.busy)
	return s, nil
}

// connected counts workers and their slots.
func (c *Coordinator) connected() (workers, slots int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.slots {
		slots += n
	}
	return len(c.slots), slots
}

func (c *Coordinator) slotCount() int {
	_, slots := c.connected()
	return slots
}

// Welcome implements [service.Session].
func (s *session) Welcome() *foiblev1.Welcome {
	return &foiblev1.Welcome{LeaseSeconds: s.c.cfg.Lease.Seconds()}
}

// Next implements [service.Session].
func (s *session) Next(ctx context.Context) (*foiblev1.Assign, error) {
	if err := s.acquire(ctx); err != nil {
		return nil, err
	}
	for {
		o, err := s.c.demand.take(ctx)
		if err != nil {
			return nil, err
		}
		assign, err := s.open(ctx, o)
		if err != nil {
			_ = o.delivery.Release()
			return nil, err
		}
		if assign != nil {
			return assign, nil
		}
	}
}

// acquire waits for a free slot and takes it.
func (s *session) acquire(ctx context.Context) error {
	for {
		s.mu.Lock()
		free := s.busy < s.slots && !s.draining
		if free {
			s.busy++
		}
		s.mu.Unlock()
		if free {
			return nil
		}
		select {
		case <-s.freed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *session) release() {
	s.mu.Lock()
	s.busy = max(0, s.busy-1)
	s.mu.Unlock()
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

// open makes an assignment of a job that has been fetched; nil if there is nothing to do.
func (s *session) open(ctx context.Context, o offer) (*foiblev1.Assign, error) {
	job := o.delivery.Job()
	if o.run.ended() || o.run.done(job) {
		return nil, o.delivery.Ack()
	}
	if attempt := o.delivery.Attempt(); attempt > s.c.cfg.MaxAttempts {
		reason := fmt.Sprintf("given out %d times without a result", attempt-1)
		if _, err := o.run.record(ctx, job, failed(reason)); err != nil {
			return nil, err
		}
		return nil, o.delivery.Ack()
	}
	assign, err := o.run.assign(ctx, job)
	if err != nil {
		return nil, err
	}
	if assign == nil {
		return nil, o.delivery.Ack()
	}
	assign.Attempt = int32(o.delivery.Attempt())
	assign.Lease = s.c.lend(&lease{run: o.run, job: job, delivery: o.delivery, owner: s})
	s.log.Debug("job given out", "sweep", o.run.id, "job", job, "attempt", assign.GetAttempt())
	return assign, nil
}

// lend keeps a lease under a new number.
func (c *Coordinator) lend(l *lease) uint64 {
	l.run.mu.Lock()
	l.run.leased++
	l.run.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	for l.id == 0 || c.leases[l.id] != nil {
		l.id = rand.Uint64() // numbers of an earlier life of the coordinator must not be met again
	}
	c.leases[l.id] = l
	return l.id
}

// settle takes a lease away; nil if there is none of that number.
func (c *Coordinator) settle(id uint64) *lease {
	c.mu.Lock()
	l := c.leases[id]
	delete(c.leases, id)
	c.mu.Unlock()
	if l != nil {
		l.run.mu.Lock()
		l.run.leased--
		l.run.mu.Unlock()
	}
	return l
}

// Heartbeat implements [service.Session]. A worker that has come back thereby takes its leases up again.
func (s *session) Heartbeat(ids []uint64) {
	var held []*lease
	s.c.mu.Lock()
	for _, id := range ids {
		if l := s.c.leases[id]; l != nil {
			l.owner = s
			held = append(held, l)
		}
	}
	s.c.mu.Unlock()
	for _, l := range held {
		if err := l.delivery.InProgress(); err != nil {
			s.log.Warn("extend lease", "sweep", l.run.id, "job", l.job, "error", err)
		}
	}
}

// Record implements [service.Session].
func (s *session) Record(ctx context.Context, m *foiblev1.Result) (*foiblev1.Recorded, error) {
	s.release()
	answer := &foiblev1.Recorded{SweepId: m.GetSweepId(), Job: m.GetJob(), Lease: m.GetLease()}
	job := int(m.GetJob())
	run, ok := s.c.run(m.GetSweepId())
	if !ok || job < 0 || job >= run.plan.Jobs() {
		answer.Verdict, answer.Reason = foiblev1.Verdict_VERDICT_REFUSED, "no such sweep or job here"
		return answer, nil
	}
	log := s.log.With("sweep", run.id, "job", job)
	l := s.c.settle(m.GetLease())
	giveBack := func() {
		if l != nil {
			if err := l.delivery.Release(); err != nil {
				log.Warn("give job back", "error", err)
			}
			s.c.demand.signal()
		}
	}

	result := m.GetResult()
	if !run.done(job) {
		verdict, reason, err := run.judge(ctx, job, result)
		if err != nil {
			return nil, err
		}
		if verdict != foiblev1.Verdict_VERDICT_RECORDED {
			log.Warn("job failed", "reason", reason)
			if !run.fail(job, reason) {
				giveBack()
				answer.Verdict, answer.Reason = verdict, reason
				return answer, nil
			}
			result = failed(reason)
		}
	}
	fresh, err := run.record(ctx, job, result)
	if err != nil {
		giveBack()
		return nil, err
	}
	answer.Verdict = foiblev1.Verdict_VERDICT_RECORDED
	if !fresh {
		answer.Verdict = foiblev1.Verdict_VERDICT_DUPLICATE
		log.Info("duplicate result refused")
	}
	if l != nil {
		if err := l.delivery.Ack(); err != nil { // it comes again, and is known to be done
			log.Debug("acknowledge", "error", err)
		}
	}
	return answer, nil
}

// Drain implements [service.Session].
func (s *session) Drain(released []uint64) {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	for _, id := range released {
		if l := s.c.settle(id); l != nil {
			_ = l.delivery.Release()
			s.release()
		}
	}
	s.c.demand.signal()
	s.log.Info("worker drains", "released", len(released))
}

// Leave implements [service.Session].
func (s *session) Leave() {
	s.c.mu.Lock()
	delete(s.c.slots, s)
	left := 0
	for _, l := range s.c.leases {
		if l.owner == s {
			l.owner = nil
			left++
			time.AfterFunc(s.c.cfg.Grace, func() { s.c.reclaim(l) })
		}
	}
	s.c.mu.Unlock()
	s.log.Info("worker left", "jobs_held", left)
}

// reclaim gives a job to another worker if its own has not come back.
func (c *Coordinator) reclaim(l *lease) {
	c.mu.Lock()
	orphan := c.leases[l.id] == l && l.owner == nil
	c.mu.Unlock()
	if orphan && c.ctx.Err() == nil && c.settle(l.id) != nil {
		_ = l.delivery.Release()
		c.demand.signal()
	}
}
