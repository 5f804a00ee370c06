package marginal

import (
	"context"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/inference/internal/kernel"
	"foible.dev/foible/core/inference/internal/observed"
	"foible.dev/foible/core/inference/internal/samples"
)

// segments are N and L for one budget and action noise, made from outcomes.
type segments struct {
	outcomes   *outcomes
	action     agent.Parameters // only those of an action
	confusable bool
	at         [][][]segment // [group of batches][candidate][τ]
}

// segment is N and L of plans that are made at a step τ, for one original goal and the
// goals that it can be confused with. The first index is m, the number of matching actions.
type segment struct {
	next []kernel.Lane // N(m) of the original goal
	live []kernel.Lane // L(m) of the original goal
	// Of the other goals:
	*ordered
	nextHidden [][]kernel.Lane // [m][place]: N(m)
	matched    []float64       // [m]: R(m); L(m) is R(m) times left
}

// ordered are outcomes of the goals of confusion at a step, those first whose plans match
// the most actions. So the goals with plans that match m actions or more are the first ones.
type ordered struct {
	order   kernel.Indexes  // [place]: hidden goal
	share   []float64       // [place]
	none    []kernel.Lane   // [place]: E(0)
	differs [][]kernel.Lane // [m][place]: D(m)
	over    [][]kernel.Lane // [m][place]: E(m + 1)
	left    [][]kernel.Lane // [m][place]: D(m) + Σ_(j>m) (D(j) + E(j))
}

// prepare allots the outcomes in order.
func (o *outcomes) prepare(groups, candidates, steps int) {
	if o.ordered != nil {
		return
	}
	o.ordered = make([][][]*ordered, groups)
	for group := range o.ordered {
		o.ordered[group] = make([][]*ordered, candidates)
		for candidate := range o.ordered[group] {
			o.ordered[group][candidate] = make([]*ordered, steps)
		}
	}
}

// segmentsFor finds or makes segments. What they share with those that were used last is
// taken from there, or made in their memory. The error is that of ctx, if it ends before.
func (m *Inference) segmentsFor(ctx context.Context, s *samples.Samples, p *agent.Parameters, at *levels) (*segments, error) {
	o := m.outcomesFor(s, p, at)
	action := agent.Parameters{ActionNoise: p.ActionNoise, Kind: p.Kind}
	confusable := p.GoalNoise > 0
	old := o.segments
	if old != nil && old.confusable != confusable {
		old = nil
	}
	if old != nil && old.action == action {
		m.segments = old
		return old, nil
	}
	if old == nil && !o.hadSegments {
		old = m.segments
	}
	if old != nil && (old.outcomes.samples != s || old.outcomes.budget != o.budget || old.confusable != confusable) {
		old = nil
	}
	if old != nil {
		old.outcomes.segments = nil // their memory is used again
	}
	l := &segments{outcomes: o, action: action, confusable: confusable}
	o.prepare(groups(s.Batches), len(m.hidden), len(m.steps))
	if confusable {
		if err := m.outcomesOfAll(ctx, o); err != nil {
			return nil, err
		}
	}
	if err := m.makeSegments(ctx, l, old, m.chances(p)); err != nil {
		return nil, err
	}
	m.segments, o.segments, o.hadSegments = l, l, true
	return l, nil
}

// chances of all actions.
func (m *Inference) chances(p *agent.Parameters) []observed.Chances {
	all := make([]observed.Chances, len(m.steps))
	for k := range all {
		all[k] = m.steps[k].Chances(p)
	}
	return all
}

// outcomesOfAll makes the outcomes of all hidden goals, goal by goal, so that the values of
// a goal's heuristic stay in the processor's cache.
func (m *Inference) outcomesOfAll(ctx context.Context, o *outcomes) error {
	for candidate := range m.hidden {
		for _, goal := range m.hidden[candidate].Goals {
			for tau := range m.steps {
				if _, err := m.outcome(ctx, o, goal, tau); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// makeSegments fills segments. old, if not nil, has the same samples and budget; its memory
// is used again.
func (m *Inference) makeSegments(ctx context.Context, l, old *segments, chances []observed.Chances) error {
	o := l.outcomes
	l.at = make([][][]segment, groups(o.samples.Batches))
	for group := range l.at {
		l.at[group] = make([][]segment, len(m.hidden))
		for candidate := range m.hidden {
			h := &m.hidden[candidate]
			l.at[group][candidate] = make([]segment, len(m.steps))
			for tau := range m.steps {
				var before *segment
				if old != nil && (old.outcomes == o || sameLevels(h, o.levels, old.outcomes.levels, tau)) {
					before = &old.at[group][candidate][tau]
					o.ordered[group][candidate][tau] = before.ordered
				}
				if before != nil && old.action == l.action {
					l.at[group][candidate][tau] = *before
					continue
				}
				var err error
				at := place{group, candidate, tau}
				if l.at[group][candidate][tau], err = m.segment(ctx, l, at, chances[tau:], before); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// place says where a segment belongs.
type place struct{ group, candidate, tau int }

// sameLevels reports whether the tables of a step have the same levels in both.
func sameLevels(h *observed.Hidden, a, b *levels, tau int) bool {
	for _, goal := range h.Goals {
		if a.of(goal, tau) != b.of(goal, tau) {
			return false
		}
	}
	return true
}

// segment makes one: equations (1) and (2) of the package comment. chances are those of the
// actions from τ on. The memory of an old segment, if there is one, is used again. The error
// is that of ctx, if it ends before.
func (m *Inference) segment(ctx context.Context, l *segments, at place, chances []observed.Chances, old *segment) (segment, error) {
	var s segment
	if err := ctx.Err(); err != nil {
		return s, err
	}
	o, h := l.outcomes, &m.hidden[at.candidate]
	own, err := m.outcome(ctx, o, h.Goals[0], at.tau)
	if err != nil {
		return s, err
	}
	last := len(chances) - 1 // m of the last action
	n := min(own.maxMatched, last) + 1
	s.next, s.live = make([]kernel.Lane, n), make([]kernel.Lane, n)
	own.segment(s.next, s.live, chances, at.group)
	if !l.confusable || len(h.Goals) == 1 {
		return s, nil
	}
	known := &o.ordered[at.group][at.candidate][at.tau]
	if *known == nil {
		if *known, err = m.order(ctx, o, at, last); err != nil {
			return s, err
		}
	}
	s.ordered = *known
	if old != nil && old.ordered == s.ordered {
		s.nextHidden, s.matched = old.nextHidden, old.matched
	} else {
		s.nextHidden, s.matched = make([][]kernel.Lane, len(s.differs)), make([]float64, len(s.differs))
		for matched := range s.nextHidden {
			s.nextHidden[matched] = o.arena.zeros(len(s.differs[matched]))
		}
	}
	right := 1.0 // R(m)
	for matched, next := range s.nextHidden {
		now := &chances[matched]
		kernel.Combine(next, s.differs[matched], s.over[matched], right*now.Other, right*now.Match)
		if matched == 0 {
			kernel.Combine(next, next, s.none, 1, now.Stay)
		}
		s.matched[matched] = right
		right *= now.Match
	}
	return s, nil
}

// order puts the outcomes of the goals of confusion in order; last is the greatest m. The
// error is that of ctx, if it ends before.
func (m *Inference) order(ctx context.Context, o *outcomes, at place, last int) (*ordered, error) {
	h := &m.hidden[at.candidate]
	all := make([]*outcome, len(h.Goals)) // but the first
	most := 0
	for i := 1; i < len(h.Goals); i++ {
		var err error
		if all[i], err = m.outcome(ctx, o, h.Goals[i], at.tau); err != nil {
			return nil, err
		}
		most = max(most, min(all[i].maxMatched, last))
	}
	n := len(all) - 1
	s := &ordered{share: make([]float64, 0, n), none: o.arena.zeros(n)}
	order := make([]int32, 0, n)
	count := make([]int, most+1) // [m]: goals whose plans match m actions or more
	for m := most; m >= 0; m-- {
		for i := 1; i < len(all); i++ {
			if min(all[i].maxMatched, last) == m {
				order, s.share = append(order, int32(i)), append(s.share, h.Share[i])
			}
		}
		count[m] = len(order)
	}
	s.order = kernel.NewIndexes(order)
	byM := make([][]kernel.Lane, 3*len(count))
	s.differs, s.over, s.left = byM[:len(count)], byM[len(count):2*len(count)], byM[2*len(count):]
	for m, n := range count {
		s.differs[m], s.over[m], s.left[m] = o.arena.zeros(n), o.arena.zeros(n), o.arena.zeros(n)
	}
	for place, i := range order {
		s.fill(place, all[i], at.group, count)
	}
	return s, nil
}

// fill sets what stands at a place, for a group of batches.
func (s *ordered) fill(place int, p *outcome, group int, count []int) {
	s.none[place] = p.ends[group]
	var left, longer kernel.Lane
	for m := p.maxMatched; m >= 0; m-- {
		differs, ends := &p.differs[m*p.groups+group], &p.ends[m*p.groups+group]
		for b := range kernel.Lanes {
			left[b] += differs[b]
		}
		if m < len(count) && place < count[m] {
			s.differs[m][place], s.left[m][place], s.over[m][place] = *differs, left, longer
		}
		for b := range kernel.Lanes {
			left[b] += ends[b]
		}
		longer = *ends
	}
}

// segment fills in N and L of an original goal, for a group of batches: equations (1) and
// (2). chances are those of the actions from τ on.
func (p *outcome) segment(next, live []kernel.Lane, chances []observed.Chances, group int) {
	at := func(all []kernel.Lane, m int) *kernel.Lane { return &all[m*p.groups+group] }
	for b := range kernel.Lanes {
		left := 0.0 // D(m) + Σ_(j>m) (D(j) + E(j))
		for m := p.maxMatched; m >= 0; m-- {
			left += at(p.differs, m)[b]
			if m < len(next) {
				live[m][b] = left
			}
			left += at(p.ends, m)[b]
		}
		right := 1.0 // R(m)
		for m := range next {
			now := &chances[m]
			x := float64(at(p.differs, m)[b] * now.Other)
			if m < p.maxMatched {
				x += float64(at(p.ends, m+1)[b] * now.Match)
			}
			next[m][b] = float64(right * x)
			if m == 0 {
				next[0][b] += float64(at(p.ends, 0)[b] * now.Stay)
			}
			live[m][b] *= right
			right *= now.Match
		}
	}
}
