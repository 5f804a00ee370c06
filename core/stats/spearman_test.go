package stats

import (
	"math"
	"slices"
	"testing"
)

func TestRanks(t *testing.T) {
	if got, want := ranks([]float64{0.2, 0.1, 0.2, 0.2, 7}), []float64{3, 1, 3, 3, 5}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSpearman(t *testing.T) {
	third := 3.0 // not a constant, so that the division rounds
	for name, c := range map[string]struct {
		x, y []float64
		want float64
		ok   bool
	}{
		"monotone":       {[]float64{1, 2, 3, 4}, []float64{1, 8, 27, 64}, 1, true},
		"falling":        {[]float64{1, 2, 3}, []float64{3, 2, -1000}, -1, true},
		"one swap":       {[]float64{1, 2, 3, 4}, []float64{1, 3, 2, 4}, 0.8, true},                           // 1 - 6 x 2 / (4 x 15)
		"ties":           {[]float64{1, 1, 2, 2, 3}, []float64{1, 2, 2, 3, 3}, 7.25 / 9, true},                // by hand
		"phi":            {[]float64{0, 0, 0, 1, 1, 1}, []float64{0, 0, 1, 0, 1, 1}, 1. / 3, true},            // phi, of 4 that agree and 2 that do not
		"nearly ties":    {[]float64{0.2, (0.2 + 0.2 + 0.2) / third, 0.3}, []float64{0.2, 0.2, 0.3}, 1, true}, // but for rounding
		"infinite":       {[]float64{1, 2, math.Inf(1)}, []float64{1, 2, 3}, 0, false},
		"constant":       {[]float64{1, 1}, []float64{1, 2}, 0, false},
		"constant truth": {[]float64{1, 2}, []float64{0.1, 0.1}, 0, false},
		"one point":      {[]float64{1}, []float64{1}, 0, false},
		"not a number":   {[]float64{1, 2}, []float64{1, math.NaN()}, 0, false},
	} {
		rho, ok := Spearman(c.x, c.y)
		if ok != c.ok || math.Abs(rho-c.want) > 1e-12 {
			t.Errorf("%s: got %v, %v, want %v, %v", name, rho, ok, c.want, c.ok)
		}
	}
}
