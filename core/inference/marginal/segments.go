package marginal

import (
	"context"

	"foible/core/agent"
	"foible/core/inference/internal/kernel"
	"foible/core/inference/internal/observed"
)

// sorted is what the plans do that are made at a step for what a candidate may be
// taken for, those first that may get the most actions right.
type hiddenOutcomes struct {
	order kernel.Indexes // hidden goals
	share []float64      // of each
	// By m, of the first ones of order, which may get m actions right, is the
	// probability that
	differs [][]kernel.Lane // the action after m right ones is another;
	over    [][]kernel.Lane // m + 1 actions are right and there are no more;
	left    [][]kernel.Lane // m actions are right and there are more.
	none    []kernel.Lane   // There is no plan.
}

// prepare makes room for what is sorted.
func (ps *outcomes) prepare(groups, candidates, steps int) {
	if ps.hiddenOutcomes != nil {
		return
	}
	ps.hiddenOutcomes = make([][][]*hiddenOutcomes, groups)
	for group := range ps.hiddenOutcomes {
		ps.hiddenOutcomes[group] = make([][]*hiddenOutcomes, candidates)
		for candidate := range ps.hiddenOutcomes[group] {
			ps.hiddenOutcomes[group][candidate] = make([]*hiddenOutcomes, steps)
		}
	}
}

// links are, for one budget and action noise, what a plan made at a step
// contributes to the probability of the actions up to a later one.
type segments struct {
	outcomes   *outcomes
	parameters agent.Parameters // of an action
	confusable bool
	of         [][][]segment // [group of lanes][candidate][tau]
}

// link is of plans made at step tau for a candidate goal, or for what it is
// taken for. Its numbers are by m, the actions that went right.
type segment struct {
	// next is the probability that the plan gets m actions right and is over with
	// the one after them, times that of these m + 1 actions as observed.
	next []kernel.Lane
	// live is the probability that it gets m actions right and is not over, times
	// that of these m actions.
	live []kernel.Lane
	// The same of other hidden goals, in their order; live is right[m] times what is left.
	*hiddenOutcomes
	nextHidden [][]kernel.Lane
	matched    []float64 // probability of m right actions as observed
}

// segmentsFor finds or makes links. The error is that of ctx, if it ends before.
func (m *Inference) segmentsFor(ctx context.Context, s *samples, p *agent.Parameters, at *levels) (*segments, error) {
	ps := m.outcomesFor(s, p, at)
	action := agent.Parameters{ActionNoise: p.ActionNoise, Kind: p.Kind}
	confusable := p.GoalNoise > 0
	old := ps.segments
	if old != nil && old.confusable != confusable {
		old = nil
	}
	if old != nil && old.parameters == action {
		m.segments = old
		return old, nil
	}
	if old == nil && !ps.linked {
		old = m.segments
	}
	l := &segments{outcomes: ps, parameters: action, confusable: confusable}
	l.of = make([][][]segment, groups(s.batches))
	seen := make([]observed.Chances, len(m.steps))
	for k := range seen {
		seen[k] = m.steps[k].Chances(p)
	}
	ps.prepare(len(l.of), len(m.hidden), len(m.steps))
	if old != nil && (old.outcomes.samples != s || old.outcomes.budget != ps.budget || old.confusable != confusable) {
		old = nil
	}
	if old != nil {
		old.outcomes.segments = nil // their memory is used again
	}
	if confusable { // goal by goal: the values of a goal's heuristic stay at hand
		for candidate := range m.hidden {
			for _, goal := range m.hidden[candidate].Goals {
				for tau := range m.steps {
					if _, err := m.outcome(ctx, ps, goal, tau); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	for group := range l.of {
		l.of[group] = make([][]segment, len(m.hidden))
		for candidate := range m.hidden {
			h := &m.hidden[candidate]
			l.of[group][candidate] = make([]segment, len(m.steps))
			for tau := range m.steps {
				var before *segment
				if old != nil && (old.outcomes == ps || alike(h, ps.levels, old.outcomes.levels, tau)) {
					before = &old.of[group][candidate][tau]
					ps.hiddenOutcomes[group][candidate][tau] = before.hiddenOutcomes
				}
				if before != nil && old.parameters == action {
					l.of[group][candidate][tau] = *before
					continue
				}
				var err error
				if l.of[group][candidate][tau], err = m.segment(ctx, ps, h, seen, group, tau, confusable, before); err != nil {
					return nil, err
				}
			}
		}
	}
	m.segments, ps.segments, ps.linked = l, l, true
	return l, nil
}

// alike reports whether the tables of a step have the same levels.
func alike(h *observed.Hidden, a, b *levels, tau int) bool {
	for _, goal := range h.Goals {
		if a.of(goal, tau) != b.of(goal, tau) {
			return false
		}
	}
	return true
}

// link joins what plans do with what is seen of the actions. The memory of an old
// link, if there is one, is used again. The error is that of ctx, if it ends before.
func (m *Inference) segment(ctx context.Context, ps *outcomes, h *observed.Hidden, seen []observed.Chances, group, tau int, confusable bool, old *segment) (segment, error) {
	var l segment
	if err := ctx.Err(); err != nil {
		return l, err
	}
	own, err := m.outcome(ctx, ps, h.Goals[0], tau)
	if err != nil {
		return l, err
	}
	last := len(seen) - tau - 1 // m of the last action
	n := min(own.most, last) + 1
	l.next, l.live = make([]kernel.Lane, n), make([]kernel.Lane, n)
	own.join(l.next, l.live, seen[tau:], group)
	if !confusable || len(h.Goals) == 1 {
		return l, nil
	}
	candidate := h.Goals[0]
	if ps.hiddenOutcomes[group][candidate][tau] == nil {
		if ps.hiddenOutcomes[group][candidate][tau], err = m.sort(ctx, ps, h, group, tau, last); err != nil {
			return l, err
		}
	}
	l.hiddenOutcomes = ps.hiddenOutcomes[group][candidate][tau]
	right := 1.0
	if old != nil && old.hiddenOutcomes == l.hiddenOutcomes {
		l.nextHidden, l.matched = old.nextHidden, old.matched
	} else {
		l.nextHidden, l.matched = make([][]kernel.Lane, len(l.differs)), make([]float64, len(l.differs))
		for matched := range l.nextHidden {
			l.nextHidden[matched] = ps.room.of(len(l.differs[matched]))
		}
	}
	for matched, next := range l.nextHidden {
		now := &seen[tau+matched]
		kernel.Combine(next, l.differs[matched], l.over[matched], right*now.Other, right*now.Match)
		if matched == 0 {
			kernel.Combine(next, next, l.none, 1, now.Stay)
		}
		l.matched[matched] = right
		right *= now.Match
	}
	return l, nil
}

// sort puts what plans do in order; last is the greatest m. The error is that of ctx, if
// it ends before.
func (m *Inference) sort(ctx context.Context, ps *outcomes, h *observed.Hidden, group, tau, last int) (*hiddenOutcomes, error) {
	all := make([]*outcome, len(h.Goals))
	most := 0
	for i := 1; i < len(h.Goals); i++ {
		var err error
		if all[i], err = m.outcome(ctx, ps, h.Goals[i], tau); err != nil {
			return nil, err
		}
		most = max(most, min(all[i].most, last))
	}
	n := len(all) - 1
	s := &hiddenOutcomes{share: make([]float64, 0, n), none: ps.room.of(n)}
	order := make([]int32, 0, n)
	count := make([]int, most+1)
	for m := most; m >= 0; m-- {
		for i := 1; i < len(all); i++ {
			if min(all[i].most, last) == m {
				order, s.share = append(order, int32(i)), append(s.share, h.Share[i])
			}
		}
		count[m] = len(order)
	}
	byM := make([][]kernel.Lane, 3*len(count))
	s.differs, s.over, s.left = byM[:len(count)], byM[len(count):2*len(count)], byM[2*len(count):]
	for m, n := range count {
		s.differs[m], s.over[m], s.left[m] = ps.room.of(n), ps.room.of(n), ps.room.of(n)
	}
	s.order = kernel.NewIndexes(order)
	for place, i := range order {
		p := all[i]
		s.none[place] = p.ends[group]
		var left, longer kernel.Lane
		for m := p.most; m >= 0; m-- {
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
	return s, nil
}

// join fills in next and live for a group of lanes; seen is from the step on at
// which the plan is made.
func (p *outcome) join(next, live []kernel.Lane, seen []observed.Chances, group int) {
	at := func(all []kernel.Lane, matched int) *kernel.Lane { return &all[matched*p.groups+group] }
	for b := range kernel.Lanes {
		left := 0.0 // probability that the plan gets m actions right and is not over
		for matched := p.most; matched >= 0; matched-- {
			left += at(p.differs, matched)[b]
			if matched < len(next) {
				live[matched][b] = left
			}
			left += at(p.ends, matched)[b]
		}
		right := 1.0
		for matched := range next {
			now := &seen[matched]
			x := float64(at(p.differs, matched)[b] * now.Other)
			if matched < p.most {
				x += float64(at(p.ends, matched+1)[b] * now.Match)
			}
			next[matched][b] = float64(right * x)
			if matched == 0 {
				next[0][b] += float64(at(p.ends, 0)[b] * now.Stay)
			}
			live[matched][b] *= right
			right *= now.Match
		}
	}
}
