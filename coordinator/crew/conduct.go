package crew

import "time"

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
// A worker with an overdue job is slow until a result of it comes, of whatever kind. It is given one job more, to see
// whether it gets on with that: a worker that hangs would take the jobs of every stage that begins.
type conduct struct {
	strikes int       // failures since the last success; those of jobs sent before the worker was last set aside count once
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

// strike counts a failure of a job that was sent at a time. It returns for how long the worker is set aside from
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

// doubled is a pause that is doubled a number of times, up to a limit.
func doubled(pause time.Duration, times int, limit time.Duration) time.Duration {
	for ; times > 0 && pause < limit; times-- {
		pause *= 2
	}
	return min(pause, limit)
}

// conductOf finds how a worker fares, and forgets those that left long ago. The caller holds mu.
func (c *Crew) conductOf(worker string, now time.Time) *conduct {
	st := c.conducts[worker]
	if st == nil {
		here := map[string]bool{}
		for m := range c.members {
			here[m.ID] = true
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

// Strike counts a failure of a job that the worker was given at a time. It returns for how long the worker is set aside, 0
// if it is not, and how many failures in a row there have been. A worker without which nothing would be done is not set
// aside if the job may be to blame.
func (m *Member) Strike(given time.Time, jobToBlame bool, reason string) (aside time.Duration, failures int) {
	others, _ := m.crew.Takers(map[string]int{m.ID: 1})
	m.crew.mu.Lock()
	defer m.crew.mu.Unlock()
	m.shown.Failed++
	st := m.crew.conducts[m.ID]
	aside = st.strike(time.Now(), given, !others && jobToBlame, reason)
	return aside, st.strikes
}

// Succeed notes that the worker has done a job, and says whether it had kept failing until then.
func (m *Member) Succeed() (again bool) {
	m.crew.mu.Lock()
	defer m.crew.mu.Unlock()
	st := m.crew.conducts[m.ID]
	again = st.failing()
	st.succeed()
	return again
}

// Given notes that the worker has been given a job.
func (m *Member) Given() {
	m.crew.mu.Lock()
	defer m.crew.mu.Unlock()
	st := m.crew.conducts[m.ID]
	st.tried = st.slow
}

// Answered notes that the worker has sent a result, and says whether it was slow until then.
func (m *Member) Answered() (again bool) {
	m.crew.mu.Lock()
	defer m.crew.mu.Unlock()
	st := m.crew.conducts[m.ID]
	again = st.slow
	st.slow, st.tried = false, false
	return again
}

// Allowed is how many of the free slots may be given jobs now, where the worker has a number of jobs. If it is none, again is
// the time after which to ask again; 0: when a slot has become free.
func (m *Member) Allowed(free, held int) (n int, again time.Duration) {
	now := time.Now()
	m.crew.mu.Lock()
	defer m.crew.mu.Unlock()
	st := m.crew.conducts[m.ID]
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
