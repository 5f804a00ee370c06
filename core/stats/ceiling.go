package stats

import (
	"errors"
	"math"
	"math/rand/v2"
)

// Ceiling estimates the correlation that a perfect model, one that gives the
// judgements of the whole population, would reach with these people's means:
// the square root of their reliability 2r/(1+r) (Spearman-Brown), r being the
// mean correlation over random splits into halves. The participants of each
// stimulus are split in two, linked ones once for the whole study; a point
// that one half did not answer drops out of that split. It is undefined
// (ok = false) when r is undefined or not positive.
func Ceiling(h Human, splits int, rng *rand.Rand) (r float64, ok bool, err error) {
	if err := h.check(); err != nil {
		return 0, false, err
	}
	if err := h.answered(); err != nil {
		return 0, false, err
	}
	if splits < 1 {
		return 0, false, errors.New("a ceiling needs at least one split")
	}
	var who [][]int
	var people int
	if h.Linked {
		who, people = h.people()
	}
	var sum, n float64
	for range splits {
		if half, ok := splitHalf(h, who, people, rng); ok {
			sum += half
			n++
		}
	}
	if !(sum > 0) {
		return 0, false, nil
	}
	half := sum / n
	return math.Sqrt(float64(2*half) / (1 + half)), true, nil
}

// splitHalf correlates the means of two random halves of the people.
func splitHalf(h Human, who [][]int, people int, rng *rand.Rand) (r float64, ok bool) {
	var side []int
	if h.Linked {
		side = half(people, rng)
	}
	var xs, ys []float64
	for s, stimulus := range h.Stimuli {
		left := make([]int, len(stimulus.Values))
		if h.Linked {
			for i, person := range who[s] {
				left[i] = side[person]
			}
		} else {
			left = half(len(stimulus.Values), rng)
		}
		right := make([]int, len(left))
		for i := range left {
			right[i] = 1 - left[i]
		}
		x, y := make([]float64, len(stimulus.Mean)), make([]float64, len(stimulus.Mean))
		stimulus.weightedMean(x, left)
		stimulus.weightedMean(y, right)
		for p := range x {
			if !math.IsNaN(x[p]) && !math.IsNaN(y[p]) {
				xs, ys = append(xs, x[p]), append(ys, y[p])
			}
		}
	}
	return Pearson(xs, ys)
}

// half marks n/2 of n with 1, rounded down, at random.
func half(n int, rng *rand.Rand) []int {
	mark := make([]int, n)
	for _, i := range rng.Perm(n)[:n/2] {
		mark[i] = 1
	}
	return mark
}
