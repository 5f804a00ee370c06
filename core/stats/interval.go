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
	sorted := slices.Clone(rs)
	slices.Sort(sorted)
	tail := (1 - level) / 2
	return quantile(sorted, tail), quantile(sorted, 1-tail), true
}

// quantile is the p-quantile of sorted values, at least one.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := int(math.Floor(at))
	if i >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + float64((at-float64(i))*(sorted[i+1]-sorted[i]))
}
