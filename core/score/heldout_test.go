package score

import (
	"math"
	"testing"
)

func TestPearsonHeldOut(t *testing.T) {
	nan := math.NaN()
	human := []float64{0, 1, 2, 1, 0, 3}
	start := []int{0, 2, 4, 6}
	// The first set fits the first two stimuli exactly, the second the last two.
	model := [][]float64{{0, 1, 2, 1, 3, 0}, {1, 0, 2, 1, 0, 3}}
	// Without stimulus 1 the second set is the best, without 3 the first; without 2 both have the r
	// of (0, 1, 3, 0) and (1, 0, 0, 3) with (0, 1, 0, 3): -1 / 6 and 5 / 6 of the sums of squares 6.
	// So what is predicted is 1, 0, 2, 1, 3, 0: with a mean of 7 / 6 on both sides and sums of squares of
	// 15 - 49 / 6, r is (5 - 49 / 6) / (15 - 49 / 6).
	want := (5 - 49./6) / (15 - 49./6)
	if r, ok := PearsonHeldOut(model, human, start); !ok || math.Abs(r-want) > 1e-12 {
		t.Errorf("got %v, %v, want %v", r, ok, want)
	}
	// Of a single set, what is held out is what is fitted, where there is something.
	if r, ok := PearsonHeldOut([][]float64{{0, 1, 2, 1, nan, nan}}, human, start); !ok || math.Abs(r-1) > 1e-12 {
		t.Errorf("one set: got %v, %v, want 1", r, ok)
	}
	for name, model := range map[string][][]float64{
		"constant":  {{1, 1, 1, 1, 1, 1}},
		"undefined": {{nan, nan, nan, nan, nan, nan}},
		"no set":    nil,
	} {
		if r, ok := PearsonHeldOut(model, human, start); ok || r != 0 {
			t.Errorf("%s: got %v, %v", name, r, ok)
		}
	}
}
