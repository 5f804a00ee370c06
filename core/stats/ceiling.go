package stats

import (
	"errors"
	"math"
	"math/rand/v2"
)

// Reliability says how far the means of a study's people would come out the same
// with other people of the kind. No value is 0 or less.
type Reliability struct {
	Half    float64 // r of the means of two random halves of the people, averaged over splits
	Means   float64 // reliability of the means of all people, 2r/(1+r) of Half (Spearman 1910, Brown 1910)
	Ceiling float64 // on r: what a model of the whole population's judgements would reach, the square root of Means
}

// SplitHalf estimates the reliability of the people's means from random splits
// into halves. The participants of each stimulus are split in two, linked ones
// once for the whole study; a point that one half did not answer drops out of
// that split. It is undefined (ok = false) when r is undefined or not positive.
func SplitHalf(h Human, splits int, rng *rand.Rand) (rel Reliability, ok bool, err error) {
	if err := h.check(); err != nil {
		return rel, false, err
	}
	if err := h.answered(); err != nil {
		return rel, false, err
	}
	if splits < 1 {
		return rel, false, errors.New("a reliability needs at least one split")
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
		return rel, false, nil
	}
	rel.Half = sum / n
	rel.Means = float64(2*rel.Half) / (1 + rel.Half)
	rel.Ceiling = math.Sqrt(rel.Means)
	return rel, true, nil
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
