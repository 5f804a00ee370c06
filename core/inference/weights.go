package inference

import "math"

// Weights are the logarithms of a filter's particle weights, not normalized.
type Weights []float64

// Normalize scales the weights to sum 1 and returns the logarithm of their
// former sum; -Inf if every weight is 0, and the weights are as they were.
func (w Weights) Normalize() float64 {
	sum := w.logSum()
	if math.IsInf(sum, -1) {
		return sum
	}
	for i := range w {
		w[i] -= sum
	}
	return sum
}

// logSum is ln sum exp(w).
func (w Weights) logSum() float64 {
	best := math.Inf(-1)
	for _, x := range w {
		best = max(best, x)
	}
	if math.IsInf(best, -1) {
		return best
	}
	var sum float64
	for _, x := range w {
		sum += math.Exp(x - best)
	}
	return best + math.Log(sum)
}

// EffectiveSize is the effective sample size 1 / sum p^2 of normalized weights.
func (w Weights) EffectiveSize() float64 {
	var squares float64
	for _, x := range w {
		squares += math.Exp(2 * x)
	}
	if squares == 0 {
		return 0
	}
	return 1 / squares
}
