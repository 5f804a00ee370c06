package stats

import (
	"cmp"
	"slices"
)

// Spearman is the rank correlation of x and y: [Pearson] of their ranks, values
// that are equal but for rounding sharing the mean of theirs (Kendall 1970, Rank
// Correlation Methods, chapter 3). It is undefined as Pearson is.
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
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
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
