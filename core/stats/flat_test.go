package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"foible.dev/foible/core/internal/madeup"
	"foible.dev/foible/core/random"
	"foible.dev/foible/core/stats"
)

// ofGrid numbers the values of the axes of that grid.
func ofGrid() [][]int {
	levels := make([][]int, 4)
	for i := range madeup.GoalLesioned {
		for a, l := range []int{i / 12, i / 6 % 2, i / 2 % 3, i % 2} {
			levels[a] = append(levels[a], l)
		}
	}
	return levels
}

// calledFlat is how many of 100 sweeps are called flat at 0.05, with settings of
// these r and so many runs, each of which is off by a normal error.
func calledFlat(rs []float64, levels [][]int, runs int, ofRun float64) int {
	n := 0
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 1))
		values := make([][]float64, len(rs))
		for i, r := range rs {
			for range runs {
				values[i] = append(values[i], r+ofRun*rng.NormFloat64())
			}
		}
		if p, permutations := stats.Alike(values, levels, random.WarningStream(seed, "flat", "test")); p > 0.05 {
			n++
		} else if permutations != 999 {
			panic("permutations")
		}
	}
	return n
}

// A sweep without any effect is called flat 95 % of the time: of 100, 95 with a
// standard deviation of 2.2; measured over 1000, 950 to 959. One with the effects of
// the published grid, r .80 to .88, is never called flat when a run has an error of
// .02: measured, none of 1000. If r itself, of all 5 runs, has an error of .02, the grid is
// called flat 21 % of the time: it is little wider than its noise.
func TestAlike(t *testing.T) {
	null := make([]float64, 24)
	for _, c := range []struct {
		name        string
		rs          []float64
		levels      [][]int
		runs        int
		ofRun       float64
		least, most int
	}{
		{"no effect, 4 runs", null, ofGrid(), 4, .02, 88, 100},
		{"no effect, 5 runs, no axes", null, nil, 5, .02, 88, 100},
		{"published grid, 4 runs", madeup.GoalLesioned, ofGrid(), 4, .02, 0, 0},
		{"published grid, 5 runs", madeup.GoalLesioned, ofGrid(), 5, .02, 0, 0},
		{"published grid, r off by .02", madeup.GoalLesioned, ofGrid(), 5, .02 * math.Sqrt(5), 8, 34},
	} {
		n := calledFlat(c.rs, c.levels, c.runs, c.ofRun)
		t.Logf("%s: %d of 100 called flat", c.name, n)
		if n < c.least || n > c.most {
			t.Errorf("%s: %d of 100 called flat, want %d to %d", c.name, n, c.least, c.most)
		}
	}
}

// Settings whose runs share their samples are told apart by the differences within
// runs, however much runs differ; settings that are all the same are not.
func TestAlikeShared(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var shifted, same [][]float64
	runs := []float64{.7, .8, .75, .9}
	for i := range 8 {
		var a, b []float64
		for _, r := range runs {
			a, b = append(a, r+.001*float64(i)), append(b, r)
		}
		shifted, same = append(shifted, a), append(same, b)
	}
	if p, _ := stats.Alike(shifted, nil, rng); p > 0.01 {
		t.Errorf("p = %v of settings that differ by .001 in each run", p)
	}
	if p, _ := stats.Alike(same, nil, rng); p != 1 {
		t.Errorf("p = %v of settings that are all the same", p)
	}
}

// Two settings at a distance of 1.96 standard errors: p = .05, R's pchisq(1.96^2, 1, lower.tail = FALSE).
func TestAlikeByErrors(t *testing.T) {
	se := .01 / math.Sqrt2
	if p := stats.AlikeByErrors([]float64{.8, .8 + 1.959964*.01}, []float64{se, se}); math.Abs(p-.05) > 1e-6 {
		t.Errorf("p = %v, want .05", p)
	}
}

func TestTies(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	// The best two are equal, the third is far below, and the last not sampled at all.
	ties := stats.Ties([]float64{.5, .8, .8, .3}, []float64{.01, .01, .01, 0}, rng)
	if len(ties) != 2 || ties[0].Index+ties[1].Index != 3 || math.Abs(ties[0].Probability-.5) > .05 {
		t.Errorf("%+v", ties)
	}
	// One standard error of the difference: Phi(1) = .841, in 2000 draws to .008.
	ties = stats.Ties([]float64{.8, .81}, []float64{.006, .008}, rng)
	if len(ties) != 2 || ties[0].Index != 1 || math.Abs(ties[0].Probability-.841) > .03 {
		t.Errorf("%+v", ties)
	}
	if ties = stats.Ties([]float64{.8, .9}, []float64{0, 0}, rng); len(ties) != 1 || ties[0].Index != 1 {
		t.Errorf("%+v", ties)
	}
}
