package coordinator_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/coordinator/engine"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

func cell(r *foiblev1.JobResult) *foiblev1.Cell { return r.GetInfer().GetCells()[0] }

func fit(r *foiblev1.JobResult) *foiblev1.Fit { return r.GetScore().GetFits()[0] }

func pointer[T any](v T) *T { return &v }

// wrong answers to a job of one parameter set, and what is said to them.
var wrong = []struct {
	name  string
	score bool
	spoil func(*foiblev1.JobResult)
	want  string
}{
	{"cell hash", false, func(r *foiblev1.JobResult) { cell(r).CellHash[3] ^= 1 }, "the hash is of another computation"},
	{"no cell hash", false, func(r *foiblev1.JobResult) { cell(r).CellHash = nil }, "the hash is of another computation"},
	{"NaN", false, func(r *foiblev1.JobResult) { cell(r).Posterior[4] = math.NaN() }, "step 1: probability NaN"},
	{"infinity", false, func(r *foiblev1.JobResult) { cell(r).Posterior[0] = math.Inf(1) }, "step 0: probability +Inf"},
	{"negative", false, func(r *foiblev1.JobResult) { cell(r).Posterior[0] = -0.5 }, "step 0: probability -0.5"},
	{"sum", false, func(r *foiblev1.JobResult) { cell(r).Posterior[2] = 0.25 }, "step 0: probabilities sum to 0.75"},
	{"short", false, func(r *foiblev1.JobResult) { cell(r).Posterior = cell(r).Posterior[1:] }, "14 probabilities, want 5 steps of 3 goals"},
	{"no cells", false, func(r *foiblev1.JobResult) { r.GetInfer().Cells = nil }, "0 cells for 1 parameter sets"},
	{"two cells", false, func(r *foiblev1.JobResult) { r.GetInfer().Cells = append(r.GetInfer().Cells, cell(r)) }, "2 cells for 1 parameter sets"},
	{"judged", false, func(r *foiblev1.JobResult) { cell(r).Judged = true }, "only rows of judgement steps: true"},
	{"undefined without reason", false, func(r *foiblev1.JobResult) { cell(r).Undefined = &foiblev1.Undefined{} }, "undefined from step 0"},
	{"nothing", false, func(r *foiblev1.JobResult) { r.Outcome = nil }, "0 cells for 1 parameter sets"},
	{"a score for posteriors", false, func(r *foiblev1.JobResult) {
		r.Outcome = &foiblev1.JobResult_Score{Score: &foiblev1.ScoreResult{Fits: []*foiblev1.Fit{{}}}}
	}, "0 cells for 1 parameter sets"},
	{"too large", false, func(r *foiblev1.JobResult) { cell(r).Posterior = make([]float64, engine.MaxResult/8) }, "bytes, more than"},
	{"score hash", true, func(r *foiblev1.JobResult) { fit(r).ScoreHash[0] ^= 1 }, "the hash is of another computation"},
	{"parameters of a fit", true, func(r *foiblev1.JobResult) { fit(r).ParameterSet.Alpha = pointer(2.5) }, "computed with boltzmann alpha=2.5"},
	{"r", true, func(r *foiblev1.JobResult) { fit(r).Overall.PearsonR = pointer(math.NaN()) }, "r is NaN"},
	{"rmse", true, func(r *foiblev1.JobResult) { fit(r).Overall.Rmse = pointer(math.NaN()) }, "rmse is NaN"},
	{"interval", true, func(r *foiblev1.JobResult) {
		fit(r).Intervals = []*foiblev1.Interval{{Unit: "both", Low: math.NaN(), High: 1}}
	}, "interval by both from NaN"},
	{"points", true, func(r *foiblev1.JobResult) { fit(r).Overall.N = math.MaxInt32 }, "2147483647 points"},
	{"resamples", true, func(r *foiblev1.JobResult) {
		fit(r).Intervals = []*foiblev1.Interval{{Unit: "both", Low: 0, High: 1, Resamples: -5}}
	}, "-5 resamples of 500"},
	{"a fit without stimuli", true, func(r *foiblev1.JobResult) { fit(r).ByStimulus = nil }, "correlations of 0 stimuli, want 1"},
	{"a fit without categories", true, func(r *foiblev1.JobResult) { fit(r).ByCategory = nil }, "0 points in 0 categories"},
	{"a fit of what was not undefined", true, func(r *foiblev1.JobResult) { fit(r).Undefined = 1 }, "1 undefined and 0 failed stimuli, want 0 and 0"},
	{"evidence of an exact model", false, func(r *foiblev1.JobResult) { cell(r).Evidence = []float64{0, 0, 0, 0, 1e300} }, "samples of a model that is exact"},
	{"reachability left out", false, func(r *foiblev1.JobResult) { cell(r).UnreachableFrom = nil }, "with goals that cannot be reached: false"},
	{"no fits", true, func(r *foiblev1.JobResult) { r.GetScore().Fits = nil }, "0 fits for 1 parameter sets"},
	{"posteriors for a score", true, func(r *foiblev1.JobResult) {
		r.Outcome = &foiblev1.JobResult_Infer{Infer: &foiblev1.InferResult{Cells: []*foiblev1.Cell{{}}}}
	}, "0 fits for 1 parameter sets"},
}

// TestAnswersToOtherJobs: cells of another study, stimulus, parameter set, seed or procedure are refused, whatever they
// say.
func TestAnswersToOtherJobs(t *testing.T) {
	for name, change := range map[string]func(*foiblev1.Assign){
		"study":      func(job *foiblev1.Assign) { job.StudyHash = strings.Repeat("0", 64) },
		"stimulus":   func(job *foiblev1.Assign) { job.GetInfer().Stimulus = "s99" },
		"parameters": func(job *foiblev1.Assign) { job.GetInfer().GetColumns()[0].Alpha[0] = 2.5 },
		"seed":       func(job *foiblev1.Assign) { job.Seed++ },
		"runs":       func(job *foiblev1.Assign) { job.GetInfer().Size.Runs++ },
		"method":     func(job *foiblev1.Assign) { job.GetInfer().Inference = &foiblev1.InferenceConfig{Method: "sips"} },
		"stage":      func(job *foiblev1.Assign) { job.GetInfer().Stage = "report" },
		"detail":     func(job *foiblev1.Assign) { job.GetInfer().Detail = "judged" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, nil)
				id := c.submit(c.request(1, 1))
				h := c.join(1, 0)
				job := h.job()
				other := proto.CloneOf(job)
				change(other)
				if r := h.tell(job, answer(other)); r.GetVerdict() != foiblev1.Verdict_VERDICT_REFUSED || !strings.Contains(r.GetReason(), "the hash is of another computation") {
					t.Error(r)
				}
				h.done(h.job())
				h.done(h.job())
				c.wait(id)
			})
		})
	}
}

// TestWrongAnswers: what does not answer the job is refused, the job comes again, and in the end is recorded as failed.
func TestWrongAnswers(t *testing.T) {
	for _, w := range wrong {
		t.Run(w.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, nil)
				id := c.submit(c.request(1, 1))
				h := c.join(1, 0)
				job := h.job()
				if w.score {
					h.done(job)
					job = h.job()
				}
				for attempt := 1; ; attempt++ {
					result := answer(job)
					w.spoil(result)
					r := h.tell(job, result)
					if attempt == coordinator.DefaultConfig().MaxFailures {
						if r.GetVerdict() != foiblev1.Verdict_VERDICT_RECORDED {
							t.Errorf("last: %v", r)
						}
						break
					}
					if r.GetVerdict() != foiblev1.Verdict_VERDICT_REFUSED || !strings.Contains(r.GetReason(), w.want) {
						t.Errorf("%v: want %q", r, w.want)
					}
					next := h.job()
					if next.GetJob() != job.GetJob() || int(next.GetAttempt()) != attempt+1 {
						t.Errorf("then came attempt %d of job %d", next.GetAttempt(), next.GetJob())
					}
					job = next
				}
				s := c.wait(id)
				p := s.GetProgress()
				if s.GetState() != foiblev1.SweepState_SWEEP_STATE_FAILED || p.GetJobsDone() != 2 || p.GetJobsLeased() != 0 ||
					!strings.Contains(p.GetFailures()[0], w.want) {
					t.Error(s)
				}
			})
		})
	}
}

// TestRefusalMends: a wrong answer costs a try, no more.
func TestRefusalMends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		id := c.submit(c.request(1, 1))
		h := c.join(1, 0)
		job := h.job()
		bad := answer(job)
		cell(bad).CellHash[0] ^= 1
		if r := h.tell(job, bad); r.GetVerdict() != foiblev1.Verdict_VERDICT_REFUSED {
			t.Error(r)
		}
		// Sent again it is neither counted again nor does it free a slot.
		for range 5 {
			if r := h.tell(job, bad); r.GetVerdict() != foiblev1.Verdict_VERDICT_REFUSED {
				t.Error(r)
			}
		}
		next := h.job()
		h.idle(time.Second)
		h.done(next)
		h.done(h.job())
		if s := c.wait(id); s.GetState() != foiblev1.SweepState_SWEEP_STATE_SUCCEEDED || s.GetProgress().GetJobsFailed() != 0 {
			t.Error(s)
		}
	})
}

// TestUnknownJobs: results of sweeps and jobs that are not here are refused, and nothing else happens.
func TestUnknownJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		c.submit(c.request(1, 1))
		h := c.join(1, 0)
		job := h.job()
		for _, m := range []*foiblev1.Assign{
			{SweepId: "none", Job: 0},
			{SweepId: job.GetSweepId(), Job: 2},
			{SweepId: job.GetSweepId(), Job: -1},
			{SweepId: job.GetSweepId(), Job: 1}, // a score before its posteriors
		} {
			if r := h.tell(m, &foiblev1.JobResult{}); r.GetVerdict() != foiblev1.Verdict_VERDICT_REFUSED {
				t.Error(r)
			}
		}
		h.done(job)
		h.done(h.job())
	})
}

// TestFailedStimulus: a chunk without one of its posteriors has no score, the sweep has failed and says why; all else is done.
func TestFailedStimulus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bad = "s01"
		c := newCluster(t, nil)
		m := c.request(33, 2) // 3 sets a chunk
		drain := c.work(3, func(_ context.Context, job *foiblev1.Assign) error {
			if i := job.GetInfer(); i.GetStimulus() == bad && asked(i)[0].Alpha.Number == 1 {
				return errors.New("bad stimulus")
			}
			return nil
		})
		id := c.submit(m)
		s := c.wait(id)
		p := s.GetProgress()
		want := []string{"bad stimulus", "stimulus s01 has no posterior: bad stimulus"}
		if s.GetState() != foiblev1.SweepState_SWEEP_STATE_FAILED || p.GetJobsDone() != 33 || p.GetCellsDone() != 66 || p.GetJobsFailed() != 2 ||
			!slices.Equal(p.GetFailures(), want) {
			t.Error(s)
		}
		fits, err := c.sweeps.ListFits(t.Context(), &foiblev1.ListFitsRequest{SweepId: id})
		if err != nil || len(fits.GetFits()) != 30 {
			t.Errorf("%d fits, %v", len(fits.GetFits()), err)
		}
		drain()
		// It is the same to a coordinator that was not there.
		before, n := c.export(id)
		c.stop()
		c.start()
		if again := c.sweep(id).GetProgress(); again.GetJobsFailed() != 2 || again.GetCellsDone() != 66 || !slices.Equal(again.GetFailures(), want) {
			t.Error(again)
		}
		if after, m := c.export(id); m != n || !slices.Equal(before, after) {
			t.Errorf("%d results, then %d", n, m)
		}
	})
}
