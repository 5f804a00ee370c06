package stats

import (
	"math"
	"slices"
)

// Spearman is the rank correlation of x and y: [Pearson] of their ranks, values
// that are equal but for rounding having the mean of theirs.
func Spearman(x, y []float64) (rho float64, ok bool) {
	if !finite(x) || !finite(y) {
		return 0, false
	}
	return Pearson(ranks(x), ranks(y))
}

// ranks are from 1; values that are equal but for rounding share the mean of theirs.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case x[a] < x[b]:
			return -1
		case x[a] > x[b]:
			return 1
		}
		return 0
	})
	rank := make([]float64, len(x))
	for first := 0; first < len(order); {
		next := first + 1
		for next < len(order) && level(x[order[first]], x[order[next]]) {
			next++
		}
		shared := float64(first+1+next) / 2
		for ; first < next; first++ {
			rank[order[first]] = shared
		}
	}
	return rank
}

// Concordance is Lin's concordance correlation coefficient (1989), with moments
// divided by n: 2 s_xy / (s_x² + s_y² + (mean x - mean y)²). It is 1 on the
// identity line alone, and undefined where [Pearson] is.
func Concordance(x, y []float64) (c float64, ok bool) {
	if _, ok := Pearson(x, y); !ok {
		return 0, false
	}
	mx, my := mean(x), mean(y)
	apart := float64(float64(len(x)) * (mx - my) * (mx - my))
	var xx, yy, xy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xx += float64(dx * dx)
		yy += float64(dy * dy)
		xy += float64(dx * dy)
	}
	return 2 * xy / (xx + yy + apart), true
}

// TotalVariation is the distance of two distributions, half the sum of absolute
// differences, in [0, 1].
func TotalVariation(p, q []float64) float64 {
	if len(p) != len(q) {
		panic("stats: length mismatch")
	}
	var sum float64
	for i := range p {
		sum += math.Abs(p[i] - q[i])
	}
	return sum / 2
}

// JensenShannon is the Jensen-Shannon distance of two distributions, the square
// root of their divergence in bits (logarithms to base 2), in [0, 1].
func JensenShannon(p, q []float64) float64 {
	if len(p) != len(q) {
		panic("stats: length mismatch")
	}
	var sum float64
	for i := range p {
		m := (p[i] + q[i]) / 2
		for _, v := range []float64{p[i], q[i]} {
			if v > 0 {
				sum += float64(v * math.Log2(v/m))
			}
		}
	}
	return math.Sqrt(max(0, min(1, sum/2)))
}
