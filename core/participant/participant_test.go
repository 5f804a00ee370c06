package participant

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"foible.dev/foible/internal/chance"
)

func TestRound(t *testing.T) {
	for _, c := range []struct {
		belief []float64
		want   []int
	}{
		{[]float64{1, 0, 0}, []int{20, 0, 0}},
		{[]float64{1. / 3, 1. / 3, 1. / 3}, []int{7, 7, 6}},
		{[]float64{0.08, 0.52, 0.4}, []int{2, 10, 8}},
	} {
		if got := Round(c.belief); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.belief, got, c.want)
		}
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		belief []float64
		want   []int
	}{
		{[]float64{0.8, 0.1, 0.1}, []int{0}},
		{[]float64{0.1, 0.4, 0.5}, []int{1, 2}},
		{[]float64{0.3, 0.3, 0.4}, []int{0, 1, 2}},
	} {
		if got := Choose(c.belief); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.belief, got, c.want)
		}
	}
}

// The mean of Dirichlet(c m) is m, its variance m (1 - m) / (c + 1).
func TestBelief(t *testing.T) { chance.Repeat(t, belief) }

func belief(t *testing.T) {
	const n = 20_000
	noise := Noise{Concentration: 9, Lapse: 0.1}
	posterior, mixed := []float64{0.7, 0.3, 0}, []float64{0.9*0.7 + 0.1/3, 0.9*0.3 + 0.1/3, 0.1 / 3}
	rng := rand.New(rand.NewPCG(chance.Seed(1), 2))
	bound := chance.Bound(3, chance.Known)
	var sum, squares [3]float64
	for range n {
		total := 0.0
		for g, b := range noise.Recruit(rng).Belief(posterior, rng) {
			sum[g] += b
			squares[g] += (b - mixed[g]) * (b - mixed[g])
			total += b
		}
		if math.Abs(total-1) > 1e-12 {
			t.Fatalf("a belief sums to %v", total)
		}
	}
	for g, m := range mixed {
		variance := m * (1 - m) / 10
		if se := math.Sqrt(variance / n); math.Abs(sum[g]/n-m) > bound*se {
			t.Errorf("goal %d: mean %v, want %v within %.1f standard errors of %v", g, sum[g]/n, m, bound, se)
		}
		if got := squares[g] / n; math.Abs(got/variance-1) > 0.1 {
			t.Errorf("goal %d: variance %v, want %v", g, got, variance)
		}
	}
}

// Where no shape leaves anything, the belief is the posterior with its lapses.
func TestBeliefOfNothing(t *testing.T) {
	p := Participant{concentration: 0, lapse: 0.5}
	if got, want := p.Belief([]float64{1, 0}, rand.New(rand.NewPCG(1, 2))), []float64{0.75, 0.25}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
