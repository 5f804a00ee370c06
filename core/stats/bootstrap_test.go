package stats

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"foible.dev/foible/internal/chance"
)

// tiny is the study that testdata/check.py enumerates.
func tiny(linked bool) Human {
	return Human{Linked: linked, Stimuli: []Responses{
		{Mean: []float64{0.2, 2.2 / 3}, Participants: []string{"a", "b", "c"}, Values: [][]float64{{0.1, 0.9}, {0.3, 0.7}, {0.2, 0.6}}},
		{Mean: []float64{0.3, 0.4, 0.3}, Participants: []string{"a", "b"}, Values: [][]float64{{0.5, 0.2, 0.3}, {0.1, 0.6, 0.3}}},
		{Mean: []float64{2.6 / 3, 0.2}, Participants: []string{"a", "b", "c"}, Values: [][]float64{{1.0, 0.0}, {0.7, 0.4}, {0.9, 0.2}}},
	}}
}

var tinyModel = [][]float64{{0.2, 0.8}, {0.4, 0.4, 0.2}, {0.8, 0.1}}

// TestBootstrapAgainstEnumeration compares with the exact bootstrap
// distributions that testdata/check.py enumerates (NumPy 2.4.6, SciPy 1.17.1).
// With 200,000 resamples the standard error of the mean is sd/447; the
// tolerance is [chance.Bound] of them, and 3% for the standard deviation itself.
func TestBootstrapAgainstEnumeration(t *testing.T) { chance.Repeat(t, bootstrapAgainstEnumeration) }

func bootstrapAgainstEnumeration(t *testing.T) {
	const resamples = 200_000
	bound := chance.Bound(12, chance.Known)
	for _, c := range []struct {
		unit      Unit
		linked    bool
		mean, sd  float64
		undefined float64 // share of resamples without a correlation
	}{
		{ByParticipants, false, 0.9070345037446536, 0.054577926615200306, 0},
		{ByStimuli, false, 0.9455620135732125, 0.09089921667004572, 0},
		{Crossed, false, 0.8777768918411409, 0.15508491677124103, 0},
		{ByParticipants, true, 0.8986915360323898, 0.08490638018632009, 0},
		{ByStimuli, true, 0.9455620135732125, 0.09089921667004572, 0},
		{Crossed, true, 0.8822660698564169, 0.16431442451123965, 1.0 / 729},
	} {
		t.Run(fmt.Sprintf("%v linked=%v", c.unit, c.linked), func(t *testing.T) {
			b, err := NewBootstrap(tiny(c.linked), c.unit, resamples, rand.New(rand.NewPCG(chance.Seed(1), 2)))
			if err != nil {
				t.Fatal(err)
			}
			rs := b.Pearson(tinyModel)
			m := Mean(rs)
			var ss float64
			for _, r := range rs {
				ss += (r - m) * (r - m)
			}
			sd := math.Sqrt(ss / float64(len(rs)))
			if tol := bound * c.sd / math.Sqrt(resamples); math.Abs(m-c.mean) > tol {
				t.Errorf("mean r = %v, want %v within %v", m, c.mean, tol)
			}
			if math.Abs(sd/c.sd-1) > 0.03 {
				t.Errorf("sd of r = %v, want %v", sd, c.sd)
			}
			missing := float64(resamples-len(rs)) / resamples
			if tol := bound * math.Sqrt(c.undefined/resamples); math.Abs(missing-c.undefined) > tol {
				t.Errorf("undefined in %v of the resamples, want %v within %v", missing, c.undefined, tol)
			}
		})
	}
}

func TestSplitHalfAgainstEnumeration(t *testing.T) {
	// testdata/check.py: a split's r has sd .066, so the mean of 100,000 has
	// standard error .0002, and the ceiling less than that.
	r, ok, err := SplitHalf(tiny(false), 100_000, rand.New(rand.NewPCG(1, 2)))
	if err != nil || !ok || math.Abs(r.Ceiling-0.8661499325170245) > 0.001 {
		t.Errorf("%+v, %v, %v; want a ceiling of .86615", r, ok, err)
	}
	if _, ok, _ := SplitHalf(Human{Stimuli: []Responses{{Mean: []float64{0, 1}, Values: [][]float64{{0, 1}}}}}, 10, rand.New(rand.NewPCG(1, 2))); ok {
		t.Error("one participant has a ceiling")
	}
	if _, _, err := SplitHalf(Human{Stimuli: []Responses{{Mean: []float64{0, 1}}}}, 10, rand.New(rand.NewPCG(1, 2))); !errors.Is(err, ErrNoParticipants) {
		t.Errorf("ceiling of means: %v, want ErrNoParticipants", err)
	}
}

// randomHuman has participants who share ids across stimuli, and, unless it is
// complete, unanswered points and a point nobody judged.
func randomHuman(rng *rand.Rand, stimuli int, linked, complete bool) Human {
	h := Human{Linked: linked}
	for range stimuli {
		points := 1 + rng.IntN(6)
		var r Responses
		for i := range 1 + rng.IntN(4) {
			row := make([]float64, points)
			for p := range row {
				row[p] = float64(rng.IntN(5)) / 4
				if rng.IntN(3) == 0 && !complete {
					row[p] = math.NaN()
				}
			}
			r.Values = append(r.Values, row)
			r.Participants = append(r.Participants, fmt.Sprint("p", i+rng.IntN(2)))
		}
		r.Mean = make([]float64, points)
		once := make([]int, len(r.Values))
		for i := range once {
			once[i] = 1
		}
		r.weightedMean(r.Mean, once)
		h.Stimuli = append(h.Stimuli, r)
	}
	return h
}

// naive draws one resample in the documented order, and writes out the points of
// every copy.
func naive(h Human, unit Unit, model [][]float64, rng *rand.Rand) (xs, ys []float64) {
	n := len(h.Stimuli)
	var drawn []int
	for s := range n {
		if unit != ByParticipants {
			s = rng.IntN(n)
		}
		drawn = append(drawn, s)
	}
	who, people := h.people()
	var chosen []int
	if h.Linked && unit != ByStimuli {
		for range people {
			chosen = append(chosen, rng.IntN(people))
		}
	}
	for _, s := range drawn {
		r := h.Stimuli[s]
		judged := r.Mean
		if unit != ByStimuli {
			var rows [][]float64
			for _, person := range chosen {
				for i, w := range who[s] {
					if w == person {
						rows = append(rows, r.Values[i])
					}
				}
			}
			if !h.Linked {
				for range r.Values {
					rows = append(rows, r.Values[rng.IntN(len(r.Values))])
				}
			}
			judged = make([]float64, len(r.Mean))
			for p := range judged {
				var answers []float64
				for _, row := range rows {
					if !math.IsNaN(row[p]) {
						answers = append(answers, row[p])
					}
				}
				judged[p] = Mean(answers)
			}
		}
		for p, y := range judged {
			if !math.IsNaN(y) {
				xs, ys = append(xs, model[s][p]), append(ys, y)
			}
		}
	}
	return xs, ys
}

func TestFastEqualsNaive(t *testing.T) {
	gen := rand.New(rand.NewPCG(7, 7))
	var defined, undefined int
	for study := range 300 {
		linked := study%2 == 0
		h := randomHuman(gen, 1+gen.IntN(5), linked, study%4 == 1)
		model := make([][]float64, len(h.Stimuli))
		for s, r := range h.Stimuli {
			for range r.Mean {
				v := float64(gen.IntN(4)) / 3
				if study%3 == 0 { // constant within a stimulus, and beside a large value
					v = 0.1 + 1e3*float64(s/2)
				}
				model[s] = append(model[s], v)
			}
		}
		for _, unit := range []Unit{ByParticipants, ByStimuli, Crossed} {
			seed := rand.NewPCG(uint64(study), uint64(unit))
			twin := *seed
			b, err := NewBootstrap(h, unit, 20, rand.New(seed))
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(&twin)
			var want, errors []float64
			for range 20 {
				xs, ys := naive(h, unit, model, rng)
				if r, ok := Pearson(xs, ys); ok {
					want = append(want, r)
				}
				if len(ys) > 1 && !constant(ys) {
					errors = append(errors, RMSE(xs, ys))
				}
			}
			if got := b.RMSE(model); len(got) != len(errors) {
				t.Fatalf("study %d by %v: %d errors, want %d", study, unit, len(got), len(errors))
			} else {
				for i := range got {
					if math.Abs(got[i]-errors[i]) > 1e-9 {
						t.Errorf("study %d by %v: RMSE = %v, want %v", study, unit, got[i], errors[i])
					}
				}
			}
			got := b.Pearson(model)
			undefined += 20 - len(want)
			defined += len(want)
			if len(got) != len(want) {
				t.Fatalf("study %d by %v: %d correlations, want %d", study, unit, len(got), len(want))
			}
			for i := range got {
				if math.Abs(got[i]-want[i]) > 1e-9 {
					t.Errorf("study %d by %v: r = %v, want %v", study, unit, got[i], want[i])
				}
			}
		}
	}
	if defined < 1000 || undefined < 1000 {
		t.Errorf("%d defined and %d undefined correlations: the studies test too little", defined, undefined)
	}
}

func TestSameSeedSameResamples(t *testing.T) {
	for _, unit := range []Unit{ByParticipants, ByStimuli, Crossed} {
		var last []float64
		for range 2 {
			b, err := NewBootstrap(randomHuman(rand.New(rand.NewPCG(3, 3)), 8, true, false), unit, 50, rand.New(rand.NewPCG(4, 4)))
			if err != nil {
				t.Fatal(err)
			}
			model := make([][]float64, 8)
			for s, n := range b.lengths {
				for p := range n {
					model[s] = append(model[s], float64(7*s+p))
				}
			}
			rs := b.Pearson(model)
			if last != nil && !slices.Equal(rs, last) {
				t.Errorf("by %v: the same seed gave other correlations", unit)
			}
			last = rs
		}
	}
}

func TestDifferenceIsPaired(t *testing.T) {
	b, err := NewBootstrap(tiny(true), Crossed, 1000, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	scaled := make([][]float64, len(tinyModel))
	for s, values := range tinyModel {
		for _, v := range values {
			scaled[s] = append(scaled[s], 0.5*v+0.1)
		}
	}
	d := b.Difference(tinyModel, scaled)
	if len(d) != len(b.Pearson(tinyModel)) {
		t.Errorf("%d differences", len(d))
	}
	for _, v := range d {
		if math.Abs(v) > 1e-12 {
			t.Fatalf("a model and its linear image differ by %v in one resample", v)
		}
	}
}

func TestNewBootstrapErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	means := Human{Stimuli: []Responses{{Mean: []float64{0.2, 0.8}}, {Mean: []float64{0.5, 0.5}}}}
	for _, unit := range []Unit{ByParticipants, Crossed} {
		if _, err := NewBootstrap(means, unit, 10, rng); !errors.Is(err, ErrNoParticipants) {
			t.Errorf("means by %v: %v, want ErrNoParticipants", unit, err)
		}
	}
	if _, err := NewBootstrap(means, ByStimuli, 10, rng); err != nil {
		t.Errorf("means by stimuli: %v", err)
	}
	if _, err := NewBootstrap(Human{}, ByStimuli, 10, rng); err == nil {
		t.Error("no stimuli: no error")
	}
	if _, err := NewBootstrap(means, ByStimuli, 0, rng); err == nil {
		t.Error("no resamples: no error")
	}
	infinite := Human{Stimuli: []Responses{{Mean: []float64{math.Inf(1)}}}}
	if _, err := NewBootstrap(infinite, ByStimuli, 10, rng); err == nil {
		t.Error("an infinite judgement: no error")
	}
}

func TestUndefinedModels(t *testing.T) {
	b, err := NewBootstrap(tiny(false), ByParticipants, 10, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for name, model := range map[string][][]float64{
		"constant": {{0.2, 0.2}, {0.2, 0.2, 0.2}, {0.2, 0.2}},
		"NaN":      {{0.2, math.NaN()}, {0.2, 0.2, 0.2}, {0.2, 0.2}},
		"infinite": {{0.2, math.Inf(1)}, {0.2, 0.2, 0.2}, {0.2, 0.2}},
	} {
		if errors := b.RMSE(model); name != "constant" && errors != nil {
			t.Errorf("%s model: errors %v", name, errors)
		}
		if rs := b.Pearson(model); len(rs) != 0 || b.Resamples() != 10 {
			t.Errorf("%s model: %v", name, rs)
		}
	}
}
