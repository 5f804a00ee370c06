package stats

import (
	"errors"
	"math"
	"math/rand/v2"
)

// Unit is what a bootstrap resamples with replacement.
type Unit int

const (
	// ByParticipants resamples the participants within each stimulus; when they
	// are linked, the people of the whole study, each with all their responses.
	ByParticipants Unit = iota
	// ByStimuli resamples the stimuli, each with its mean judgements.
	ByStimuli
	// Crossed resamples the stimuli and, within them, the participants. Each
	// copy of a stimulus meets new participants; linked ones are resampled once,
	// for all stimuli.
	Crossed
)

// String is the unit's name in a sweep file.
func (u Unit) String() string {
	switch u {
	case ByParticipants:
		return "participants"
	case ByStimuli:
		return "stimuli"
	case Crossed:
		return "both"
	}
	return "unknown unit"
}

// Bootstrap holds resampled human judgements, ready to be correlated with any
// number of models. The resamples do not depend on a model: r of one model and
// r of another in the same resample are paired. It is read-only, and safe for
// concurrent use.
//
// Resampling participants adds their noise to the mean judgements a second
// time, so resampled r lie a little below r itself, and r near the upper end of
// its percentile interval.
type Bootstrap struct {
	lengths   []int // points of each stimulus as given
	points    []int // what is kept: points that somebody judged, over all stimuli
	start     []int // stimulus s has points[start[s]:start[s+1]]
	resamples []resample
	once      bool // each stimulus has one copy in every resample
	// human[k*len(points)+p] is the human side of resample k: judgements summed
	// over the copies of their stimulus, centred and scaled so that r is its
	// product with the model over the model's norm. Only where participants are
	// resampled and counts is nil.
	human  []float64
	counts *counts   // where participants are resampled who answered everything, each in one stimulus
	mean   []float64 // [point] mean judgement less their grand mean; only for ByStimuli
	origin float64   // what is taken off all judgements in sums of them
}

// resample is one draw. A point counts once for each copy of its stimulus in
// which somebody answered it.
type resample struct {
	copies []float64 // [stimulus]
	absent []absent  // ascending points
	n      float64   // points, each counted as above
	y, yy  float64   // sum of judgements less origin, sum of squares about their mean
	ok     bool      // the human side has two points and is not constant
}

// absent counts the copies of a stimulus in which nobody answered a point.
type absent struct {
	point  int
	copies float64
}

// NewBootstrap draws the resamples. A point that nobody judged plays no part.
// The error is [ErrNoParticipants] when the unit needs participants and a
// stimulus has none, and names what is wrong with the data otherwise.
// Memory: 8 bytes x resamples x points; one byte x resamples x participants where
// these are not linked and answered everywhere; neither for ByStimuli.
func NewBootstrap(h Human, unit Unit, resamples int, rng *rand.Rand) (*Bootstrap, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	if unit != ByStimuli {
		if err := h.answered(); err != nil {
			return nil, err
		}
	}
	if len(h.Stimuli) == 0 {
		return nil, errors.New("no stimuli")
	}
	if resamples < 1 {
		return nil, errors.New("a bootstrap needs at least one resample")
	}
	d := newDrawer(h, unit, resamples, rng)
	b := &d.bootstrap
	for range resamples {
		d.draw()
	}
	if b.counts != nil {
		b.counts.index()
	}
	return b, nil
}

// Resamples is the number of resamples drawn.
func (b *Bootstrap) Resamples() int { return len(b.resamples) }

// Pearson is the correlation of a model's inferences, model[stimulus][point],
// with the people of each resample, in the order of the resamples. Resamples in
// which it is undefined are left out; their number is Resamples less the length
// of the result.
func (b *Bootstrap) Pearson(model [][]float64) []float64 {
	rs := b.correlate(model)
	defined := rs[:0]
	for _, r := range rs {
		if !math.IsNaN(r) {
			defined = append(defined, r)
		}
	}
	return defined
}

// Difference is r of model x less r of model y in each resample in which both
// are defined.
func (b *Bootstrap) Difference(x, y [][]float64) []float64 {
	rs, qs := b.correlate(x), b.correlate(y)
	defined := rs[:0]
	for k := range rs {
		if !math.IsNaN(rs[k]) && !math.IsNaN(qs[k]) {
			defined = append(defined, rs[k]-qs[k])
		}
	}
	return defined
}

// RMSE is the root mean squared error of a model's inferences,
// model[stimulus][point], against the people of each resample in which these are
// not all alike. Those are the same resamples for every model, in one order: the
// errors of two models are paired. Nil where a value is not finite.
func (b *Bootstrap) RMSE(model [][]float64) []float64 {
	m, ok := b.prepare(model)
	if !ok {
		return nil
	}
	defer m.done()
	var all []float64
	for k := range b.resamples {
		d := &b.resamples[k]
		if !d.ok {
			continue
		}
		off := m.shift - (b.origin + d.y/d.n) // of the model's origin from the people's mean
		var sum float64
		if len(d.absent) == 0 {
			t := m.sums(k)
			sum = t.xx + float64(2*off*t.x) + float64(d.n*off*off) - 2*m.covariance(k, t)
		} else {
			weight := b.weights(d)
			dy := b.deviations(k, weight)
			for p, w := range weight {
				dx := m.x[p] + off
				sum += float64(dx * (float64(w*dx) - 2*dy[p]))
			}
		}
		all = append(all, math.Sqrt(max(0, sum+d.yy)/d.n))
	}
	return all
}

func finite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// correlate is r in each resample, NaN where it is undefined.
func (b *Bootstrap) correlate(model [][]float64) []float64 {
	rs := make([]float64, len(b.resamples))
	m, ok := b.prepare(model)
	if !ok {
		for k := range rs {
			rs[k] = math.NaN()
		}
		return rs
	}
	defer m.done()
	for k := range rs {
		r, ok := m.fast(k)
		if !ok {
			r, ok = b.exact(k, m.x)
		}
		if !ok {
			r = math.NaN()
		}
		rs[k] = r
	}
	return rs
}

// prepared is a model, ready to meet the resamples.
type prepared struct {
	*Bootstrap
	x      []float64 // by point, less shift
	shift  float64
	side   []sums
	table  *[]float64 // of counts; nil where there are none
	always sums       // where each stimulus has one copy in every resample
}

// prepare is not ok for a model of no points, or with a value that is not finite.
func (b *Bootstrap) prepare(model [][]float64) (m prepared, ok bool) {
	m = prepared{Bootstrap: b, x: b.flatten(model)}
	if len(m.x) == 0 || !finite(m.x) {
		return m, false
	}
	m.shift = Mean(m.x)
	for p := range m.x {
		m.x[p] -= m.shift
	}
	m.side = b.modelSums(m.x)
	if b.counts != nil {
		m.table = b.counts.table(b, m.x)
	}
	m.always = total(m.side, b.resamples[0].copies)
	return m, true
}

func (m *prepared) done() {
	if m.table != nil {
		m.counts.spare.Put(m.table)
	}
}

// sums of the model in a resample.
func (m *prepared) sums(k int) sums {
	if m.once {
		return m.always
	}
	return total(m.side, m.resamples[k].copies)
}

// covariance is the sum of products of the model and the people's judgements less
// their mean, in a resample without absent points. t are the model's sums there.
func (m *prepared) covariance(k int, t sums) float64 {
	d := &m.resamples[k]
	switch {
	case m.human != nil:
		return math.Sqrt(d.yy) * dot(m.row(k), m.x)
	case m.counts != nil:
		return m.counts.sum(k, *m.table) - float64(t.x*d.y)/d.n
	}
	return t.xy - float64(t.x*d.y)/d.n
}

// flatten copies the model's values at the points kept.
func (b *Bootstrap) flatten(model [][]float64) []float64 {
	if len(model) != len(b.lengths) {
		panic("stats: length mismatch of model and stimuli")
	}
	x := make([]float64, len(b.points))
	for s, values := range model {
		if len(values) != b.lengths[s] {
			panic("stats: length mismatch of model and points")
		}
		for p := b.start[s]; p < b.start[s+1]; p++ {
			x[p] = values[b.points[p]]
		}
	}
	return x
}

// sums are the sufficient statistics of one stimulus, one copy of it.
type sums struct{ x, xx, xy float64 }

// modelSums sums each stimulus; xy only where nothing but stimuli is resampled.
func (b *Bootstrap) modelSums(x []float64) []sums {
	side := make([]sums, len(b.lengths))
	for s := range side {
		t := &side[s]
		for p := b.start[s]; p < b.start[s+1]; p++ {
			t.x += x[p]
			t.xx += float64(x[p] * x[p])
			if b.mean != nil {
				t.xy += float64(x[p] * b.mean[p])
			}
		}
	}
	return side
}

// total adds the sums of stimuli, each as often as it is there.
func total(side []sums, copies []float64) sums {
	var t sums
	for s, c := range copies {
		t.x += float64(c * side[s].x)
		t.xx += float64(c * side[s].xx)
		t.xy += float64(c * side[s].xy)
	}
	return t
}

// fast is r from the stimuli's sums. ok is false where that would lose accuracy
// (points are absent, or the spread is tiny compared with the values) or r is
// undefined; exact then tells which.
func (m *prepared) fast(k int) (r float64, ok bool) {
	d := &m.resamples[k]
	if !d.ok || len(d.absent) > 0 {
		return 0, false
	}
	t := m.sums(k)
	xx := t.xx - float64(t.x*t.x)/d.n
	if !(xx > 1e-6*t.xx && d.yy > 1e-6*(d.yy+float64(d.y*d.y)/d.n)) {
		return 0, false
	}
	return ratio(m.covariance(k, t), math.Sqrt(xx)*math.Sqrt(d.yy))
}

// exact is r in two passes over the points.
func (b *Bootstrap) exact(k int, x []float64) (r float64, ok bool) {
	d := &b.resamples[k]
	if !d.ok {
		return 0, false
	}
	weight := b.weights(d)
	var sum float64
	lo, hi := math.Inf(1), math.Inf(-1)
	for p, w := range weight {
		if w > 0 {
			sum += float64(w * x[p])
			lo, hi = min(lo, x[p]), max(hi, x[p])
		}
	}
	if level(lo, hi) {
		return 0, false
	}
	m := sum / d.n
	dy := b.deviations(k, weight)
	var xx, xy float64
	for p, w := range weight {
		dx := x[p] - m
		xx += float64(float64(w*dx) * dx)
		xy += float64(dx * dy[p])
	}
	return ratio(xy/math.Sqrt(d.yy), math.Sqrt(xx))
}

// deviations are, by point, the judgements of a resample less their mean, summed
// over the copies of their stimulus.
func (b *Bootstrap) deviations(k int, weight []float64) []float64 {
	d := &b.resamples[k]
	dy := make([]float64, len(b.points))
	switch {
	case b.human != nil:
		scale := math.Sqrt(d.yy)
		for p, v := range b.row(k) {
			dy[p] = float64(scale * v)
		}
	case b.counts != nil:
		for p, v := range b.counts.row(b, k) {
			dy[p] = v - float64(weight[p]*d.y/d.n)
		}
	default:
		for p, v := range b.mean {
			dy[p] = float64(weight[p] * (v - d.y/d.n))
		}
	}
	return dy
}

// weights is how often each point counts in a resample.
func (b *Bootstrap) weights(d *resample) []float64 {
	weight := make([]float64, len(b.points))
	for s, c := range d.copies {
		for p := b.start[s]; p < b.start[s+1]; p++ {
			weight[p] = c
		}
	}
	for _, a := range d.absent {
		weight[a.point] -= a.copies
	}
	return weight
}

func (b *Bootstrap) row(k int) []float64 {
	n := len(b.points)
	return b.human[k*n : (k+1)*n]
}

// dot is the sum of products of x and y in four interleaved sums, an order that
// no machine changes.
func dot(x, y []float64) float64 {
	var a, b, c, d float64
	n := len(x) &^ 3
	y = y[:len(x)]
	for i := 0; i < n; i += 4 {
		u, v := x[i:i+4:i+4], y[i:i+4:i+4]
		a += float64(u[0] * v[0])
		b += float64(u[1] * v[1])
		c += float64(u[2] * v[2])
		d += float64(u[3] * v[3])
	}
	for i := n; i < len(x); i++ {
		a += float64(x[i] * y[i])
	}
	return (a + b) + (c + d)
}
