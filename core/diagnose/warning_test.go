package diagnose_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"foible.dev/foible/core/diagnose"
	"foible.dev/foible/core/internal/madeup"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

func values(xs ...float64) []model.Setting {
	var all []model.Setting
	for _, x := range xs {
		all = append(all, model.Setting{Number: x})
	}
	return all
}

// lesioned is a sweep of the published goal-lesioned grid, and more models.
func lesioned(more ...sweep.ModelGrid) sweep.Config {
	in, fit, _ := sweep.DefaultsOf(sweep.SIPS)
	return sweep.Config{Inference: in, Fit: fit, Models: append(more, sweep.ModelGrid{Model: "goal-lesioned", Axes: map[string][]model.Setting{
		"budget_r": values(2, 4), "budget_q": values(.9, .95), "search_noise": values(.02, .5), "action_noise": values(.05, .1, .2),
	}})}
}

// warned is what a sweep of a study is warned of. cells gives what a parameter set predicts.
func warned(t *testing.T, st *study.Study, c sweep.Config, cells func(set *model.ParameterSet, index, stimulus int) *result.Cell) (all []diagnose.Warning, mcse float64) {
	t.Helper()
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	var shapes []sweep.Shape
	for i := range st.Stimuli {
		s := &st.Stimuli[i]
		shapes = append(shapes, sweep.Shape{Stimulus: s.ID, Goals: len(s.Goals), Actions: 9, JudgementSteps: s.JudgementSteps})
	}
	plan, err := sweep.NewPlan(sets, shapes, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	w, err := diagnose.NewWarner(st, plan, &c)
	if err != nil {
		t.Fatal(err)
	}
	scorer, err := score.NewScorer(st, sweep.Bootstrap{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range sets {
		g := &sweep.Gathered{Stage: sweep.FitStage, Index: i, Set: sets[i]}
		var predictions []result.Prediction
		for k := range shapes {
			cell := cells(&sets[i], i, k)
			g.Cells = append(g.Cells, cell)
			predictions = append(predictions, shapes[k].Predict(cell))
		}
		fit, err := scorer.Score(predictions)
		if err != nil {
			t.Fatal(err)
		}
		mcse += fit.MCSE / float64(len(sets))
		g.Fit = &fit
		w.Add(g)
	}
	return w.Warnings(), mcse
}

func kinds(all []diagnose.Warning) string {
	var kinds []string
	for _, w := range all {
		kinds = append(kinds, w.Kind)
	}
	return strings.Join(kinds, " ")
}

// Of 100 sweeps by a worker that ignores the parameters and returns noise, 95 are
// called flat on average, with a standard deviation of 2.2. Of 100 with the r of the
// published grid and an error of about .02 a run, none is.
func TestFlat(t *testing.T) {
	st, off := madeup.People()
	// With r = 1 / sqrt(1 + (k x)^2), x makes r; k from a trial.
	trial := madeup.Sampler(st, off, rand.New(rand.NewPCG(0, 0)), 0)
	scorer, err := score.NewScorer(st, sweep.Bootstrap{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	var predictions []result.Prediction
	for k := range st.Stimuli {
		predictions = append(predictions, result.Prediction{Rows: trial(.2, k).Posterior})
	}
	fit, err := scorer.Score(predictions)
	if err != nil {
		t.Fatal(err)
	}
	r1 := fit.Overall.PearsonR
	k := math.Sqrt(1/(r1*r1)-1) / .2
	x := func(r float64) float64 { return math.Sqrt(1/(r*r)-1) / k }
	for _, c := range []struct {
		name        string
		r           func(set *model.ParameterSet) float64
		least, most int
	}{
		{"noise", func(*model.ParameterSet) float64 { return .85 }, 88, 100},
		{"published", publishedR, 0, 0},
	} {
		flat := 0
		var mcse float64
		for seed := range uint64(100) {
			cells := madeup.Sampler(st, off, rand.New(rand.NewPCG(seed, 5)), .33*x(.85))
			config := lesioned()
			config.Seed = seed
			all, se := warned(t, st, config, func(set *model.ParameterSet, _, stimulus int) *result.Cell { return cells(x(c.r(set)), stimulus) })
			mcse += se / 100
			if strings.Contains(kinds(all), diagnose.FlatWarning) {
				flat++
				if text := all[0].Text; !strings.Contains(text, "are statistically indistinguishable") || !strings.Contains(text, "999 permutations") || !strings.Contains(text, "settings are the best with a probability of 0.95") {
					t.Fatal(text)
				}
			}
		}
		t.Logf("%s: %d of 100 called flat; a run has an error of %.3f", c.name, flat, mcse*math.Sqrt(5))
		if flat < c.least || flat > c.most {
			t.Errorf("%s: %d of 100 called flat, want %d to %d", c.name, flat, c.least, c.most)
		}
	}
}

// publishedR is the r of a setting of the published grid.
func publishedR(set *model.ParameterSet) float64 {
	i := 0
	if set.BudgetQ.Number == .95 {
		i += 12
	}
	if set.BudgetR.Number == 4 {
		i += 6
	}
	i += 2 * map[float64]int{.05: 0, .1: 1, .2: 2}[set.ActionNoise.Number]
	if set.SearchNoise.Number == .5 {
		i++
	}
	return madeup.GoalLesioned[i]
}

// The best of a grid on the edge of two axes, with a legal value beyond each.
func TestEdge(t *testing.T) {
	st, off := madeup.People()
	cells := madeup.Sampler(st, off, rand.New(rand.NewPCG(1, 5)), .001)
	config := lesioned()
	config.Models[0].Axes["action_noise"] = values(0, .1, .2)
	all, _ := warned(t, st, config, func(set *model.ParameterSet, _, stimulus int) *result.Cell {
		return cells(.5+set.ActionNoise.Number-.01*set.BudgetR.Number+set.BudgetQ.Number+.1*set.SearchNoise.Number, stimulus)
	})
	var got []string
	for _, w := range all {
		if w.Kind != diagnose.EdgeWarning {
			continue
		}
		for _, edge := range w.Edges {
			got = append(got, fmt.Sprintf("%s=%s", edge.Axis, edge.Beyond))
		}
		if !strings.Contains(w.Text, "edge of the grid, and r may be higher beyond: budget_r=4, the greatest of 2 values (r is at most ") {
			t.Error(w.Text)
		}
	}
	// Not action_noise, of which nothing is legal below 0.
	if fmt.Sprint(got) != "[budget_r=8 budget_q=0.853 search_noise=0.01]" {
		t.Errorf("%v in %v", got, all)
	}
}

func TestBeyond(t *testing.T) {
	for _, c := range []struct {
		axis               string
		edge, next, beyond float64
		ok                 bool
	}{
		{"alpha", 8, 4, 16, true},
		{"alpha", .125, .25, .0625, true},
		{"goal_noise", 0, .1, 0, false},
		{"goal_noise", .2, .1, .4, true},
		{"goal_noise", .6, .3, .8, true}, // half of the way to 1
		{"goal_noise", 1, .5, 0, false},
		{"goal_noise", .1, 0, .2, true},
		{"budget_q", .95, .9, .975, true},
		{"budget_q", .9999, .95, 0, false},
		{"budget_r", 2, 4, 1, true},
		{"budget_r", 2, 3, 1, true},
		{"budget_r", 3, 2, 4, true},
		{"budget_r", 1, 2, 0, false},
		{"search_noise", .5, .02, 1, true},
		{"unreachable_value", -1000, -500, -2000, true},
		{"unreachable_value", 0, -500, 0, false},
	} {
		axis, _ := model.AxisByName(c.axis)
		if beyond, ok := axis.Beyond(c.edge, c.next); ok != c.ok || ok && beyond != c.beyond {
			t.Errorf("%s beyond %v after %v: %v, %v; want %v, %v", c.axis, c.edge, c.next, beyond, ok, c.beyond, c.ok)
		}
	}
}

// What else a best setting is warned of.
func TestOutcomes(t *testing.T) {
	st, off := madeup.People()
	for i := range st.Stimuli {
		st.Stimuli[i].Category = "many"
	}
	st.Stimuli[15].Category = "few"
	st.Stimuli[15].JudgementSteps = st.Stimuli[15].JudgementSteps[:0]
	st.Stimuli[15].Human.Mean = nil
	st.Stimuli[15].Human.Responses = nil
	st.Stimuli[15].Human.Participants = nil
	off[15].Rows = nil
	cells := madeup.Sampler(st, off, rand.New(rand.NewPCG(1, 5)), .3)
	config := lesioned(sweep.ModelGrid{Model: "plan-lesioned", Axes: map[string][]model.Setting{"goal_noise": values(.1), "action_noise": values(.1)}})
	config.Models[1].Axes = map[string][]model.Setting{"budget_r": values(2), "budget_q": values(.9), "search_noise": values(.02), "action_noise": values(.05)}
	config.Inference = sweep.MarginalInference
	all, _ := warned(t, st, config, func(set *model.ParameterSet, _, stimulus int) *result.Cell {
		c := cells(.6, stimulus)
		if set.Model == "goal-lesioned" && stimulus == 3 {
			c.Undefined = &result.Undefined{Step: 10, Reason: "all weights vanished, at step 10"}
			c.Posterior, c.Runs = c.Posterior[:2], result.Runs{}
		}
		if set.Model == "goal-lesioned" && stimulus == 4 {
			c.Posterior[len(c.Posterior)-1][2] = 0
		}
		return c
	})
	if got := kinds(all); !strings.Contains(got, "error undefined dead") || !strings.Contains(got, "gap category") {
		t.Fatalf("%s: %v", got, all)
	}
	for _, w := range all {
		want := map[string]string{
			diagnose.UndefinedWarning: "on 1 of 16 stimuli (3; first reason: all weights vanished, at step 10), so that 25 of 510 points are not in its r; no setting of the model has a posterior at all points",
			diagnose.PointsWarning:    "of 510, goal-lesioned has 485, plan-lesioned has 510; their r are not to be compared, each difference between two models is over the points that both have, and all have 485 in common",
			diagnose.CategoryWarning:  `category "few" has 0 points`,
			diagnose.ErrorWarning:     "is larger than the 0.002 asked for",
			diagnose.GapWarning:       "the Monte-Carlo error of the difference is",
		}[w.Kind]
		if !strings.Contains(w.Text, want) {
			t.Errorf("%s: %s; want %s", w.Kind, w.Text, want)
		}
		if w.Kind == diagnose.DeadWarning && w.Model == "goal-lesioned" && !strings.Contains(w.Text, "4 (4 of 5 goals left)") {
			t.Error(w.Text)
		}
	}
}
