package marginal

import (
	"context"
	"math"
	"slices"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/inference/internal/kernel"
	"foible.dev/foible/core/inference/internal/samples"
)

// outcomes are E and D for one budget, made from samples.
type outcomes struct {
	samples *samples.Samples
	budget  agent.Budget // zero if unlimited
	levels  *levels
	at      [][]*outcome            // [goal][τ]; nil until needed
	ordered [][][]*ordered          // [group of batches][candidate][τ]; nil until needed
	weights map[int]samples.Weights // by the number of searches in a batch
	// Buffers.
	sums  sums
	signs []float64 // by batch
	arena arena
	// The segments that were made last of these outcomes; nil if later ones use their memory.
	segments    *segments
	hadSegments bool
}

// outcome is E and D of one goal and step: [m × group of batches]. Lanes without a batch
// are 0.
type outcome struct {
	maxMatched int           // greatest m of any plan
	groups     int           // of batches
	ends       []kernel.Lane // E(m)
	differs    []kernel.Lane // D(m)
	// The parts of both that belong to plans which leave the shortest paths; nil where not asked.
	offPathEnds, offPathDiffers []kernel.Lane
}

// arena is memory for many small tables that are given up together.
type arena struct {
	outcomes []outcome
	lanes    []kernel.Lane
}

// outcome is an empty one.
func (r *arena) outcome() *outcome {
	if len(r.outcomes) == 0 {
		r.outcomes = make([]outcome, 1<<8)
	}
	p := &r.outcomes[0]
	r.outcomes = r.outcomes[1:]
	return p
}

// zeros are n lanes of zeros.
func (r *arena) zeros(n int) []kernel.Lane {
	if len(r.lanes) < n {
		r.lanes = make([]kernel.Lane, max(1<<12, n))
	}
	all := r.lanes[:n:n]
	r.lanes = r.lanes[n:]
	return all
}

// groups of batches, a lane each.
func groups(batches int) int { return (batches + kernel.Lanes - 1) / kernel.Lanes }

// maxOutcomes bounds the budgets whose outcomes are kept.
const maxOutcomes = 3

// outcomesFor finds or makes the outcomes of a budget. Those of other levels are shared
// where a table has the same level.
func (m *Inference) outcomesFor(s *samples.Samples, p *agent.Parameters, l *levels) *outcomes {
	budget := p.Budget()
	if p.Unlimited {
		budget = agent.Budget{}
	}
	for i, o := range m.outcomes {
		if o.samples == s && o.budget == budget && o.levels == l {
			copy(m.outcomes[1:i+1], m.outcomes[:i])
			m.outcomes[0] = o
			return o
		}
	}
	o := &outcomes{
		samples: s, budget: budget, levels: l, at: make([][]*outcome, len(m.path.Task.Goals)),
		weights: map[int]samples.Weights{}, sums: make(sums, 4*(len(m.steps)+2)), signs: make([]float64, s.Batches),
	}
	for _, old := range m.outcomes {
		if old.samples == s && old.budget == budget {
			o.share(old)
			break
		}
	}
	m.outcomes = slices.Insert(m.outcomes, 0, o)
	m.outcomes = m.outcomes[:min(len(m.outcomes), maxOutcomes)]
	return o
}

// share takes over the outcomes of tables that have the same level.
func (o *outcomes) share(old *outcomes) {
	for goal, row := range old.at {
		if row == nil {
			continue
		}
		o.at[goal] = make([]*outcome, len(row))
		for tau, p := range row {
			if o.levels.of(goal, tau) == old.levels.of(goal, tau) {
				o.at[goal][tau] = p
			}
		}
	}
}

// weigh is the weights of events of a batch with a number of searches.
func (o *outcomes) weigh(searches int) samples.Weights {
	w := o.weights[searches]
	if w == nil {
		w = samples.NewWeights(&o.samples.Key, o.budget, searches)
		o.weights[searches] = w
	}
	return w
}

// outcome finds or makes that of a goal and a step. The error is that of ctx, if it ends before.
func (m *Inference) outcome(ctx context.Context, o *outcomes, goal, tau int) (*outcome, error) {
	if o.at[goal] == nil {
		o.at[goal] = make([]*outcome, len(m.steps))
	}
	if p := o.at[goal][tau]; p != nil {
		return p, nil
	}
	level := o.levels.of(goal, tau)
	t, err := o.samples.Table(ctx, goal, tau, level)
	if err != nil {
		return nil, err
	}
	p := o.arena.outcome()
	p.groups, p.maxMatched = groups(o.samples.Batches), t.MaxMatched(level)
	n := (p.maxMatched + 1) * p.groups
	p.ends, p.differs = o.arena.zeros(n), o.arena.zeros(n)
	if t.KnowsOffPath() {
		p.offPathEnds, p.offPathDiffers = o.arena.zeros(n), o.arena.zeros(n)
	}
	if certain := t.Certain(); certain != nil {
		for batch := range o.samples.Batches {
			o.weigh(1).Add(o.sums, certain)
			o.sums.moveTo(p, batch)
		}
	} else {
		m.done.Events += o.fill(p, t, level)
	}
	o.at[goal][tau] = p
	return p, nil
}

// fill makes an outcome from the events of a table up to a level, and counts these.
func (o *outcomes) fill(p *outcome, t *samples.Table, level int) (events int) {
	batches := o.samples.Batches
	weights := o.weigh(samples.BatchSearches(level, t.Original()))
	for batch := range batches {
		if !t.Has(level, batch) {
			break
		}
		for l := range level + 1 {
			added := t.Events(l, batch)
			events += len(added)
			weights.Add(o.sums, added)
		}
		o.sums.moveTo(p, batch)
	}
	switch {
	case batches == 1:
	case t.Original() || level >= samples.OwnLevel:
		p.shrink(batches)
	case level == 0: // the square of what was not expected is more than the variance
		weights.Add(o.sums, o.samples.Unexpected())
		o.sums.moveTo(p, 1)
		p.contrast(t.Contrasts(o.signs), 0)
	default:
		p.contrast(t.Contrasts(o.signs), 0.5)
	}
	return events
}

// sums are the sums of what events add, by meeting.
type sums []float64

// moveTo moves the sums into a batch. A number m of matching actions has four meetings: plans
// that differ and that end, and the same of plans that leave the shortest paths.
func (s sums) moveTo(p *outcome, batch int) {
	group, b := batch/kernel.Lanes, batch%kernel.Lanes
	for m := range p.maxMatched + 1 {
		of := s[4*m : 4*m+4]
		at := m*p.groups + group
		p.differs[at][b], p.ends[at][b] = of[0]+of[2], of[1]+of[3]
		if p.offPathEnds != nil {
			p.offPathDiffers[at][b], p.offPathEnds[at][b] = of[2], of[3]
		}
		clear(of)
	}
}

// shrinkage is how far batches stay from the mean of all, as a part of their distance: so
// near that products of tables are as linear in them as the delta method takes them to be.
const shrinkage = 1.0 / 16

// shrink moves the batches of every probability near their mean.
func (p *outcome) shrink(batches int) {
	for _, all := range p.all() {
		for ; len(all) > 0; all = all[p.groups:] {
			mean := 0.0
			for i := range batches {
				mean += all[i/kernel.Lanes][i%kernel.Lanes] / float64(batches)
			}
			for i := range batches {
				x := &all[i/kernel.Lanes][i%kernel.Lanes]
				*x = mean + float64(shrinkage*(*x-mean))
			}
		}
	}
}

// contrast makes all batches from the first two, where only these were searched. The mean
// takes a part of the second. Batches spread as if the variance of their mean were the
// square of half the difference of the two, or of the difference if the part is 0.
func (p *outcome) contrast(signs []float64, part float64) {
	n := len(signs)
	size := shrinkage * (1 - part) * math.Sqrt(float64(n*(n-1))/float64(n/2*2))
	for _, all := range p.all() {
		for ; len(all) > 0; all = all[p.groups:] {
			x, y := all[0][0], all[0][1]
			mean, difference := x+float64(part*(y-x)), float64(size*(x-y))
			for i, sign := range signs {
				all[i/kernel.Lanes][i%kernel.Lanes] = mean + float64(sign*difference)
			}
		}
	}
}

func (p *outcome) all() [4][]kernel.Lane {
	return [4][]kernel.Lane{p.ends, p.differs, p.offPathEnds, p.offPathDiffers}
}
