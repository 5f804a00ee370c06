package sips

import "math"

// Weights are the natural logarithms of the weights of a filter's particles;
// -Inf is a weight of 0. None is NaN or +Inf.
type Weights []float64

// Equalize makes each weight 1/n.
func (w Weights) Equalize() {
	each := -math.Log(float64(len(w)))
	for i := range w {
		w[i] = each
	}
}

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
	switch {
	case math.IsInf(best, -1):
		return best
	case math.IsNaN(best) || math.IsInf(best, 1):
		panic("sips: a weight that is not a number")
	}
	var sum float64
	for _, x := range w {
		sum += math.Exp(x - best)
	}
	return best + math.Log(sum)
}

// EffectiveSize is the effective sample size 1 / sum p^2 of normalized weights;
// 0 if every weight is 0.
func (w Weights) EffectiveSize() float64 {
	squares := w.squares()
	if squares == 0 {
		return 0
	}
	return 1 / squares
}

func (w Weights) squares() float64 {
	var sum float64
	for _, x := range w {
		sum += math.Exp(2 * x)
	}
	return sum
}
