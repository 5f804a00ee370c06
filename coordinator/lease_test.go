package coordinator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"foible.dev/foible/coordinator"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Times of the tests of leases; they are false, and cost nothing.
const (
	lease = 30 * time.Second
	grace = 5 * time.Second
)

func leases(cfg *coordinator.Config) { cfg.Lease, cfg.Grace = lease, grace }

// TestDeadWorker: the jobs of a worker that dies come again after the grace; of one that falls silent, after the lease.
func TestDeadWorker(t *testing.T) {
	for _, silent := range []bool{false, true} {
		name, least, most := "dies", grace, grace+time.Second
		if silent {
			name, least, most = "falls silent", lease, lease+time.Second
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, leases)
				id := c.submit(c.request(1, 2))
				one := c.join(2, 0)
				held := map[int32]bool{one.job().GetJob(): true, one.job().GetJob(): true}
				one.beat()
				if n := c.sweep(id).GetProgress().GetJobsLeased(); n != 2 || len(held) != 2 {
					t.Errorf("%d jobs leased, held %v", n, held)
				}
				start := time.Now()
				two := c.join(2, 0)
				if !silent {
					one.die()
				}
				for range 2 {
					job := two.job()
					if d := time.Since(start); d < least || d > most || !held[job.GetJob()] || job.GetAttempt() != 2 {
						t.Errorf("job %d came after %v as attempt %d", job.GetJob(), d, job.GetAttempt())
					}
					two.done(job)
				}
				two.done(two.job()) // the score
				s := c.wait(id)
				if s.GetState() != foiblev1.SweepState_SWEEP_STATE_SUCCEEDED || s.GetProgress().GetJobsLeased() != 0 {
					t.Error(s)
				}
				one.die()
				time.Sleep(2 * grace)
				if p := c.sweep(id).GetProgress(); p.GetRetries() != 2 || p.GetLeasesLost() != 2 {
					t.Errorf("%d jobs were tried again, %d leases lost", p.GetRetries(), p.GetLeasesLost())
				}
			})
		})
	}
}

// TestComeBack: a worker whose connection broke keeps its jobs by its heartbeats, and its slots stay occupied.
func TestComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leases)
		id := c.submit(c.request(1, 3))
		one := c.join(2, 0)
		held := []*foiblev1.Assign{one.job(), one.job()}
		one.die()
		time.Sleep(grace / 2)
		one = c.join(2, 2)
		other := c.join(2, 0)
		third := other.job()
		for range 10 {
			one.beat(held[0].GetLease(), held[1].GetLease())
			other.beat(third.GetLease())
			other.idle(lease / 3)
		}
		one.idle(0)
		other.done(third)
		other.drain()
		one.done(held[0])
		one.done(held[1])
		one.done(one.job())
		if p := c.wait(id).GetProgress(); p.GetDuplicates() != 0 {
			t.Error(p)
		}
	})
}

// TestLateComeBack: a worker that comes back after its jobs have been given to another is heard all the same. The
// first result stands, and neither slot counts twice.
func TestLateComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leases)
		id := c.submit(c.request(1, 3))
		one := c.join(1, 0)
		job := one.job()
		one.die()
		time.Sleep(2 * grace)
		two := c.join(3, 0)
		again := []*foiblev1.Assign{two.job(), two.job(), two.job()}
		one = c.join(1, 1)
		one.beat(job.GetLease())
		one.done(job)
		two.drain() // it keeps what it has
		for _, a := range again {
			switch r := two.tell(a, answer(a)); {
			case a.GetJob() == job.GetJob() && r.GetVerdict() != foiblev1.Verdict_VERDICT_DUPLICATE,
				a.GetJob() != job.GetJob() && r.GetVerdict() != foiblev1.Verdict_VERDICT_RECORDED:
				t.Error(r)
			}
		}
		one.done(one.job())
		if p := c.wait(id).GetProgress(); p.GetDuplicates() != 1 || p.GetJobsLeased() != 0 {
			t.Error(p)
		}
	})
}

// TestManyResultsUnderWay: a worker may have more results unanswered than slots, and comes back with all of them.
func TestManyResultsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leases)
		id := c.submit(c.request(8, 4))
		one := c.join(2, 0)
		held := []*foiblev1.Assign{one.job(), one.job()}
		for i := range 5 {
			one.done(held[i]) // the answer, let us say, is lost
			held = append(held, one.job())
		}
		one.die()
		one = c.join(2, 7)
		var ids []uint64
		for _, a := range held {
			ids = append(ids, a.GetLease())
		}
		one.beat(ids...)
		for _, a := range held[:5] {
			if r := one.tell(a, answer(a)); r.GetVerdict() != foiblev1.Verdict_VERDICT_DUPLICATE {
				t.Error(r)
			}
		}
		one.idle(time.Second) // both slots are occupied
		one.done(held[5])
		one.done(one.job())
		one.done(held[6])
		if p := c.sweep(id).GetProgress(); p.GetDuplicates() != 5 || p.GetJobsDone() != 8 {
			t.Error(p)
		}
	})
}

// TestResultTwice: a repeated result is refused, counted, and frees no second slot.
func TestResultTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leases)
		id := c.submit(c.request(1, 5))
		one := c.join(2, 0)
		first, second := one.job(), one.job()
		one.done(first)
		third := one.job()
		for range 3 {
			if r := one.tell(first, answer(first)); r.GetVerdict() != foiblev1.Verdict_VERDICT_DUPLICATE {
				t.Error(r)
			}
		}
		one.idle(time.Second)
		if p := c.sweep(id).GetProgress(); p.GetDuplicates() != 3 || p.GetJobsDone() != 1 || p.GetCellsDone() != 1 || p.GetJobsLeased() != 2 {
			t.Error(p)
		}
		one.done(second)
		one.done(third)
	})
}

// TestDrain: jobs handed back go to others at once, those kept are taken, and no job comes any more. What was on its
// way to a worker that has left in good order is given out again without the grace.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leases)
		id := c.submit(c.request(1, 3))
		one := c.join(3, 0)
		jobs := []*foiblev1.Assign{one.job(), one.job(), one.job()}
		start := time.Now()
		one.drain(jobs[0].GetLease())
		two := c.join(3, 0)
		again := two.job()
		one.done(jobs[1])
		if again.GetJob() != jobs[0].GetJob() || again.GetAttempt() != 2 {
			t.Errorf("job %d came as attempt %d", again.GetJob(), again.GetAttempt())
		}
		if err := one.stream.CloseSend(); err != nil {
			t.Fatal(err)
		}
		one.end()
		lost := two.job()
		if lost.GetJob() != jobs[2].GetJob() {
			t.Errorf("job %d came, not %d", lost.GetJob(), jobs[2].GetJob())
		}
		if d := time.Since(start); d > time.Second {
			t.Errorf("handing back took %v", d)
		}
		two.done(again)
		two.done(lost)
		one.idle(0)
		two.done(two.job())
		if p := c.wait(id).GetProgress(); p.GetDuplicates() != 0 || p.GetJobsLeased() != 0 {
			t.Error(p)
		}
	})
}

// TestPoison: a job whose worker dies each time waits longer and longer, and is recorded as failed in the end.
func TestPoison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 5
		c := newCluster(t, func(cfg *coordinator.Config) {
			leases(cfg)
			cfg.MaxLost = most
		})
		id := c.submit(c.request(1, 1))
		var waited []time.Duration
		for range most {
			h := c.join(1, 0)
			start := time.Now()
			h.job()
			waited = append(waited, time.Since(start))
			h.die()
			time.Sleep(grace + time.Second) // the grace of its worker has ended
		}
		for i := 2; i < most; i++ {
			if waited[i] < waited[i-1] || waited[i] > 8*time.Second {
				t.Errorf("the job came after %v", waited)
			}
		}
		if waited[0] > 2*time.Second || waited[most-1] < 2*time.Second {
			t.Errorf("the job came after %v", waited)
		}
		if told := c.sweep(id).GetProgress().GetTroubles(); !slices.Contains(told, "job 0 was with 5 workers that were lost, and is tried again") {
			t.Errorf("the status says %q", told)
		}
		c.join(1, 0)
		s := c.wait(id)
		p := s.GetProgress()
		if s.GetState() != foiblev1.SweepState_SWEEP_STATE_FAILED || p.GetJobsFailed() != 2 ||
			p.GetFailures()[0] != "5 workers were lost while they computed it, one after the other, and did not come back; it may need more memory than they have" ||
			!strings.HasPrefix(p.GetFailures()[1], "stimulus s00 has no posterior: 5 workers were lost") {
			t.Error(s)
		}
	})
}

// TestLostWorkersComeBack: a worker that is lost and comes back was not ended by its job, which is not given up for it.
func TestLostWorkersComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, func(cfg *coordinator.Config) {
			leases(cfg)
			cfg.MaxLost = 2
		})
		id := c.submit(c.request(1, 1))
		hello := func(worker string, busy int32) *hand {
			h := c.hand()
			h.hello(&foiblev1.Hello{Version: version, Host: "hand", WorkerId: worker, Slots: 1, Busy: busy})
			return h
		}
		for i := range 5 {
			name := fmt.Sprint("worker ", i)
			h := hello(name, 0)
			h.job()
			h.die()
			time.Sleep(grace + time.Second)
			if told := c.sweep(id).GetProgress(); told.GetLeasesLost() != int64(i+1) {
				t.Errorf("%d leases are lost after %d workers", told.GetLeasesLost(), i+1)
			}
			h = hello(name, 1)
			time.Sleep(time.Second)
			h.die()
		}
		c.work(1, nil)
		if s := c.wait(id); s.GetState() != succeeded {
			t.Error(s)
		}
	})
}

// TestLostAndRetried: a job that was given up because workers were lost with it is done when it is tried again.
func TestLostAndRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, func(cfg *coordinator.Config) {
			leases(cfg)
			cfg.MaxLost = 1
		})
		id := c.submit(c.request(1, 1))
		h := c.join(1, 0)
		h.job()
		h.die()
		time.Sleep(grace + time.Second)
		c.join(1, 0)
		if s := c.wait(id); s.GetState() != inPart {
			t.Error(s)
		}
		if r, err := c.retry(id); err != nil || r.GetRetried().GetJobs() != 2 {
			t.Fatal(r, err)
		}
		c.work(1, nil)
		if s := c.wait(id); s.GetState() != succeeded {
			t.Error(s)
		}
	})
}

// TestLeaseOfAnotherJob: a right result under a wrong lease is refused, and neither job is lost.
func TestLeaseOfAnotherJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leases)
		id := c.submit(c.request(1, 2))
		one := c.join(2, 0)
		a, b := one.job(), one.job()
		swapped := answer(a)
		a.Lease, b.Lease = b.Lease, a.Lease
		if r := one.tell(a, swapped); r.GetVerdict() != foiblev1.Verdict_VERDICT_REFUSED {
			t.Error(r)
		}
		c.work(2, nil)
		one.die()
		if s := c.wait(id); s.GetState() != foiblev1.SweepState_SWEEP_STATE_SUCCEEDED {
			t.Error(s)
		}
	})
}
