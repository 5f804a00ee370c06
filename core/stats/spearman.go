package stats

import (
	"cmp"
	"slices"
)

// Spearman is the rank correlation of x and y: [Pearson] of their ranks, equal
// values sharing the mean of theirs (Kendall 1970, Rank Correlation Methods,
// chapter 3; cor(x, y, method = "spearman") in R). It is undefined as Pearson is.
func Spearman(x, y []float64) (rho float64, ok bool) {
	if len(x) != len(y) {
		panic("stats: length mismatch")
	}
	if len(x) < 2 || constant(x) || constant(y) {
		return 0, false
	}
	return Pearson(ranks(x), ranks(y))
}

// ranks from 1, the mean of them for equal values.
func ranks(xs []float64) []float64 {
	order := make([]int, len(xs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(xs[a], xs[b]) })
	out := make([]float64, len(xs))
	for first := 0; first < len(order); {
		last := first
		for last+1 < len(order) && xs[order[last+1]] == xs[order[first]] {
			last++
		}
		for i := first; i <= last; i++ {
			out[order[i]] = float64(first+last)/2 + 1
		}
		first = last + 1
	}
	return out
}
