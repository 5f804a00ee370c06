package stats

import (
	"math"
	"testing"
)

func TestSpearmanTakesRanks(t *testing.T) {
	third := (0.2 + 0.2 + 0.2) / 3 // 0.2 but for rounding
	for _, c := range []struct {
		name string
		x, y []float64
		want float64
	}{
		{"monotone", []float64{1, 2, 3, 4}, []float64{1, 10, 100, 1e6}, 1},
		{"falling", []float64{1, 2, 3}, []float64{3, 0, -9}, -1},
		{"ties", []float64{1, 1, 2, 3}, []float64{1, 2, 3, 3}, 8.0 / 9}, // ranks 1.5 1.5 3 4, and 1 2 3.5 3.5
		{"ties but for rounding", []float64{0.2, third, 0.3}, []float64{0.2, 0.2, 0.3}, 1},
	} {
		if got, ok := Spearman(c.x, c.y); !ok || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, %v; want %v", c.name, got, ok, c.want)
		}
	}
	for name, x := range map[string][]float64{"constant": {1, 1, 1}, "NaN": {1, 2, math.NaN()}, "infinite": {1, 2, math.Inf(1)}} {
		if got, ok := Spearman(x, []float64{1, 2, 3}); ok {
			t.Errorf("%s: %v, want undefined", name, got)
		}
	}
}

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
