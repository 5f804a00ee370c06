package stats

import (
	"math"
	"slices"
)

// Interval is the percentile interval of the resampled values rs at a level in
// (0, 1), such as 0.95: the quantiles at (1-level)/2 on either side, linear
// between order statistics (R's type 7, NumPy's default). It is undefined
// (ok = false) without values. rs is not changed.
func Interval(rs []float64, level float64) (low, high float64, ok bool) {
	if !(level > 0 && level < 1) {
		panic("stats: interval level outside (0, 1)")
	}
	if len(rs) == 0 {
		return 0, 0, false
	}
	xs := slices.Clone(rs)
	tail := (1 - level) / 2
	return quantile(xs, tail), quantile(xs, 1-tail), true
}

// quantile is the p-quantile of values, at least one, whose order it changes.
func quantile(xs []float64, p float64) float64 {
	at := p * float64(len(xs)-1)
	i := min(int(math.Floor(at)), len(xs)-1)
	least(xs, i)
	if i == len(xs)-1 {
		return xs[i]
	}
	return xs[i] + float64((at-float64(i))*(slices.Min(xs[i+1:])-xs[i]))
}

// least puts the k smallest values in front, and the next one at k (Hoare's selection).
func least(xs []float64, k int) {
	for lo, hi := 0, len(xs)-1; lo < hi; {
		pivot := xs[(lo+hi)/2]
		i, j := lo, hi
		for i <= j {
			for xs[i] < pivot {
				i++
			}
			for xs[j] > pivot {
				j--
			}
			if i <= j {
				xs[i], xs[j] = xs[j], xs[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return
		}
	}
}
