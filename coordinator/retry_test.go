package coordinator_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"foible.dev/foible/worker"
)

func (c *cluster) retry(id string) (*foiblev1.RetrySweepResponse, error) {
	return c.sweeps.RetrySweep(c.t.Context(), &foiblev1.RetrySweepRequest{SweepId: id})
}

// atOnce records each failure at once.
func atOnce(cfg *coordinator.Config) { cfg.MaxFailures = 1 }

// thorough asks for a sweep with all stages: fit, top-up, report.
func (c *cluster) thorough() *foiblev1.CreateSweepRequest {
	m := c.toppedUp(sweep.Marginal)
	m.Config.Report = reportSize
	return m
}

// reference is what a sweep of a request comes to that nothing goes wrong with.
func reference(t *testing.T, ask func(*cluster) *foiblev1.CreateSweepRequest) (results []byte, n int) {
	t.Helper()
	c := newCluster(t, nil)
	id := c.submit(ask(c))
	drain := c.work(3, nil)
	if s := c.wait(id); s.GetState() != succeeded {
		t.Fatal(s)
	}
	drain()
	return c.export(id)
}

// mishap is what goes wrong with a sweep at first.
type mishap struct {
	name string
	do   worker.Executor
}

// failing is an executor to which some jobs fail.
func failing(fails func(*foiblev1.Assign) bool) worker.Executor {
	return executor(func(_ context.Context, job *foiblev1.Assign) error {
		if fails(job) {
			return errors.New("no memory")
		}
		return nil
	})
}

// mishaps leave failures in each stage and of each kind.
func mishaps() []mishap {
	return []mishap{
		{"jobs of the fit stage", failing(func(job *foiblev1.Assign) bool { return job.GetJob() == 1 || job.GetJob() == 2 })},
		{"cells", partly(func(stimulus string, set *model.ParameterSet) string {
			if stimulus == "s01" && set.Model == "boltzmann" && set.Alpha.Number < 1.5 {
				return "no memory"
			}
			return ""
		})},
		{"cells of all stages", partly(func(stimulus string, set *model.ParameterSet) string {
			if stimulus == "s00" && set.Model == "full" {
				return "no memory"
			}
			return ""
		})},
		{"scores", failing(func(job *foiblev1.Assign) bool { return job.GetScore() != nil })},
		{"the report", failing(func(job *foiblev1.Assign) bool { return job.GetInfer().GetStage() == sweep.ReportStage })},
		{"everything", failing(func(*foiblev1.Assign) bool { return true })},
	}
}

// oneAfterTheOther are mishaps that a sweep can have in this order, being tried again after each.
func oneAfterTheOther() []mishap {
	all := mishaps()
	return []mishap{all[5], all[0], all[3], all[4]}
}

// spoil runs a sweep to an end at which something of it has failed.
func (c *cluster) spoil(m *foiblev1.CreateSweepRequest, how mishap) *foiblev1.Sweep {
	c.t.Helper()
	id := c.submit(m)
	drain := c.employ("bad", 2, func(*grpc.ClientConn) worker.Executor { return how.do })
	s := c.wait(id)
	drain()
	if s.GetState() != inPart {
		c.t.Fatalf("it is %v", s)
	}
	return s
}

// ledger has the cells that workers have computed, by their hashes.
type ledger struct {
	mu    sync.Mutex // guards cells
	cells map[string]int
}

// keeping is an executor whose good cells are entered in a ledger.
type keeping struct {
	worker.Executor
	*ledger
}

// Execute implements [worker.Executor].
func (k keeping) Execute(ctx context.Context, job *foiblev1.Assign) (*foiblev1.JobResult, error) {
	result, err := k.Executor.Execute(ctx, job)
	if infer := result.GetInfer(); err == nil && infer != nil {
		failed := map[int]bool{}
		for i := range codec.FailedCells(infer) {
			failed[i] = true
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		for i := range codec.CellCount(infer) {
			if !failed[i] {
				k.cells[string(codec.CellHash(infer, i))]++
			}
		}
	}
	return result, err
}

// computed counts the jobs that a worker does.
type computed struct {
	mu   sync.Mutex // guards jobs
	jobs map[int32]int
}

func (d *computed) note(_ context.Context, job *foiblev1.Assign) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.jobs == nil {
		d.jobs = map[int32]int{}
	}
	d.jobs[job.GetJob()]++
	return nil
}

// TestRetry: a sweep of which something failed is tried again, and comes to what one comes to that never failed. No cell is
// computed twice, and no good score of the stage that failed. It is so whether it is retried or submitted again.
func TestRetry(t *testing.T) {
	for i, how := range mishaps() {
		t.Run(how.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				want, n := reference(t, (*cluster).thorough)
				c := newCluster(t, atOnce)
				m := c.thorough()
				cells := &ledger{cells: map[string]int{}}
				before := c.spoil(m, mishap{how.name, keeping{how.do, cells}})
				id, p := before.GetSweepId(), before.GetProgress()
				var s *foiblev1.Sweep
				var retried *foiblev1.Retried
				if i%2 == 0 {
					r, err := c.retry(id)
					if err != nil {
						t.Fatal(err)
					}
					s, retried = r.GetSweep(), r.GetRetried()
				} else {
					r, err := c.sweeps.CreateSweep(t.Context(), m)
					if err != nil || !r.GetExisted() {
						t.Fatal(r, err)
					}
					s, retried = r.GetSweep(), r.GetRetried()
				}
				if retried.GetJobs() != p.GetJobsFailed() || retried.GetCells() != p.GetCellsFailed() {
					t.Errorf("retried %v of %v", retried, p)
				}
				if s.GetState() != running || s.GetRetries() != 1 || s.GetEndTime() != nil || s.GetProgress().GetJobsFailed() != 0 || s.GetProgress().GetCellsFailed() != 0 {
					t.Errorf("it goes on as %v", s)
				}
				good := s.GetProgress().GetJobsDone()
				if how.name != "everything" && good == 0 {
					t.Error("nothing is kept")
				}
				d := &computed{}
				drain := c.employ("good", 3, func(*grpc.ClientConn) worker.Executor { return keeping{executor(d.note), cells} })
				if s := c.wait(id); s.GetState() != succeeded || s.GetProgress().GetJobsFailed() != 0 {
					t.Errorf("it ends as %v", s)
				}
				drain()
				if len(d.jobs) > n-int(good) {
					t.Errorf("%d jobs were computed, and %d of %d were there", len(d.jobs), good, n)
				}
				for job, times := range d.jobs {
					if times > 1 {
						t.Errorf("job %d was computed %d times", job, times)
					}
				}
				twice := 0
				for _, times := range cells.cells {
					if times > 1 {
						twice++
					}
				}
				if twice > 0 {
					t.Errorf("%d of %d cells were computed twice", twice, len(cells.cells))
				}
				c.onlyResults(id)
				if got, _ := c.export(id); !bytes.Equal(got, want) {
					t.Error("the results differ from those of a sweep that never failed")
				}
				if _, err := c.retry(id); true {
					wantCode(t, err, codes.FailedPrecondition, "nothing of it has failed")
				}
				c.restart()
				if got, _ := c.export(id); !bytes.Equal(got, want) {
					t.Error("the results differ after a restart")
				}
			})
		})
	}
}

// TestRetryCutShort: a coordinator that stops anywhere while it removes failures removes the rest when it is started again.
func TestRetryCutShort(t *testing.T) {
	for _, how := range mishaps()[:3] {
		t.Run(how.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				want, _ := reference(t, (*cluster).thorough)
				removals := []int{0, 1, 2, 5}
				for i := 0; i < len(removals); i++ {
					c := newCluster(t, atOnce)
					id := c.spoil(c.thorough(), how).GetSweepId()
					void, err := c.inner.CutRetryShort(t.Context(), id, removals[i])
					if err != nil {
						t.Fatal(err)
					}
					if i == 0 {
						removals = append(removals, void/2, void-3, void-2, void-1, void)
					}
					c.restart()
					if i%2 == 1 {
						time.Sleep(5 * time.Second)
						c.restart()
					}
					drain := c.work(3, nil)
					if s := c.wait(id); s.GetState() != succeeded || s.GetRetries() != 1 {
						t.Errorf("with %d of %d removed, it ends as %v", removals[i], void, s)
					}
					drain()
					if got, _ := c.export(id); !bytes.Equal(got, want) {
						t.Errorf("with %d of %d removed, the results differ", removals[i], void)
					}
					c.stop()
				}
			})
		})
	}
}

// TestRetryOverRestarts: a sweep that is tried again goes on over restarts of the coordinator, and may fail and be tried
// again many times.
func TestRetryOverRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want, _ := reference(t, (*cluster).thorough)
		c := newCluster(t, atOnce)
		id := ""
		for i, how := range oneAfterTheOther() {
			id = c.spoil(c.thorough(), how).GetSweepId()
			if i%2 == 0 {
				c.restart()
			}
			if _, err := c.retry(id); err != nil {
				t.Fatal(err)
			}
			if i%3 == 0 {
				c.restart()
			}
		}
		for done := false; !done; {
			drain := c.work(2, takes(500*time.Millisecond))
			time.Sleep(3 * time.Second)
			drain()
			c.restart()
			done = c.sweep(id).GetState() != running
		}
		if s := c.sweep(id); s.GetState() != succeeded || int(s.GetRetries()) != len(oneAfterTheOther()) {
			t.Error(s)
		}
		if got, _ := c.export(id); !bytes.Equal(got, want) {
			t.Error("the results differ from those of a sweep that never failed")
		}
	})
}

// TestRetryWhileRunning: what has failed of a sweep that runs is tried again when all else is done, for who watches as well;
// a restart in between changes nothing, nor does it if the sweep is cancelled and submitted again.
func TestRetryWhileRunning(t *testing.T) {
	for _, between := range []string{"nothing", "restart", "cancel"} {
		t.Run(between, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				want, _ := reference(t, (*cluster).thorough)
				c := newCluster(t, atOnce)
				m := c.thorough()
				id := c.submit(m)
				h := c.join(1, 0)
				_, err := c.retry(id)
				wantCode(t, err, codes.FailedPrecondition, "nothing of it has failed so far; it is still running")
				h.tell(h.job(), failure("no memory"))
				r, err := c.retry(id)
				if err != nil || r.GetRetried().GetJobs() != 1 || !r.GetSweep().GetRetryDue() || r.GetSweep().GetState() != running || r.GetSweep().GetProgress().GetJobsFailed() != 1 {
					t.Fatal(r, err)
				}
				h.die()
				switch between {
				case "restart":
					c.restart()
				case "cancel":
					c.to(cancelled)(c.cancel(id))
					if c.submit(m) != id {
						t.Error("another sweep")
					}
				}
				if s := c.sweep(id); !s.GetRetryDue() {
					t.Error(s)
				}
				drain := c.work(3, takes(100*time.Millisecond))
				watch, err := c.sweeps.WatchSweep(t.Context(), &foiblev1.WatchSweepRequest{SweepId: id})
				if err != nil {
					t.Fatal(err)
				}
				var last *foiblev1.Sweep
				for {
					m, err := watch.Recv()
					if err != nil {
						break
					}
					if last = m.GetSweep(); last.GetState() == inPart || last.GetState() == cancelled || last.GetProgress() == nil {
						t.Errorf("who watches sees %v", last)
					}
				}
				drain()
				if last.GetState() != succeeded || last.GetRetryDue() || last.GetRetries() != 1 {
					t.Errorf("it ends as %v", last)
				}
				if got, _ := c.export(id); !bytes.Equal(got, want) {
					t.Error("the results differ from those of a sweep that never failed")
				}
			})
		})
	}
}

// TestRetryFailsAgain: what cannot be computed has failed again in the end, with its reason.
func TestRetryFailsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, atOnce)
		bad := failing(func(job *foiblev1.Assign) bool { return job.GetJob() == 1 })
		before := c.spoil(c.request(3, 2), mishap{do: bad})
		id := before.GetSweepId()
		if _, err := c.retry(id); err != nil {
			t.Fatal(err)
		}
		c.employ("bad", 2, func(*grpc.ClientConn) worker.Executor { return bad })
		after := c.wait(id)
		if p, q := before.GetProgress(), after.GetProgress(); after.GetState() != inPart || p.GetJobsFailed() != q.GetJobsFailed() || fmt.Sprint(p.GetFailures()) != fmt.Sprint(q.GetFailures()) {
			t.Errorf("before %v, after %v", p, q)
		}
	})
}

// TestRetryRefused: sweeps that cannot be tried again stay as they are.
func TestRetryRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		as := version
		c := newCluster(t, func(cfg *coordinator.Config) { cfg.Version, cfg.MaxFailures = as, 1 })
		_, err := c.retry("none")
		wantCode(t, err, codes.NotFound, "sweep none")
		_, err = c.retry("a.b")
		wantCode(t, err, codes.InvalidArgument, "a.b")
		id := c.submit(c.request(2, 2))
		c.to(cancelled)(c.cancel(id))
		_, err = c.retry(id)
		wantCode(t, err, codes.FailedPrecondition, "it was cancelled; submit it again")
		failed := c.spoil(c.request(3, 2), mishaps()[0]).GetSweepId()
		as = "newer"
		c.restart()
		_, err = c.retry(failed)
		wantCode(t, err, codes.FailedPrecondition, "it was made by version test")
		if s := c.sweep(failed); s.GetState() != inPart {
			t.Error(s)
		}
	})
}

// TestRetryExtends: a sweep that extends one of which cells failed computes these, and when the larger one failed, it is
// tried again as any other.
func TestRetryExtends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		larger := func(c *cluster) *foiblev1.CreateSweepRequest { return c.request(6, 2) }
		want, _ := reference(t, larger)
		c := newCluster(t, atOnce)
		bad := mishap{do: partly(func(stimulus string, set *model.ParameterSet) string {
			if stimulus == "s01" && set.Alpha.Number < 1.2 {
				return "no memory"
			}
			return ""
		})}
		id := c.spoil(c.request(5, 2), bad).GetSweepId()
		r, err := c.extend(id, larger(c).GetConfig().GetModels()["boltzmann"].GetAlpha()[5])
		if err != nil {
			t.Fatal(err)
		}
		drain := c.employ("bad", 1, func(*grpc.ClientConn) worker.Executor { return bad.do })
		if s := c.wait(r.GetSweep().GetSweepId()); s.GetState() != inPart || s.GetProgress().GetCellsFailed() != 2 {
			t.Error(s)
		}
		drain()
		if _, err := c.retry(r.GetSweep().GetSweepId()); err != nil {
			t.Fatal(err)
		}
		c.work(1, nil)
		if s := c.wait(r.GetSweep().GetSweepId()); s.GetState() != succeeded {
			t.Error(s)
		}
		if got, _ := c.export(r.GetSweep().GetSweepId()); !bytes.Equal(got, want) {
			t.Error("the results differ from those of a sweep that never failed")
		}
	})
}

// TestRetryOfReplicas: one coordinator tries again what failed with another; both go on with it, and know its end.
func TestRetryOfReplicas(t *testing.T) {
	var want []byte
	synctest.Test(t, func(t *testing.T) { want, _ = reference(t, (*cluster).thorough) })
	a, b := newReplicas(t, atOnce)
	m := a.thorough()
	for i, how := range oneAfterTheOther() {
		one, other := a, b
		if i%2 == 1 {
			one, other = b, a
		}
		id := one.spoil(m, how).GetSweepId()
		if r, err := other.retry(id); err != nil || r.GetRetried() == nil {
			t.Fatal(r, err)
		}
		if i == 2 {
			one.restart()
		}
	}
	id := a.submit(m)
	drainA, drainB := a.work(2, nil), b.work(2, nil)
	for _, c := range []*cluster{a, b} {
		if s := c.wait(id); s.GetState() != succeeded || s.GetRetries() != 4 {
			t.Errorf("it is %v", s)
		}
	}
	drainA()
	drainB()
	for _, c := range []*cluster{a, b} {
		if got, _ := c.export(id); !bytes.Equal(got, want) {
			t.Error("the results differ from those of a sweep that never failed")
		}
	}
}
