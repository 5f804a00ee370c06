package active

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// A worker may send heartbeats and not get on with a job: the computation does not end, or the machine hardly runs. Such
// a job is overdue some time after it was sent, and another worker gets it too as soon as it has a slot for which
// the queue has nothing else. Both may go on. The first result stands, the other is a duplicate.

const (
	// overdueInterval is the time between two looks for overdue jobs.
	overdueInterval = time.Second
	// SendInterval is the time between two looks for those that only other coordinators have slots for.
	SendInterval = 5 * time.Second
	// maxDoublings bounds how long the deadline of a job becomes.
	maxDoublings = 16
)

// deadline is how long a job may take before another worker gets it too, from when that happened last. It doubles each
// time. The caller holds mu.
func (r *Sweep) deadline(l *Lease) time.Duration {
	d := r.env.JobDeadline
	if d == 0 {
		d = r.eta.Limit(l.job)
	}
	return d << min(l.copies, maxDoublings)
}

// late returns the leases of overdue jobs, the oldest first, if they are so for some time. The caller
// holds mu.
func (r *Sweep) late(now time.Time, by time.Duration) []*Lease {
	var late []*Lease
	for _, l := range r.leases {
		begun := l.Since
		if l.copies > 0 {
			begun = l.copied
		}
		if now.Sub(begun) >= r.deadline(l)+by {
			late = append(late, l)
		}
	}
	slices.SortFunc(late, func(a, b *Lease) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.job, b.job)) })
	return late
}

// overdue returns offers of at most n overdue jobs, the oldest first. Each counts as sent by
// them, unless it is withdrawn.
func (r *Sweep) overdue(n int) []Offer {
	r.mu.Lock()
	now := time.Now()
	if now.Sub(r.lookedOver) < overdueInterval {
		r.mu.Unlock()
		return nil
	}
	r.lookedOver = now
	var offers []Offer
	for _, l := range r.late(now, 0) {
		o := Offer{run: r, delivery: l.delivery, overdue: l, holders: []string{l.worker}}
		for _, copied := range r.copies[l.job] {
			o.holders = append(o.holders, copied.worker)
		}
		offers = append(offers, o)
	}
	r.mu.Unlock()
	offers = slices.DeleteFunc(offers, func(o Offer) bool { return !r.env.Home.Free(o.holders) })
	offers = offers[:min(n, len(offers))]

	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range offers {
		o.overdue.copies++
		o.overdue.copied = now
	}
	return offers
}

// SendOverdue puts overdue jobs, for which no worker of this coordinator has had a slot, into the queue once more, for
// the workers of the others.
func (r *Sweep) SendOverdue(ctx context.Context) {
	r.mu.Lock()
	now := time.Now()
	var jobs []int
	for _, l := range r.late(now, SendInterval) {
		l.copies++
		l.copied = now
		jobs = append(jobs, l.job)
	}
	r.mu.Unlock()
	if len(jobs) == 0 {
		return
	}
	r.env.Log.Warn("jobs take too long; they are in the queue for other coordinators too", "sweep", r.ID, "jobs", len(jobs))
	if err := r.env.Store.Requeue(ctx, r.ID, jobs); err != nil && ctx.Err() == nil { // they are late again in a while
		r.env.Log.Error("queue jobs that take too long", "sweep", r.ID, "error", err)
	}
}

// withdraw says that an overdue job was not given to another worker after all.
func (r *Sweep) withdraw(l *Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.copies--
	l.copied = l.Since
}

// lendCopy keeps a further lease of an overdue job. It is false if the job is no longer with the worker for which it is
// overdue: it is done, given back, or sent again.
func (t *Leases) lendCopy(l, overdue *Lease) bool {
	r := l.run
	r.mu.Lock()
	needed := r.leases[l.job] == overdue
	if needed {
		r.copies[l.job] = append(r.copies[l.job], l)
		r.tallied.Copies++
		r.env.Counters.Copies.Inc()
		l.Since = time.Now()
		r.eta.Copied(l.Since, l.job, l.session)
		r.change()
	}
	r.mu.Unlock()
	if !needed {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := overdue.owner; s != nil {
		jobs := s.Overdue()
		t.env.Log.With("host", s.Host()).Warn("job takes too long; another worker gets it too", "sweep", r.ID, "job", l.job, "since", overdue.Since, "jobs_overdue", jobs)
	}
	t.number(l)
	return true
}
