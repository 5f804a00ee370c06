package fit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/report/fit"
	"foible.dev/foible/core/report/internal/reporttest"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// crowd is a study of stimuli that several people judged, near a truth of each,
// and two models' predictions: full is near the truth, boltzmann is not.
func crowd(stimuli, people int) (*study.Study, sweep.Config, func(set *model.ParameterSet, stimulus int) result.Cell) {
	rng := rand.New(rand.NewPCG(11, 11))
	st := &study.Study{Name: "crowd", Domain: "lamps"}
	var truths, others []float64
	for i := range stimuli {
		s := study.Stimulus{ID: fmt.Sprint("s", i), Category: []string{"plain", "odd"}[i%2], Goals: []study.Goal{{Name: "red"}, {Name: "green"}}, JudgementSteps: []int{0, 2}}
		truth, other := rng.Float64(), rng.Float64()
		truths, others = append(truths, truth), append(others, other)
		s.Human = study.Judgements{Mean: [][]float64{{0.5, 0.5}, {0, 0}}, SE: [][]float64{{0, 0}, {0.1, 0.1}}, N: []int{people, people}}
		for k := range people {
			p := max(0, min(1, truth+0.2*rng.NormFloat64()))
			s.Human.Participants = append(s.Human.Participants, fmt.Sprint("p", k))
			s.Human.Responses = append(s.Human.Responses, [][]float64{{0.5, 0.5}, {p, 1 - p}})
			s.Human.Mean[1][0] += p / float64(people)
			s.Human.Mean[1][1] += (1 - p) / float64(people)
		}
		st.Stimuli = append(st.Stimuli, s)
	}
	c := sweep.Config{Seed: 7, Bootstrap: sweep.Bootstrap{Resamples: 200, Units: sweep.DefaultBootstrap.Units}}
	c.Inference, c.Fit, _ = sweep.DefaultsOf(sweep.Marginal)
	numbers := func(xs ...float64) []model.Setting {
		var all []model.Setting
		for _, x := range xs {
			all = append(all, model.Setting{Number: x})
		}
		return all
	}
	c.Models = []sweep.ModelGrid{
		{Model: "full", Axes: map[string][]model.Setting{"budget_r": numbers(2), "budget_q": numbers(.9), "search_noise": numbers(.5), "action_noise": numbers(.1, .2, .3)}},
		{Model: "boltzmann", Axes: map[string][]model.Setting{"alpha": numbers(1, 2)}},
	}
	return st, c, func(set *model.ParameterSet, stimulus int) result.Cell {
		part := 0.5 + set.ActionNoise.Number
		if set.Model == "boltzmann" {
			part = 0.2 * set.Alpha.Number
		}
		p := part*truths[stimulus] + (1-part)*others[stimulus]
		rows := [][]float64{{0.5, 0.5}, {p, 1 - p}}
		return result.Cell{Judged: true, Posterior: rows, Runs: result.RunsOf(rows, rows)}
	}
}

// crowdReport fits and reports a study by what cells there are.
func crowdReport(t *testing.T, st *study.Study, c sweep.Config, cell func(*model.ParameterSet, int) result.Cell) (*reporttest.Folder, *fit.Report) {
	t.Helper()
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	var shapes []sweep.Shape
	for i := range st.Stimuli {
		s := &st.Stimuli[i]
		shapes = append(shapes, sweep.Shape{Stimulus: s.ID, Goals: len(s.Goals), Actions: 2, JudgementSteps: s.JudgementSteps})
	}
	plan, err := sweep.NewPlan(sets, shapes, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	scorer, err := score.NewScorer(st, c.Bootstrap, c.Seed)
	if err != nil {
		t.Fatal(err)
	}
	out := &reporttest.Folder{}
	r, err := fit.New(out, st, plan, c, fit.Manifest{Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range sets {
		g := &sweep.Gathered{Stage: sweep.FitStage, Index: i, Set: sets[i]}
		for k := range st.Stimuli {
			of := cell(&sets[i], k)
			g.Cells = append(g.Cells, &of)
		}
		predictions, _ := plan.Predictions(g)
		fit, err := scorer.Score(predictions)
		if err != nil {
			t.Fatal(err)
		}
		g.Fit = &fit
		if err := r.Add(g); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for name, f := range out.Files {
		if !strings.HasSuffix(name, ".pdf") && reporttest.NoNumber.MatchString(f.String()) {
			t.Errorf("%s holds a number that is none", name)
		}
	}
	return out, r
}

// rows of a table, as maps from column to text.
func rows(out *reporttest.Folder, name string) []map[string]string {
	lines := strings.Split(strings.TrimSpace(out.Text(name)), "\n")
	columns := strings.Split(lines[0], ",")
	var all []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, v := range strings.Split(line, ",") {
			row[columns[i]] = v
		}
		all = append(all, row)
	}
	return all
}

func number(t *testing.T, row map[string]string, column string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(row[column], 64)
	if err != nil {
		t.Fatalf("%s of %v: %v", column, row, err)
	}
	return x
}

// The difference of full and boltzmann stands in a table, on the page and in what
// is printed, by participants, by stimuli and by both, with its sign and interval.
func TestDifferencesAreReported(t *testing.T) {
	st, c, cell := crowd(12, 8)
	out, r := crowdReport(t, st, c, cell)
	best := r.Best()
	var seen []string
	for _, row := range rows(out, "differences.csv") {
		if row["model"] != "full" || row["other_model"] != "boltzmann" || row["parameter_set"] != "3" || row["other_parameter_set"] != "5" {
			t.Errorf("%v", row)
		}
		d, low, high := number(t, row, "difference"), number(t, row, "ci_low"), number(t, row, "ci_high")
		want := best[0].Fit.Overall.PearsonR - best[1].Fit.Overall.PearsonR
		if row["measure"] == "rmse" {
			want = best[0].Fit.Overall.RMSE - best[1].Fit.Overall.RMSE
		}
		if math.Abs(d-want) > 1e-12 || !(low < high) || (low > 0) != (d > 0 && row["measure"] == "pearson_r") || row["resamples"] != "200" {
			t.Errorf("%v, want a difference of %v", row, want)
		}
		seen = append(seen, row["measure"]+" "+row["unit"])
	}
	if want := []string{"pearson_r participants", "pearson_r stimuli", "pearson_r both", "rmse participants", "rmse stimuli", "rmse both"}; !slices.Equal(seen, want) {
		t.Errorf("rows %v", seen)
	}
	page := out.Text("report.html")
	reporttest.CheckPage(t, "report.html", page)
	d := r.Differences()[0].PearsonR
	for _, text := range []string{
		"full − boltzmann", ">&#43;" + strings.TrimPrefix(fmt.Sprintf("%.3f", d.Value), "0") + "<",
		"[&#43;" + strings.TrimPrefix(fmt.Sprintf("%.3f", d.Intervals[2].Low), "0") + ", &#43;",
	} {
		if !strings.Contains(page, text) {
			t.Errorf("the page has no %s", text)
		}
	}
}

// Of a model that is nearer to people than another all tables say so, and none
// needs more than there is.
func TestPeopleTables(t *testing.T) {
	st, c, cell := crowd(12, 8)
	out, r := crowdReport(t, st, c, cell)
	scores := rows(out, "scores.csv")
	for _, column := range []string{"spearman", "concordance"} {
		if len(scores) != 2 || !(number(t, scores[0], column) > number(t, scores[1], column)) {
			t.Errorf("scores %v", scores)
		}
	}
	for _, column := range []string{"total_variation", "jensen_shannon"} {
		if !(number(t, scores[0], column) < number(t, scores[1], column)) || scores[0]["judgements"] != "24" {
			t.Errorf("scores %v", scores)
		}
	}
	crossed := rows(out, "cross_validation.csv")
	if len(crossed) != 2*13 || crossed[12]["stimulus"] != "" || crossed[0]["stimulus"] != "s0" || crossed[0]["parameter_set"] != "3" {
		t.Fatalf("cross-validation %v", crossed)
	}
	// Every choice is the best set of all stimuli, so that the held-out r is its r.
	if got, want := number(t, crossed[12], "pearson_r"), r.Best()[0].Fit.Overall.PearsonR; math.Abs(got-want) > 1e-12 {
		t.Errorf("held-out r %v, want %v", got, want)
	}
	if likelihoods := rows(out, "likelihoods.csv"); len(likelihoods) != 2*12*8 || likelihoods[0]["answers"] != "2" || likelihoods[0]["stimulus"] != "s0" || likelihoods[0]["participant"] != "p0" {
		t.Errorf("%d likelihoods, %v first", len(likelihoods), likelihoods[0])
	}
	comparison := rows(out, "model_comparison.csv")
	if len(comparison) != 2 || comparison[0]["participants_compared"] != "96" || !(number(t, comparison[0], "expected_frequency") > 0.8) {
		t.Errorf("comparison %v", comparison)
	}
	for _, row := range rows(out, "reliability.csv") {
		half, means, ceiling := number(t, row, "split_half_r"), number(t, row, "reliability"), number(t, row, "ceiling")
		if math.Abs(means-2*half/(1+half)) > 1e-12 || math.Abs(ceiling-math.Sqrt(means)) > 1e-12 || row["splits"] != "1000" {
			t.Errorf("reliability %v", row)
		}
	}
	if n := len(rows(out, "reliability.csv")); n != 3 {
		t.Errorf("%d reliabilities, want that of all and of two categories", n)
	}
	page := out.Text("report.html")
	for _, text := range []string{"Reliability of the mean judgements: ", "ceiling on r: ", ">reliability<", ">ceiling on r<", "1,000 splits", "Participants are not linked"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page has no %q", text)
		}
	}
}

// Of means alone there are differences by stimuli, and nothing by participants.
func TestPeopleTablesOfMeans(t *testing.T) {
	st, c, cell := crowd(12, 8)
	for i := range st.Stimuli {
		h := &st.Stimuli[i].Human
		h.Participants, h.Responses, h.SE, h.N = nil, nil, nil, []int{0, 0}
	}
	out, _ := crowdReport(t, st, c, cell)
	for _, row := range rows(out, "differences.csv") {
		if row["unit"] != "stimuli" {
			t.Errorf("%v", row)
		}
	}
	for name, want := range map[string]int{"differences.csv": 2, "scores.csv": 2, "cross_validation.csv": 2 * 13, "likelihoods.csv": 0, "model_comparison.csv": 0, "reliability.csv": 0} {
		if got := len(rows(out, name)); got != want {
			t.Errorf("%s has %d rows, want %d", name, got, want)
		}
	}
	if page := out.Text("report.html"); strings.Contains(page, "apse rate") || strings.Contains(page, "eiling on r") || strings.Contains(page, "Stephan") {
		t.Error("the page tells of participants that there are not")
	}
}

// Without resamples there are differences without intervals; of one model alone, none.
func TestDifferencesWithoutIntervals(t *testing.T) {
	st, c, cell := crowd(12, 8)
	c.Bootstrap.Resamples = 0
	out, _ := crowdReport(t, st, c, cell)
	all := rows(out, "differences.csv")
	if len(all) != 2 || all[0]["unit"] != "" || all[0]["ci_low"] != "" || !(number(t, all[0], "difference") > 0) {
		t.Errorf("differences %v", all)
	}
	reporttest.CheckPage(t, "report.html", out.Text("report.html"))
	c.Models = c.Models[:1]
	out, r := crowdReport(t, st, c, cell)
	if all := rows(out, "differences.csv"); len(all) != 0 || len(r.Differences()) != 0 || len(rows(out, "scores.csv")) != 1 || len(rows(out, "model_comparison.csv")) != 0 {
		t.Errorf("differences of one model: %v", all)
	}
}

// Linked participants have one likelihood each.
func TestLinkedParticipants(t *testing.T) {
	st, c, cell := crowd(12, 8)
	st.ParticipantsLinked = true
	out, _ := crowdReport(t, st, c, cell)
	all := rows(out, "likelihoods.csv")
	if len(all) != 2*8 || all[0]["answers"] != "24" || all[0]["stimulus"] != "" || strings.Contains(out.Text("report.html"), "Participants are not linked") {
		t.Errorf("%d likelihoods, %v first", len(all), all[0])
	}
}
