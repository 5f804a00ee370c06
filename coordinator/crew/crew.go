// Package crew knows the workers of a coordinator. [Crew] has those that are connected, and how each of them fares: one that
// keeps failing is set aside for a while, and one that does not get on with a job is given no more. [Troubles] has what went
// wrong with the jobs of one sweep: when a job is tried again, by which worker, and when its failure is recorded.
//
// Nothing here is stored. After a restart, and on another coordinator, all of it begins anew.
package crew

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"foible.dev/foible/coordinator/web"
)

// maxGone is how many workers that have left are shown.
const maxGone = 50

// MaxShown bounds the troubles that are shown, of workers and of jobs.
const MaxShown = 10

// Crew is the workers that are connected, and how they fare. It is safe for concurrent use, and calls nobody while it is
// locked.
type Crew struct {
	mu       sync.Mutex // guards what follows, and the shown of all members
	members  map[*Member]struct{}
	joined   uint64              // connections so far
	gone     []*Member           // those that have left, the latest last; at most maxGone
	conducts map[string]*conduct // by the ids of workers: those that are connected, and some that have been
}

// New returns a crew without workers.
func New() *Crew {
	return &Crew{members: map[*Member]struct{}{}, conducts: map[string]*conduct{}}
}

// Member is one connection of a worker. It is safe for concurrent use.
type Member struct {
	ID     string // of the worker, the same after a reconnection
	Slots  int
	Number uint64 // of the connection; from 1

	crew     *Crew
	draining context.Context // ends when the worker takes no more jobs
	drain    context.CancelFunc
	shown    web.Worker // but for what follows from the rest; guarded by crew.mu
}

// Join adds a connection of a worker with an id, on a host.
func (c *Crew) Join(id, host string, slots int) *Member {
	now := time.Now()
	m := &Member{ID: id, Slots: slots, crew: c, shown: web.Worker{Host: host, Slots: slots, Joined: now, Heard: now}}
	m.draining, m.drain = context.WithCancel(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.joined++
	m.Number = c.joined
	c.conductOf(id, now)
	c.members[m] = struct{}{}
	return m
}

// Leave removes the connection. What is known of the worker is kept for a while.
func (m *Member) Leave() {
	m.drain()
	c := m.crew
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.members, m)
	m.shown.Left = time.Now()
	c.conducts[m.ID].seen = m.shown.Left
	if c.gone = append(c.gone, m); len(c.gone) > maxGone {
		c.gone = c.gone[1:]
	}
}

// Drain says that the worker takes no more jobs.
func (m *Member) Drain() { m.drain() }

// Draining is closed when the worker takes no more jobs.
func (m *Member) Draining() <-chan struct{} { return m.draining.Done() }

// IsDraining says whether the worker takes no more jobs.
func (m *Member) IsDraining() bool { return m.draining.Err() != nil }

// Host is where the worker says that it runs. It never changes.
func (m *Member) Host() string { return m.shown.Host }

// show changes what is shown of the worker.
func (m *Member) show(change func(*web.Worker)) {
	m.crew.mu.Lock()
	defer m.crew.mu.Unlock()
	change(&m.shown)
}

// Heard notes that a message of the worker has come.
func (m *Member) Heard() { m.show(func(w *web.Worker) { w.Heard = time.Now() }) }

// Recorded counts a result of the worker.
func (m *Member) Recorded() {
	m.show(func(w *web.Worker) {
		w.Done++
		w.Heard = time.Now()
	})
}

// Lost counts a lease of the worker that ended because nothing was heard of it.
func (m *Member) Lost() { m.show(func(w *web.Worker) { w.Lost++ }) }

// Overdue counts a job with which the worker does not get on, and returns how many there have been.
func (m *Member) Overdue() (jobs int64) {
	m.show(func(w *web.Worker) {
		m.crew.conducts[m.ID].suspect()
		w.Overdue++
		jobs = w.Overdue
	})
	return jobs
}

// Members are the connections, in no order.
func (c *Crew) Members() []*Member {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*Member, 0, len(c.members))
	for m := range c.members {
		all = append(all, m)
	}
	return all
}

// Connected counts the connections, and their slots.
func (c *Crew) Connected() (workers, slots int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for m := range c.members {
		slots += m.Slots
	}
	return len(c.members), slots
}

// Takers says whether there are workers that can be given jobs, and others that could if they were not set aside. Workers
// whose ids are keys of except do not count.
func (c *Crew) Takers(except map[string]int) (ready, later bool) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for m := range c.members {
		if _, not := except[m.ID]; not || m.IsDraining() || c.conducts[m.ID].slow {
			continue
		}
		if now.Before(c.conducts[m.ID].until) {
			later = true
		} else {
			ready = true
		}
	}
	return ready, later
}

// Troubles are the workers that are set aside, on probation, or slow, in words.
func (c *Crew) Troubles() []string {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	byWorker := map[string]string{}
	for m := range c.members {
		host, conduct := m.shown.Host, c.conducts[m.ID]
		switch {
		case now.Before(conduct.until):
			byWorker[m.ID] = fmt.Sprintf("worker on %s keeps failing and is set aside for %v: %s", host, conduct.until.Sub(now).Round(time.Second), conduct.reason)
		case conduct.failing():
			byWorker[m.ID] = fmt.Sprintf("worker on %s has kept failing and is given one job at a time: %s", host, conduct.reason)
		case conduct.slow:
			byWorker[m.ID] = fmt.Sprintf("worker on %s does not get on with its jobs, which others were given too, and is given no more", host)
		}
	}
	var all []string
	for _, text := range byWorker {
		all = append(all, text)
	}
	slices.Sort(all)
	return all[:min(len(all), MaxShown)]
}

// Shown is what the dashboard shows of the workers, with the jobs that each has. Those that are connected come first, and of
// them those that have been longest; then those that have left, the latest first.
func (c *Crew) Shown(jobs map[*Member][]web.Job) []web.Worker {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []web.Worker
	for m := range c.members {
		w, conduct := m.shown, c.conducts[m.ID]
		w.Draining, w.Slow, w.Jobs = m.IsDraining(), conduct.slow, jobs[m]
		if conduct.failing() {
			w.Reason = conduct.reason
			if now.Before(conduct.until) {
				w.Aside = conduct.until
			}
		}
		slices.SortFunc(w.Jobs, func(a, b web.Job) int { return a.Since.Compare(b.Since) })
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b web.Worker) int { return a.Joined.Compare(b.Joined) })
	for _, m := range slices.Backward(c.gone) {
		all = append(all, m.shown)
	}
	return all
}
