package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/internal/await"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

const (
	running   = foiblev1.SweepState_SWEEP_STATE_RUNNING
	paused    = foiblev1.SweepState_SWEEP_STATE_PAUSED
	cancelled = foiblev1.SweepState_SWEEP_STATE_CANCELLED
	succeeded = foiblev1.SweepState_SWEEP_STATE_SUCCEEDED
	inPart    = foiblev1.SweepState_SWEEP_STATE_FAILED
)

func (c *cluster) pause(id string) (*foiblev1.Sweep, error) {
	r, err := c.sweeps.PauseSweep(c.t.Context(), &foiblev1.PauseSweepRequest{SweepId: id})
	return r.GetSweep(), err
}

func (c *cluster) resume(id string) (*foiblev1.Sweep, error) {
	r, err := c.sweeps.ResumeSweep(c.t.Context(), &foiblev1.ResumeSweepRequest{SweepId: id})
	return r.GetSweep(), err
}

func (c *cluster) cancel(id string) (*foiblev1.Sweep, error) {
	r, err := c.sweeps.CancelSweep(c.t.Context(), &foiblev1.CancelSweepRequest{SweepId: id})
	return r.GetSweep(), err
}

func (c *cluster) weigh(id string, priority int32) (*foiblev1.Sweep, error) {
	r, err := c.sweeps.SetSweepPriority(c.t.Context(), &foiblev1.SetSweepPriorityRequest{SweepId: id, Priority: priority})
	return r.GetSweep(), err
}

// to checks that a call has brought a sweep to a state.
func (c *cluster) to(state foiblev1.SweepState) func(*foiblev1.Sweep, error) {
	c.t.Helper()
	return func(s *foiblev1.Sweep, err error) {
		c.t.Helper()
		if err != nil || s.GetState() != state {
			c.t.Errorf("%v, %v; want %v", s.GetState(), err, state)
		}
	}
}

// restart stops the coordinator and starts it again.
func (c *cluster) restart() {
	c.stop()
	c.start()
}

// failure is a job that could not be done.
func failure(reason string) *foiblev1.JobResult {
	return &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Failure{Failure: &foiblev1.Failure{Reason: reason}}}
}

// TestStates: what each call makes of a sweep in each state, before and after a restart.
func TestStates(t *testing.T) {
	const over, again = "it has ended; fetch its results, or extend it", "it was cancelled; submit it again"
	ok := func(s foiblev1.SweepState) func(*testing.T, *foiblev1.Sweep, error) {
		return func(t *testing.T, got *foiblev1.Sweep, err error) {
			if err != nil || got.GetState() != s {
				t.Errorf("%v, %v; want %v", got.GetState(), err, s)
			}
		}
	}
	refused := func(text string) func(*testing.T, *foiblev1.Sweep, error) {
		return func(t *testing.T, _ *foiblev1.Sweep, err error) { wantCode(t, err, codes.FailedPrecondition, text) }
	}
	for _, test := range []struct {
		state                         foiblev1.SweepState
		pause, resume, cancel, weighs func(*testing.T, *foiblev1.Sweep, error)
	}{
		{running, ok(paused), ok(running), ok(cancelled), ok(running)},
		{paused, ok(paused), ok(running), ok(cancelled), ok(paused)},
		{cancelled, refused(again), refused(again), ok(cancelled), refused(again)},
		{succeeded, refused(over), refused(over), refused(over), refused(over)},
		{inPart, refused(over), refused(over), refused(over), refused(over)},
	} {
		for name, want := range map[string]func(*testing.T, *foiblev1.Sweep, error){
			"pause": test.pause, "resume": test.resume, "cancel": test.cancel, "weigh": test.weighs,
		} {
			for _, when := range []string{"at once", "after a restart"} {
				t.Run(fmt.Sprintf("%s %v %s", name, test.state, when), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						c := newCluster(t, func(cfg *coordinator.Config) { cfg.MaxFailures = 1 })
						id := c.submit(c.request(1, 1))
						h := c.join(1, 0)
						job := h.job()
						switch test.state {
						case paused:
							c.to(paused)(c.pause(id))
						case cancelled:
							c.to(cancelled)(c.cancel(id))
						case succeeded:
							h.done(job)
							h.done(h.job())
						case inPart:
							h.tell(job, failure("bad"))
						}
						if !(test.state == running || test.state == paused) {
							c.wait(id)
						}
						h.die()
						if when != "at once" {
							c.restart()
						}
						if s := c.sweep(id); s.GetState() != test.state {
							t.Fatalf("it is %v", s)
						}
						call := map[string]func() (*foiblev1.Sweep, error){
							"pause":  func() (*foiblev1.Sweep, error) { return c.pause(id) },
							"resume": func() (*foiblev1.Sweep, error) { return c.resume(id) },
							"cancel": func() (*foiblev1.Sweep, error) { return c.cancel(id) },
							"weigh":  func() (*foiblev1.Sweep, error) { return c.weigh(id, 7) },
						}[name]
						for range 2 { // each may be repeated
							got, err := call()
							want(t, got, err)
						}
						if s := c.sweep(id); name == "weigh" && (s.GetPriority() == 7) != (test.state == running || test.state == paused) {
							t.Errorf("its priority is %d", s.GetPriority())
						}
					})
				})
			}
		}
	}
}

func TestControlRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		for name, call := range map[string]func(string) error{
			"pause":  func(id string) error { _, err := c.pause(id); return err },
			"resume": func(id string) error { _, err := c.resume(id); return err },
			"cancel": func(id string) error { _, err := c.cancel(id); return err },
			"weigh":  func(id string) error { _, err := c.weigh(id, 1); return err },
			"extend": func(id string) error { _, err := c.extend(id, 9); return err },
		} {
			t.Log(name)
			wantCode(t, call("none"), codes.NotFound, "sweep none")
			if err := call(""); status.Code(err) != codes.InvalidArgument {
				t.Error(err)
			}
			if err := call("a.b"); status.Code(err) != codes.InvalidArgument {
				t.Error(err)
			}
		}
		id := c.submit(c.request(1, 1))
		for _, priority := range []int32{0, -1, 1001} {
			if _, err := c.weigh(id, priority); status.Code(err) != codes.InvalidArgument {
				t.Errorf("priority %d: %v", priority, err)
			}
		}
	})
}

// TestPause: what is in hand is recorded, and no more is given out, until it is resumed; a restart changes nothing.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		m := c.request(32, 4)
		id := c.submit(m)
		h := c.join(2, 0)
		a, b := h.job(), h.job()
		c.to(paused)(c.pause(id))
		h.done(a)
		h.idle(20 * time.Second)
		c.stop()
		c.start()
		h = c.join(2, 0)
		h.done(b) // of the life before
		h.idle(20 * time.Second)
		if s := c.sweep(id); s.GetState() != paused || s.GetProgress().GetJobsDone() != 2 {
			t.Error(s)
		}
		if s, err := c.sweeps.CreateSweep(t.Context(), m); err != nil || !s.GetExisted() || s.GetSweep().GetState() != paused {
			t.Errorf("asked for again: %v, %v", s, err)
		}
		_, _, err := c.tryExport(id, false)
		wantCode(t, err, codes.FailedPrecondition, "it is paused; ask for what is there with --partial")
		c.to(running)(c.resume(id))
		h.job()
		h.die()
		c.work(2, nil)
		if s := c.wait(id); s.GetState() != succeeded {
			t.Error(s)
		}
	})
}

// TestPauseWhileQueueing: a sweep paused before all its jobs are queued is complete when it is resumed.
func TestPauseWhileQueueing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		m := c.request(600, 1)
		m.Stimuli = long(4, 1)
		id := c.submit(m)
		c.to(paused)(c.pause(id))
		c.stop()
		c.start()
		c.to(running)(c.resume(id))
		c.work(8, nil)
		if s := c.wait(id); s.GetState() != succeeded || s.GetProgress().GetJobsDone() != 600*5 {
			t.Error(s)
		}
	})
}

// TestPausedSweepEnds: if all that was left was in hand, the sweep ends.
func TestPausedSweepEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		id := c.submit(c.request(1, 1))
		h := c.join(1, 0)
		h.done(h.job())
		last := h.job()
		c.to(paused)(c.pause(id))
		h.done(last)
		if s := c.wait(id); s.GetState() != succeeded {
			t.Error(s)
		}
	})
}

// TestCancel: a sweep cancelled with jobs in hand refuses what comes of them, ends for who watches, and keeps what it
// has. Submitted again, it goes on from there.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		m, other := c.request(32, 4), c.request(33, 4)
		id := c.submit(m)
		h := c.join(3, 0)
		for range 5 {
			h.done(h.job())
		}
		held := []*foiblev1.Assign{h.job(), h.job(), h.job()}
		watch, err := c.sweeps.WatchSweep(t.Context(), &foiblev1.WatchSweepRequest{SweepId: id})
		if err != nil {
			t.Fatal(err)
		}
		c.to(cancelled)(c.cancel(id))
		var last *foiblev1.Sweep
		for {
			m, err := watch.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			last = m.GetSweep()
		}
		if last.GetState() != cancelled || last.GetEndTime() == nil || last.GetProgress().GetJobsDone() != 5 || last.GetProgress().GetJobsLeased() != 0 {
			t.Errorf("at last %v", last)
		}
		h.beat(held[0].GetLease(), held[1].GetLease(), held[2].GetLease())
		for _, job := range held[:2] {
			if r := h.tell(job, answer(job)); r.GetVerdict() != foiblev1.Verdict_VERDICT_REFUSED || r.GetReason() != "the sweep was cancelled" {
				t.Errorf("a late result: %v", r)
			}
		}
		id2 := c.submit(other) // the slots are free for another sweep
		if job := h.job(); job.GetSweepId() != id2 {
			t.Errorf("job of %s", job.GetSweepId())
		}
		c.to(cancelled)(c.cancel(id2))

		check := func(when string) {
			t.Helper()
			s := c.sweep(id)
			_, n, err := c.tryExport(id, true)
			if s.GetState() != cancelled || s.GetProgress().GetJobsDone() != 5 || n != 5 || err != nil {
				t.Errorf("%s: %v; %d results, %v", when, s, n, err)
			}
			_, _, err = c.tryExport(id, false)
			wantCode(t, err, codes.FailedPrecondition, "it was cancelled; ask for what is there with --partial")
		}
		check("at once")
		c.restart()
		check("after a restart")
		h = c.join(3, 0)
		if r := h.tell(held[2], answer(held[2])); r.GetVerdict() != foiblev1.Verdict_VERDICT_REFUSED {
			t.Errorf("a result after a restart: %v", r)
		}
		h.idle(10 * time.Second)
		h.die()

		r, err := c.sweeps.CreateSweep(t.Context(), m)
		if s := r.GetSweep(); err != nil || !r.GetExisted() || s.GetState() != running || s.GetEndTime() != nil || s.GetProgress().GetJobsDone() != 5 {
			t.Errorf("submitted again: %v, %v", r, err)
		}
		runs := 0
		c.work(1, func(context.Context, *foiblev1.Assign) error { runs++; return nil })
		if s := c.wait(id); s.GetState() != succeeded || runs != int(s.GetProgress().GetJobs())-5 {
			t.Errorf("%d jobs ran, %v", runs, s)
		}
	})
}

// TestCancelStopsJobs: a job of a cancelled sweep ends with the next heartbeat, and its slot is free for another sweep.
func TestCancelStopsJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		id := c.submit(c.request(1, 4))
		began := make(chan struct{}, 10)
		c.work(2, func(ctx context.Context, job *foiblev1.Assign) error {
			if job.GetSweepId() != id {
				return nil
			}
			began <- struct{}{}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(24 * time.Hour):
				return nil
			}
		})
		await.Value(t, began, "the first job to begin")
		await.Value(t, began, "the second job to begin")
		c.to(cancelled)(c.cancel(id))
		start := time.Now()
		if s := c.wait(c.submit(c.request(3, 3))); s.GetState() != succeeded || time.Since(start) > 30*time.Second {
			t.Errorf("%v after %v", s, time.Since(start))
		}
		if s := c.sweep(id); s.GetState() != cancelled || s.GetProgress().GetJobsDone() != 0 {
			t.Error(s)
		}
	})
}

// TestReviveAtOnce: a sweep that was cancelled and submitted again in one life of the coordinator is done.
func TestReviveAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leases)
		m := c.request(32, 4)
		id := c.submit(m)
		drain := c.work(3, func(context.Context, *foiblev1.Assign) error { time.Sleep(time.Second); return nil })
		for range 3 {
			time.Sleep(2500 * time.Millisecond)
			c.to(cancelled)(c.cancel(id))
			if c.submit(m) != id {
				t.Error("another sweep")
			}
		}
		if s := c.wait(id); s.GetState() != succeeded {
			t.Error(s)
		}
		drain()
		if _, n := c.export(id); n != 40 {
			t.Errorf("%d results", n)
		}
	})
}

// TestCancelWhileQueueing: the queue of a sweep cancelled before all its jobs are queued is gone, and stays so.
func TestCancelWhileQueueing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		m := c.request(1000, 1)
		m.Stimuli = long(8, 1)
		id := c.submit(m)
		h := c.join(1, 0)
		c.to(cancelled)(c.cancel(id))
		h.die()
		time.Sleep(time.Second)
		c.stop()
		e, err := engine.Open(t.Context(), engine.Config{Dir: c.dir})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := e.Enqueued(t.Context(), id); n != 0 || err != nil {
			t.Errorf("%d jobs are queued, %v", n, err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		c.start()
		if s := c.sweep(id); s.GetState() != cancelled {
			t.Error(s)
		}
		if id := c.submit(m); c.sweep(id).GetState() != running {
			t.Error(c.sweep(id))
		}
	})
}

// TestOtherVersionCancelled: a sweep that another version left can be cancelled, and read as before.
func TestOtherVersionCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		as := version
		c := newCluster(t, func(cfg *coordinator.Config) { cfg.Version = as })
		id := c.submit(c.request(1, 2))
		h := c.join(1, 0)
		h.done(h.job())
		h.die()
		as = "newer"
		c.restart()
		_, err := c.extend(id, 5)
		wantCode(t, err, codes.FailedPrecondition, "it was made by version test")
		c.to(cancelled)(c.cancel(id))
		c.restart()
		if _, n, err := c.tryExport(id, true); n != 1 || err != nil || c.sweep(id).GetState() != cancelled {
			t.Errorf("%d results, %v", n, err)
		}
	})
}

// TestWeights: sweeps share the slots by their priorities, also when these change, whether slots come free together or
// one at a time.
func TestWeights(t *testing.T) {
	for _, slots := range []int32{1, 2, 7} {
		t.Run(fmt.Sprintf("slots=%d", slots), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, nil)
				ma, mb, mc := c.request(100, 1), c.request(101, 1), c.request(102, 1)
				for _, m := range []*foiblev1.CreateSweepRequest{ma, mb, mc} {
					m.Stimuli = long(4, 1) // a cell a job, and no score until four of them are there
				}
				mb.Priority = 30
				a, b := c.submit(ma), c.submit(mb)
				time.Sleep(5 * time.Second) // both are queued
				h := c.join(slots, 0)
				rounds := func(jobs int) map[string]int {
					given := map[string]int{}
					for range jobs / int(slots) {
						var held []*foiblev1.Assign
						for range slots {
							held = append(held, h.job())
							given[held[len(held)-1].GetSweepId()]++
						}
						for _, job := range held {
							h.done(job)
						}
					}
					return given
				}
				near := func(got, want int) bool { return got-want <= 3+int(slots) && want-got <= 3+int(slots) }
				if got := rounds(84); !near(got[a], 21) || !near(got[b], 63) {
					t.Errorf("of 1:3, given %d and %d", got[a], got[b])
				}
				if s, err := c.weigh(b, 10); err != nil || s.GetPriority() != 10 || c.sweep(a).GetPriority() != 10 {
					t.Errorf("%v, %v", s, err)
				}
				if got := rounds(84); !near(got[a], 42) || !near(got[b], 42) {
					t.Errorf("of 1:1, given %d and %d", got[a], got[b])
				}
				// A sweep that comes later does not catch up with what it missed, and one that has been paused neither.
				c.to(paused)(c.pause(b))
				id := c.submit(mc)
				time.Sleep(5 * time.Second)
				if got := rounds(84); !near(got[a], 42) || !near(got[id], 42) || got[b] > int(slots) {
					t.Errorf("with a new one, given %d and %d, and %d of the paused one", got[a], got[id], got[b])
				}
				c.to(running)(c.resume(b))
				if got := rounds(84); !near(got[a], 28) || !near(got[b], 28) || !near(got[id], 28) {
					t.Errorf("of 1:1:1, given %d, %d and %d", got[a], got[b], got[id])
				}
			})
		})
	}
}
