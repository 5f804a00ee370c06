package crew_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"foible.dev/foible/coordinator/crew"
)

// A worker that keeps failing is set aside, longer each time, gets one job at a time after that, and all it has slots for
// once it succeeds. What it did is remembered when it connects again.
func TestSetAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := crew.New()
		m, other := c.Join("a", "host a", 4), c.Join("b", "host b", 1)
		strike := func(want time.Duration) {
			t.Helper()
			if aside, _ := m.Strike(time.Now(), true, "no memory"); aside != want {
				t.Errorf("set aside for %v, want %v", aside, want)
			}
		}
		strike(0)
		strike(0)
		strike(time.Second)
		if n, again := m.Allowed(4, 0); n != 0 || again != time.Second {
			t.Errorf("%d jobs allowed, again after %v", n, again)
		}
		if ready, later := c.Takers(map[string]int{"b": 1}); ready || !later {
			t.Errorf("takers: ready %v, later %v", ready, later)
		}
		time.Sleep(time.Second)
		m.Leave()
		m = c.Join("a", "host a", 4)
		if n, _ := m.Allowed(4, 0); n != 1 {
			t.Errorf("%d jobs allowed on probation", n)
		}
		if n, _ := m.Allowed(3, 1); n != 0 {
			t.Errorf("%d jobs allowed to one that has a job", n)
		}
		if all := c.Troubles(); len(all) != 1 || !strings.Contains(all[0], "host a has kept failing") {
			t.Errorf("troubles: %q", all)
		}
		strike(2 * time.Second)
		other.Drain()
		strike(0) // nothing would be done without it
		if !m.Succeed() || m.Succeed() {
			t.Error("a worker that succeeds had been failing, once")
		}
		if n, _ := m.Allowed(4, 0); n != 4 {
			t.Errorf("%d jobs allowed", n)
		}
	})
}

// A worker with an overdue job gets one job more, and then none until a result of it comes.
func TestSlow(t *testing.T) {
	c := crew.New()
	m := c.Join("a", "host a", 4)
	if n := m.Overdue(); n != 1 {
		t.Errorf("%d overdue", n)
	}
	for _, want := range []int{1, 0} {
		if n, _ := m.Allowed(3, 1); n != want {
			t.Errorf("%d jobs allowed, want %d", n, want)
		}
		m.Given()
	}
	if ready, later := c.Takers(nil); ready || later {
		t.Error("a slow worker takes jobs")
	}
	if !m.Answered() || m.Answered() {
		t.Error("a worker that answers had been slow, once")
	}
	if n, _ := m.Allowed(3, 1); n != 3 {
		t.Errorf("%d jobs allowed", n)
	}
}

func TestTroubles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := crew.New()
		for _, id := range []string{"a", "b", "c"} {
			c.Join(id, "host "+id, 1)
		}
		jobs := crew.NewTroubles(c, crew.Bounds{MaxFailures: 3, MaxLost: 2})
		for _, id := range []string{"a", "b"} {
			if final, wait := jobs.Fail(7, id, true, "why"); final || wait != 0 {
				t.Errorf("%s: final %v, wait %v", id, final, wait)
			}
		}
		if !jobs.Avoids(7, "a", false) || jobs.Avoids(7, "c", false) || jobs.Avoids(8, "a", false) || !jobs.Avoids(8, "a", true) {
			t.Error("jobs are kept for the wrong workers")
		}
		if !jobs.LastTry(7, "c") || jobs.LastTry(7, "a") {
			t.Error("the last try is the one on a third worker")
		}
		if all := jobs.Shown(); !slices.Equal(all, []string{"job 7 has failed 2 times on 2 workers and is tried again: why"}) {
			t.Errorf("%q", all)
		}
		if final, _ := jobs.Fail(7, "c", true, "why"); !final {
			t.Error("a failure on three workers is not final")
		}
		jobs.Forget(7)
		if jobs.Failed(7) || len(jobs.Shown()) != 0 {
			t.Error("a job with a result has failed")
		}

		jobs.Lost(9, "a")
		jobs.Lost(9, "b")
		if jobs.Hopeless(9) == "" || jobs.Wait(9) != time.Second {
			t.Errorf("hopeless: %q, waits %v", jobs.Hopeless(9), jobs.Wait(9))
		}
		jobs.CameBack("a")
		if jobs.Hopeless(9) != "" {
			t.Error("it was not the job that ended a worker that came back")
		}
		if jobs.Unmade(5, "lost") != time.Second || jobs.Unmade(5, "lost") != 2*time.Second {
			t.Error("a job that cannot be made waits for a second, and twice as long then")
		}
		if !jobs.Warns("x") || jobs.Warns("x") {
			t.Error("a cause is warned of once")
		}
	})
}
