package score_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/diagnose"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// noisy is a study of stimuli with one to three judgement steps, people who are
// near a distribution of their own, and who sometimes do not answer after the first step.
func noisy(rng *rand.Rand, stimuli, people int) *study.Study {
	st := &study.Study{Name: "noisy"}
	for i := range stimuli {
		s := study.Stimulus{ID: string(rune('a' + i)), Goals: make([]study.Goal, 2+i%2)}
		for j := range 1 + i%3 {
			s.JudgementSteps = append(s.JudgementSteps, 2*j)
		}
		centres := distributions(rng, len(s.JudgementSteps), len(s.Goals))
		for j := range centres {
			s.Human.Mean = append(s.Human.Mean, make([]float64, len(s.Goals)))
			s.Human.N = append(s.Human.N, 0)
			for k := range people {
				if j == 0 {
					s.Human.Participants = append(s.Human.Participants, string(rune('A'+k)))
					s.Human.Responses = append(s.Human.Responses, make([][]float64, len(centres)))
				}
				if j > 0 && k > 1 && rng.IntN(8) == 0 {
					continue
				}
				answer := distributions(rng, 1, len(s.Goals))[0]
				for g := range answer {
					answer[g] = (answer[g] + 2*centres[j][g]) / 3
				}
				s.Human.Responses[k][j] = answer
				s.Human.N[j]++
			}
			for _, answers := range s.Human.Responses {
				for g := range answers[j] {
					s.Human.Mean[j][g] += answers[j][g] / float64(s.Human.N[j])
				}
			}
		}
		st.Stimuli = append(st.Stimuli, s)
	}
	return st
}

func distributions(rng *rand.Rand, n, goals int) [][]float64 {
	all := make([][]float64, n)
	for j := range all {
		var sum float64
		for range goals {
			x := rng.ExpFloat64()
			all[j] = append(all[j], x)
			sum += x
		}
		for g := range all[j] {
			all[j][g] /= sum
		}
	}
	return all
}

// near is a model that is off the people's means by a part of something else.
func near(rng *rand.Rand, st *study.Study, part float64) []result.Prediction {
	all := make([]result.Prediction, len(st.Stimuli))
	for i := range st.Stimuli {
		s := &st.Stimuli[i]
		all[i].Rows = distributions(rng, len(s.JudgementSteps), len(s.Goals))
		for j, row := range all[i].Rows {
			for g := range row {
				row[g] = part*row[g] + (1-part)*s.Human.Mean[j][g]
			}
		}
	}
	return all
}

func scorer(t *testing.T, st *study.Study, resamples int) *score.Scorer {
	t.Helper()
	s, err := score.NewScorer(st, sweep.Bootstrap{Resamples: resamples, Units: sweep.DefaultBootstrap.Units}, 3)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A difference is that of the fits; the other way round it has the other sign; a
// model against itself has none in any resample.
func TestCompare(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	st := noisy(rng, 8, 6)
	s := scorer(t, st, 200)
	good, bad := near(rng, st, 0.2), near(rng, st, 0.9)
	d, err := s.Compare(good, bad)
	if err != nil {
		t.Fatal(err)
	}
	one, _ := s.Score(good)
	other, _ := s.Score(bad)
	if d.N != one.Overall.N || math.Abs(d.PearsonR.Value-(one.Overall.PearsonR-other.Overall.PearsonR)) > 1e-12 ||
		math.Abs(d.RMSE.Value-(one.Overall.RMSE-other.Overall.RMSE)) > 1e-12 || !(d.PearsonR.Value > 0 && d.RMSE.Value < 0) {
		t.Errorf("%+v of %+v and %+v", d, one.Overall, other.Overall)
	}
	turned, _ := s.Compare(bad, good)
	same, _ := s.Compare(good, good)
	for k, unit := range sweep.DefaultBootstrap.Units {
		for _, c := range [][3]score.Change{{d.PearsonR, turned.PearsonR, same.PearsonR}, {d.RMSE, turned.RMSE, same.RMSE}} {
			in, back, none := c[0].Intervals[k], c[1].Intervals[k], c[2].Intervals[k]
			if in.Unit != unit || in.Resamples != 200 || !(in.Low < in.High) || math.Abs(in.Low+back.High) > 1e-12 || math.Abs(in.High+back.Low) > 1e-12 {
				t.Errorf("by %s %+v, turned round %+v", unit, in, back)
			}
			if none.Low != 0 || none.High != 0 {
				t.Errorf("by %s a model differs from itself: %+v", unit, none)
			}
		}
	}
}

// Where one model has no prediction, both are compared without the point.
func TestCompareLeavesOutWhatOneLacks(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	st := noisy(rng, 6, 5)
	s := scorer(t, st, 50)
	whole, broken := near(rng, st, 0.3), near(rng, st, 0.6)
	points := 2 * 2 // of stimulus c, which has 3 steps and 2 goals, after its first
	broken[2].Rows, broken[2].Undefined = broken[2].Rows[:1], true
	d, err := s.Compare(whole, broken)
	if err != nil {
		t.Fatal(err)
	}
	fit, _ := s.Score(whole)
	cut := slices.Clone(whole)
	cut[2].Rows, cut[2].Undefined = cut[2].Rows[:1], true
	same, err := s.Compare(cut, broken)
	if err != nil {
		t.Fatal(err)
	}
	if d.N != fit.Overall.N-points || d.PearsonR.Value != same.PearsonR.Value || !slices.Equal(d.RMSE.Intervals, same.RMSE.Intervals) || len(d.RMSE.Intervals) != 3 {
		t.Errorf("%+v\nwant %+v", d, same)
	}
	if whole[2].Rows[1][0] != cut[2].Rows[:2][1][0] || math.IsNaN(whole[2].Rows[2][1]) {
		t.Error("the predictions were changed")
	}
	none := make([]result.Prediction, len(st.Stimuli))
	for i := range none {
		none[i].Undefined = true
	}
	if d, err := s.Compare(whole, none); err != nil || d.N != 0 || d.PearsonR.Defined || d.RMSE.Defined || d.RMSE.Intervals != nil {
		t.Errorf("with a model of nothing: %+v, %v", d, err)
	}
}

// Scores are about points, or about judgements as distributions.
func TestScores(t *testing.T) {
	s := scorer(t, judged(), 0)
	got, err := s.Scores(predictions())
	if err != nil {
		t.Fatal(err)
	}
	// Total variation is 0 and 1/4 in a, and (.3 + .35 + .05) / 2 in b.
	if got.N != 7 || got.Judgements != 3 || math.Abs(got.TotalVariation-(0+0.25+0.35)/3) > 1e-12 || !got.Spearman.Defined || !got.Concordance.Defined {
		t.Errorf("%+v", got)
	}
	none, err := s.Scores([]result.Prediction{{Undefined: true}, {Undefined: true}})
	if err != nil || none != (score.Scores{}) {
		t.Errorf("of nothing: %+v, %v", none, err)
	}
}

// plan is one of a study's, for sets of two models.
func planOf(t *testing.T, st *study.Study, alphas ...float64) *sweep.Plan {
	t.Helper()
	var sets []model.ParameterSet
	for _, name := range []string{"plan-lesioned", "boltzmann"} {
		for _, alpha := range alphas {
			set := model.ParameterSet{Model: name}
			set.Set(map[string]string{"boltzmann": "alpha", "plan-lesioned": "action_noise"}[name], model.Setting{Number: alpha})
			sets = append(sets, set)
		}
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
	return plan
}

// The parameters chosen without a stimulus, and what they predict of it, are those
// that scoring the other stimuli again and again gives.
func TestCrossValidationAgainstScoringAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, stimuli := range []int{3, 5, 9} {
		st := noisy(rng, stimuli, 4)
		plan := planOf(t, st, .1, .2, .3, .4, .5, .6)
		v := score.NewCrossValidator(scorer(t, st, 0), plan)
		all := make([][]result.Prediction, len(plan.Sets))
		for i := range plan.Sets {
			g := &sweep.Gathered{Stage: sweep.FitStage, Index: i, Set: plan.Sets[i]}
			all[i] = near(rng, st, 0.9)
			if i == 4 {
				all[i][1].Rows, all[i][1].Undefined = all[i][1].Rows[:1], true
			}
			for k := range all[i] {
				cell := &result.Cell{Judged: true, Posterior: all[i][k].Rows}
				if all[i][k].Undefined {
					cell.Undefined = &result.Undefined{Step: 1}
				}
				g.Cells = append(g.Cells, cell)
			}
			if err := v.Add(g); err != nil {
				t.Fatal(err)
			}
			g.Cells[0] = nil // a repeat that failed on a stimulus changes nothing
			if err := v.Add(g); err != nil {
				t.Fatal(err)
			}
		}
		for _, m := range plan.Models() {
			got, ok := v.Of(m.Name)
			if !ok || len(got.Folds) != stimuli {
				t.Fatalf("%s: %+v, %v", m.Name, got, ok)
			}
			held := make([]result.Prediction, stimuli)
			for out := range stimuli {
				others := *st
				others.Stimuli = slices.Delete(slices.Clone(st.Stimuli), out, out+1)
				best, n, r := -1, 0, 0.0
				for i := m.First; i < m.First+6; i++ {
					fit := fitOf(t, &others, sweep.Bootstrap{}, 1, slices.Delete(slices.Clone(all[i]), out, out+1))
					more := fit.Overall.N - n // a set that lacks points does not win by it
					if fit.Overall.Defined && (best < 0 || more > 0 || more == 0 && fit.Overall.PearsonR > r) {
						best, n, r = i, fit.Overall.N, fit.Overall.PearsonR
					}
				}
				if fold := got.Folds[out]; fold.Set != best || math.Abs(fold.ChosenR-r) > 1e-12 || fold.Group != st.Stimuli[out].ID {
					t.Errorf("%s without %s: %+v, want set %d with r %v", m.Name, st.Stimuli[out].ID, fold, best, r)
				}
				held[out] = all[best][out]
			}
			want := fitOf(t, st, sweep.Bootstrap{}, 1, held)
			compareCorrelation(t, got.Overall, want.Overall)
			for i := range got.Folds {
				compareCorrelation(t, got.Folds[i].Correlation, want.ByStimulus[i])
			}
		}
	}
}

// With one stimulus there is nothing to choose by.
func TestCrossValidationOfOneStimulus(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	st := noisy(rng, 1, 4)
	plan := planOf(t, st, .1)
	v := score.NewCrossValidator(scorer(t, st, 0), plan)
	if err := v.Add(&sweep.Gathered{Stage: sweep.FitStage, Set: plan.Sets[0], Cells: []*result.Cell{{Judged: true, Posterior: near(rng, st, 0.5)[0].Rows}}}); err != nil {
		t.Fatal(err)
	}
	if got, ok := v.Of("plan-lesioned"); ok {
		t.Errorf("%+v", got)
	}
}

// A participant has one likelihood where participants are linked, and one a
// stimulus otherwise; where a model has no posterior, no model is asked.
func TestLikelihoods(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	st := noisy(rng, 6, 12)
	s := scorer(t, st, 0)
	good, bad := near(rng, st, 0), near(rng, st, 1)
	apart, err := s.Likelihoods([][]result.Prediction{bad, good})
	if err != nil || len(apart) != 6*12 || apart[12].Stimulus != "b" || apart[12].Participant != "A" {
		t.Fatalf("%d participants, %v", len(apart), err)
	}
	effects, ok := score.CompareModels(apart)
	if !ok || !(effects.Frequency[1] > 0.6 && effects.Protected[1] > 0.9) {
		t.Errorf("the model of the people's means is not the better one: %+v", effects)
	}
	linked := *st
	linked.ParticipantsLinked = true
	whole, err := scorer(t, &linked, 0).Likelihoods([][]result.Prediction{bad, good})
	if err != nil || len(whole) != 12 || whole[0].Stimulus != "" {
		t.Fatalf("%d people, %v", len(whole), err)
	}
	answers, chance := 0, 0.0
	for i := range apart {
		if apart[i].Participant == "A" {
			answers += apart[i].N
			chance += apart[i].Chance
		}
	}
	if whole[0].N != answers || math.Abs(whole[0].Chance-chance) > 1e-9 {
		t.Errorf("A gave %d answers, %+v", answers, whole[0])
	}
	bad[2].Rows, bad[2].Undefined = nil, true
	fewer, err := s.Likelihoods([][]result.Prediction{bad, good})
	if err != nil || len(fewer) != 5*12 || slices.ContainsFunc(fewer, func(l score.Likelihood) bool { return l.Stimulus == "c" }) {
		t.Errorf("%d participants beside stimulus c, %v", len(fewer), err)
	}
	for i := range linked.Stimuli {
		linked.Stimuli[i].Human.Participants, linked.Stimuli[i].Human.Responses = nil, nil
	}
	means, err := scorer(t, &linked, 0).Likelihoods([][]result.Prediction{good, good})
	if _, ok := score.CompareModels(means); err != nil || len(means) != 0 || ok {
		t.Errorf("of means alone: %v, %v", means, err)
	}
}

// All models of a stage are given the same, so that only a missing report makes
// their sizes unequal; of that the fits are warned, of exact models they are not.
func TestUnequalSizesAreWarnedOf(t *testing.T) {
	st := judged()
	plan := planOf(t, st, .1)
	for _, c := range []struct {
		stages []string
		method string
		want   string
	}{
		{[]string{"fit", "fit"}, sweep.SIPS, ""},
		{[]string{"report", "report"}, sweep.SIPS, ""},
		{[]string{"fit", "report"}, sweep.SIPS, ""}, // boltzmann is exact
		{[]string{"fit", "report", "report"}, sweep.SIPS, "full 10 runs of 100 particles a goal, plan-lesioned 5 runs of 60 particles a goal"},
		{[]string{"fit", "report", "report"}, sweep.Marginal, ""},
	} {
		config := sweep.Config{Seed: 1}
		config.Inference, config.Fit, config.Report = sweep.DefaultsOf(c.method)
		sets := plan.Sets
		if len(c.stages) > 2 {
			sets = append(slices.Clone(sets), model.ParameterSet{Model: "full"})
		}
		p, err := sweep.NewPlan(sets, plan.Stimuli, 1, true)
		if err != nil {
			t.Fatal(err)
		}
		w, err := diagnose.NewWarner(st, p, &config)
		if err != nil {
			t.Fatal(err)
		}
		for _, stage := range []string{"fit", "report"} {
			for i := range sets {
				if stage == "report" && c.stages[i] == "fit" {
					continue
				}
				fit := fitOf(t, st, sweep.Bootstrap{}, 1, predictions())
				g := &sweep.Gathered{Stage: stage, Index: i, Set: sets[i], Fit: &fit}
				for _, p := range predictions() {
					g.Cells = append(g.Cells, &result.Cell{Judged: true, Posterior: p.Rows})
				}
				w.Add(g)
			}
		}
		got := ""
		for _, warning := range w.Warnings() {
			if warning.Kind == diagnose.UnequalWarning {
				_, got, _ = strings.Cut(warning.Text, ": ")
			}
		}
		if got != c.want {
			t.Errorf("%v, %s: warned of %q, want %q", c.stages, c.method, got, c.want)
		}
	}
}
