package coordinator_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"foible.dev/foible/worker"
)

// partly answers jobs rightly, but for cells that it cannot compute.
type partly func(stimulus string, set *model.ParameterSet) (reason string)

// Execute implements [worker.Executor].
func (fails partly) Execute(_ context.Context, job *foiblev1.Assign) (*foiblev1.JobResult, error) {
	out := answer(job)
	work := job.GetInfer()
	if work == nil {
		return out, nil
	}
	p, sets, err := codec.ReadInferJob(work)
	if err != nil {
		return nil, err
	}
	cells := must(codec.ReadCells(out.GetInfer(), &codec.Shapes(stimuli(1))[0]))
	var hashes []byte
	for i := range cells {
		if reason := fails(work.GetStimulus(), &sets[i]); reason != "" {
			cells[i] = result.FailedCell(reason)
			if p.Detail == sweep.DetailJudged {
				cells[i].Judge([]int{2, actions})
			}
		}
		hashes = append(hashes, codec.CellHash(out.GetInfer(), i)...)
	}
	return &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Infer{Infer: codec.InferResult(cells, hashes)}}, nil
}

// TestFailedCells: a cell that cannot be computed is recorded as such, once; its neighbours are recorded, and its parameter
// set is scored without it. The sweep has failed in part and says why, by model; to a coordinator that was not there, too.
func TestFailedCells(t *testing.T) {
	for _, workers := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, log := logged(t)
				id := c.submit(c.staged(8, 3))
				var drains []func()
				for range workers {
					drains = append(drains, c.employ("test", 2, func(*grpc.ClientConn) worker.Executor {
						return partly(func(stimulus string, set *model.ParameterSet) string {
							switch {
							case set.Model == "plan-lesioned":
								return "no heuristic"
							case set.Model == "boltzmann" && set.Alpha.Number == 1 && stimulus == "s01":
								return "too many states"
							}
							return ""
						})
					}))
				}
				s := c.wait(id)
				for _, drain := range drains {
					drain()
				}
				want := []*foiblev1.FailedCells{
					{Model: "plan-lesioned", Reason: "no heuristic", Cells: 6},
					{Model: "boltzmann", Reason: "too many states", Cells: 1},
				}
				check := func(p *foiblev1.Progress) {
					t.Helper()
					same := slices.EqualFunc(p.GetFailedCells(), want, func(a, b *foiblev1.FailedCells) bool { return proto.Equal(a, b) })
					if p.GetCellsFailed() != 7 || p.GetJobsFailed() != 0 || p.GetJobsDone() != p.GetJobs() || !same {
						t.Error(p)
					}
				}
				check(s.GetProgress())
				if s.GetState() != inPart || s.GetProgress().GetRetries() != 0 {
					t.Error(s)
				}
				if lines := log.lines("[WARN]"); len(lines) > 0 {
					t.Errorf("the log warns: %q", lines)
				}
				failed := map[string]int32{}
				fits, err := c.sweeps.ListFits(t.Context(), &foiblev1.ListFitsRequest{SweepId: id})
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range fits.GetFits() {
					failed[f.GetParameterSet().GetModel()] += f.GetFailed()
				}
				if len(fits.GetFits()) != 16 || failed["plan-lesioned"] != 6 || failed["boltzmann"] != 1 || failed["full"] != 0 {
					t.Errorf("%d fits; failed cells %v", len(fits.GetFits()), failed)
				}
				inside, err := c.inner.Inside(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				cells := 0
				for _, f := range inside.Failures {
					cells += len(f.Sets)
					if !f.Cells || f.Score {
						t.Errorf("%+v", f)
					}
				}
				if cells != 7 {
					t.Errorf("%d cells are listed", cells)
				}
				c.restart()
				check(c.sweep(id).GetProgress())
				if again, err := c.inner.Inside(t.Context(), id); err != nil || len(again.Failures) != len(inside.Failures) {
					t.Errorf("%d failures are listed after a restart, %d before, %v", len(again.Failures), len(inside.Failures), err)
				}
			})
		})
	}
}

// TestFailedCellsAreKnownAgain: a coordinator that is started again in the middle counts the failed cells that are recorded.
func TestFailedCellsAreKnownAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		id := c.submit(c.request(2, 2))
		bad := partly(func(stimulus string, _ *model.ParameterSet) string {
			if stimulus == "s00" {
				return "too many states"
			}
			return ""
		})
		h := c.join(1, 0)
		for range 3 { // two cells, and the score of the first parameter set
			job := h.job()
			result, err := bad.Execute(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			if r := h.tell(job, result); r.GetVerdict() != foiblev1.Verdict_VERDICT_RECORDED {
				t.Fatal(r)
			}
		}
		before := c.sweep(id).GetProgress()
		h.die()
		c.restart()
		after := c.sweep(id).GetProgress()
		if before.GetCellsFailed() == 0 || after.GetCellsFailed() != before.GetCellsFailed() || after.GetCellsDone() != before.GetCellsDone() {
			t.Errorf("before %v, after %v", before, after)
		}
	})
}
