package score_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"foible.dev/foible/core/internal/madeup"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// judged is a study of two stimuli whose correlations can be found by hand.
func judged() *study.Study {
	stimulus := func(id, category string, steps []int, goals ...string) study.Stimulus {
		s := study.Stimulus{ID: id, Category: category, JudgementSteps: steps, TrueGoal: -1}
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
		N:            []int{2, 2},
	}
	b := stimulus("b", "odd", []int{1}, "red", "green", "blue")
	b.Human = study.Judgements{
		Participants: []string{"p1", "p3"},
		Responses:    [][][]float64{{{0.2, 0.6, 0.2}}, {{0.2, 0.6, 0.2}}},
		Mean:         [][]float64{{0.2, 0.6, 0.2}},
		N:            []int{2},
	}
	return &study.Study{Name: "judged", Stimuli: []study.Stimulus{a, b}}
}

func predictions() []result.Prediction {
	return []result.Prediction{
		{Rows: [][]float64{{0.5, 0.5}, {0, 1}}},
		{Rows: [][]float64{{0.5, 0.25, 0.25}}},
	}
}

func fitOf(t *testing.T, st *study.Study, b sweep.Bootstrap, seed uint64, p []result.Prediction) result.Fit {
	t.Helper()
	s, err := score.NewScorer(st, b, seed)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := s.Score(p)
	if err != nil {
		t.Fatal(err)
	}
	return fit
}

func compareCorrelation(t *testing.T, got, want result.Correlation) {
	t.Helper()
	if got.Group != want.Group || got.N != want.N || got.Defined != want.Defined ||
		math.Abs(got.PearsonR-want.PearsonR) > 1e-12 || math.Abs(got.RMSE-want.RMSE) > 1e-12 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// With x the model and y the people: the sums of stimulus a are (x - mean) =
// 0 0 -1/2 1/2 and (y - mean) = 0 0 -1/4 1/4; those of b are 1/6 -1/12 -1/12
// and -2/15 4/15 -2/15; over both, n = 7, sum x = sum y = 3, sum xy = 1.55,
// sum xx = 1.875, sum yy = 1.565.
func TestScoreByHand(t *testing.T) {
	fit := fitOf(t, judged(), sweep.Bootstrap{}, 1, predictions())
	a := result.Correlation{N: 4, PearsonR: 1, Defined: true, RMSE: math.Sqrt(0.125 / 4)}
	b := result.Correlation{N: 3, PearsonR: -0.5, Defined: true, RMSE: math.Sqrt(0.215 / 3)}
	compareCorrelation(t, fit.Overall, result.Correlation{
		N: 7, PearsonR: 1.85 / math.Sqrt(4.125*1.955), Defined: true, RMSE: math.Sqrt(0.34 / 7),
	})
	if len(fit.ByCategory) != 2 || len(fit.ByStimulus) != 2 {
		t.Fatalf("%+v", fit)
	}
	named := func(c result.Correlation, group string) result.Correlation { c.Group = group; return c }
	compareCorrelation(t, fit.ByCategory[0], named(a, "plain"))
	compareCorrelation(t, fit.ByCategory[1], named(b, "odd"))
	compareCorrelation(t, fit.ByStimulus[0], named(a, "a"))
	compareCorrelation(t, fit.ByStimulus[1], named(b, "b"))
	if fit.Undefined != 0 || fit.Intervals != nil {
		t.Errorf("%+v", fit)
	}
}

func TestScoreOfNothing(t *testing.T) {
	constant := []result.Prediction{{Rows: [][]float64{{0.5, 0.5}, {0.5, 0.5}}}, {Undefined: true}}
	none := []result.Prediction{{Undefined: true}, {Undefined: true}}
	for name, test := range map[string]struct {
		p         []result.Prediction
		n         int
		rmse      float64
		undefined int
	}{
		"constant":      {constant, 4, math.Sqrt(0.125 / 4), 1},
		"no posteriors": {none, 0, 0, 2},
	} {
		fit := fitOf(t, judged(), sweep.Bootstrap{Resamples: 20, Units: sweep.DefaultBootstrap.Units}, 1, test.p)
		compareCorrelation(t, fit.Overall, result.Correlation{N: test.n, RMSE: test.rmse})
		if fit.Undefined != test.undefined || len(fit.Intervals) != 0 {
			t.Errorf("%s: %+v", name, fit)
		}
	}
}

func TestPredict(t *testing.T) {
	shape := sweep.Shape{Stimulus: "s", Goals: 1, Actions: 4, JudgementSteps: []int{0, 2, 4}}
	whole := &result.Cell{Posterior: [][]float64{{0}, {1}, {2}, {3}, {4}}}
	if got, want := shape.Predict(whole), (result.Prediction{Rows: [][]float64{{0}, {2}, {4}}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	broken := &result.Cell{Posterior: whole.Posterior[:3], Undefined: &result.Undefined{Step: 3, Reason: "why"}}
	if got, want := shape.Predict(broken), (result.Prediction{Rows: [][]float64{{0}, {2}}, Undefined: true}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// madeUp is a study with so many people that intervals mean something; some do
// not answer everywhere.
func madeUp(seed uint64, linked bool) (*study.Study, []result.Prediction) {
	rng := rand.New(rand.NewPCG(seed, 0))
	draw := func() []float64 {
		a, b, c := rng.ExpFloat64(), rng.ExpFloat64(), rng.ExpFloat64()
		return []float64{a / (a + b + c), b / (a + b + c), c / (a + b + c)}
	}
	st := &study.Study{Name: "random", ParticipantsLinked: linked}
	var model []result.Prediction
	for i := range 6 {
		s := study.Stimulus{ID: fmt.Sprint(i), Category: fmt.Sprint(i % 2), JudgementSteps: []int{0, 2, 4, 5}, Goals: make([]study.Goal, 3)}
		h := &s.Human
		h.Mean = make([][]float64, 4)
		h.N = make([]int, 4)
		for p := range 8 {
			h.Participants = append(h.Participants, fmt.Sprint("p", p))
			answers := make([][]float64, 4)
			for j := range answers {
				if rng.IntN(6) > 0 {
					answers[j] = draw()
					h.N[j]++
				}
			}
			h.Responses = append(h.Responses, answers)
		}
		for j := range h.Mean {
			h.Mean[j] = make([]float64, 3)
			for _, answers := range h.Responses {
				for g := range answers[j] {
					h.Mean[j][g] += answers[j][g] / float64(h.N[j])
				}
			}
		}
		st.Stimuli = append(st.Stimuli, s)
		model = append(model, result.Prediction{Rows: [][]float64{draw(), draw(), draw(), draw()}})
	}
	return st, model
}

// Points without a posterior are left out: the fit, intervals included, is that
// of a study which does not have these judgement steps.
func TestUndefinedPointsAreLeftOut(t *testing.T) {
	for _, linked := range []bool{false, true} {
		st, model := madeUp(7, linked)
		smaller, _ := madeUp(7, linked)
		for i, steps := range []int{4, 1, 4, 0, 4, 3} {
			if steps == 4 {
				continue
			}
			model[i].Rows, model[i].Undefined = model[i].Rows[:steps], true
			s := &smaller.Stimuli[i]
			s.JudgementSteps = s.JudgementSteps[:steps]
			s.Human.Mean, s.Human.N = s.Human.Mean[:steps], s.Human.N[:steps]
			for p := range s.Human.Responses {
				s.Human.Responses[p] = s.Human.Responses[p][:steps]
			}
		}
		b := sweep.Bootstrap{Resamples: 200, Units: sweep.DefaultBootstrap.Units}
		got := fitOf(t, st, b, 5, model)
		if got.Undefined != 3 {
			t.Errorf("%d undefined stimuli", got.Undefined)
		}
		for i := range model {
			model[i].Undefined = false
		}
		want := fitOf(t, smaller, b, 5, model)
		if got.Undefined = 0; !reflect.DeepEqual(got, want) {
			t.Errorf("linked %v:\ngot  %+v\nwant %+v", linked, got, want)
		}
		if len(got.Intervals) != 3 || got.Overall.N != (4+1+4+0+4+3)*3 {
			t.Errorf("%+v", got)
		}
	}
}

// Scoring a broken prediction leaves the scorer as it was, and it may be used by many at once.
func TestScorerIsPure(t *testing.T) {
	st, model := madeUp(8, false)
	broken := slices.Clone(model)
	broken[2] = result.Prediction{Rows: model[2].Rows[:1], Undefined: true}
	s, err := score.NewScorer(st, sweep.Bootstrap{Resamples: 50, Units: sweep.DefaultBootstrap.Units}, 1)
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.Score(model)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := s.Score(broken); err != nil {
				t.Error(err)
			}
			again, err := s.Score(model)
			if err != nil || !reflect.DeepEqual(first, again) {
				t.Errorf("got %+v, %v, want %+v", again, err, first)
			}
		})
	}
	wg.Wait()
}

// Resamples are paired: the same seed gives every parameter set the same ones,
// in whatever order they are scored; another seed gives others.
func TestResamplesArePaired(t *testing.T) {
	st, model := madeUp(9, false)
	_, other := madeUp(10, false)
	b := sweep.Bootstrap{Resamples: 100, Units: sweep.DefaultBootstrap.Units}
	s, err := score.NewScorer(st, b, 11)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Score(other); err != nil {
		t.Fatal(err)
	}
	got, err := s.Score(model)
	if err != nil {
		t.Fatal(err)
	}
	if want := fitOf(t, st, b, 11, model); !reflect.DeepEqual(got.Intervals, want.Intervals) {
		t.Errorf("got %v, want %v", got.Intervals, want.Intervals)
	}
	if elsewhere := fitOf(t, st, b, 12, model); reflect.DeepEqual(got.Intervals, elsewhere.Intervals) {
		t.Error("two seeds give the same intervals")
	}
	// A unit has its stream to itself: others beside it change nothing.
	alone := fitOf(t, st, sweep.Bootstrap{Resamples: 100, Units: []string{"both"}}, 11, model)
	if !reflect.DeepEqual(alone.Intervals, got.Intervals[2:]) {
		t.Errorf("got %v, want %v", alone.Intervals, got.Intervals[2:])
	}
	for _, in := range got.Intervals {
		if in.Low > in.High || in.Resamples != 100 {
			t.Errorf("%+v", in)
		}
	}
	// Another model moves the interval, and r within it, on the same resamples: a
	// model that is a scaled copy has the same r in each of them.
	scaled := make([]result.Prediction, len(model))
	for i, p := range model {
		for _, row := range p.Rows {
			half := make([]float64, len(row))
			for g, x := range row {
				half[g] = x / 2
			}
			scaled[i].Rows = append(scaled[i].Rows, half)
		}
	}
	copied, err := s.Score(scaled)
	if err != nil {
		t.Fatal(err)
	}
	for i, in := range copied.Intervals {
		if math.Abs(in.Low-got.Intervals[i].Low) > 1e-12 || math.Abs(in.High-got.Intervals[i].High) > 1e-12 {
			t.Errorf("got %+v, want %+v", in, got.Intervals[i])
		}
	}
}

// Where only means are known, people cannot be resampled: the stimuli are.
func TestScoreOfMeans(t *testing.T) {
	st, model := madeUp(12, false)
	full := fitOf(t, st, sweep.Bootstrap{Resamples: 100, Units: sweep.DefaultBootstrap.Units}, 3, model)
	for i := range st.Stimuli {
		st.Stimuli[i].Human.Participants, st.Stimuli[i].Human.Responses = nil, nil
	}
	fit := fitOf(t, st, sweep.Bootstrap{Resamples: 100, Units: sweep.DefaultBootstrap.Units}, 3, model)
	if len(fit.Intervals) != 1 || fit.Intervals[0] != full.Intervals[1] || fit.Intervals[0].Unit != "stimuli" {
		t.Errorf("got %+v, want %+v", fit.Intervals, full.Intervals[1:2])
	}
	compareCorrelation(t, fit.Overall, full.Overall)
}

// A judgement step that nobody judged is no point.
func TestUnansweredPoints(t *testing.T) {
	st := judged()
	h := &st.Stimuli[0].Human
	h.Mean[1], h.Responses[0][1], h.Responses[1][1] = nil, nil, nil
	fit := fitOf(t, st, sweep.Bootstrap{Resamples: 10, Units: []string{"participants"}}, 1, predictions())
	if fit.Overall.N != 5 || fit.ByStimulus[0].N != 2 || fit.ByStimulus[0].Defined {
		t.Errorf("%+v", fit)
	}
}

func TestScorerRefuses(t *testing.T) {
	if _, err := score.NewScorer(judged(), sweep.Bootstrap{Resamples: 1, Units: []string{"people"}}, 1); err == nil || err.Error() != `bootstrap: unknown unit "people"` {
		t.Error(err)
	}
	s, err := score.NewScorer(judged(), sweep.Bootstrap{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	short := predictions()
	short[0].Rows = short[0].Rows[:1]
	long := predictions()
	long[1].Rows = append(long[1].Rows, []float64{1, 0, 0})
	for want, p := range map[string][]result.Prediction{
		"predictions of 1 stimuli, want 2":                    predictions()[:1],
		"stimulus a: predictions at 1 of 2 judgement steps":   short,
		"stimulus b: predictions at 2 of 1 judgement steps":   long,
		"stimulus b: a prediction of 2 goals, where it has 3": {predictions()[0], {Rows: [][]float64{{0.5, 0.5}}}},
	} {
		if _, err := s.Score(p); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// jackknife is the Monte-Carlo error as the textbook has it: every stimulus is
// scored again without each of its runs in turn, and (n - 1) / n times the sum
// of squared distances of these r from their mean is its part of the variance.
func jackknife(t *testing.T, st *study.Study, model []result.Prediction) float64 {
	t.Helper()
	var variance float64
	for i := range model {
		n := model[i].Runs.Len()
		if n < 2 {
			continue
		}
		var rs []float64
		var mean float64
		for k := range n {
			left := slices.Clone(model)
			left[i].Rows = madeup.MeanOf(model[i].Runs, k)
			fit := fitOf(t, st, sweep.Bootstrap{}, 1, left)
			rs = append(rs, fit.Overall.PearsonR)
			mean += fit.Overall.PearsonR / float64(n)
		}
		for _, r := range rs {
			variance += (r - mean) * (r - mean) * float64(n-1) / float64(n)
		}
	}
	return math.Sqrt(variance)
}

func TestMonteCarloErrorAgainstBruteForce(t *testing.T) {
	for name, test := range map[string]struct {
		runs      []int
		undefined int // judgement steps of the last stimulus that have a posterior
	}{
		"all stimuli":        {[]int{5, 5, 5, 5, 5, 5}, 4},
		"other runs of each": {[]int{2, 3, 4, 5, 10, 7}, 4},
		"some of one run":    {[]int{0, 3, 1, 0, 2, 0}, 4},
		"a broken stimulus":  {[]int{3, 3, 3, 3, 3, 3}, 2},
	} {
		st, model := madeUp(13, false)
		last := &model[5]
		last.Rows, last.Undefined = last.Rows[:test.undefined], test.undefined < 4
		madeup.Sampled(model, test.runs...)
		b := sweep.Bootstrap{Resamples: 20, Units: []string{"stimuli"}}
		fit := fitOf(t, st, b, 1, model)
		want := jackknife(t, st, model)
		if unknown := slices.Contains(test.runs, 1); unknown != fit.MCSEUnknown {
			t.Errorf("%s: the error is not known: %v", name, fit.MCSEUnknown)
		} else if unknown {
			want = 0
		}
		if want < 1e-3 && !fit.MCSEUnknown || math.Abs(fit.MCSE-want) > 1e-12 {
			t.Errorf("%s: error %v, want %v", name, fit.MCSE, want)
		}
		// The runs play no other part.
		for i := range model {
			model[i].Runs = result.Runs{}
		}
		exact := fitOf(t, st, b, 1, model)
		if exact.MCSE != 0 || exact.MCSEUnknown {
			t.Errorf("%s: error %v without runs", name, exact.MCSE)
		}
		if fit.MCSE, fit.MCSEUnknown = 0, false; !reflect.DeepEqual(fit, exact) {
			t.Errorf("%s: got %+v, want %+v", name, fit, exact)
		}
	}
}

// By hand: one run says what the people say, the other the reverse of it. Without
// one r is 1, without the other -1: the variance is 1 / 2 of 1 + 1.
func TestMonteCarloErrorByHand(t *testing.T) {
	st := judged()
	st.Stimuli = st.Stimuli[:1]
	h := &st.Stimuli[0].Human
	h.Mean = [][]float64{{0, 1}, {0.5, 0.5}}
	h.Participants, h.Responses = nil, nil
	p := result.Prediction{Rows: [][]float64{{0.45, 0.55}, {0.5, 0.5}}, Runs: result.RunsOf([][]float64{{0, 1}, {0.5, 0.5}}, [][]float64{{0.9, 0.1}, {0.5, 0.5}})}
	if got := fitOf(t, st, sweep.Bootstrap{}, 1, []result.Prediction{p}).MCSE; math.Abs(got-1) > 1e-12 {
		t.Errorf("%v, want 1", got)
	}
}

// Equal runs, and runs of a model without r, have no error.
func TestNoMonteCarloError(t *testing.T) {
	st, model := madeUp(14, false)
	for i := range model {
		model[i].Runs = result.RunsOf(model[i].Rows, model[i].Rows, model[i].Rows)
	}
	if got := fitOf(t, st, sweep.Bootstrap{}, 1, model).MCSE; got > 1e-12 {
		t.Errorf("equal runs have an error of %v", got)
	}
	constant := []result.Prediction{{Rows: [][]float64{{0.5, 0.5}, {0.5, 0.5}}}, {Undefined: true}}
	constant[0].Runs = result.RunsOf([][]float64{{0, 1}, {1, 0}}, [][]float64{{1, 0}, {0, 1}})
	if fit := fitOf(t, judged(), sweep.Bootstrap{}, 1, constant); fit.Overall.Defined || fit.MCSE != 0 {
		t.Errorf("%+v", fit)
	}
}

// Predict takes of each run what it takes of their mean.
func TestPredictRuns(t *testing.T) {
	shape := sweep.Shape{Stimulus: "s", Goals: 1, Actions: 4, JudgementSteps: []int{0, 2, 4}}
	whole := &result.Cell{Posterior: [][]float64{{0}, {1}, {2}, {3}, {4}}, Runs: result.RunsOf([][]float64{{0}, {2}, {4}}, [][]float64{{5}, {6}, {7}})}
	if got, want := shape.Predict(whole), (result.Prediction{Rows: [][]float64{{0}, {2}, {4}}, Runs: whole.Runs}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	broken := &result.Cell{Posterior: whole.Posterior[:3], Undefined: &result.Undefined{Step: 3, Reason: "why"}, Runs: result.RunsOf([][]float64{{0}, {2}}, [][]float64{{5}, {6}})}
	if got, want := shape.Predict(broken), (result.Prediction{Rows: [][]float64{{0}, {2}}, Runs: broken.Runs, Undefined: true}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
