package stats

import "math"

// Pearson is the product-moment correlation of x and y. It is undefined
// (ok = false) for fewer than two points, for a side that is constant up to
// rounding, and when a value is not finite. With two points it is -1 or 1.
func Pearson(x, y []float64) (r float64, ok bool) {
	if len(x) != len(y) {
		panic("stats: length mismatch")
	}
	if len(x) < 2 || constant(x) || constant(y) {
		return 0, false
	}
	mx, my := Mean(x), Mean(y)
	var xx, yy, xy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xx += float64(dx * dx)
		yy += float64(dy * dy)
		xy += float64(dx * dy)
	}
	return ratio(xy, math.Sqrt(xx)*math.Sqrt(yy))
}

// RMSE is the root of the mean squared difference between x and y, both finite;
// 0 when there are no points.
func RMSE(x, y []float64) float64 {
	if len(x) != len(y) {
		panic("stats: length mismatch")
	}
	if len(x) == 0 {
		return 0
	}
	var sum float64
	for i := range x {
		d := x[i] - y[i]
		sum += float64(d * d)
	}
	return math.Sqrt(sum / float64(len(x)))
}

// ratio is a correlation from a covariance and the product of the two standard
// deviations, held to [-1, 1] against rounding.
func ratio(covariance, scale float64) (r float64, ok bool) {
	r = covariance / scale
	if math.IsNaN(r) || math.IsInf(r, 0) {
		return 0, false
	}
	return max(-1, min(1, r)), true
}

// Mean is the arithmetic mean of x; NaN of nothing.
func Mean(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// constant reports whether x has no spread beyond rounding. It is also true of
// values that are not finite, with which nothing can be correlated.
func constant(x []float64) bool {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range x {
		if v < lo {
			lo = v
		}
		if v > hi {
			hi = v
		}
		if v != v {
			return true
		}
	}
	return level(lo, hi)
}

// level reports whether the range from lo to hi is no more than what rounding
// leaves of equal values (2e-12 of their size), or is not finite.
func level(lo, hi float64) bool {
	return !(hi-lo > 1e-12*(math.Abs(lo)+math.Abs(hi))) || math.IsInf(hi-lo, 0)
}
