package coordinator_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"foible.dev/foible/core/sweep"
	"foible.dev/foible/internal/await"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"foible.dev/foible/worker"
)

// shifts counts, by job, how often each host has computed it.
type shifts struct {
	mu sync.Mutex // guards by
	by map[int32]map[string]int
}

// of is an executor that counts what a host does, with answers that spoil may change.
func (s *shifts) of(host string, spoil func(*foiblev1.Assign, *foiblev1.JobResult)) func(*grpc.ClientConn) worker.Executor {
	return func(*grpc.ClientConn) worker.Executor {
		return counted{executor(func(ctx context.Context, job *foiblev1.Assign) error {
			s.mu.Lock()
			if s.by == nil {
				s.by = map[int32]map[string]int{}
			}
			if s.by[job.GetJob()] == nil {
				s.by[job.GetJob()] = map[string]int{}
			}
			s.by[job.GetJob()][host]++
			s.mu.Unlock()
			return takes(time.Second)(ctx, job)
		}), spoil}
	}
}

type counted struct {
	worker.Executor
	spoil func(*foiblev1.Assign, *foiblev1.JobResult) // nil: nothing
}

// Execute implements worker.Executor.
func (c counted) Execute(ctx context.Context, job *foiblev1.Assign) (*foiblev1.JobResult, error) {
	result, err := c.Executor.Execute(ctx, job)
	if err == nil && c.spoil != nil {
		c.spoil(job, result)
	}
	return result, err
}

// planned is the plan of a sweep.
func planned(t *testing.T, s *foiblev1.Sweep) (*sweep.Plan, *sweep.Config) {
	t.Helper()
	config := must(codec.Config(s.GetConfig()))
	return must(config.Plan(codec.Shapes(s.GetStimuli()), int(s.GetCellsPerJob()))), &config.Config
}

// TestVerify: the share of jobs that is asked for is computed twice, by two workers if there are two, and the results are
// those of a sweep that verifies nothing.
func TestVerify(t *testing.T) {
	run := func(t *testing.T, share float64, hosts ...string) (results []byte) {
		synctest.Test(t, func(t *testing.T) {
			var did shifts
			c := newCluster(t, nil)
			for _, host := range hosts {
				c.employ(host, 2, did.of(host, nil))
			}
			synctest.Wait()
			m := c.staged(20, 3)
			m.Verify = share
			id := c.submit(m)
			s := c.wait(id)
			whole(t, s)
			results, _ = c.export(id)
			plan, config := planned(t, s)
			twice, cells := 0, int64(0)
			for number := range plan.FitJobs() {
				job, want := plan.Job(number), 1
				if plan.ComputedTwice(&job, config.Seed, share) {
					want = 2
					twice++
					cells += int64(len(job.Sets))
				}
				n := 0
				for host, times := range did.by[int32(number)] {
					if n += times; times > 1 && len(hosts) > 1 {
						t.Errorf("job %d went to the worker on %s %d times", number, host, times)
					}
				}
				if n != want {
					t.Errorf("job %d was computed %d times, want %d", number, n, want)
				}
			}
			p := s.GetProgress()
			alone := p.GetCellsVerifiedAlone()
			switch {
			case share > 0 && twice == 0, share == 1 && twice != plan.FitJobs(), share > 0 && share < 1 && twice == plan.FitJobs():
				t.Errorf("%d of %d jobs were computed twice", twice, plan.FitJobs())
			case share == 0 && p.GetCellsVerified() != 0, p.GetCellsVerified() < cells, p.GetCellsVerified() > p.GetCells():
				t.Errorf("%d cells verified, at least %d of the fit", p.GetCellsVerified(), cells)
			case len(hosts) == 1 && alone != p.GetCellsVerified(), len(hosts) > 1 && alone != 0:
				t.Errorf("%d of %d cells are said to be verified by one worker of %d", alone, p.GetCellsVerified(), len(hosts))
			case p.GetRetries() != 0 || p.GetDuplicates() != 0:
				t.Errorf("second computations count as something else: %v", p)
			}
		})
		return results
	}
	plain := run(t, 0, "one", "two")
	for _, test := range []struct {
		name  string
		share float64
		hosts []string
	}{
		{"all", 1, []string{"one", "two"}},
		{"a third", 1.0 / 3, []string{"one", "two", "three"}},
		{"next to nothing", 1e-9, []string{"one", "two"}},
		{"one worker", 0.5, []string{"one"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if results := run(t, test.share, test.hosts...); !bytes.Equal(results, plain) {
				t.Error("the results are not those of a sweep that verifies nothing")
			}
		})
	}
}

// exchange gives two cells of a job each other's posteriors.
func exchange(_ *foiblev1.Assign, r *foiblev1.JobResult) {
	if cells := r.GetInfer().GetCells(); len(cells) > 1 {
		cells[0].Posterior, cells[1].Posterior = cells[1].GetPosterior(), cells[0].GetPosterior()
	}
}

// TestVerifyFindsLies: posteriors that are wrong and look right are found by the second computation: the job fails with
// both hosts, the stimulus and the parameter set, and neither result is recorded. So is a worker that contradicts itself.
func TestVerifyFindsLies(t *testing.T) {
	for _, test := range []struct {
		name  string
		hosts []string // the last one lies
		want  []string
	}{
		{"two workers", []string{"honest", "liar"}, []string{"the worker on honest", "the worker on liar", "computed different numbers for stimulus s0", "boltzmann alpha=", " and 1 other"}},
		{"one worker", []string{"liar"}, []string{"the worker on liar, asked twice, computed different numbers for stimulus s00, boltzmann alpha=1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var did shifts
				c := newCluster(t, nil)
				lies := 0
				for i, host := range test.hosts {
					var spoil func(*foiblev1.Assign, *foiblev1.JobResult)
					if i == len(test.hosts)-1 {
						spoil = func(job *foiblev1.Assign, r *foiblev1.JobResult) {
							if lies++; len(test.hosts) > 1 || lies == 1 {
								exchange(job, r)
							}
						}
					}
					c.employ(host, 1, did.of(host, spoil))
				}
				synctest.Wait()
				m := c.request(33, 2) // 3 sets a job
				m.Verify = 1
				id := c.submit(m)
				s := c.wait(id)
				p := s.GetProgress()
				if s.GetState() != inPart || p.GetJobsFailed() == 0 || p.GetJobsDone() != p.GetJobs() {
					t.Fatalf("the lies were not found: %v", s)
				}
				for _, want := range test.want {
					if !strings.Contains(p.GetFailures()[0], want) {
						t.Errorf("the first failure is %q, without %q", p.GetFailures()[0], want)
					}
				}
				if len(test.hosts) > 1 && p.GetCellsVerified() != 0 {
					t.Errorf("%d cells are said to be verified", p.GetCellsVerified())
				}
			})
		})
	}
}

// TestVerifyAfterRestart: what was computed once when the coordinator ended is computed twice again, and a result that is sent
// again is no second opinion.
func TestVerifyAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leases)
		m := c.request(1, 1)
		m.Verify = 1
		id := c.submit(m)
		one := c.join(1, 0)
		first := one.job()
		for range 2 {
			if r := one.tell(first, answer(first)); r.GetVerdict() != foiblev1.Verdict_VERDICT_AGAIN {
				t.Errorf("the first result: %v", r)
			}
		}
		if n := c.sweep(id).GetProgress().GetJobsDone(); n != 0 {
			t.Errorf("%d jobs done", n)
		}
		one.die()
		c.stop()
		c.start()
		one, two := c.join(1, 0), c.join(1, 0)
		for range 2 {
			select {
			case job := <-one.assigned:
				one.tell(job, answer(job))
			case job := <-two.assigned:
				two.tell(job, answer(job))
			case <-time.After(await.Limit()):
				t.Fatal("waited for the job to be given out twice")
			}
		}
		select {
		case job := <-one.assigned: // the score
			one.done(job)
		case job := <-two.assigned:
			two.done(job)
		case <-time.After(await.Limit()):
			t.Fatal("waited for the score job")
		}
		s := c.wait(id)
		whole(t, s)
		if p := s.GetProgress(); p.GetCellsVerified() != 1 || p.GetCellsVerifiedAlone() != 0 {
			t.Error(p)
		}
	})
}
