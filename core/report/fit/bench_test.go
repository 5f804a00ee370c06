package fit_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/report/fit"
	"foible.dev/foible/core/report/internal/reporttest"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// BenchmarkReport writes the report of a dense sweep of 16 stimuli, from results
// that are there.
func BenchmarkReport(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("sets=%d", n), func(b *testing.B) {
			st := &study.Study{Name: "dense"}
			var shapes []sweep.Shape
			for i := range 16 {
				id := fmt.Sprint(i)
				st.Stimuli = append(st.Stimuli, study.Stimulus{ID: id, Goals: make([]study.Goal, 5), JudgementSteps: []int{0, 2, 4, 6, 8}})
				shapes = append(shapes, sweep.Shape{Stimulus: id, Goals: 5, Actions: 9, JudgementSteps: []int{0, 2, 4, 6, 8}})
			}
			axes := map[string][]model.Setting{}
			for i := range n / 100 {
				axes["search_noise"] = append(axes["search_noise"], model.Setting{Number: float64(i) / 100})
			}
			for i := range 10 {
				axes["goal_noise"] = append(axes["goal_noise"], model.Setting{Number: float64(i) / 20})
				axes["action_noise"] = append(axes["action_noise"], model.Setting{Number: float64(i) / 20})
			}
			axes["budget_r"], axes["budget_q"] = []model.Setting{{Number: 2}}, []model.Setting{{Number: 0.9}}
			c := sweep.Config{Models: []sweep.ModelGrid{{Model: "full", Axes: axes}}, Bootstrap: sweep.DefaultBootstrap}
			c.Inference, c.Fit, c.Report = sweep.DefaultsOf(sweep.Marginal)
			sets, err := c.ParameterSets()
			if err != nil || len(sets) != n {
				b.Fatal(len(sets), err)
			}
			rows := make([][]float64, 5)
			for i := range rows {
				rows[i] = []float64{0.2, 0.2, 0.2, 0.2, 0.2}
			}
			cell := &result.Cell{Judged: true, Posterior: rows, Runs: result.RunsOf(rows, rows, rows, rows), Samples: 64}
			cells := make([]*result.Cell, 16)
			for i := range cells {
				cells[i] = cell
			}
			for b.Loop() {
				rng := rand.New(rand.NewPCG(1, 1))
				plan, err := sweep.NewPlan(sets, shapes, 256, true)
				if err != nil {
					b.Fatal(err)
				}
				out := &reporttest.Folder{}
				r, err := fit.New(out, st, plan, c, fit.Manifest{})
				if err != nil {
					b.Fatal(err)
				}
				var chunk []*sweep.Gathered
				for i := range sets {
					one := result.Correlation{N: 400, PearsonR: rng.Float64(), Defined: true, RMSE: 0.1}
					f := &result.Fit{Overall: one, ByCategory: []result.Correlation{one, one, one, one}, MCSE: 0.001}
					for range cells {
						f.ByStimulus = append(f.ByStimulus, one)
					}
					chunk = append(chunk, &sweep.Gathered{Stage: sweep.FitStage, Index: i, Set: sets[i], Cells: cells, Fit: f})
					if len(chunk) == plan.CellsPerJob || i == len(sets)-1 {
						if err := r.Add(chunk...); err != nil {
							b.Fatal(err)
						}
						chunk = nil
					}
				}
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
				bytes := 0
				for _, f := range out.Files {
					bytes += f.Len()
				}
				b.ReportMetric(float64(bytes)/1e6, "MB")
			}
		})
	}
}
