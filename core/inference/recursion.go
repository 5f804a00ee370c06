package inference

import (
	"context"
	"math"
	"slices"

	"foible/core/agent"
)

// plans are, for one budget, the probabilities of what a new plan does.
type plans struct {
	store   *store
	budget  agent.Budget // zero if unlimited
	levels  *levels
	of      [][]*planned    // [goal][tau]; nil as long as not asked for
	weights map[int]weights // by number of searches in a batch
	signs   []float64       // room, by batch
	sums    sums            // room
	links   *links          // used last, of these plans; nil if others have its memory
	linked  bool            // there have been links
	sorted  [][][]*sorted   // [group of lanes][candidate][tau]; nil as long as not asked for
	room    arena
}

// arena is memory for many small tables, which are given up together.
type arena struct {
	planned []planned
	lanes   []lane
}

// plan is one of nothing.
func (r *arena) plan() *planned {
	if len(r.planned) == 0 {
		r.planned = make([]planned, 1<<8)
	}
	p := &r.planned[0]
	r.planned = r.planned[1:]
	return p
}

// of is so many lanes of zeros.
func (r *arena) of(n int) []lane {
	if len(r.lanes) < n {
		r.lanes = make([]lane, max(1<<12, n))
	}
	all := r.lanes[:n:n]
	r.lanes = r.lanes[n:]
	return all
}

// sorted is what the plans do that are made at a step for what a candidate may be
// taken for, those first that may get the most actions right.
type sorted struct {
	order places    // hidden goals
	share []float64 // of each
	// By m, of the first ones of order, which may get m actions right, is the
	// probability that
	differs [][]lane // the action after m right ones is another;
	over    [][]lane // m + 1 actions are right and there are no more;
	left    [][]lane // m actions are right and there are more.
	none    []lane   // There is no plan.
}

// prepare makes room for what is sorted.
func (ps *plans) prepare(groups, candidates, steps int) {
	if ps.sorted != nil {
		return
	}
	ps.sorted = make([][][]*sorted, groups)
	for group := range ps.sorted {
		ps.sorted[group] = make([][]*sorted, candidates)
		for candidate := range ps.sorted[group] {
			ps.sorted[group][candidate] = make([]*sorted, steps)
		}
	}
}

// planned is what a plan made for a goal at a step does, by batch: [m x group of lanes],
// where lanes that are no batches have nothing.
type planned struct {
	most    int    // actions that some plan gets right
	groups  int    // of lanes
	ends    []lane // it is exactly m right actions long
	differs []lane // its first m actions are right and the next is another
	// stray are the same of plans that stray; nil where that is not asked.
	strayEnds, strayDiffers []lane
}

// links are, for one budget and action noise, what a plan made at a step
// contributes to the probability of the actions up to a later one.
type links struct {
	plans      *plans
	parameters agent.Parameters // of an action
	confusable bool
	of         [][][]link // [group of lanes][candidate][tau]
}

// link is of plans made at step tau for a candidate goal, or for what it is
// taken for. Its numbers are by m, the actions that went right.
type link struct {
	// next is the probability that the plan gets m actions right and is over with
	// the one after them, times that of these m + 1 actions as observed.
	next []lane
	// live is the probability that it gets m actions right and is not over, times
	// that of these m actions.
	live []lane
	// The same of other hidden goals, in their order; live is right[m] times what is left.
	*sorted
	nextOf [][]lane
	right  []float64 // probability of m right actions as observed
}

// planned finds or makes what plans do. The error is that of ctx, if it ends before.
func (m *Marginal) planned(ctx context.Context, ps *plans, goal, tau int) (*planned, error) {
	if ps.of[goal] == nil {
		ps.of[goal] = make([]*planned, len(m.steps))
	}
	if p := ps.of[goal][tau]; p != nil {
		return p, nil
	}
	level := ps.levels.of(goal, tau)
	t, err := m.table(ctx, ps.store, tau, goal, level)
	if err != nil {
		return nil, err
	}
	batches := ps.store.batches
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
			m.done.events += len(level[batch])
			ps.sums.add(level[batch], weights)
		}
		ps.sums.drain(p, batch)
	}
	switch {
	case batches == 1:
	case t.original || level >= apart:
		p.gather(batches)
	case level == 0: // the square of what was not expected is more than the variance
		ps.sums.add(ps.store.expected, weights)
		ps.sums.drain(p, 1)
		p.contrast(t.signs(ps.signs), 0)
	default:
		p.contrast(t.signs(ps.signs), 0.5)
	}
	ps.of[goal][tau] = p
	return p, nil
}

// groups of lanes for so many batches.
func groups(batches int) int { return (batches + lanes - 1) / lanes }

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
func (s sums) drain(p *planned, batch int) {
	group, b := batch/lanes, batch%lanes
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
func (p *planned) gather(batches int) {
	for _, all := range p.all() {
		for ; len(all) > 0; all = all[p.groups:] {
			mean := 0.0
			for i := range batches {
				mean += all[i/lanes][i%lanes] / float64(batches)
			}
			for i := range batches {
				x := &all[i/lanes][i%lanes]
				*x = mean + float64(near*(*x-mean))
			}
		}
	}
}

// contrast makes all batches from what the first two say, of which the second has a
// part in the mean. They differ as if their mean had the square of the half
// difference, or the difference if the second has no part, for a variance.
func (p *planned) contrast(signs []float64, part float64) {
	n := len(signs)
	size := near * (1 - part) * math.Sqrt(float64(n*(n-1))/float64(n/2*2))
	for _, all := range p.all() {
		for ; len(all) > 0; all = all[p.groups:] {
			x, y := all[0][0], all[0][1]
			mean, differ := x+float64(part*(y-x)), float64(size*(x-y))
			for i, sign := range signs {
				all[i/lanes][i%lanes] = mean + float64(sign*differ)
			}
		}
	}
}

func (p *planned) all() [4][]lane {
	return [4][]lane{p.ends, p.differs, p.strayEnds, p.strayDiffers}
}

// signs are 1 for half of the batches and -1 for the others, at random; one has 0 if
// their number is odd.
func (t *sampled) signs(room []float64) []float64 {
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

// mostPlans bounds the plans kept of budgets used last.
const mostPlans = 3

func (m *Marginal) plansFor(s *store, p *agent.Parameters, l *levels) *plans {
	budget := p.Budget()
	if p.Unlimited {
		budget = agent.Budget{}
	}
	for i, ps := range m.plans {
		if ps.store == s && ps.budget == budget && ps.levels == l {
			copy(m.plans[1:i+1], m.plans[:i])
			m.plans[0] = ps
			return ps
		}
	}
	ps := &plans{store: s, budget: budget, levels: l, of: make([][]*planned, len(m.sips.task.Goals)), weights: map[int]weights{}, sums: make(sums, 4*(len(m.steps)+2)), signs: make([]float64, s.batches)}
	for _, old := range m.plans {
		if old.store == s && old.budget == budget {
			ps.share(old)
			break
		}
	}
	m.plans = slices.Insert(m.plans, 0, ps)
	m.plans = m.plans[:min(len(m.plans), mostPlans)]
	return ps
}

// share takes over what is sampled as far.
func (ps *plans) share(old *plans) {
	for goal, row := range old.of {
		if row == nil {
			continue
		}
		ps.of[goal] = make([]*planned, len(row))
		for tau, p := range row {
			if ps.levels.of(goal, tau) == old.levels.of(goal, tau) {
				ps.of[goal][tau] = p
			}
		}
	}
}

func (ps *plans) weigh(searches int) weights {
	w := ps.weights[searches]
	if w == nil {
		w = newWeights(ps.budget, ps.store.unlimited, searches, ps.store.draws)
		ps.weights[searches] = w
	}
	return w
}

// linksFor finds or makes links. The error is that of ctx, if it ends before.
func (m *Marginal) linksFor(ctx context.Context, s *store, p *agent.Parameters, at *levels) (*links, error) {
	ps := m.plansFor(s, p, at)
	action := agent.Parameters{ActionNoise: p.ActionNoise, Kind: p.Kind}
	confusable := p.GoalNoise > 0
	old := ps.links
	if old != nil && old.confusable != confusable {
		old = nil
	}
	if old != nil && old.parameters == action {
		m.links = old
		return old, nil
	}
	if old == nil && !ps.linked {
		old = m.links
	}
	l := &links{plans: ps, parameters: action, confusable: confusable}
	l.of = make([][][]link, groups(s.batches))
	seen := make([]chances, len(m.steps))
	for k := range seen {
		seen[k] = m.steps[k].chances(p)
	}
	ps.prepare(len(l.of), len(m.hidden), len(m.steps))
	if old != nil && (old.plans.store != s || old.plans.budget != ps.budget || old.confusable != confusable) {
		old = nil
	}
	if old != nil {
		old.plans.links = nil // their memory is used again
	}
	if confusable { // goal by goal: the values of a goal's heuristic stay at hand
		for candidate := range m.hidden {
			for _, goal := range m.hidden[candidate].goals {
				for tau := range m.steps {
					if _, err := m.planned(ctx, ps, goal, tau); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	for group := range l.of {
		l.of[group] = make([][]link, len(m.hidden))
		for candidate := range m.hidden {
			h := &m.hidden[candidate]
			l.of[group][candidate] = make([]link, len(m.steps))
			for tau := range m.steps {
				var before *link
				if old != nil && (old.plans == ps || h.alike(ps.levels, old.plans.levels, tau)) {
					before = &old.of[group][candidate][tau]
					ps.sorted[group][candidate][tau] = before.sorted
				}
				if before != nil && old.parameters == action {
					l.of[group][candidate][tau] = *before
					continue
				}
				var err error
				if l.of[group][candidate][tau], err = m.link(ctx, ps, h, seen, group, tau, confusable, before); err != nil {
					return nil, err
				}
			}
		}
	}
	m.links, ps.links, ps.linked = l, l, true
	return l, nil
}

// alike reports whether the tables of a step have the same levels.
func (h *hidden) alike(a, b *levels, tau int) bool {
	for _, goal := range h.goals {
		if a.of(goal, tau) != b.of(goal, tau) {
			return false
		}
	}
	return true
}

// link joins what plans do with what is seen of the actions. The memory of an old
// link, if there is one, is used again. The error is that of ctx, if it ends before.
func (m *Marginal) link(ctx context.Context, ps *plans, h *hidden, seen []chances, group, tau int, confusable bool, old *link) (link, error) {
	var l link
	if err := ctx.Err(); err != nil {
		return l, err
	}
	own, err := m.planned(ctx, ps, h.goals[0], tau)
	if err != nil {
		return l, err
	}
	last := len(seen) - tau - 1 // m of the last action
	n := min(own.most, last) + 1
	l.next, l.live = make([]lane, n), make([]lane, n)
	own.join(l.next, l.live, seen[tau:], group)
	if !confusable || len(h.goals) == 1 {
		return l, nil
	}
	candidate := h.goals[0]
	if ps.sorted[group][candidate][tau] == nil {
		if ps.sorted[group][candidate][tau], err = m.sort(ctx, ps, h, group, tau, last); err != nil {
			return l, err
		}
	}
	l.sorted = ps.sorted[group][candidate][tau]
	right := 1.0
	if old != nil && old.sorted == l.sorted {
		l.nextOf, l.right = old.nextOf, old.right
	} else {
		l.nextOf, l.right = make([][]lane, len(l.differs)), make([]float64, len(l.differs))
		for matched := range l.nextOf {
			l.nextOf[matched] = ps.room.of(len(l.differs[matched]))
		}
	}
	for matched, next := range l.nextOf {
		now := &seen[tau+matched]
		mix(next, l.differs[matched], l.over[matched], right*now.other, right*now.match)
		if matched == 0 {
			mix(next, next, l.none, 1, now.stay)
		}
		l.right[matched] = right
		right *= now.match
	}
	return l, nil
}

// sort puts what plans do in order; last is the greatest m. The error is that of ctx, if
// it ends before.
func (m *Marginal) sort(ctx context.Context, ps *plans, h *hidden, group, tau, last int) (*sorted, error) {
	all := make([]*planned, len(h.goals))
	most := 0
	for i := 1; i < len(h.goals); i++ {
		var err error
		if all[i], err = m.planned(ctx, ps, h.goals[i], tau); err != nil {
			return nil, err
		}
		most = max(most, min(all[i].most, last))
	}
	n := len(all) - 1
	s := &sorted{share: make([]float64, 0, n), none: ps.room.of(n)}
	order := make([]int32, 0, n)
	count := make([]int, most+1)
	for m := most; m >= 0; m-- {
		for i := 1; i < len(all); i++ {
			if min(all[i].most, last) == m {
				order, s.share = append(order, int32(i)), append(s.share, h.share[i])
			}
		}
		count[m] = len(order)
	}
	byM := make([][]lane, 3*len(count))
	s.differs, s.over, s.left = byM[:len(count)], byM[len(count):2*len(count)], byM[2*len(count):]
	for m, n := range count {
		s.differs[m], s.over[m], s.left[m] = ps.room.of(n), ps.room.of(n), ps.room.of(n)
	}
	s.order = newPlaces(order)
	for place, i := range order {
		p := all[i]
		s.none[place] = p.ends[group]
		var left, longer lane
		for m := p.most; m >= 0; m-- {
			differs, ends := &p.differs[m*p.groups+group], &p.ends[m*p.groups+group]
			for b := range lanes {
				left[b] += differs[b]
			}
			if m < len(count) && place < count[m] {
				s.differs[m][place], s.left[m][place], s.over[m][place] = *differs, left, longer
			}
			for b := range lanes {
				left[b] += ends[b]
			}
			longer = *ends
		}
	}
	return s, nil
}

// join fills in next and live for a group of lanes; seen is from the step on at
// which the plan is made.
func (p *planned) join(next, live []lane, seen []chances, group int) {
	at := func(all []lane, matched int) *lane { return &all[matched*p.groups+group] }
	for b := range lanes {
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
			x := float64(at(p.differs, matched)[b] * now.other)
			if matched < p.most {
				x += float64(at(p.ends, matched+1)[b] * now.match)
			}
			next[matched][b] = float64(right * x)
			if matched == 0 {
				next[0][b] += float64(at(p.ends, 0)[b] * now.stay)
			}
			live[matched][b] *= right
			right *= now.match
		}
	}
}

// infer computes the evidence of parameter sets that differ in their goal noises alone,
// at most abreast, with samples up to some levels; right at named steps alone, if there
// are any. The results are left in some. The error is that of ctx, if it ends before.
func (m *Marginal) infer(ctx context.Context, some []*result, s *store, ps []agent.Parameters, at *levels, named []bool) error {
	l, err := m.linksFor(ctx, s, &ps[0], at)
	if err != nil {
		return err
	}
	candidates := len(m.hidden)
	var noises [abreast]float64
	for i := range ps {
		noises[i] = ps[i].GoalNoise
		some[i].begin(s.batches, candidates, len(m.steps)+1)
		some[i].samples = s.batches * searches(at.most(candidates), true)
	}
	for group := range l.of {
		first, n := group*lanes, min(lanes, s.batches-group*lanes)
		for goal := range candidates {
			var o *origins
			if named != nil {
				if o, err = m.originsFor(ctx, l, group, goal, named); err != nil {
					return err
				}
				m.done.recursions += len(m.steps) * (1 + len(ps))
			} else {
				m.done.recursions += len(m.steps) * (1 + len(m.hidden[goal].goals))
			}
			if err := m.room.forward(ctx, &m.hidden[goal], l.of[group][goal], noises[:len(ps)], o); err != nil {
				return err
			}
			for i := range ps {
				r := some[i]
				for step := range r.evidence {
					if named == nil || named[step] {
						copy(r.evidence[step][goal][first:], m.room.total[step][i][:n])
					}
					r.scale[step][group*candidates+goal] = m.room.scale[step]
				}
			}
		}
	}
	for i := range ps {
		some[i].align(s.batches, candidates)
		if named == nil {
			continue
		}
		for step := range some[i].evidence {
			if named[step] && some[i].sum(step) < 1e-200 { // or none at all
				if err := m.infer(ctx, some[i:i+1], s, ps[i:i+1], at, nil); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// inferOne is infer of one parameter set, at all steps. The result is the caller's until the next call.
func (m *Marginal) inferOne(ctx context.Context, s *store, p *agent.Parameters, at *levels) (*result, error) {
	return m.results[0], m.infer(ctx, m.results[:1], s, []agent.Parameters{*p}, at, nil)
}

// rows are rows of zeros, side by side.
func rows(n, columns int) [][]float64 {
	flat := make([]float64, n*columns)
	all := make([][]float64, n)
	for i := range all {
		all[i] = flat[i*columns : (i+1)*columns : (i+1)*columns]
	}
	return all
}
