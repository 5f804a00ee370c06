package stats

import (
	"math"
)

// Moments are sums over points, of values less fixed ones near their means.
type Moments struct {
	X0, Y0              float64
	N, X, y, XX, YY, XY float64
}

// Add takes points; those without a number on either side are left out.
func (m *Moments) Add(model, human []float64) {
	sum := *m // in registers
	for k, v := range model {
		if math.IsNaN(v) || math.IsNaN(human[k]) {
			continue
		}
		x, y := v-sum.X0, human[k]-sum.Y0
		sum.N++
		sum.X += x
		sum.y += y
		sum.XX += float64(x * x)
		sum.YY += float64(y * y)
		sum.XY += float64(x * y)
	}
	*m = sum
}

// Merge adds the sums of other points, multiplied by times.
func (m *Moments) Merge(o *Moments, times float64) {
	m.N += float64(times * o.N)
	m.X += float64(times * o.X)
	m.y += float64(times * o.y)
	m.XX += float64(times * o.XX)
	m.YY += float64(times * o.YY)
	m.XY += float64(times * o.XY)
}

// Pearson is r; not ok where a side does not vary beyond rounding.
func (m *Moments) Pearson() (r float64, ok bool) {
	xx, yy := m.XX-float64(m.X*m.X)/m.N, m.YY-float64(m.y*m.y)/m.N
	if !(xx > 1e-12*m.XX && yy > 1e-12*m.YY) {
		return 0, false
	}
	return (m.XY - float64(m.X*m.y)/m.N) / math.Sqrt(float64(xx*yy)), true
}

// SumOfSquares is the sum of squared distances from the mean.
func SumOfSquares(xs []float64) float64 {
	var mean float64
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	var sum float64
	for _, x := range xs {
		sum += float64((x - mean) * (x - mean))
	}
	return sum
}
