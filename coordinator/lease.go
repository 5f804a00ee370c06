package coordinator

import (
	"math/rand/v2"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"foible.dev/foible/coordinator/crew"
	"foible.dev/foible/coordinator/engine"
)

// lease is a job that a worker has. The engine's lease is what counts; this one says whose heartbeats extend it.
type lease struct {
	id       uint64
	run      *sweepRun
	job      int
	since    time.Time
	delivery *engine.Delivery
	attempt  int // how often the job has been given out, with this time
	span     trace.Span
	fits     []expectedFit // what is known of the fits of a score job
	worker   string        // id of the one that it was given to
	session  uint64        // number of the connection by which it was given out
	owner    *crew.Member  // nil while its worker is away; guarded by Coordinator.mu

	copies int       // how often the job was given to another worker because it took too long; guarded by the sweep's mu
	copied time.Time // when last
}

// lend keeps a lease under a new number. It is false if the delivery is not needed: the job has got a result by now,
// or is in the queue twice and its other entry is leased.
func (c *Coordinator) lend(l *lease) bool {
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
	c.mu.Lock()
	defer c.mu.Unlock()
	if before != nil && before.owner != nil {
		before.owner.Lost()
	}
	c.number(l)
	return true
}

// forgotten says whether a delivery is of a job that a worker has, and that the queue has forgotten to have given out: it
// counts deliveries from 1 again. So it is after a full disk, where it could not note them. The lease stands: what is said
// of the earlier delivery holds of this one.
func (r *sweepRun) forgotten(d *engine.Delivery) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	held := r.leases[d.Job()]
	return held != nil && held.delivery.Entry() == d.Entry() && held.delivery.Attempt() >= d.Attempt()
}

// number keeps a lease under a new number. The caller holds mu.
func (c *Coordinator) number(l *lease) {
	for l.id == 0 || c.leases[l.id] != nil {
		l.id = rand.Uint64() // numbers of an earlier life, or of another coordinator, must not be met again
	}
	c.leases[l.id] = l
}

// lend notes a lease, which may follow one that was lost. The caller holds mu.
func (r *sweepRun) lend(l, lost *lease) {
	r.leases[l.job] = l
	delete(r.copies, l.job) // their workers have not been heard of either
	if lost != nil {
		r.tallied.Lost++
		r.c.metrics.lost.Inc()
		r.troubles.Lost(l.job, lost.worker)
	}
	if l.attempt > 1 {
		r.tallied.Retries++
		r.c.metrics.again.Inc()
	}
	l.since = time.Now()
	r.eta.Begun(l.since, l.job, l.session)
}

// settle takes a lease away, of a job that is done or is to be given back; nil if there is none of that number.
func (c *Coordinator) settle(id uint64) *lease {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.leases[id]
	delete(c.leases, id)
	return l
}

// finished ends a lease whose job has a result.
func (c *Coordinator) finished(l *lease) {
	l.run.forget(l)
	l.end("")
	if err := l.delivery.Ack(); err != nil { // it comes again, and is known to be done
		c.log.Debug("acknowledge", "sweep", l.run.id, "job", l.job, "error", err)
	}
}

// giveBack ends a lease whose job is still to be done, after a while, by whoever is free. A job that another worker has
// too, or that the engine has given out again since because the lease ran out, is in other hands already.
func (c *Coordinator) giveBack(l *lease, wait time.Duration) {
	l.end("given back")
	if !l.run.forget(l) {
		return
	}
	if err := l.delivery.ReleaseAfter(wait); err != nil { // it comes again when the engine's lease runs out
		c.log.Warn("give job back", "sweep", l.run.id, "job", l.job, "error", err)
	}
	c.demand.Signal()
}

// orphan gives the jobs of a session that has ended to others, after a while unless their worker comes back.
func (c *Coordinator) orphan(m *crew.Member, grace time.Duration) (orphans int) {
	var left []*lease
	c.mu.Lock()
	for _, l := range c.leases {
		if l.owner == m {
			l.owner = nil
			left = append(left, l)
		}
	}
	c.mu.Unlock()
	if len(left) == 0 {
		return 0
	}
	c.background.Go(func() error {
		select {
		case <-time.After(grace):
		case <-c.ctx.Done():
			return nil
		}
		for _, l := range left {
			c.mu.Lock()
			lost := c.leases[l.id] == l && l.owner == nil
			if lost {
				delete(c.leases, l.id)
			}
			c.mu.Unlock()
			if lost {
				m.Lost()
				l.run.lose(l)
				c.giveBack(l, l.run.troubles.Wait(l.job))
			}
		}
		return nil
	})
	return len(left)
}

// lose counts a lease whose worker is not heard of, unless another has taken its place: then it has been counted.
func (r *sweepRun) lose(l *lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leases[l.job] == l || slices.Contains(r.copies[l.job], l) {
		r.tallied.Lost++
		r.c.metrics.lost.Inc()
		r.troubles.Lost(l.job, l.worker)
	}
}
