package recovery_test

import (
	"math"
	"strings"
	"testing"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/participant"
	"foible.dev/foible/core/recovery"
	"foible.dev/foible/core/report/internal/reporttest"
	recoveryreport "foible.dev/foible/core/report/recovery"
	"foible.dev/foible/core/sweep"
)

// recovered is a recovery on the tiny study: two values of alpha and of value, and plan-lesioned, which never has a posterior.
func recovered(t *testing.T) *recoveryreport.Report {
	t.Helper()
	c := reporttest.Config("optimal", "heuristic")
	c.Models[0].Axes["alpha"] = []model.Setting{{Number: 2}, {Number: 0.5}}
	c.Models = append(c.Models, sweep.ModelGrid{Model: "plan-lesioned", Axes: map[string][]model.Setting{"action_noise": {{Number: 0.1}, {Number: 0.2}}}})
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	posteriors := recovery.NewPosteriors(len(sets))
	for i := range sets {
		k := 0
		for _, s := range reporttest.Shapes() {
			for range s.JudgementSteps {
				sum, row := 0.0, make([]float64, s.Goals)
				for g := range row {
					k++
					row[g] = float64(1 + (7*(i+1)+3*k*k+k*i)%11)
					sum += row[g]
				}
				for _, x := range row {
					if sets[i].Model == "plan-lesioned" {
						x = math.NaN()
					}
					posteriors[i] = append(posteriors[i], x/sum)
				}
			}
		}
	}
	result, err := recovery.Run(t.Context(), &recovery.Sweeps{Sets: sets, Stimuli: reporttest.Shapes(), Truth: posteriors, Fit: posteriors}, recovery.Config{
		Datasets: 5, Participants: []int{1, 3}, Answers: recovery.Probability, Noise: participant.Noise{Concentration: 1e6}, Seed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &recoveryreport.Report{
		Manifest: recoveryreport.Manifest{StudyHash: "1234", JudgedHash: "5678", Version: "v1", Plans: "study", TruthSweep: "abc", FitSweep: "def", Inputs: map[string]string{"study.yaml": "90"}},
		Study:    reporttest.Tiny(), Config: c, Result: result,
	}
}

func TestRecovery(t *testing.T) {
	out, again := &reporttest.Folder{}, &reporttest.Folder{}
	r := recovered(t)
	if err := r.Write(out); err != nil {
		t.Fatal(err)
	}
	if err := recovered(t).Write(again); err != nil {
		t.Fatal(err)
	}
	// Of 4 datasets, 2 with each alpha, an eighth of the resamples has one alpha alone.
	reporttest.SameTable(t, out, "recovery_axes.csv", `
model,axis,participants,values,datasets,rank_correlation,ci_low,ci_high,resamples,exact,chance,above,below,reason
plan-lesioned,goal_noise,1,1,0,,,,,,1,,,the grid has one value
plan-lesioned,goal_noise,3,1,0,,,,,,1,,,the grid has one value
plan-lesioned,action_noise,1,2,0,,,,,,0.5,,,"0 datasets have a fit, and 5 are needed"
plan-lesioned,action_noise,3,2,0,,,,,,0.5,,,"0 datasets have a fit, and 5 are needed"
boltzmann,alpha,1,2,5,1,0.9999999999999998,1,922,1,0.5,0,0,
boltzmann,alpha,3,2,5,1,0.9999999999999998,1,911,1,0.5,0,0,
boltzmann,value,1,2,5,,,,,1,0.5,,,words have no order
boltzmann,value,3,2,5,,,,,1,0.5,,,words have no order
boltzmann,unreachable_value,1,1,5,,,,,1,1,0,0,the grid has one value
boltzmann,unreachable_value,3,1,5,,,,,1,1,0,0,the grid has one value
`)
	reporttest.SameTable(t, out, "inversion.csv", `
criterion,participants,true_model,fitted_model,count,datasets,true_given_fitted
r,1,plan-lesioned,plan-lesioned,0,0,
r,1,plan-lesioned,boltzmann,0,5,0
r,1,boltzmann,plan-lesioned,0,0,
r,1,boltzmann,boltzmann,5,5,1
r,3,plan-lesioned,plan-lesioned,0,0,
r,3,plan-lesioned,boltzmann,0,5,0
r,3,boltzmann,plan-lesioned,0,0,
r,3,boltzmann,boltzmann,5,5,1
held_out_r,1,plan-lesioned,plan-lesioned,0,0,
held_out_r,1,plan-lesioned,boltzmann,0,5,0
held_out_r,1,boltzmann,plan-lesioned,0,0,
held_out_r,1,boltzmann,boltzmann,5,5,1
held_out_r,3,plan-lesioned,plan-lesioned,0,0,
held_out_r,3,plan-lesioned,boltzmann,0,5,0
held_out_r,3,boltzmann,plan-lesioned,0,0,
held_out_r,3,boltzmann,boltzmann,5,5,1
`)
	if got := reporttest.Column(t, out, "recovery.csv", "true_word"); strings.Count(strings.Join(got, " "), "heuristic") != 2*2 {
		t.Errorf("true words are %v", got)
	}
	for name := range out.Files {
		if out.Text(name) != again.Text(name) {
			t.Errorf("%s is not the same again", name)
		}
	}
	page := out.Text("report.html")
	reporttest.Golden(t, "recovery.html", reporttest.Drawing.ReplaceAllString(page, "</desc>…</svg>"))
	reporttest.CheckPage(t, "recovery.html", page)
}
