package sweep

import (
	"math"
)

// moments are sums over points, of values less fixed ones near their means.
type moments struct {
	x0, y0              float64
	n, x, y, xx, yy, xy float64
}

// add takes points; those without a number on either side are left out.
func (m *moments) add(model, human []float64) {
	sum := *m // in registers
	for k, v := range model {
		if math.IsNaN(v) || math.IsNaN(human[k]) {
			continue
		}
		x, y := v-sum.x0, human[k]-sum.y0
		sum.n++
		sum.x += x
		sum.y += y
		sum.xx += float64(x * x)
		sum.yy += float64(y * y)
		sum.xy += float64(x * y)
	}
	*m = sum
}

// merge adds the sums of other points so many times.
func (m *moments) merge(o *moments, times float64) {
	m.n += float64(times * o.n)
	m.x += float64(times * o.x)
	m.y += float64(times * o.y)
	m.xx += float64(times * o.xx)
	m.yy += float64(times * o.yy)
	m.xy += float64(times * o.xy)
}

// pearson is r; not ok where a side does not vary beyond rounding.
func (m *moments) pearson() (r float64, ok bool) {
	xx, yy := m.xx-float64(m.x*m.x)/m.n, m.yy-float64(m.y*m.y)/m.n
	if !(xx > 1e-12*m.xx && yy > 1e-12*m.yy) {
		return 0, false
	}
	return (m.xy - float64(m.x*m.y)/m.n) / math.Sqrt(float64(xx*yy)), true
}

// squares is the sum of squared distances from the mean.
func squares(xs []float64) float64 {
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
