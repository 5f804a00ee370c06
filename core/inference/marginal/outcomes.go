package marginal

import (
	"context"
	"math"
	"slices"

	"foible/core/agent"
	"foible/core/inference/internal/kernel"
)

// plans are, for one budget, the probabilities of what a new plan does.
type outcomes struct {
	samples        *samples
	budget         agent.Budget // zero if unlimited
	levels         *levels
	of             [][]*outcome          // [goal][tau]; nil as long as not asked for
	weights        map[int]weights       // by number of searches in a batch
	signs          []float64             // room, by batch
	sums           sums                  // room
	segments       *segments             // used last, of these plans; nil if others have its memory
	linked         bool                  // there have been links
	hiddenOutcomes [][][]*hiddenOutcomes // [group of lanes][candidate][tau]; nil as long as not asked for
	room           arena
}

// arena is memory for many small tables, which are given up together.
type arena struct {
	outcomes []outcome
	lanes    []kernel.Lane
}

// plan is one of nothing.
func (r *arena) plan() *outcome {
	if len(r.outcomes) == 0 {
		r.outcomes = make([]outcome, 1<<8)
	}
	p := &r.outcomes[0]
	r.outcomes = r.outcomes[1:]
	return p
}

// of is so many lanes of zeros.
func (r *arena) of(n int) []kernel.Lane {
	if len(r.lanes) < n {
		r.lanes = make([]kernel.Lane, max(1<<12, n))
	}
	all := r.lanes[:n:n]
	r.lanes = r.lanes[n:]
	return all
}

// planned is what a plan made for a goal at a step does, by batch: [m x group of lanes],
// where lanes that are no batches have nothing.
type outcome struct {
	most    int           // actions that some plan gets right
	groups  int           // of lanes
	ends    []kernel.Lane // it is exactly m right actions long
	differs []kernel.Lane // its first m actions are right and the next is another
	// stray are the same of plans that stray; nil where that is not asked.
	strayEnds, strayDiffers []kernel.Lane
}

// planned finds or makes what plans do. The error is that of ctx, if it ends before.
func (m *Inference) outcome(ctx context.Context, ps *outcomes, goal, tau int) (*outcome, error) {
	if ps.of[goal] == nil {
		ps.of[goal] = make([]*outcome, len(m.steps))
	}
	if p := ps.of[goal][tau]; p != nil {
		return p, nil
	}
	level := ps.levels.of(goal, tau)
	t, err := m.tableOf(ctx, ps.samples, tau, goal, level)
	if err != nil {
		return nil, err
	}
	batches := ps.samples.batches
	p := ps.room.plan()
	if p.groups = groups(batches); t.known != nil {
		p.most = right(t.known)
	} else {
		p.most = t.most[level]
	}
	n := (p.most + 1) * p.groups
	p.ends, p.differs = ps.room.of(n), ps.room.of(n)
	if t.stray != nil {
		p.strayEnds, p.strayDiffers = ps.room.of(n), ps.room.of(n)
	}
	if t.known != nil {
		for batch := range batches {
			ps.sums.add(t.known, ps.weigh(1))
			ps.sums.drain(p, batch)
		}
		ps.of[goal][tau] = p
		return p, nil
	}
	weights := ps.weigh(searches(level, t.original))
	for batch := range batches {
		if !t.in(level, batch) {
			break
		}
		for _, level := range t.levels[:level+1] {
			m.done.Events += len(level[batch])
			ps.sums.add(level[batch], weights)
		}
		ps.sums.drain(p, batch)
	}
	switch {
	case batches == 1:
	case t.original || level >= apart:
		p.gather(batches)
	case level == 0: // the square of what was not expected is more than the variance
		ps.sums.add(ps.samples.expected, weights)
		ps.sums.drain(p, 1)
		p.contrast(t.signs(ps.signs), 0)
	default:
		p.contrast(t.signs(ps.signs), 0.5)
	}
	ps.of[goal][tau] = p
	return p, nil
}

// groups of lanes for so many batches.
func groups(batches int) int { return (batches + kernel.Lanes - 1) / kernel.Lanes }

// sums are of what events add, by meeting.
type sums []float64

func (s sums) add(events []event, w weights) {
	for i := range events {
		e := &events[i]
		s[e.meeting] += float64(float64(e.plans) * w[e.of])
	}
}

// drain empties sums into a batch. The meetings of a number of right actions stand side
// by side: what differs next, what ends, and the same of plans that stray.
func (s sums) drain(p *outcome, batch int) {
	group, b := batch/kernel.Lanes, batch%kernel.Lanes
	for m := range p.most + 1 {
		of := s[4*m : 4*m+4]
		at := m*p.groups + group
		p.differs[at][b], p.ends[at][b] = of[0]+of[2], of[1]+of[3]
		if p.strayEnds != nil {
			p.strayDiffers[at][b], p.strayEnds[at][b] = of[2], of[3]
		}
		clear(of)
	}
}

// gather brings the batches of every probability near their mean.
func (p *outcome) gather(batches int) {
	for _, all := range p.all() {
		for ; len(all) > 0; all = all[p.groups:] {
			mean := 0.0
			for i := range batches {
				mean += all[i/kernel.Lanes][i%kernel.Lanes] / float64(batches)
			}
			for i := range batches {
				x := &all[i/kernel.Lanes][i%kernel.Lanes]
				*x = mean + float64(near*(*x-mean))
			}
		}
	}
}

// contrast makes all batches from what the first two say, of which the second has a
// part in the mean. They differ as if their mean had the square of the half
// difference, or the difference if the second has no part, for a variance.
func (p *outcome) contrast(signs []float64, part float64) {
	n := len(signs)
	size := near * (1 - part) * math.Sqrt(float64(n*(n-1))/float64(n/2*2))
	for _, all := range p.all() {
		for ; len(all) > 0; all = all[p.groups:] {
			x, y := all[0][0], all[0][1]
			mean, differ := x+float64(part*(y-x)), float64(size*(x-y))
			for i, sign := range signs {
				all[i/kernel.Lanes][i%kernel.Lanes] = mean + float64(sign*differ)
			}
		}
	}
}

func (p *outcome) all() [4][]kernel.Lane {
	return [4][]kernel.Lane{p.ends, p.differs, p.strayEnds, p.strayDiffers}
}

// signs are 1 for half of the batches and -1 for the others, at random; one has 0 if
// their number is odd.
func (t *table) signs(room []float64) []float64 {
	chance := scramble(t.seed[0] ^ t.seed[1])
	for i := range room {
		sign := float64(1 - i%2*2)
		if i == len(room)-1 && i%2 == 0 {
			sign = 0
		}
		j := int(chance % uint64(i+1)) // a shuffle from the front (Fisher and Yates)
		room[i] = room[j]
		room[j] = sign
		chance = scramble(chance)
	}
	return room
}

// maxOutcomes bounds the plans kept of budgets used last.
const maxOutcomes = 3

func (m *Inference) outcomesFor(s *samples, p *agent.Parameters, l *levels) *outcomes {
	budget := p.Budget()
	if p.Unlimited {
		budget = agent.Budget{}
	}
	for i, ps := range m.outcomes {
		if ps.samples == s && ps.budget == budget && ps.levels == l {
			copy(m.outcomes[1:i+1], m.outcomes[:i])
			m.outcomes[0] = ps
			return ps
		}
	}
	ps := &outcomes{samples: s, budget: budget, levels: l, of: make([][]*outcome, len(m.path.Task.Goals)), weights: map[int]weights{}, sums: make(sums, 4*(len(m.steps)+2)), signs: make([]float64, s.batches)}
	for _, old := range m.outcomes {
		if old.samples == s && old.budget == budget {
			ps.share(old)
			break
		}
	}
	m.outcomes = slices.Insert(m.outcomes, 0, ps)
	m.outcomes = m.outcomes[:min(len(m.outcomes), maxOutcomes)]
	return ps
}

// share takes over what is sampled as far.
func (ps *outcomes) share(old *outcomes) {
	for goal, row := range old.of {
		if row == nil {
			continue
		}
		ps.of[goal] = make([]*outcome, len(row))
		for tau, p := range row {
			if ps.levels.of(goal, tau) == old.levels.of(goal, tau) {
				ps.of[goal][tau] = p
			}
		}
	}
}

func (ps *outcomes) weigh(searches int) weights {
	w := ps.weights[searches]
	if w == nil {
		w = newWeights(ps.budget, ps.samples.unlimited, searches, ps.samples.draws)
		ps.weights[searches] = w
	}
	return w
}
