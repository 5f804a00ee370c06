package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/report"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// folder is a report's output in memory.
type folder struct {
	files map[string]*file
	full  string // this file cannot be made
}

type file struct {
	bytes.Buffer
	closed bool
}

func (f *file) Close() error {
	f.closed = true
	return nil
}

func (d *folder) Create(name string) (io.WriteCloser, error) {
	if name == d.full {
		return nil, errors.New("disk full")
	}
	if d.files == nil {
		d.files = map[string]*file{}
	}
	if d.files[name] != nil {
		return nil, fmt.Errorf("%s is made twice", name)
	}
	d.files[name] = &file{}
	return d.files[name], nil
}

func (d *folder) text(name string) string {
	if d.files[name] == nil {
		return ""
	}
	return d.files[name].String()
}

// tiny is a study of two stimuli, judged by two participants each.
func tiny() *study.Study {
	stimulus := func(id, category string, steps []int, goals ...string) study.Stimulus {
		s := study.Stimulus{ID: id, Category: category, JudgementSteps: steps}
		for _, g := range goals {
			s.Goals = append(s.Goals, study.Goal{Name: g})
		}
		return s
	}
	a := stimulus("a", "plain", []int{0, 2}, "red", "green")
	a.Human = study.Judgements{
		Participants: []string{"p1", "p2"},
		Responses:    [][][]float64{{{0.5, 0.5}, {0.5, 0.5}}, {{0.5, 0.5}, {0, 1}}},
		Mean:         [][]float64{{0.5, 0.5}, {0.25, 0.75}},
		SE:           [][]float64{{0, 0}, {0.25, 0.25}},
		N:            []int{2, 2},
	}
	b := stimulus("b", "odd, very", []int{1}, "red", "green", "blue")
	b.Human = study.Judgements{
		Participants: []string{"p1", "p3"},
		Responses:    [][][]float64{{{0.2, 0.6, 0.2}}, {{0.2, 0.6, 0.2}}},
		Mean:         [][]float64{{0.2, 0.6, 0.2}},
		SE:           [][]float64{{0, 0, 0}},
		N:            []int{2},
	}
	return &study.Study{
		Name: "tiny", Title: "Tiny", Domain: "lamps", Simulated: "Drawn by hand.", Stimuli: []study.Stimulus{a, b},
	}
}

func config(values ...string) sweep.Config {
	c := sweep.Config{Fit: sweep.Stage{Runs: 3, ParticlesPerGoal: 4}, Inference: sweep.PaperInference, Bootstrap: sweep.Bootstrap{Resamples: 20, Units: []string{"stimuli", "both"}}, Seed: 7}
	axes := map[string][]model.Setting{"alpha": {{Number: 0.5}}}
	for _, v := range values {
		axes["value"] = append(axes["value"], model.Setting{Word: v})
	}
	c.Models = []sweep.ModelGrid{{Model: "boltzmann", Axes: axes}}
	return c
}

func shapes() []sweep.Shape {
	return []sweep.Shape{
		{Stimulus: "a", Goals: 2, Actions: 2, JudgementSteps: []int{0, 2}},
		{Stimulus: "b", Goals: 3, Actions: 1, JudgementSteps: []int{1}},
	}
}

// cell is what the tiny sweep infers: [report.value][stimulus]. The first fits with
// r = 1.85 / sqrt(4.125 x 1.955); the second has no posterior of a after step 0.
func cell(value string, stimulus int) result.Cell {
	optimal := value == "optimal"
	switch {
	case optimal && stimulus == 0:
		return result.Cell{Posterior: [][]float64{{0.5, 0.5}, {0.25, 0.75}, {0, 1}}, UnreachableFrom: []int{1, -1}}
	case optimal:
		return result.Cell{Posterior: [][]float64{{0.25, 0.25, 0.5}, {0.5, 0.25, 0.25}}, UnreachableFrom: []int{-1, -1, -1}}
	case stimulus == 0:
		return result.Cell{
			Posterior: [][]float64{{0.5, 0.5}}, UnreachableFrom: []int{-1, -1},
			Undefined: &result.Undefined{Step: 1, Reason: "impossible at step 1, action (switch red)"},
		}
	}
	return result.Cell{Posterior: [][]float64{{0.125, 0.375, 0.5}, {0.25, 0.5, 0.25}}, UnreachableFrom: []int{-1, -1, -1}}
}

// outcomes are the results of all jobs.
func outcomes(t *testing.T, st *study.Study, c sweep.Config, p *sweep.Plan) []sweep.Outcome {
	t.Helper()
	scorer, err := score.NewScorer(st, c.Bootstrap, c.Seed)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]sweep.Outcome, p.Jobs())
	for number := range all {
		job := p.Job(number)
		for _, set := range job.Sets {
			if !job.Score {
				all[number].Cells = append(all[number].Cells, cell(set.Value.Word, job.Stimulus))
				continue
			}
			var predictions []result.Prediction
			for i := range p.Stimuli {
				made := cell(set.Value.Word, i)
				predictions = append(predictions, p.Stimuli[i].Predict(&made))
			}
			fit, err := scorer.Score(predictions)
			if err != nil {
				t.Fatal(err)
			}
			all[number].Fits = append(all[number].Fits, fit)
		}
	}
	return all
}

// write makes a report of the jobs' outcomes in an order.
func write(t *testing.T, st *study.Study, c sweep.Config, cellsPerJob int, order []int, change func([]sweep.Outcome)) (*folder, *report.Report) {
	t.Helper()
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.NewPlan(sets, shapes(), cellsPerJob, c.Report.Runs > 0)
	if err != nil {
		t.Fatal(err)
	}
	all := outcomes(t, st, c, plan)
	if change != nil {
		change(all)
	}
	out := &folder{}
	r, err := report.New(out, st, plan, c, report.Manifest{
		SweepID: "abc", StudyHash: "f00", Inputs: map[string]string{"study.yaml": "f01", "a.plan": "f02"},
		Version: "v1", Complete: true, Created: "2021-07-26T00:00:00Z",
	})
	if err != nil {
		t.Fatal(err)
	}
	gather := sweep.NewGather(plan, r.Add)
	for _, number := range order {
		if err := gather.Add(number, all[number]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(gather.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	for name, f := range out.files {
		if !f.closed {
			t.Errorf("%s is not closed", name)
		}
		if !strings.HasSuffix(name, ".pdf") && noNumber.MatchString(f.String()) {
			t.Errorf("%s holds a number that is none:\n%s", name, f.String())
		}
	}
	return out, r
}

// noNumber is how a number that is none would be printed.
var noNumber = regexp.MustCompile(`\b(NaN|Inf)\b`)

func compare(t *testing.T, out *folder, name, want string) {
	t.Helper()
	want = strings.TrimPrefix(want, "\n")
	if got := out.text(name); got != want {
		t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
	}
}

func TestReport(t *testing.T) {
	out, r := write(t, tiny(), config("optimal", "heuristic"), 1, []int{0, 1, 2, 3, 4, 5}, nil)
	compare(t, out, "fits.csv", fits)
	compare(t, out, "intervals.csv", intervals)
	compare(t, out, "fits_by_category.csv", byCategory)
	compare(t, out, "fits_by_stimulus.csv", byStimulus)
	compare(t, out, "posteriors.csv", posteriors)
	compare(t, out, "sweep.yaml", resolved)
	compare(t, out, "manifest.json", manifested)
	compare(t, out, "degeneracy.csv", "stage,model,parameter_set,stimulus,runs,failed_runs,least_ess,least_goals_alive,log_evidence,outcome\n") // no filters
	want := []string{
		"cross_validation.csv", "degeneracy.csv", "differences.csv",
		"figures/scatter-boltzmann.pdf", "figures/scatter-boltzmann.svg",
		"figures/sensitivity.pdf", "figures/sensitivity.svg",
		"figures/timecourse-a.pdf", "figures/timecourse-a.svg",
		"figures/timecourse-b.pdf", "figures/timecourse-b.svg",
		"fits.csv", "fits_by_category.csv", "fits_by_stimulus.csv", "intervals.csv", "likelihoods.csv", "manifest.json", "model_comparison.csv", "posteriors.csv", "reliability.csv", "report.html", "scores.csv", "sweep.yaml", "tables/fits.tex", "tables/other-scores.tex", "tables/r-by-category.tex",
	}
	if got := slices.Sorted(maps.Keys(out.files)); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	for _, name := range want {
		switch text := out.text(name); {
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
	out, _ := write(t, tiny(), config("optimal"), 1, []int{0, 1, 2}, nil)
	documented := map[string]string{
		"fits.csv":       "stage,model,parameter_set,goal_noise,budget_r,budget_q,search_noise,action_noise,alpha,runs,particles_per_goal,n,pearson_r,ci_low,ci_high,mc_se,rmse",
		"posteriors.csv": "stage,model,parameter_set,stimulus,step,goal,probability,mc_se,human,human_se",
	}
	ours := map[string][]string{
		"fits.csv":       {"value", "unreachable_value", "samples", "ci_unit", "undefined_stimuli", "complete"},
		"posteriors.csv": {"goal_log_evidence", "outcome"},
	}
	for name, want := range documented {
		header, _, _ := strings.Cut(out.text(name), "\n")
		columns := slices.DeleteFunc(strings.Split(header, ","), func(c string) bool { return slices.Contains(ours[name], c) })
		if got := strings.Join(columns, ","); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
	}
	header, _, _ := strings.Cut(out.text("fits.csv"), "\n")
	for _, axis := range model.Axes {
		if !slices.Contains(strings.Split(header, ","), axis.Name) {
			t.Errorf("fits.csv has no column for %s", axis.Name)
		}
	}
}

// The bytes depend neither on the order of results nor on how the sweep was cut into jobs.
func TestReportIsDeterministic(t *testing.T) {
	c := config("optimal", "on_policy", "heuristic")
	want, _ := write(t, tiny(), c, 1, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, nil)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 3 {
		for cells, jobs := range map[int]int{1: 9, 2: 6, 3: 3} {
			got, _ := write(t, tiny(), c, cells, append(rng.Perm(jobs), rng.Perm(jobs)...), nil)
			for name := range want.files {
				if got.text(name) != want.text(name) {
					t.Errorf("%d cells a job: %s differs", cells, name)
				}
			}
			if len(got.files) != len(want.files) {
				t.Errorf("%d cells a job: %d files, want %d", cells, len(got.files), len(want.files))
			}
		}
	}
}

func manifest(t *testing.T, out *folder) report.Manifest {
	t.Helper()
	var m report.Manifest
	if err := json.Unmarshal([]byte(out.text("manifest.json")), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// A failed job leaves its parameter set out of the tables, and says why; the
// others keep their numbers.
func TestFailures(t *testing.T) {
	out, _ := write(t, tiny(), config("optimal", "on_policy", "heuristic"), 1, []int{8, 1, 7, 3, 0, 2, 4, 5, 6}, func(all []sweep.Outcome) {
		all[1] = sweep.Outcome{Failure: "out of memory, \"twice\""}
		all[6] = sweep.Outcome{Failure: "no cells"}
	})
	compare(t, out, "failures.csv", `
stage,model,parameter_set,stimulus,reason
fit,boltzmann,1,,"job 1: out of memory, ""twice"""
fit,boltzmann,1,,job 6: no cells
`)
	if got := column(t, out, "fits.csv", "parameter_set"); !slices.Equal(got, []string{"2", "3"}) {
		t.Errorf("fits of the sets %v", got)
	}
	if got := slices.Compact(column(t, out, "posteriors.csv", "parameter_set")); !slices.Equal(got, []string{"2", "3"}) {
		t.Errorf("posteriors of the sets %v", got)
	}
	if m := manifest(t, out); m.Complete || m.Parameters["boltzmann"] != 3 {
		t.Errorf("%+v", m)
	}
}

// A cell that could not be computed leaves its parameter set without the points of one stimulus. It is in failures.csv
// and degeneracy.csv, where nothing is said of what is not known, and its cause once among the cautions.
func TestFailedCells(t *testing.T) {
	out, r := write(t, tiny(), config("optimal", "on_policy", "heuristic"), 1, []int{8, 1, 7, 3, 0, 2, 4, 5, 6}, func(all []sweep.Outcome) {
		for set := range 3 {
			all[2*set].Cells[0] = result.FailedCell("too many states")
		}
		all[1].Cells[0] = result.FailedCell("no heuristic")
		scorer, err := score.NewScorer(tiny(), sweep.Bootstrap{}, 7)
		if err != nil {
			t.Fatal(err)
		}
		for set := range 3 {
			var predictions []result.Prediction
			for i := range shapes() {
				predictions = append(predictions, shapes()[i].Predict(&all[2*set+i].Cells[0]))
			}
			if all[6+set].Fits[0], err = scorer.Score(predictions); err != nil {
				t.Fatal(err)
			}
		}
	})
	compare(t, out, "failures.csv", `
stage,model,parameter_set,stimulus,reason
fit,boltzmann,1,a,too many states
fit,boltzmann,1,b,no heuristic
fit,boltzmann,2,a,too many states
fit,boltzmann,3,a,too many states
`)
	compare(t, out, "degeneracy.csv", `
stage,model,parameter_set,stimulus,runs,failed_runs,least_ess,least_goals_alive,log_evidence,outcome
fit,boltzmann,1,a,,,,,,could not be computed: too many states
fit,boltzmann,1,b,,,,,,could not be computed: no heuristic
fit,boltzmann,2,a,,,,,,could not be computed: too many states
fit,boltzmann,3,a,,,,,,could not be computed: too many states
`)
	if got, want := column(t, out, "fits.csv", "n"), []string{"0", "3", "3"}; !slices.Equal(got, want) {
		t.Errorf("points %v, want %v", got, want)
	}
	if got, want := column(t, out, "fits.csv", "pearson_r"), column(t, out, "fits_by_stimulus.csv", "pearson_r"); got[0] != "" || got[1] == "" || want[0] != "" {
		t.Errorf("r %v, by stimulus %v", got, want)
	}
	if got := slices.Compact(column(t, out, "posteriors.csv", "outcome"))[0]; got != "could not be computed: too many states" {
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
		if n := strings.Count(out.text("report.html"), text); n != 1 {
			t.Errorf("report.html says %d times %q", n, text)
		}
	}
	if got := (report.Failure{Model: "full", Reason: "no heuristic", Cells: 1200, Of: 1200}).String(); got != "full: no fit: no heuristic (1,200 cells)" {
		t.Error(got)
	}
}

// While a sweep is running, the report has what is there. A parameter set has
// the number that it will have in the end.
func TestPartial(t *testing.T) {
	out, r := write(t, tiny(), config("optimal", "on_policy", "heuristic"), 1, []int{4, 8, 5, 0}, nil) // the third set, a cell of the first
	if got := column(t, out, "fits.csv", "parameter_set"); !slices.Equal(got, []string{"3"}) {
		t.Errorf("fits of the sets %v", got)
	}
	if best := r.Best(); len(best) != 1 || best[0].Number != 3 {
		t.Errorf("best %+v", best)
	}
	if out.files["failures.csv"] != nil {
		t.Errorf("failures where none is known: %s", out.text("failures.csv"))
	}
	if m := manifest(t, out); m.Complete || m.Parameters["boltzmann"] != 3 {
		t.Errorf("%+v", m)
	}

	// Nothing is there yet: tables without rows, a figure that says so.
	out, r = write(t, tiny(), config("optimal"), 1, nil, nil)
	if best := r.Best(); len(best) != 0 || strings.Count(out.text("fits.csv"), "\n") != 1 || out.files["figures/sensitivity.svg"] == nil {
		t.Errorf("best %v, %s", best, out.text("fits.csv"))
	}
}

// Means alone have no standard errors, and an unanswered step no judgement:
// the fields are empty.
func TestMeansAlone(t *testing.T) {
	st := tiny()
	for i := range st.Stimuli {
		h := &st.Stimuli[i].Human
		h.Participants, h.Responses, h.SE = nil, nil, nil
	}
	st.Stimuli[1].Human.Mean[0] = nil
	out, _ := write(t, st, config("optimal"), 1, []int{0, 1, 2}, nil)
	if human := column(t, out, "posteriors.csv", "human"); !slices.Equal(human, []string{"0.5", "0.5", "", "", "0.25", "0.75", "", "", "", "", "", ""}) {
		t.Errorf("human %q", human)
	}
	if se := strings.Join(column(t, out, "posteriors.csv", "human_se"), ""); se != "" {
		t.Errorf("human_se %q", se)
	}
	compare(t, out, "fits_by_stimulus.csv", `
stage,model,parameter_set,stimulus,n,pearson_r,rmse
fit,boltzmann,1,a,4,0.9999999999999998,0.1767766952966369
fit,boltzmann,1,b,0,,
`)
	if units := column(t, out, "intervals.csv", "unit"); !slices.Equal(units, []string{"stimuli", "both"}) || strings.Join(column(t, out, "intervals.csv", "ci_low"), "") != "" {
		t.Errorf("intervals by %v", units)
	}
}

// A model that says the same everywhere has no r; nothing is drawn as its best.
func TestUndefinedCorrelation(t *testing.T) {
	out, r := write(t, tiny(), config("optimal"), 1, []int{0, 1, 2}, func(all []sweep.Outcome) {
		all[2].Fits[0] = result.Fit{Overall: result.Correlation{N: 7, RMSE: 0.25}, ByCategory: []result.Correlation{{Group: "plain", N: 7, RMSE: 0.25}}}
	})
	for column_, want := range map[string]string{"pearson_r": "", "ci_low": "", "ci_high": "", "ci_unit": "", "n": "7", "rmse": "0.25"} {
		if got := column(t, out, "fits.csv", column_); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %q", column_, got, want)
		}
	}
	if best := r.Best(); len(best) != 0 || out.files["figures/scatter-boltzmann.svg"] != nil {
		t.Errorf("best %v", best)
	}
}

// Of a large sweep, posteriors.csv has the best parameter set alone.
func TestLargeSweep(t *testing.T) {
	c := config("optimal")
	alphas := make([]model.Setting, sweep.MaxDetailedCells/2+1)
	for i := range alphas {
		alphas[i].Number = float64(i + 1)
	}
	c.Models[0].Axes["alpha"] = alphas
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.NewPlan(sets, shapes(), 256, false)
	if err != nil {
		t.Fatal(err)
	}
	out := &folder{}
	r, err := report.New(out, tiny(), plan, c, report.Manifest{Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	a, b := cell("optimal", 0), cell("optimal", 1)
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
	if got := column(t, out, "posteriors.csv", "parameter_set"); len(got) != 3*2+2*3 || !slices.Equal(slices.Compact(got), []string{fmt.Sprint(best)}) {
		t.Errorf("posteriors of the sets %v", got)
	}
	if got := column(t, out, "fits.csv", "parameter_set"); len(got) != len(sets) {
		t.Errorf("%d fits of %d", len(got), len(sets))
	}
	want := []string{"Every table but fits.csv has only the best parameter set of each model: 20,002 cells are more than 20,000."}
	if m := manifest(t, out); !reflect.DeepEqual(m.Notes, want) || !m.Complete {
		t.Errorf("%+v", m)
	}
}

func TestReportPassesErrorsOn(t *testing.T) {
	st, c := tiny(), config("optimal")
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.NewPlan(sets, shapes(), 1, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fits.csv", "posteriors.csv", "figures/sensitivity.svg", "figures/timecourse-b.pdf", "sweep.yaml", "tables/fits.tex", "report.html", "manifest.json", "failures.csv"} {
		out := &folder{full: name}
		r, err := report.New(out, st, plan, c, report.Manifest{})
		if err == nil {
			err = errors.Join(r.Add(&sweep.Gathered{Stage: sweep.FitStage, Set: sets[0], Cells: make([]*result.Cell, 2), Failures: []string{"why"}}), r.Close())
		}
		if err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("%s: %v", name, err)
		}
		for made, f := range out.files {
			if !f.closed {
				t.Errorf("without %s, %s stays open", name, made)
			}
		}
	}
	// A number that is none is refused, by name of the table.
	r, err := report.New(&folder{}, st, plan, c, report.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	broken := &result.Fit{Overall: result.Correlation{N: 7, PearsonR: 0.5, Defined: true}, Intervals: []result.Interval{{Unit: "stimuli", Low: math.NaN(), High: 1}}}
	if err := r.Add(&sweep.Gathered{Stage: sweep.FitStage, Set: sets[0], Cells: make([]*result.Cell, 2), Fit: broken}); err == nil || err.Error() != "fits.csv: a value is NaN" {
		t.Error(err)
	}
}

// column is a column of a table.
func column(t *testing.T, out *folder, table, name string) []string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(out.text(table))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(rows[0], name)
	if at < 0 {
		t.Fatalf("%s has no column %s", table, name)
	}
	var values []string
	for _, row := range rows[1:] {
		values = append(values, row[at])
	}
	return values
}
