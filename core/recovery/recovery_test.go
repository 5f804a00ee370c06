package recovery

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/participant"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// grid has two models: boltzmann at three alphas, plan-lesioned at two action noises.
func grid(t *testing.T) []model.ParameterSet {
	t.Helper()
	c := sweep.Config{Models: []sweep.ModelGrid{
		{Model: "boltzmann", Axes: map[string][]model.Setting{"alpha": {{Number: 4}, {Number: 0.5}, {Number: 1}}, "value": {{Word: "optimal"}}}},
		{Model: "plan-lesioned", Axes: map[string][]model.Setting{"goal_noise": {{Number: 0}}, "action_noise": {{Number: 0.1}, {Number: 0.2}}}},
	}}
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	return sets
}

var shapes = []sweep.Shape{
	{Stimulus: "a", Goals: 3, Actions: 9, JudgementSteps: []int{0, 3, 6, 9}},
	{Stimulus: "b", Goals: 2, Actions: 5, JudgementSteps: []int{0, 5}},
	{Stimulus: "c", Goals: 4, Actions: 7, JudgementSteps: []int{0, 2, 4, 7}},
}

// madeUp makes posteriors of each set, and the same with a little noise.
func madeUp(sets int, noise float64) (truth, fit Posteriors) {
	rng := rand.New(rand.NewPCG(1, 2))
	l := newLayout(shapes)
	truth, fit = NewPosteriors(sets), NewPosteriors(sets)
	for set := range sets {
		for i, goals := range l.goals {
			for range shapes[i].JudgementSteps {
				row := make([]float64, goals)
				sum := 0.0
				for g := range row {
					row[g] = rng.ExpFloat64()
					sum += row[g]
				}
				for g := range row {
					truth[set] = append(truth[set], row[g]/sum)
					fit[set] = append(fit[set], row[g]/sum+noise*rng.NormFloat64())
				}
			}
		}
	}
	return truth, fit
}

func run(t *testing.T, truth, fit Posteriors, c Config) *Result {
	t.Helper()
	r, err := Run(t.Context(), &Sweeps{Sets: grid(t), Stimuli: shapes, Truth: truth, Fit: fit}, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// quiet participants report what they infer.
var quiet = participant.Noise{Concentration: 1e6}

func TestQuietParticipantsAreRecovered(t *testing.T) {
	truth, fit := madeUp(5, 0.005)
	for _, answers := range []string{Probability, Selection} {
		r := run(t, truth, fit, Config{Datasets: 12, Participants: []int{3}, Answers: answers, Noise: quiet, Seed: 7})
		if len(r.Datasets) != 24 || r.Unjudged != 0 {
			t.Fatalf("%d datasets, %v of the points not judged", len(r.Datasets), r.Unjudged)
		}
		seen := map[int]int{}
		for i := range r.Datasets {
			d := &r.Datasets[i]
			seen[d.True]++
			own := r.model(r.Sets[d.True].Model)
			if answers == Probability && (d.Fits[own].Set != d.True || d.Fitted != [2]int{own, own}) {
				t.Errorf("%v is fitted as %v, by the models %v", r.Sets[d.True], r.Sets[d.Fits[own].Set], d.Fitted)
			}
		}
		if want := map[int]int{0: 6, 1: 6, 2: 4, 3: 4, 4: 4}; !reflect.DeepEqual(seen, want) {
			t.Errorf("parameter sets are true in %v datasets, want %v", seen, want)
		}
	}
}

// A dataset is scored as a sweep scores people.
func TestScoresAreThoseOfASweep(t *testing.T) {
	truth, fit := madeUp(5, 0.3)
	c := Config{Datasets: 2, Participants: []int{4}, Answers: Probability, Noise: participant.DefaultNoise, Seed: 3}
	r := run(t, truth, fit, c)
	l := newLayout(shapes)
	for i := range r.Datasets {
		d := &r.Datasets[i]
		human := r.judge(l, truth[d.True], r.Sets[d.True].Model, d.Number-1)[0]
		st := &study.Study{}
		for k, shape := range shapes {
			s := study.Stimulus{ID: shape.Stimulus, Goals: make([]study.Goal, shape.Goals), JudgementSteps: shape.JudgementSteps}
			for j := range shape.JudgementSteps {
				s.Human.Mean = append(s.Human.Mean, human[l.start[k]+j*shape.Goals:][:shape.Goals])
			}
			st.Stimuli = append(st.Stimuli, s)
		}
		scorer, err := score.NewScorer(st, sweep.Bootstrap{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for m, model := range r.Models {
			var fits []result.Fit
			standing := sweep.NewStanding(0)
			for set := model.First; set < model.End; set++ {
				var predictions []result.Prediction
				for k, shape := range shapes {
					var p result.Prediction
					for j := range shape.JudgementSteps {
						p.Rows = append(p.Rows, fit[set][l.start[k]+j*shape.Goals:][:shape.Goals])
					}
					predictions = append(predictions, p)
				}
				scored, err := scorer.Score(predictions)
				if err != nil {
					t.Fatal(err)
				}
				fits = append(fits, scored)
				standing.Add(model.Name, set, 0, &scored)
			}
			best, _ := standing.Best(model.Name)
			if got, want := d.Fits[m], fits[best-model.First].Overall; got.Set != best || got.R.R != want.PearsonR || got.N != want.N {
				t.Errorf("%s: set %d with r %v over %d points, want %d, %v, %d", model.Name, got.Set, got.R.R, got.N, best, want.PearsonR, want.N)
			}
		}
	}
}

// A sample is what it is, whatever larger and smaller ones there are; and linked or not, people differ.
func TestSamplesAreNested(t *testing.T) {
	truth, fit := madeUp(5, 0.1)
	c := Config{Datasets: 3, Participants: []int{2, 5, 9}, Answers: Probability, Noise: participant.DefaultNoise, Seed: 3}
	all := run(t, truth, fit, c)
	c.Participants = []int{5}
	one := run(t, truth, fit, c)
	var of []Dataset
	for _, d := range all.Datasets {
		if d.Participants == 5 {
			of = append(of, d)
		}
	}
	if !reflect.DeepEqual(of, one.Datasets) {
		t.Error("5 participants are others beside 2 and 9")
	}
	c.Linked = true
	if reflect.DeepEqual(run(t, truth, fit, c).Datasets, one.Datasets) {
		t.Error("linked participants answer as others do")
	}
}

// Where an observer has no posterior nobody answers; a fitted set without one is even.
func TestUndefinedPosteriors(t *testing.T) {
	truth, fit := madeUp(5, 0)
	nan := math.NaN()
	for at := 6; at < 12; at++ { // steps 6 and 9 of stimulus a
		truth[0][at], fit[1][at] = nan, nan
	}
	c := Config{Datasets: 6, Participants: []int{2}, Answers: Probability, Noise: quiet, Seed: 1}
	r := run(t, truth, fit, c)
	points := newLayout(shapes).points()
	for i := range r.Datasets {
		d := &r.Datasets[i]
		want := points
		if d.True == 0 {
			want -= 6
		}
		for m, f := range d.Fits {
			if f.N != want || math.IsNaN(f.R.R) || math.IsNaN(f.Out.R) || !f.R.Defined {
				t.Errorf("true %d, model %d: r %v over %d points, want %d", d.True, m, f.R, f.N, want)
			}
		}
	}
	if want := float64(3*6) / float64(12*points); math.Abs(r.Unjudged-want) > 1e-15 {
		t.Errorf("%v of the points not judged, want %v", r.Unjudged, want)
	}
	for _, row := range truth {
		for at := range row {
			row[at] = nan
		}
	}
	r = run(t, truth, fit, c)
	for i := range r.Datasets {
		if d := &r.Datasets[i]; d.Fitted != [2]int{-1, -1} || d.Fits[0].Set != -1 {
			t.Errorf("without an answer, %v is fitted by %v", d.Fitted, d.Fits)
		}
	}
	for _, a := range r.Axes() {
		if a.N() != 0 || a.Reason == "" || math.IsNaN(a.Exact) || math.IsNaN(a.Rho) {
			t.Errorf("without an answer: %+v", a)
		}
	}
	if m := r.Confusion(0, 2); !slices.Equal(m.None, []int{6, 6}) {
		t.Errorf("without an answer: %+v", m)
	}
}

func TestRunRefuses(t *testing.T) {
	truth, fit := madeUp(5, 0)
	sets := grid(t)
	for want, c := range map[string]Config{
		"datasets": {Participants: []int{1}}, "participants": {Datasets: 1}, "ascending": {Datasets: 1, Participants: []int{2, 1}},
	} {
		if _, err := Run(t.Context(), &Sweeps{Sets: sets, Stimuli: shapes, Truth: truth, Fit: fit}, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v", c, err)
		}
	}
	c := Config{Datasets: 1, Participants: []int{1}}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := Run(ended, &Sweeps{Sets: sets, Stimuli: shapes, Truth: truth, Fit: fit}, c); !errors.Is(err, context.Canceled) {
		t.Errorf("without time: got %v", err)
	}
	fit[3] = nil
	if _, err := Run(t.Context(), &Sweeps{Sets: sets, Stimuli: shapes, Truth: truth, Fit: fit}, c); err == nil || !strings.Contains(err.Error(), sets[3].String()) {
		t.Errorf("without posteriors: got %v", err)
	}
	if _, err := Run(t.Context(), &Sweeps{Sets: sets, Stimuli: []sweep.Shape{{Stimulus: "a", Goals: 2}}, Truth: truth, Fit: fit}, c); err == nil {
		t.Error("without judgement steps: no error")
	}
}

// made is a result with given datasets: true and fitted set, and the models chosen.
func made(t *testing.T, datasets ...[3]int) *Result {
	t.Helper()
	r := &Result{Sets: grid(t)}
	r.Models = modelsOf(r.Sets)
	r.Participants = []int{10}
	for i, d := range datasets {
		fits := make([]Fit, len(r.Models))
		for m := range fits {
			fits[m].Set = -1
		}
		fits[r.model(r.Sets[d[0]].Model)].Set = d[1]
		r.Datasets = append(r.Datasets, Dataset{Number: i + 1, Participants: 10, True: d[0], Fits: fits, Fitted: [2]int{d[2], -1}})
	}
	return r
}

// Of the sets of made, 0 and 1 are plan-lesioned; 2, 3, 4 are boltzmann with alpha 4, 0.5, 1.
func TestMatrices(t *testing.T) {
	r := made(t, [3]int{0, 0, 0}, [3]int{0, 1, 0}, [3]int{1, 1, 1}, [3]int{0, 0, -1}, [3]int{2, 2, 1}, [3]int{3, 2, 1}, [3]int{4, 4, 1}, [3]int{4, 4, 1})
	m := r.Confusion(0, 10)
	if want := [][]int{{2, 1}, {0, 4}}; !reflect.DeepEqual(m.Count, want) || !slices.Equal(m.None, []int{1, 0}) || !slices.Equal(m.Models, []string{"plan-lesioned", "boltzmann"}) {
		t.Fatalf("got %+v", m)
	}
	type number struct {
		p  float64
		n  int
		ok bool
	}
	for truth, want := range [][]number{{{0.5, 4, true}, {0.25, 4, true}}, {{0, 4, true}, {1, 4, true}}} {
		for fitted := range want {
			p, n, ok := m.Fitted(truth, fitted)
			if got := (number{p, n, ok}); got != want[fitted] {
				t.Errorf("P(fitted %d | true %d): %v, want %v", fitted, truth, got, want[fitted])
			}
		}
	}
	for truth, want := range [][]number{{{1, 2, true}, {0.2, 5, true}}, {{0, 2, true}, {0.8, 5, true}}} {
		for fitted := range want {
			p, n, ok := m.True(truth, fitted)
			if got := (number{p, n, ok}); got != want[fitted] {
				t.Errorf("P(true %d | fitted %d): %v, want %v", truth, fitted, got, want[fitted])
			}
		}
	}
	if _, _, ok := r.Confusion(1, 10).True(0, 0); ok {
		t.Error("a model that is never fitted has a P(true | fitted)")
	}
	if _, _, ok := r.Confusion(0, 11).Fitted(0, 0); ok {
		t.Error("a model without datasets has a P(fitted | true)")
	}
}

func TestAxes(t *testing.T) {
	// alpha 4, .5, 1, 1, .5 fitted as 4, .5, 4, 1, 1: ranks 5, 1.5, 3.5, 3.5, 1.5 and 4.5, 1, 4.5, 2.5, 2.5.
	r := made(t, [3]int{2, 2, 1}, [3]int{3, 3, 1}, [3]int{4, 2, 1}, [3]int{4, 4, 1}, [3]int{3, 4, 1}, [3]int{0, 1, 0}, [3]int{1, 1, 0}, [3]int{0, 1, 0}, [3]int{1, 1, 0}, [3]int{0, 1, 0})
	axes := map[string]Axis{}
	for _, a := range r.Axes() {
		axes[a.Model+" "+a.Name] = a
	}
	alpha := axes["boltzmann alpha"]
	// Sums of squares 9 and 9, of products 2 x 1.5 + 1.5 x 2 + 0.5 x 1.5 - 0.5 x 0.5 + 1.5 x 0.5.
	if want := 7.25 / 9; math.Abs(alpha.Rho-want) > 1e-12 || alpha.Reason != "" {
		t.Errorf("rank correlation %v (%s), want %v", alpha.Rho, alpha.Reason, want)
	}
	if !(-1 <= alpha.Low && alpha.Low < alpha.Rho && alpha.Rho < alpha.High && alpha.High <= 1) || alpha.Resamples < Resamples/2 {
		t.Errorf("interval [%v, %v] of %d resamples", alpha.Low, alpha.High, alpha.Resamples)
	}
	if alpha.Exact != 0.6 || alpha.Above != 0.4 || alpha.Below != 0 || alpha.Chance() != 1./3 || alpha.Bias() != "fitted too high" {
		t.Errorf("exact %v, above %v, below %v, by chance %v, %q", alpha.Exact, alpha.Above, alpha.Below, alpha.Chance(), alpha.Bias())
	}
	if want := []string{"0.5", "1", "4"}; len(alpha.Values) != 3 || alpha.Values[0].String() != want[0] || alpha.Values[2].String() != want[2] {
		t.Errorf("values %v, want %v", alpha.Values, want)
	}
	for name, want := range map[string][2]string{
		"boltzmann value":            {"the grid has one value", "not known"},
		"plan-lesioned goal_noise":   {"the grid has one value", "not known"},
		"plan-lesioned action_noise": {"0.2 is fitted to all datasets", "not recovered"},
	} {
		if a := axes[name]; a.Reason != want[0] || a.Verdict() != want[1] || a.Rho != 0 || a.Resamples != 0 {
			t.Errorf("%s: %q, %s, rank correlation %v", name, a.Reason, a.Verdict(), a.Rho)
		}
	}
	for want, a := range map[string]Axis{
		"recovered": {Rho: 0.7, Low: 0.1}, "recovered in part": {Rho: 0.4, Low: 0.1}, "not recovered": {Rho: 0.39, Low: 0.1},
	} {
		if got := a.Verdict(); got != want {
			t.Errorf("%v: %s, want %s", a.Rho, got, want)
		}
	}
	if got := (&Axis{Rho: 0.8, Low: -0.1}).Verdict(); got != "not recovered" {
		t.Errorf("with 0 in the interval: %s", got)
	}
}

func TestPlaced(t *testing.T) {
	for _, c := range []struct {
		steps    []int
		from, to int
		want     []int
	}{
		{[]int{0, 5, 9, 11}, 11, 11, []int{0, 5, 9, 11}},
		{[]int{0, 5, 9, 10}, 10, 20, []int{0, 10, 18, 20}},
		{[]int{0, 5, 9, 10}, 10, 3, []int{0, 2, 3}},
		{[]int{0}, 0, 7, []int{0}},
	} {
		if got := placed(c.steps, c.from, c.to); !slices.Equal(got, c.want) {
			t.Errorf("%v of %d in %d: %v, want %v", c.steps, c.from, c.to, got, c.want)
		}
	}
}

func TestDealGivesEachItsTurn(t *testing.T) {
	all := deal(3, 8, rand.New(rand.NewPCG(1, 2)))
	for first := 0; first < 6; first += 3 {
		if turn := slices.Sorted(slices.Values(all[first : first+3])); !slices.Equal(turn, []int{0, 1, 2}) {
			t.Errorf("a turn has %v", turn)
		}
	}
	if len(all) != 8 {
		t.Errorf("%d of 8", len(all))
	}
}

func TestAnswersOf(t *testing.T) {
	of := func(answers ...[]float64) *study.Study {
		return &study.Study{Stimuli: []study.Stimulus{{Human: study.Judgements{Responses: [][][]float64{answers}}}}}
	}
	for name, c := range map[string]struct {
		st   *study.Study
		want string
	}{
		"nobody": {of(), Probability}, "shares": {of([]float64{0.2, 0.8}), Probability}, "one of each": {of([]float64{0.5, 0.5}, []float64{0.2, 0.8}), Probability},
		"ticks": {of([]float64{0.5, 0, 0.5}, nil, []float64{1. / 3, 1. / 3, 1. / 3}, []float64{0, 1, 0}), Selection},
	} {
		if got := AnswersOf(c.st); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
