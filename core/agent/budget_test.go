package agent

import (
	"math"
	"math/rand/v2"
	"testing"

	"foible.dev/foible/internal/chance"
)

// The paper's budgets have means 18, 38, 36 and 76.
func TestBudget(t *testing.T) {
	for _, c := range []struct {
		Budget
		mean float64
	}{
		{Budget{2, 0.9}, 18},
		{Budget{2, 0.95}, 38},
		{Budget{4, 0.9}, 36},
		{Budget{4, 0.95}, 76},
		{Budget{1, 0.5}, 1},
		{Budget{3, 0}, 0},
		{Budget{1, 0.01}, 1. / 99},
	} {
		if math.Abs(c.Mean()-c.mean) > 1e-9 {
			t.Errorf("%v: mean %v, want %v", c.Budget, c.Mean(), c.mean)
		}
		var sum, mean float64
		tail := 1.0
		for n := range 3000 {
			p := c.Probability(n)
			if got := c.AtLeast(n); math.Abs(got-tail) > 1e-9 {
				t.Fatalf("%v: %d or more has %v, want %v", c.Budget, n, got, tail)
			}
			sum, mean, tail = sum+p, mean+float64(n)*p, tail-p
		}
		if math.Abs(sum-1) > 1e-9 || math.Abs(mean-c.mean) > 1e-6 {
			t.Errorf("%v: probabilities sum to %v and have mean %v", c.Budget, sum, mean)
		}
		for _, p := range []float64{0, 0.05, 0.5, 0.95, 0.999} {
			n := c.Quantile(p)
			if below := 1 - c.AtLeast(n); n > 0 && below >= p+1e-12 || 1-c.AtLeast(n+1) < p-1e-12 {
				t.Errorf("%v: quantile %v is %d", c.Budget, p, n)
			}
		}
	}
}

// C(n+r-1, n) q^n (1-q)^r with binomials by hand.
func TestBudgetProbability(t *testing.T) {
	for _, c := range []struct {
		Budget
		n    int
		want float64
	}{
		{Budget{2, 0.9}, 0, 0.01},
		{Budget{2, 0.9}, 1, 2 * 0.9 * 0.01},
		{Budget{4, 0.5}, 3, 20 * math.Pow(0.5, 7)},
		{Budget{1, 0.25}, 2, 0.75 * 0.0625},
		{Budget{2, 0.9}, -1, 0},
	} {
		if got := c.Probability(c.n); math.Abs(got-c.want) > 1e-14 {
			t.Errorf("%v at %d: %v, want %v", c.Budget, c.n, got, c.want)
		}
	}
}

// Chi-square of 100,000 draws against the probabilities, with cells of 20 or more
// expected.
func TestBudgetDraws(t *testing.T) { chance.Repeat(t, budgetDraws) }

func budgetDraws(t *testing.T) {
	const n = 100_000
	for _, b := range []Budget{{2, 0.9}, {2, 0.95}, {4, 0.9}, {4, 0.95}, {1, 0.5}, {3, 0.2}} {
		rng := rand.New(rand.NewPCG(chance.Seed(1), uint64(b.R)))
		seen := map[int]int{}
		for range n {
			seen[b.Draw(rng)]++
		}
		var chi float64
		cells, expected, count := 0, 0.0, 0
		for i := range 2000 {
			expected, count = expected+n*b.Probability(i), count+seen[i]
			if expected >= 20 {
				chi += math.Pow(float64(count)-expected, 2) / expected
				cells, expected, count = cells+1, 0, 0
			}
		}
		if chi > chance.ChiSquare(6, cells) {
			t.Errorf("%v: chi-square %.1f in %d cells", b, chi, cells)
		}
	}
	if n := (Budget{4, 0}).Draw(nil); n != 0 {
		t.Errorf("without successes: %d", n)
	}
}
