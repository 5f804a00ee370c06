package coordinator_test

import (
	"bytes"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/coordinator/web"
	"foible.dev/foible/core/cost"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// beatInterval is the time between two heartbeats of a worker.
const beatInterval = lease / 3

// keep sends heartbeats for jobs until stop is called.
func (h *hand) keep(jobs ...*foiblev1.Assign) (stop func()) {
	return h.hang(nil, jobs...)
}

// hang keeps jobs and, of a channel that is not nil, all that come, and does nothing else. Stop returns them.
func (h *hand) hang(come <-chan *foiblev1.Assign, jobs ...*foiblev1.Assign) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		beat := time.NewTicker(beatInterval)
		defer beat.Stop()
		for {
			var leases []uint64
			for _, job := range jobs {
				leases = append(leases, job.GetLease())
			}
			_ = h.trySend(&foiblev1.WorkRequest{Message: &foiblev1.WorkRequest_Heartbeat{Heartbeat: &foiblev1.Heartbeat{Leases: leases}}})
			select {
			case job := <-come:
				jobs = append(jobs, job)
			case <-beat.C:
			case <-end:
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(end)
		<-ended
	})
}

// deadline makes leases short and gives jobs a deadline.
func deadline(d time.Duration) func(*coordinator.Config) {
	return func(cfg *coordinator.Config) {
		leases(cfg)
		cfg.JobDeadline = d
	}
}

// TestHungWorker: a worker of 1,024 slots that takes jobs, sends heartbeats and does nothing keeps a sweep from ending
// for as long as jobs take at most, whether it takes some or all of them. The results are the same.
func TestHungWorker(t *testing.T) {
	const sets, n = 40, 6
	var want []byte
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leases)
		id := c.submit(c.request(sets, n))
		c.work(8, nil)
		c.wait(id)
		want, _ = c.export(id)
	})
	for name, all := range map[string]bool{"takes all": true, "takes some": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, leases)
				id := c.submit(c.request(sets, n))
				honest := func() { c.work(8, takes(time.Second)) }
				most := cost.UnseenLimit + 15*time.Minute // the first of the scores may be its too
				if !all {
					honest()
					time.Sleep(3 * time.Second)
					most = cost.UnseenLimit + 5*time.Minute // what the first jobs take is known
				}
				hung := c.join(1024, 0)
				stop := hung.hang(hung.assigned)
				time.Sleep(time.Second)
				if all {
					honest()
				}
				start := time.Now()
				s := c.wait(id)
				p := s.GetProgress()
				workers := c.workers()
				w := workers[slices.IndexFunc(workers, func(w web.Worker) bool { return w.Slots == 1024 })]
				held := len(w.Jobs)
				t.Logf("%d jobs held, ended after %v", held, time.Since(start))
				if s.GetState() != succeeded || p.GetDuplicates() != 0 || p.GetRetries() != 0 || p.GetLeasesLost() != 0 || int(p.GetCopies()) != held || held < 2 {
					t.Errorf("%d jobs held: %v, %v", held, s.GetState(), p)
				}
				if took := time.Since(start); took > most {
					t.Errorf("it took %v", took)
				}
				if got, _ := c.export(id); !bytes.Equal(got, want) {
					t.Error("the results are others than without the hung worker")
				}
				if int(w.Overdue) != held || w.Lost != 0 || w.Done != 0 || !w.Slow {
					t.Errorf("the hung worker is shown as %+v", w)
				}
				time.Sleep(2 * beatInterval)
				unwanted := map[uint64]bool{}
				for len(hung.cancelled) > 0 {
					for _, id := range <-hung.cancelled {
						unwanted[id] = true
					}
				}
				if len(unwanted) != held {
					t.Errorf("told to leave %d jobs of %d", len(unwanted), held)
				}
				stop()
			})
		})
	}
}

// TestOverdueJob: an overdue job goes to another worker, never to one that has it, each time after twice as long. The
// first result stands.
func TestOverdueJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, deadline(time.Minute))
		id := c.submit(c.request(1, 1))
		one := c.join(3, 0)
		job := one.job()
		start := time.Now()
		defer one.keep(job)()
		one.idle(5 * time.Minute) // to itself it does not go
		two := c.join(3, 0)
		again := two.job()
		if d := time.Since(start); d > 5*time.Minute+2*time.Second || again.GetJob() != job.GetJob() || again.GetLease() == job.GetLease() {
			t.Errorf("job %d came after %v", again.GetJob(), d)
		}
		start = time.Now()
		defer two.keep(again)()
		two.idle(10 * time.Minute)
		three := c.join(3, 0)
		third := three.job()
		if d := time.Since(start); d < 2*time.Minute || third.GetJob() != job.GetJob() {
			t.Errorf("job %d came after %v", third.GetJob(), d)
		}
		start = time.Now()
		defer three.keep(third)()
		four := c.join(3, 0)
		fourth := four.job()
		if d := time.Since(start); d < 4*time.Minute-time.Second || d > 4*time.Minute+2*time.Second {
			t.Errorf("the third copy came after %v", d)
		}
		if p := c.sweep(id).GetProgress(); p.GetJobsLeased() != 1 || p.GetCopies() != 3 || p.GetRetries() != 0 {
			t.Error(p)
		}
		const trouble = "worker on hand does not get on with its jobs, which others were given too, and is given no more"
		if got := c.sweep(id).GetProgress().GetTroubles(); !slices.Contains(got, trouble) {
			t.Errorf("troubles %q", got)
		}
		two.done(again)
		for h, a := range map[*hand]*foiblev1.Assign{one: job, three: third} {
			if got := h.unwanted(); !slices.Equal(got, []uint64{a.GetLease()}) {
				t.Errorf("told to leave %v", got)
			}
		}
		for h, a := range map[*hand]*foiblev1.Assign{one: job, four: fourth} {
			if r := h.tell(a, answer(a)); r.GetVerdict() != foiblev1.Verdict_VERDICT_DUPLICATE {
				t.Error(r)
			}
		}
		score := <-one.assigned // of those that are free it has waited longest
		one.done(score)
		if p := c.wait(id).GetProgress(); p.GetDuplicates() != 2 || p.GetJobsDone() != 2 || p.GetLeasesLost() != 0 {
			t.Error(p)
		}
	})
}

// TestOverdueLast: jobs that nobody has go before those that take too long.
func TestOverdueLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, deadline(time.Minute))
		c.submit(c.request(1, 4))
		one := c.join(1, 0)
		job := one.job()
		defer one.keep(job)()
		one.idle(10 * time.Minute)
		two := c.join(1, 0)
		for i := range 4 {
			next := two.job()
			if (next.GetJob() == job.GetJob()) != (i == 3) {
				t.Errorf("job %d came as number %d", next.GetJob(), i)
			}
			two.done(next)
		}
	})
}

// TestOverdueGivenBack: a job that one of two workers gives back, or whose worker goes away, stays with the other; once
// neither has it, a third gets it.
func TestOverdueGivenBack(t *testing.T) {
	for name, first := range map[string]bool{"by the first": true, "by the second": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, deadline(5*time.Minute))
				id := c.submit(c.request(1, 1))
				one := c.join(1, 0)
				job := one.job()
				stopOne := one.keep(job)
				two := c.join(1, 0)
				time.Sleep(5 * time.Minute)
				again := two.job()
				stopTwo := two.keep(again)
				fails, dies, failing, dying, stopDying := two, one, again, job, stopOne
				if first {
					fails, dies, failing, dying, stopDying = one, two, job, again, stopTwo
				}
				if r := fails.fail(failing); r.GetVerdict() != foiblev1.Verdict_VERDICT_RETRY {
					t.Error(r)
				}
				fails.idle(time.Minute)
				if p := c.sweep(id).GetProgress(); p.GetJobsLeased() != 1 {
					t.Error(p)
				}
				stopDying()
				dies.die()
				start := time.Now()
				third := fails.job()
				if d := time.Since(start); d > grace+time.Second || third.GetJob() != dying.GetJob() || third.GetAttempt() != 2 {
					t.Errorf("job %d came after %v as attempt %d", third.GetJob(), d, third.GetAttempt())
				}
				fails.done(third)
				fails.done(fails.job())
				if p := c.wait(id).GetProgress(); p.GetCopies() != 1 || p.GetLeasesLost() != 1 || p.GetRetries() != 1 {
					t.Error(p)
				}
				if first {
					stopOne()
				} else {
					stopTwo()
				}
			})
		})
	}
}

// TestSlowIsNotHung: a worker that is ten times as slow as another one loses no jobs to it.
func TestSlowIsNotHung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leases)
		id := c.submit(c.request(8, 4))
		c.work(1, takes(30*time.Second))
		c.work(1, takes(3*time.Second))
		if p := c.wait(id).GetProgress(); p.GetCopies() != 0 || p.GetDuplicates() != 0 {
			t.Error(p)
		}
	})
}

// TestOverdueElsewhere: an overdue job for which no worker of its coordinator has a slot goes to one of another.
func TestOverdueElsewhere(t *testing.T) {
	a, b := newReplicas(t, deadline(time.Second))
	id := a.submit(a.request(4, 4))
	hung := a.join(1, 0)
	job := hung.job()
	defer hung.keep(job)()
	b.work(2, nil)
	for _, c := range []*cluster{b, a} {
		if s := c.wait(id); s.GetState() != succeeded || s.GetProgress().GetLeasesLost() != 0 {
			t.Errorf("%v", s)
		}
	}
	if r := hung.tell(job, answer(job)); r.GetVerdict() != foiblev1.Verdict_VERDICT_DUPLICATE {
		t.Error(r)
	}
}
