package chance

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// A bound is the quantile of the distribution of what is compared, far out in its tail.
func TestBound(t *testing.T) {
	for _, c := range []struct {
		comparisons int
		freedom     float64
		want        float64
	}{
		{1, Known, 4.891638}, // of tables, two-sided 1e-6
		{1000, Known, 6.109410},
		{1, 10, 10.516454},
		{1, 100, 5.213728},
	} {
		if got := Bound(c.comparisons, c.freedom); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%d comparisons, %v degrees of freedom: %v, want %v", c.comparisons, c.freedom, got, c.want)
		}
		p := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: math.Min(c.freedom, 1e9)}.CDF(-Bound(c.comparisons, c.freedom))
		if want := FalseAlarms / float64(c.comparisons) / 2; math.Abs(p/want-1) > 0.01 {
			t.Errorf("%d comparisons, %v degrees of freedom: beyond with %v, want %v", c.comparisons, c.freedom, p, want)
		}
	}
}

// The limit of a chi-square is its quantile.
func TestChiSquare(t *testing.T) {
	for _, cells := range []int{1, 2, 3, 10, 100, 1000} {
		p := distuv.ChiSquared{K: float64(cells)}.Survival(ChiSquare(100, cells))
		if want := FalseAlarms / 100; math.Abs(p/want-1) > 0.01 {
			t.Errorf("%d cells: beyond with %v", cells, p)
		}
	}
}

// Where few events are expected, none of them is no alarm, and far too many are one.
func TestRareVariance(t *testing.T) {
	bound := Bound(10_000, Known)
	for _, expected := range []float64{0.01, 1, 20, 199} {
		const n = 1e4
		p := expected / n
		if z := p / math.Sqrt(RareVariance(p, n)); (z > bound) != (expected > 100) {
			t.Errorf("none of %v events: z %.1f, of which the bound is %.1f", expected, z, bound)
		}
		if got := RareVariance(1-p, n); math.Abs(got-RareVariance(p, n)) > 1e-12 {
			t.Errorf("of what is nearly sure: %v", got)
		}
	}
	if RareVariance(0.5, 1000) != 0 || RareVariance(0, 10) != 0 {
		t.Error("something is added to what is known")
	}
}
