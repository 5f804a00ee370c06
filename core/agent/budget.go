package agent

import (
	"math"
	"math/rand/v2"
)

// Budget is how many nodes an agent looks at before it acts: NegBin(r, q), the
// number of successes, each of probability q, before the r-th failure. Libraries
// disagree on what r and q mean; the mean says it: r q / (1 - q).
type Budget struct {
	R int
	Q float64
}

// Draw draws a budget.
func (b Budget) Draw(rng *rand.Rand) int {
	if b.Q == 0 {
		return 0
	}
	n, scale := 0, 1/math.Log(b.Q)
	for range b.R {
		// Successes before one failure, by inversion; 1 - Float64 is never 0.
		n += int(math.Log(1-rng.Float64()) * scale)
	}
	return n
}

// Mean is r q / (1 - q).
func (b Budget) Mean() float64 { return float64(b.R) * b.Q / (1 - b.Q) }

// Probability of a budget n: C(n+r-1, n) q^n (1-q)^r.
func (b Budget) Probability(n int) float64 {
	switch {
	case n < 0:
		return 0
	case n == 0:
		return math.Pow(1-b.Q, float64(b.R))
	case b.Q == 0:
		return 0
	}
	log := float64(float64(n)*math.Log(b.Q)) + float64(float64(b.R)*math.Log1p(-b.Q))
	for _, x := range []struct {
		of   int
		sign float64
	}{{n + b.R, 1}, {n + 1, -1}, {b.R, -1}} {
		gamma, _ := math.Lgamma(float64(x.of))
		log += float64(x.sign * gamma)
	}
	return math.Exp(log)
}

// AtLeast is the probability that the budget is n or more: that n+r-1 tries have
// at most r-1 failures, a sum of r terms and so exact far out.
func (b Budget) AtLeast(n int) float64 {
	switch {
	case n <= 0:
		return 1
	case b.Q == 0:
		return 0
	}
	tries := n + b.R - 1
	var p float64
	term := math.Pow(b.Q, float64(tries)) // no failure
	for failures := range b.R {
		p += term
		term *= float64(tries-failures) / float64(failures+1) * (1 - b.Q) / b.Q
	}
	return min(p, 1)
}

// Quantile is the least n with probability p or more of a budget of n or less; p is below 1.
func (b Budget) Quantile(p float64) int {
	n := 0
	for b.AtLeast(n+1) > 1-p {
		n++
	}
	return n
}
