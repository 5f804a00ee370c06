package stats

import "math"

// Concordance is Lin's concordance correlation coefficient (1989), with moments
// divided by n: 2 s_xy / (s_x² + s_y² + (mean x - mean y)²). It is 1 on the
// identity line only, and undefined where [Pearson] is.
func Concordance(x, y []float64) (c float64, ok bool) {
	if _, ok := Pearson(x, y); !ok {
		return 0, false
	}
	mx, my := Mean(x), Mean(y)
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
