package stats

import (
	"math"
	"testing"
)

// Concordance is r on the identity line alone: a shift or a scale lowers it.
func TestConcordance(t *testing.T) {
	x := []float64{0.1, 0.4, 0.5, 0.8}
	for _, c := range []struct {
		name         string
		scale, shift float64
	}{{"the same", 1, 0}, {"shifted", 1, 0.2}, {"scaled", 0.5, 0.2}} {
		y := make([]float64, len(x))
		for i := range x {
			y[i] = c.scale*x[i] + c.shift
		}
		r, _ := Pearson(x, y)
		got, ok := Concordance(x, y)
		if same := c.name == "the same"; !ok || math.Abs(r-1) > 1e-12 || same != (math.Abs(got-1) < 1e-12) || got > 1+1e-12 {
			t.Errorf("%s: concordance %v, %v at r = %v", c.name, got, ok, r)
		}
	}
	if got, ok := Concordance(x, []float64{1, 1, 1, 1}); ok {
		t.Errorf("a constant has concordance %v", got)
	}
}

func TestDistances(t *testing.T) {
	for _, c := range []struct {
		name      string
		p, q      []float64
		total, js float64
	}{
		{"the same", []float64{0.2, 0.8}, []float64{0.2, 0.8}, 0, 0},
		{"apart", []float64{1, 0, 0}, []float64{0, 0.5, 0.5}, 1, 1},
		{"half", []float64{1, 0}, []float64{0.5, 0.5}, 0.5, math.Sqrt(0.311278124459133)},
	} {
		if got := TotalVariation(c.p, c.q); math.Abs(got-c.total) > 1e-12 || got != TotalVariation(c.q, c.p) {
			t.Errorf("%s: total variation %v, want %v", c.name, got, c.total)
		}
		if got := JensenShannon(c.p, c.q); math.Abs(got-c.js) > 1e-12 || got != JensenShannon(c.q, c.p) {
			t.Errorf("%s: Jensen-Shannon %v, want %v", c.name, got, c.js)
		}
	}
}
