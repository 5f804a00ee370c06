package coordinator

import (
	"fmt"
	"slices"
	"time"

	foiblev1 "foible.dev/foible/proto/foible/v1"
)

const (
	// maxStrikes is how many failures in a row make a worker one that keeps failing.
	maxStrikes = 3
	// maxAside is how long a worker that keeps failing is set aside at most.
	maxAside = 5 * time.Minute
	// conductKept is how long it is remembered how a worker fared that has left.
	conductKept = time.Hour
)

// conduct is how a worker fares. One that keeps failing is set aside: it is given no jobs for a second, and twice as long
// each time that it fails again. After that it is given one job at a time until one succeeds. Failures of the computation
// do not count.
//
// One of which a job is overdue is slow until a result of it comes, of whatever kind. It is given one job more, to see
// whether it gets on with that: a worker that hangs would take the jobs of every stage that begins.
type conduct struct {
	strikes int       // failures since the last success; those of jobs given out before the worker was last set aside count once
	since   time.Time // when it was last set aside
	until   time.Time // it is given no jobs before
	reason  string    // of the last failure
	slow    bool      // a job of it was overdue, and no result has come since
	tried   bool      // it has been given a job since then
	seen    time.Time // when it last joined or left
}

// suspect says that a job of the worker is overdue.
func (st *conduct) suspect() {
	if !st.slow {
		st.slow, st.tried = true, false
	}
}

// strike counts a failure of a job that was given out at a time. It returns for how long the worker is set aside from
// now; 0: it is not, as one that is needed.
func (st *conduct) strike(now, given time.Time, needed bool, reason string) time.Duration {
	if given.Before(st.since) {
		return 0
	}
	st.strikes, st.reason = st.strikes+1, reason
	if st.strikes < maxStrikes || needed {
		return 0
	}
	aside := doubled(time.Second, st.strikes-maxStrikes, maxAside)
	st.since, st.until = now, now.Add(aside)
	return aside
}

// succeed forgets the failures.
func (st *conduct) succeed() { *st = conduct{seen: st.seen} }

// failing says whether the worker keeps failing, set aside or on probation.
func (st *conduct) failing() bool { return st.strikes >= maxStrikes }

// doubled is a pause that has been doubled so many times, up to a limit.
func doubled(pause time.Duration, times int, limit time.Duration) time.Duration {
	for ; times > 0 && pause < limit; times-- {
		pause *= 2
	}
	return min(pause, limit)
}

// conductOf finds how a worker fares, and forgets those that left long ago. The caller holds c.mu.
func (c *Coordinator) conductOf(worker string, now time.Time) *conduct {
	st := c.conducts[worker]
	if st == nil {
		here := map[string]bool{}
		for s := range c.slots {
			here[s.worker] = true
		}
		for id, other := range c.conducts {
			if !here[id] && now.Sub(other.seen) > conductKept {
				delete(c.conducts, id)
			}
		}
		st = &conduct{}
		c.conducts[worker] = st
	}
	st.seen = now
	return st
}

// strike counts a failure against the worker of a lease, and says so if it is set aside. If the job may be to blame, a
// worker without which nothing would be done is not.
func (s *session) strike(given time.Time, f *foiblev1.Failure) {
	now, reason := time.Now(), f.GetReason()
	others, _ := s.c.takers(map[string]int{s.worker: 1})
	needed := !others && f.GetKind() == foiblev1.FailureKind_FAILURE_KIND_UNSPECIFIED
	s.c.mu.Lock()
	st := s.c.conducts[s.worker]
	s.shown.Failed++
	aside := st.strike(now, given, needed, reason)
	strikes := st.strikes
	s.c.mu.Unlock()
	if aside > 0 {
		s.log.Warn("worker keeps failing and is set aside", "for", aside.String(), "failures", strikes, "last", reason)
		s.c.tellRuns()
	}
}

// succeed notes that the worker has done a job.
func (s *session) succeed() {
	s.c.mu.Lock()
	st := s.c.conducts[s.worker]
	was := st.failing()
	st.succeed()
	s.c.mu.Unlock()
	if was {
		s.log.Info("worker does jobs again")
		s.c.tellRuns()
	}
}

// tellRuns lets those who watch sweeps look again.
func (c *Coordinator) tellRuns() {
	for _, run := range c.taken() {
		run.mu.Lock()
		run.change()
		run.mu.Unlock()
	}
}

// allowed is how many of so many free slots may be given jobs now, and after which time to ask again if that is none; 0:
// when a slot has become free.
func (s *session) allowed(free, held int) (n int, again time.Duration) {
	now := time.Now()
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	st := s.c.conducts[s.worker]
	switch {
	case now.Before(st.until):
		return 0, st.until.Sub(now)
	case st.failing():
		return max(0, min(free, 1-held)), 0
	case st.slow && st.tried:
		return 0, 0
	case st.slow:
		return min(free, 1), 0
	}
	return free, 0
}

// given notes that the worker has been given a job.
func (s *session) given() {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	st := s.c.conducts[s.worker]
	st.tried = st.slow
}

// answers notes that the worker has sent a result.
func (s *session) answers() {
	s.c.mu.Lock()
	st := s.c.conducts[s.worker]
	was := st.slow
	st.slow, st.tried = false, false
	s.c.mu.Unlock()
	if was {
		s.log.Info("worker sends results again")
		s.c.tellRuns()
	}
}

// takers says whether there are workers that can be given jobs, and others that could if they were not set aside, not
// counting some by their ids.
func (c *Coordinator) takers(but map[string]int) (ready, later bool) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for s := range c.slots {
		if _, not := but[s.worker]; not || s.draining.Err() != nil || c.conducts[s.worker].slow {
			continue
		}
		if now.Before(c.conducts[s.worker].until) {
			later = true
		} else {
			ready = true
		}
	}
	return ready, later
}

// maxTroubles bounds what is said of what is in the way of the work.
const maxTroubles = 10

// troublesOfWorkers are the workers that are set aside, on probation, or slow, in words.
func (c *Coordinator) troublesOfWorkers() []string {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	of := map[string]string{} // by worker
	for s := range c.slots {
		st := c.conducts[s.worker]
		switch {
		case now.Before(st.until):
			of[s.worker] = fmt.Sprintf("worker on %s keeps failing and is set aside for %v: %s", s.shown.Host, st.until.Sub(now).Round(time.Second), st.reason)
		case st.failing():
			of[s.worker] = fmt.Sprintf("worker on %s has kept failing and is given one job at a time: %s", s.shown.Host, st.reason)
		case st.slow:
			of[s.worker] = fmt.Sprintf("worker on %s does not get on with its jobs, which others were given too, and is given no more", s.shown.Host)
		}
	}
	var all []string
	for _, text := range of {
		all = append(all, text)
	}
	slices.Sort(all)
	return all[:min(len(all), maxTroubles)]
}
