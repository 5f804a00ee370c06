package coordinator_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/internal/await"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// diary is the jobs that an executor was given.
type diary struct {
	mu   sync.Mutex
	jobs []*foiblev1.Assign // guarded by mu
}

func (d *diary) note(_ context.Context, job *foiblev1.Assign) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.jobs = append(d.jobs, job)
	return nil
}

// report is the parameter sets of each infer job of the report, by stimulus.
func (d *diary) report() map[string][]model.ParameterSet {
	d.mu.Lock()
	defer d.mu.Unlock()
	jobs := map[string][]model.ParameterSet{}
	for _, job := range d.jobs {
		if work := job.GetInfer(); work.GetStage() == sweep.ReportStage {
			jobs[work.GetStimulus()] = asked(work)
		}
	}
	return jobs
}

// winners are each model's parameter set of the highest r, out of the recorded fits of all jobs but the last, which is
// the report's.
func (c *cluster) winners(id string) []model.ParameterSet {
	c.t.Helper()
	best := map[string]*foiblev1.Fit{}
	stream, err := c.sweeps.ExportResults(c.t.Context(), &foiblev1.ExportResultsRequest{SweepId: id, Partial: true})
	for last := int32(c.sweep(id).GetProgress().GetJobs() - 1); err == nil; {
		var m *foiblev1.ExportResultsResponse
		if m, err = stream.Recv(); err != nil || m.GetJob() == last {
			continue
		}
		for _, f := range m.GetResult().GetScore().GetFits() {
			model := f.GetParameterSet().GetModel()
			if f.GetOverall().PearsonR != nil && (best[model] == nil || f.GetOverall().GetPearsonR() > best[model].GetOverall().GetPearsonR()) {
				best[model] = f
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		c.t.Fatal(err)
	}
	var sets []model.ParameterSet
	for _, m := range model.Models {
		if best[m.Name] != nil {
			sets = append(sets, must(codec.ReadParameterSet(best[m.Name].GetParameterSet())))
		}
	}
	return sets
}

// wantReport checks that the report was of these parameter sets, on every stimulus.
func wantReport(t *testing.T, got map[string][]model.ParameterSet, want []model.ParameterSet, n int) {
	t.Helper()
	if len(got) != n {
		t.Errorf("a report on %d stimuli, want %d", len(got), n)
	}
	for stimulus, sets := range got {
		if !slices.Equal(sets, want) {
			t.Errorf("stimulus %s: the report is of %v\nwant %v", stimulus, sets, want)
		}
	}
}

func models(sets []model.ParameterSet) (names []string) {
	for _, set := range sets {
		names = append(names, set.Model)
	}
	return names
}

const reportSets, reportStimuli = 6, 3 // of [cluster.staged] in these tests, which makes for jobs of one cell or two

// While a fit is missing, no job of the report is given out, however many slots are idle. Then each model's best
// parameter set is run again, with the runs of the report.
func TestReportAfterFits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		m := c.staged(reportSets, reportStimuli)
		id := c.submit(m)
		jobs := int(c.sweep(id).GetProgress().GetJobs())
		const rest = reportStimuli + 2 // a fit, and the report's infer jobs and score
		lastFit := int32(jobs - 2)
		release := make(chan struct{})
		d := &diary{}
		c.work(16, func(ctx context.Context, job *foiblev1.Assign) error {
			_ = d.note(ctx, job)
			if job.GetJob() == lastFit {
				<-release
			}
			return nil
		})
		time.Sleep(10 * time.Second)
		if p := c.sweep(id).GetProgress(); int(p.GetJobsDone()) != jobs-rest || p.GetJobsLeased() != 1 {
			t.Errorf("with one fit missing: %v; want all jobs but %d done, and one with a worker", p, rest)
		}
		if got := d.report(); len(got) != 0 {
			t.Errorf("the report began before the last fit: %v", got)
		}
		close(release)
		s := c.wait(id)

		const sets, models = reportSets + 4*2, 5
		p := s.GetProgress()
		if want := int64((sets + models) * reportStimuli); s.GetState() != foiblev1.SweepState_SWEEP_STATE_SUCCEEDED || p.GetCells() != want || p.GetCellsDone() != want || int(p.GetJobsDone()) != jobs {
			t.Errorf("at the end: %v; want %d cells", s, want)
		}
		want := c.winners(id)
		if len(want) != models-1 { // one has no r
			t.Fatalf("winners %v", want)
		}
		wantReport(t, d.report(), want, reportStimuli)
		for _, job := range d.jobs {
			size := map[string]*foiblev1.StageConfig{sweep.FitStage: fitSize, sweep.ReportStage: reportSize}[job.GetInfer().GetStage()]
			if work := job.GetInfer(); work != nil && !proto.Equal(work.GetSize(), size) {
				t.Errorf("job %d, %s: %v, want %v", job.GetJob(), work.GetStage(), work.GetSize(), size)
			}
		}
		// First of the grid is not best of the grid, or the test would say little.
		if best := want[len(want)-1]; best.Model != "boltzmann" || best.Alpha.Number == m.GetConfig().GetModels()["boltzmann"].GetAlpha()[0] {
			t.Errorf("the best of %d parameter sets is %v; take another seed", reportSets, &best)
		}
	})
}

// A coordinator that starts between the last fit and the end of the report goes on, to the same results, whether or
// not the queue knows of the report.
func TestRestartBeforeReport(t *testing.T) {
	short := func(cfg *coordinator.Config) { cfg.Lease, cfg.Grace = 4*time.Second, time.Second }
	var want []byte
	var jobs int
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, short)
		id := c.submit(c.staged(reportSets, reportStimuli))
		c.work(4, nil)
		c.wait(id)
		want, jobs = c.export(id)
	})
	for reported := range reportStimuli + 1 { // jobs of the report that are done before
		for _, lost := range []bool{false, true} {
			t.Run(fmt.Sprintf("reported=%d/queue lost=%v", reported, lost), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := newCluster(t, short)
					id := c.submit(c.staged(reportSets, reportStimuli))
					var mu sync.Mutex
					let := reported
					drain := c.work(4, func(ctx context.Context, job *foiblev1.Assign) error {
						mu.Lock()
						stop := int(job.GetJob()) == jobs-1 // the report's score
						if job.GetInfer().GetStage() == sweep.ReportStage {
							let--
							stop = let < 0
						}
						mu.Unlock()
						if stop {
							<-ctx.Done()
							return ctx.Err()
						}
						return nil
					})
					time.Sleep(10 * time.Second)
					before := c.sweep(id).GetProgress().GetJobsDone()
					if int(before) != jobs-(reportStimuli+1)+reported {
						t.Fatalf("%d jobs of %d done", before, jobs)
					}
					drain()
					c.stop()
					if lost {
						withEngine(t, c.dir, func(e *engine.Engine) error { return e.DeleteJobs(t.Context(), id) })
					}
					c.start()
					if p := c.sweep(id).GetProgress(); p.GetJobsDone() != before {
						t.Errorf("%d jobs done after the restart, %d before", p.GetJobsDone(), before)
					}
					d := &diary{}
					c.work(4, d.note)
					if s := c.wait(id); s.GetState() != foiblev1.SweepState_SWEEP_STATE_SUCCEEDED {
						t.Errorf("%v", s)
					}
					if got, n := c.export(id); n != jobs || !bytes.Equal(got, want) {
						t.Errorf("%d results, want %d; the same: %v", n, jobs, bytes.Equal(got, want))
					}
					if len(d.jobs) != jobs-int(before) {
						t.Errorf("%d jobs were given out after the restart, want the %d that were left", len(d.jobs), jobs-int(before))
					}
				})
			})
		}
	}
}

// withEngine does something to the engine of a coordinator that has stopped.
func withEngine(t *testing.T, dir string, do func(*engine.Engine) error) {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Config{Dir: dir, AckWait: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(do(e), e.Close()); err != nil {
		t.Fatal(err)
	}
}

// A queue that has the report's jobs while fits are missing, because results were lost, does no harm.
func TestReportQueuedTooSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		id := c.submit(c.staged(reportSets, reportStimuli))
		jobs := int(c.sweep(id).GetProgress().GetJobs())
		chunks := jobs / (reportStimuli + 1)
		c.stop()
		withEngine(t, c.dir, func(e *engine.Engine) error {
			var report []int
			for i := range reportStimuli {
				report = append(report, (chunks-1)*reportStimuli+i)
			}
			return e.Requeue(t.Context(), id, append(report, jobs-1))
		})
		c.start()
		d := &diary{}
		c.work(64, d.note)
		if s := c.wait(id); s.GetState() != foiblev1.SweepState_SWEEP_STATE_SUCCEEDED {
			t.Errorf("%v", s)
		}
		wantReport(t, d.report(), c.winners(id), reportStimuli)
	})
}

// A model of which no r is defined is not in the report, nor is one whose fits failed; without any model, the report
// is empty, no worker is asked for it, and the sweep ends all the same.
func TestLeftOutOfReport(t *testing.T) {
	tests := []struct {
		name   string
		models []string // all if empty
		fails  string   // model whose cells fail
		want   []string
		state  foiblev1.SweepState
	}{
		{"no r", nil, "", []string{"full", "goal-lesioned", "plan-lesioned", "boltzmann"}, foiblev1.SweepState_SWEEP_STATE_SUCCEEDED},
		{"failed fits", []string{"boltzmann", "full", undefined}, "full", []string{"boltzmann"}, foiblev1.SweepState_SWEEP_STATE_FAILED},
		{"no model", []string{undefined}, "", nil, foiblev1.SweepState_SWEEP_STATE_SUCCEEDED},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, nil)
				m := c.staged(reportSets, reportStimuli)
				for model := range m.GetConfig().GetModels() {
					if len(test.models) > 0 && !slices.Contains(test.models, model) {
						delete(m.Config.Models, model)
					}
				}
				id := c.submit(m)
				d := &diary{}
				c.work(4, func(ctx context.Context, job *foiblev1.Assign) error {
					if slices.Contains(models(asked(job.GetInfer())), test.fails) {
						return errors.New("not this one")
					}
					return d.note(ctx, job)
				})
				s := c.wait(id)
				if p := s.GetProgress(); s.GetState() != test.state || p.GetJobsDone() != p.GetJobs() || p.GetCellsDone() != p.GetCells() {
					t.Errorf("%v", s)
				}
				want := c.winners(id)
				if !slices.Equal(models(want), test.want) {
					t.Errorf("models with an r: %v, want %v", models(want), test.want)
				}
				asked := reportStimuli
				if len(want) == 0 {
					asked = 0
				}
				wantReport(t, d.report(), want, asked)
			})
		})
	}
}

// What comes in of the report before its parameters are chosen is refused, also an answer of no cells, which is as
// many as the job has by then.
func TestReportAnsweredTooSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		id := c.submit(c.staged(reportSets, reportStimuli))
		jobs := int32(c.sweep(id).GetProgress().GetJobs())
		chunks := jobs / (reportStimuli + 1)
		early := map[int32]*foiblev1.JobResult{
			chunks*reportStimuli - 1: {Outcome: &foiblev1.JobResult_Infer{Infer: &foiblev1.InferResult{}}},
			jobs - 1:                 {Outcome: &foiblev1.JobResult_Score{Score: &foiblev1.ScoreResult{}}},
		}
		for job, result := range early {
			ctx, cancel := context.WithTimeout(t.Context(), await.Limit())
			defer cancel()
			stream, err := foiblev1.NewWorkerServiceClient(c.conn).Work(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range []*foiblev1.WorkRequest{
				{Message: &foiblev1.WorkRequest_Hello{Hello: &foiblev1.Hello{Version: version, Slots: 1, Busy: 1, Host: "test"}}},
				{Message: &foiblev1.WorkRequest_Result{Result: &foiblev1.Result{SweepId: id, Job: job, Lease: 1, Result: result}}},
			} {
				if err := stream.Send(m); err != nil {
					t.Fatal(err)
				}
			}
			for {
				m, err := stream.Recv()
				if err != nil {
					t.Fatal(err)
				}
				if r := m.GetRecorded(); r != nil {
					const why = "the result does not answer the job: an answer to a job whose parameters have not been chosen yet"
					if r.GetVerdict() != foiblev1.Verdict_VERDICT_REFUSED || r.GetReason() != why {
						t.Errorf("job %d: %v", job, r)
					}
					break
				}
			}
			if err := stream.CloseSend(); err != nil {
				t.Fatal(err)
			}
		}
		d := &diary{}
		c.work(4, d.note)
		if s := c.wait(id); s.GetState() != foiblev1.SweepState_SWEEP_STATE_SUCCEEDED {
			t.Errorf("%v", s)
		}
		wantReport(t, d.report(), c.winners(id), reportStimuli)
	})
}
