package fit_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/report/fit"
	"foible.dev/foible/core/report/internal/reporttest"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/sweep"
)

func TestReport(t *testing.T) {
	out, r := reporttest.Write(t, reporttest.Tiny(), reporttest.Config("optimal", "heuristic"), reporttest.Jobs{Cells: 1, Order: []int{0, 1, 2, 3, 4, 5}}, nil)
	reporttest.SameTable(t, out, "fits.csv", fits)
	reporttest.SameTable(t, out, "intervals.csv", intervals)
	reporttest.SameTable(t, out, "fits_by_category.csv", byCategory)
	reporttest.SameTable(t, out, "fits_by_stimulus.csv", byStimulus)
	reporttest.SameTable(t, out, "posteriors.csv", posteriors)
	reporttest.SameTable(t, out, "sweep.yaml", resolved)
	reporttest.SameTable(t, out, "manifest.json", manifested)
	reporttest.SameTable(t, out, "degeneracy.csv", "stage,model,parameter_set,stimulus,runs,failed_runs,least_ess,least_goals_alive,log_evidence,outcome\n") // no filters
	want := []string{
		"cross_validation.csv", "degeneracy.csv", "differences.csv",
		"figures/scatter-boltzmann.pdf", "figures/scatter-boltzmann.svg",
		"figures/sensitivity.pdf", "figures/sensitivity.svg",
		"figures/timecourse-a.pdf", "figures/timecourse-a.svg",
		"figures/timecourse-b.pdf", "figures/timecourse-b.svg",
		"fits.csv", "fits_by_category.csv", "fits_by_stimulus.csv", "intervals.csv", "likelihoods.csv", "manifest.json", "model_comparison.csv", "posteriors.csv", "reliability.csv", "report.html", "scores.csv", "sweep.yaml", "tables/fits.tex", "tables/other-scores.tex", "tables/r-by-category.tex",
	}
	if got := slices.Sorted(maps.Keys(out.Files)); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	for _, name := range want {
		switch text := out.Text(name); {
		case strings.HasSuffix(name, ".svg") && (!strings.HasPrefix(text, "<svg ") || !strings.Contains(text, "simulated")):
			t.Errorf("%s does not say that its people are simulated, or is no SVG: %.200s", name, text)
		case strings.HasSuffix(name, ".pdf") && !strings.HasPrefix(text, "%PDF-"):
			t.Errorf("%s is no PDF: %.20q", name, text)
		}
	}
	best := r.Best()
	if len(best) != 1 || best[0].Number != 1 || best[0].Set.Value.Word != "optimal" || best[0].Fitted != best[0].Fit.Overall.PearsonR {
		t.Errorf("best %+v", best)
	}
}

// The documented columns come first in the table, in their order; ours stand
// among them or after. Every axis of every model has a column.
func TestColumns(t *testing.T) {
	out, _ := reporttest.Write(t, reporttest.Tiny(), reporttest.Config("optimal"), reporttest.Jobs{Cells: 1, Order: []int{0, 1, 2}}, nil)
	documented := map[string]string{
		"fits.csv":       "stage,model,parameter_set,goal_noise,budget_r,budget_q,search_noise,action_noise,alpha,runs,particles_per_goal,n,pearson_r,ci_low,ci_high,mc_se,rmse",
		"posteriors.csv": "stage,model,parameter_set,stimulus,step,goal,probability,mc_se,human,human_se",
	}
	ours := map[string][]string{
		"fits.csv":       {"value", "unreachable_value", "samples", "ci_unit", "undefined_stimuli", "complete"},
		"posteriors.csv": {"goal_log_evidence", "outcome"},
	}
	for name, want := range documented {
		header, _, _ := strings.Cut(out.Text(name), "\n")
		columns := slices.DeleteFunc(strings.Split(header, ","), func(c string) bool { return slices.Contains(ours[name], c) })
		if got := strings.Join(columns, ","); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
	}
	header, _, _ := strings.Cut(out.Text("fits.csv"), "\n")
	for _, axis := range model.Axes {
		if !slices.Contains(strings.Split(header, ","), axis.Name) {
			t.Errorf("fits.csv has no column for %s", axis.Name)
		}
	}
}

// The bytes depend neither on the order of results nor on how the sweep was cut into jobs.
func TestReportIsDeterministic(t *testing.T) {
	c := reporttest.Config("optimal", "on_policy", "heuristic")
	want, _ := reporttest.Write(t, reporttest.Tiny(), c, reporttest.Jobs{Cells: 1, Order: []int{0, 1, 2, 3, 4, 5, 6, 7, 8}}, nil)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 3 {
		for cells, jobs := range map[int]int{1: 9, 2: 6, 3: 3} {
			got, _ := reporttest.Write(t, reporttest.Tiny(), c, reporttest.Jobs{Cells: cells, Order: append(rng.Perm(jobs), rng.Perm(jobs)...)}, nil)
			for name := range want.Files {
				if got.Text(name) != want.Text(name) {
					t.Errorf("%d cells a job: %s differs", cells, name)
				}
			}
			if len(got.Files) != len(want.Files) {
				t.Errorf("%d cells a job: %d files, want %d", cells, len(got.Files), len(want.Files))
			}
		}
	}
}

func manifest(t *testing.T, out *reporttest.Folder) fit.Manifest {
	t.Helper()
	var m fit.Manifest
	if err := json.Unmarshal([]byte(out.Text("manifest.json")), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// A failed job leaves its parameter set out of the tables, and says why; the
// others keep their numbers.
func TestFailures(t *testing.T) {
	out, _ := reporttest.Write(t, reporttest.Tiny(), reporttest.Config("optimal", "on_policy", "heuristic"), reporttest.Jobs{Cells: 1, Order: []int{8, 1, 7, 3, 0, 2, 4, 5, 6}}, func(all []sweep.Outcome) {
		all[1] = sweep.Outcome{Failure: "out of memory, \"twice\""}
		all[6] = sweep.Outcome{Failure: "no cells"}
	})
	reporttest.SameTable(t, out, "failures.csv", `
stage,model,parameter_set,stimulus,reason
fit,boltzmann,1,,"job 1: out of memory, ""twice"""
fit,boltzmann,1,,job 6: no cells
`)
	if got := reporttest.Column(t, out, "fits.csv", "parameter_set"); !slices.Equal(got, []string{"2", "3"}) {
		t.Errorf("fits of the sets %v", got)
	}
	if got := slices.Compact(reporttest.Column(t, out, "posteriors.csv", "parameter_set")); !slices.Equal(got, []string{"2", "3"}) {
		t.Errorf("posteriors of the sets %v", got)
	}
	if m := manifest(t, out); m.Complete || m.Parameters["boltzmann"] != 3 {
		t.Errorf("%+v", m)
	}
}

// A cell that could not be computed leaves its parameter set without the points of one stimulus. It is in failures.csv
// and degeneracy.csv, where nothing is said of what is not known, and its cause once among the cautions.
func TestFailedCells(t *testing.T) {
	out, r := reporttest.Write(t, reporttest.Tiny(), reporttest.Config("optimal", "on_policy", "heuristic"), reporttest.Jobs{Cells: 1, Order: []int{8, 1, 7, 3, 0, 2, 4, 5, 6}}, func(all []sweep.Outcome) {
		for set := range 3 {
			all[2*set].Cells[0] = result.FailedCell("too many states")
		}
		all[1].Cells[0] = result.FailedCell("no heuristic")
		scorer, err := score.NewScorer(reporttest.Tiny(), sweep.Bootstrap{}, 7)
		if err != nil {
			t.Fatal(err)
		}
		for set := range 3 {
			var predictions []result.Prediction
			for i := range reporttest.Shapes() {
				predictions = append(predictions, reporttest.Shapes()[i].Predict(&all[2*set+i].Cells[0]))
			}
			if all[6+set].Fits[0], err = scorer.Score(predictions); err != nil {
				t.Fatal(err)
			}
		}
	})
	reporttest.SameTable(t, out, "failures.csv", `
stage,model,parameter_set,stimulus,reason
fit,boltzmann,1,a,too many states
fit,boltzmann,1,b,no heuristic
fit,boltzmann,2,a,too many states
fit,boltzmann,3,a,too many states
`)
	reporttest.SameTable(t, out, "degeneracy.csv", `
stage,model,parameter_set,stimulus,runs,failed_runs,least_ess,least_goals_alive,log_evidence,outcome
fit,boltzmann,1,a,,,,,,could not be computed: too many states
fit,boltzmann,1,b,,,,,,could not be computed: no heuristic
fit,boltzmann,2,a,,,,,,could not be computed: too many states
fit,boltzmann,3,a,,,,,,could not be computed: too many states
`)
	if got, want := reporttest.Column(t, out, "fits.csv", "n"), []string{"0", "3", "3"}; !slices.Equal(got, want) {
		t.Errorf("points %v, want %v", got, want)
	}
	if got, want := reporttest.Column(t, out, "fits.csv", "pearson_r"), reporttest.Column(t, out, "fits_by_stimulus.csv", "pearson_r"); got[0] != "" || got[1] == "" || want[0] != "" {
		t.Errorf("r %v, by stimulus %v", got, want)
	}
	if got := slices.Compact(reporttest.Column(t, out, "posteriors.csv", "outcome"))[0]; got != "could not be computed: too many states" {
		t.Errorf("outcome %q", got)
	}
	if m := manifest(t, out); m.Complete {
		t.Errorf("%+v", m)
	}
	var said []string
	for _, f := range r.Failures() {
		said = append(said, f.String())
	}
	want := []string{"boltzmann: 3 of 6 cells could not be computed: too many states", "boltzmann: 1 of 6 cells could not be computed: no heuristic"}
	if !slices.Equal(said, want) {
		t.Errorf("it is said %q, want %q", said, want)
	}
	for _, text := range want {
		if n := strings.Count(out.Text("report.html"), text); n != 1 {
			t.Errorf("report.html says %d times %q", n, text)
		}
	}
	if got := (fit.Failure{Model: "full", Reason: "no heuristic", Cells: 1200, Of: 1200}).String(); got != "full: no fit: no heuristic (1,200 cells)" {
		t.Error(got)
	}
}

// While a sweep is running, the report has what is there. A parameter set has
// the number that it will have in the end.
func TestPartial(t *testing.T) {
	out, r := reporttest.Write(t, reporttest.Tiny(), reporttest.Config("optimal", "on_policy", "heuristic"), reporttest.Jobs{Cells: 1, Order: []int{4, 8, 5, 0}}, nil) // the third set, a cell of the first
	if got := reporttest.Column(t, out, "fits.csv", "parameter_set"); !slices.Equal(got, []string{"3"}) {
		t.Errorf("fits of the sets %v", got)
	}
	if best := r.Best(); len(best) != 1 || best[0].Number != 3 {
		t.Errorf("best %+v", best)
	}
	if out.Files["failures.csv"] != nil {
		t.Errorf("failures where none is known: %s", out.Text("failures.csv"))
	}
	if m := manifest(t, out); m.Complete || m.Parameters["boltzmann"] != 3 {
		t.Errorf("%+v", m)
	}

	// Nothing is there yet: tables without rows, a figure that says so.
	out, r = reporttest.Write(t, reporttest.Tiny(), reporttest.Config("optimal"), reporttest.Jobs{Cells: 1}, nil)
	if best := r.Best(); len(best) != 0 || strings.Count(out.Text("fits.csv"), "\n") != 1 || out.Files["figures/sensitivity.svg"] == nil {
		t.Errorf("best %v, %s", best, out.Text("fits.csv"))
	}
}

// Means alone have no standard errors, and an unanswered step no judgement:
// the fields are empty.
func TestMeansAlone(t *testing.T) {
	st := reporttest.Tiny()
	for i := range st.Stimuli {
		h := &st.Stimuli[i].Human
		h.Participants, h.Responses, h.SE = nil, nil, nil
	}
	st.Stimuli[1].Human.Mean[0] = nil
	out, _ := reporttest.Write(t, st, reporttest.Config("optimal"), reporttest.Jobs{Cells: 1, Order: []int{0, 1, 2}}, nil)
	if human := reporttest.Column(t, out, "posteriors.csv", "human"); !slices.Equal(human, []string{"0.5", "0.5", "", "", "0.25", "0.75", "", "", "", "", "", ""}) {
		t.Errorf("human %q", human)
	}
	if se := strings.Join(reporttest.Column(t, out, "posteriors.csv", "human_se"), ""); se != "" {
		t.Errorf("human_se %q", se)
	}
	reporttest.SameTable(t, out, "fits_by_stimulus.csv", `
stage,model,parameter_set,stimulus,n,pearson_r,rmse
fit,boltzmann,1,a,4,0.9999999999999998,0.1767766952966369
fit,boltzmann,1,b,0,,
`)
	if units := reporttest.Column(t, out, "intervals.csv", "unit"); !slices.Equal(units, []string{"stimuli", "both"}) || strings.Join(reporttest.Column(t, out, "intervals.csv", "ci_low"), "") != "" {
		t.Errorf("intervals by %v", units)
	}
}

// A model that says the same everywhere has no r; nothing is drawn as its best.
func TestUndefinedCorrelation(t *testing.T) {
	out, r := reporttest.Write(t, reporttest.Tiny(), reporttest.Config("optimal"), reporttest.Jobs{Cells: 1, Order: []int{0, 1, 2}}, func(all []sweep.Outcome) {
		all[2].Fits[0] = result.Fit{Overall: result.Correlation{N: 7, RMSE: 0.25}, ByCategory: []result.Correlation{{Group: "plain", N: 7, RMSE: 0.25}}}
	})
	for column_, want := range map[string]string{"pearson_r": "", "ci_low": "", "ci_high": "", "ci_unit": "", "n": "7", "rmse": "0.25"} {
		if got := reporttest.Column(t, out, "fits.csv", column_); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %q", column_, got, want)
		}
	}
	if best := r.Best(); len(best) != 0 || out.Files["figures/scatter-boltzmann.svg"] != nil {
		t.Errorf("best %v", best)
	}
}

// Of a large sweep, posteriors.csv has the best parameter set alone.
func TestLargeSweep(t *testing.T) {
	c := reporttest.Config("optimal")
	alphas := make([]model.Setting, sweep.MaxDetailedCells/2+1)
	for i := range alphas {
		alphas[i].Number = float64(i + 1)
	}
	c.Models[0].Axes["alpha"] = alphas
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.NewPlan(sets, reporttest.Shapes(), 256, false)
	if err != nil {
		t.Fatal(err)
	}
	out := &reporttest.Folder{}
	r, err := fit.New(out, reporttest.Tiny(), plan, c, fit.Manifest{Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	a, b := reporttest.Cell("optimal", 0), reporttest.Cell("optimal", 1)
	const best = 4321
	for i := range sets {
		fit := &result.Fit{Overall: result.Correlation{N: 7, PearsonR: 0.5, Defined: true, RMSE: 0.1}}
		if i == best-1 {
			fit.Overall.PearsonR = 0.75
		}
		if err := r.Add(&sweep.Gathered{Stage: sweep.FitStage, Index: i, Set: sets[i], Cells: []*result.Cell{&a, &b}, Fit: fit}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if got := reporttest.Column(t, out, "posteriors.csv", "parameter_set"); len(got) != 3*2+2*3 || !slices.Equal(slices.Compact(got), []string{fmt.Sprint(best)}) {
		t.Errorf("posteriors of the sets %v", got)
	}
	if got := reporttest.Column(t, out, "fits.csv", "parameter_set"); len(got) != len(sets) {
		t.Errorf("%d fits of %d", len(got), len(sets))
	}
	want := []string{"Every table but fits.csv has only the best parameter set of each model: 20,002 cells are more than 20,000."}
	if m := manifest(t, out); !reflect.DeepEqual(m.Notes, want) || !m.Complete {
		t.Errorf("%+v", m)
	}
}

func TestReportPassesErrorsOn(t *testing.T) {
	st, c := reporttest.Tiny(), reporttest.Config("optimal")
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.NewPlan(sets, reporttest.Shapes(), 1, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fits.csv", "posteriors.csv", "figures/sensitivity.svg", "figures/timecourse-b.pdf", "sweep.yaml", "tables/fits.tex", "report.html", "manifest.json", "failures.csv"} {
		out := &reporttest.Folder{Full: name}
		r, err := fit.New(out, st, plan, c, fit.Manifest{})
		if err == nil {
			err = errors.Join(r.Add(&sweep.Gathered{Stage: sweep.FitStage, Set: sets[0], Cells: make([]*result.Cell, 2), Failures: []string{"why"}}), r.Close())
		}
		if err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("%s: %v", name, err)
		}
		for made, f := range out.Files {
			if !f.Closed {
				t.Errorf("without %s, %s stays open", name, made)
			}
		}
	}
	// A number that is none is refused, by name of the table.
	r, err := fit.New(&reporttest.Folder{}, st, plan, c, fit.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	broken := &result.Fit{Overall: result.Correlation{N: 7, PearsonR: 0.5, Defined: true}, Intervals: []result.Interval{{Unit: "stimuli", Low: math.NaN(), High: 1}}}
	if err := r.Add(&sweep.Gathered{Stage: sweep.FitStage, Set: sets[0], Cells: make([]*result.Cell, 2), Fit: broken}); err == nil || err.Error() != "fits.csv: a value is NaN" {
		t.Error(err)
	}
}
