package stats

import (
	"math"
	"math/rand/v2"
)

// drawer fills a Bootstrap, one resample a call.
type drawer struct {
	bootstrap Bootstrap
	h         Human
	unit      Unit
	rng       *rand.Rand
	who       [][]int // person of each row, when people are linked
	people    int
	judged    []float64 // scratch: mean judgements of one copy, [point of the stimulus as given]
}

func newDrawer(h Human, unit Unit, resamples int, rng *rand.Rand) *drawer {
	d := &drawer{h: h, unit: unit, rng: rng}
	if h.Linked && unit != ByStimuli {
		d.who, d.people = h.people()
	}
	b := &d.bootstrap
	b.start = []int{0}
	longest := 0
	for _, r := range h.Stimuli {
		b.lengths = append(b.lengths, len(r.Mean))
		longest = max(longest, len(r.Mean))
		for p := range r.Mean {
			if judgedPoint(r, p, unit) {
				b.points = append(b.points, p)
			}
		}
		b.start = append(b.start, len(b.points))
	}
	d.judged = make([]float64, longest)
	b.once = unit == ByParticipants
	if unit == ByStimuli {
		d.centre()
	} else if b.counts = newCounts(h, b); b.counts == nil {
		b.human = make([]float64, 0, resamples*len(b.points))
	} else {
		b.origin = b.counts.centre
	}
	return d
}

// judgedPoint reports whether somebody judged a point, so far as the unit can
// tell.
func judgedPoint(r Responses, p int, unit Unit) bool {
	if unit == ByStimuli {
		return !math.IsNaN(r.Mean[p])
	}
	for _, row := range r.Values {
		if !math.IsNaN(row[p]) {
			return true
		}
	}
	return false
}

// centre sets the bootstrap's mean judgements, less their grand mean.
func (d *drawer) centre() {
	b := &d.bootstrap
	for s, r := range d.h.Stimuli {
		for p := b.start[s]; p < b.start[s+1]; p++ {
			b.mean = append(b.mean, r.Mean[b.points[p]])
		}
	}
	if len(b.mean) == 0 {
		return
	}
	b.origin = Mean(b.mean)
	for p := range b.mean {
		b.mean[p] -= b.origin
	}
}

// draw appends one resample. The order of its random draws is: the stimuli,
// then the people (linked), or the participants of each copy in the order in
// which the copies were drawn.
func (d *drawer) draw() {
	b := &d.bootstrap
	drawn := d.stimuli()
	r := resample{copies: make([]float64, len(b.lengths))}
	for _, s := range drawn {
		r.copies[s]++
		r.n += float64(b.start[s+1] - b.start[s])
	}
	if d.unit == ByStimuli {
		d.sum(&r)
	} else {
		d.judge(&r, drawn)
	}
	b.resamples = append(b.resamples, r)
}

// stimuli are the stimuli of a resample, a copy of one again and again.
func (d *drawer) stimuli() []int {
	drawn := make([]int, len(d.h.Stimuli))
	for i := range drawn {
		drawn[i] = i
		if d.unit != ByParticipants {
			drawn[i] = d.rng.IntN(len(drawn))
		}
	}
	return drawn
}

// sum sets the human sums of a resample of stimuli.
func (d *drawer) sum(r *resample) {
	b := &d.bootstrap
	weight := b.weights(r)
	lo, hi := math.Inf(1), math.Inf(-1)
	for p, w := range weight {
		r.y += float64(w * b.mean[p])
		if w > 0 {
			lo, hi = min(lo, b.mean[p]), max(hi, b.mean[p])
		}
	}
	if r.ok = r.n >= 2 && !level(lo, hi); !r.ok {
		return
	}
	m := r.y / r.n
	for p, w := range weight {
		dy := b.mean[p] - m
		r.yy += float64(float64(w*dy) * dy)
	}
}

// judge appends the human row of a resample of participants, or how often they
// count and the row's sums, and notes which points nobody answered.
func (d *drawer) judge(r *resample, drawn []int) {
	b := &d.bootstrap
	row := make([]float64, len(b.points))
	missing := make([]float64, len(b.points))
	copies := d.copies(drawn)
	if b.counts != nil {
		b.counts.add(drawn, copies)
	} else {
		defer func() { b.human = append(b.human, row...) }()
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	var sum float64
	each := func(visit func(p int, y float64)) {
		for i, s := range drawn {
			judged := d.judged[:b.lengths[s]]
			d.h.Stimuli[s].weightedMean(judged, copies[i])
			for p := b.start[s]; p < b.start[s+1]; p++ {
				visit(p, judged[b.points[p]])
			}
		}
	}
	each(func(p int, y float64) {
		if math.IsNaN(y) {
			missing[p]++
			r.n--
			return
		}
		sum += y
		lo, hi = min(lo, y), max(hi, y)
	})
	for p, c := range missing {
		if c > 0 {
			r.absent = append(r.absent, absent{p, c})
		}
	}
	if r.ok = r.n >= 2 && !level(lo, hi); !r.ok {
		return
	}
	m := sum / r.n
	var yy float64
	each(func(p int, y float64) {
		if dy := y - m; !math.IsNaN(y) {
			row[p] += dy
			yy += float64(dy * dy)
		}
	})
	r.y, r.yy = sum-float64(r.n*b.origin), yy
	if b.counts != nil {
		return
	}
	scale := math.Sqrt(yy)
	for p := range row {
		row[p] /= scale
	}
}

// copies is, for each copy of a stimulus, how often each of its participants
// counts.
func (d *drawer) copies(drawn []int) [][]int {
	weight := make([][]int, len(drawn))
	var person []int
	if d.h.Linked {
		person = d.times(d.people)
	}
	for i, s := range drawn {
		if !d.h.Linked {
			weight[i] = d.times(len(d.h.Stimuli[s].Values))
			continue
		}
		for _, who := range d.who[s] {
			weight[i] = append(weight[i], person[who])
		}
	}
	return weight
}

// times draws n of n with replacement: how often each was drawn.
func (d *drawer) times(n int) []int {
	count := make([]int, n)
	for range n {
		count[d.rng.IntN(n)]++
	}
	return count
}
