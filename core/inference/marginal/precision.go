package marginal

import (
	"context"
	"slices"

	"foible/core/agent"
	"foible/core/inference/internal/kernel"
	"foible/core/sweep"
)

// mostRefinements bounds the rounds, in each of which the tables that make up
// partRaised of the variances at most, those of the greatest gain by a search, are
// raised by a level.
const (
	mostRefinements = 24
	partRaised      = 0.7
)

// refine raises the levels of the tables that the errors at the judgement steps
// come from, until these are as small as asked for. The error is that of ctx, if it ends
// before.
func (m *Inference) refine(ctx context.Context, s *samples, p *agent.Parameters, from *levels, q *sweep.Procedure, judged []int, margin float64) (*levels, error) {
	at := from
	for range mostRefinements {
		r, err := m.inferOne(ctx, s, p, at)
		if err != nil {
			return nil, err
		}
		shares, excess, err := m.errors(ctx, r, p, q, judged, margin)
		if err != nil {
			return nil, err
		}
		if len(shares) == 0 {
			break
		}
		var total, sum float64
		for i := range shares {
			x := &shares[i]
			total += x.variance
			level := at.of(x.goal, x.tau)
			x.gain = x.variance / (m.cost(s, x.goal, level) * s.of[x.goal][x.tau].effortAt(level))
		}
		slices.SortFunc(shares, func(a, b share) int {
			switch {
			case a.gain > b.gain:
				return -1
			case a.gain < b.gain:
				return 1
			case a.goal != b.goal:
				return a.goal - b.goal
			}
			return a.tau - b.tau
		})
		part := min(partRaised, 2*(1-1/excess)) * total
		next := &levels{slices.Clone(at.by), at.n}
		raised := false
		for _, x := range shares {
			if sum > part {
				break
			}
			sum += x.variance
			last := int8(lastConfused)
			if x.goal < m.path.Candidates {
				last = lastLevel
			}
			if by := &next.by[x.goal*at.n+x.tau]; *by < last {
				*by++
				raised = true
			}
		}
		if !raised {
			break
		}
		at = next
	}
	return at, nil
}

// negligibleShare is a part of the variances that no table is raised for.
const negligibleShare = 1e-6

// share is what a table contributes to the errors.
type share struct {
	goal, tau int
	variance  float64
	gain      float64 // of variance, by the work of searches more
}

// errors finds where the variances come from that are larger than asked for; none
// if all are small enough. excess is how many times too large the worst is. It is the
// delta method: the evidence is linear in every table, and batches tell how much a
// table varies. The error is that of ctx, if it ends before.
func (m *Inference) errors(ctx context.Context, r *result, p *agent.Parameters, q *sweep.Procedure, judged []int, margin float64) (shares []share, excess float64, err error) {
	m.backward.used = 0
	l := m.segments
	steps := len(m.steps)
	goals := len(m.path.Task.Goals)
	weight := make([][][]float64, len(m.hidden)) // [candidate][tau][hidden]: of those who plan, mean of batches
	for candidate := range m.hidden {
		if weight[candidate], err = m.planning(ctx, l, candidate, p.GoalNoise); err != nil {
			return nil, 0, err
		}
	}
	limit := margin * margin * q.PosteriorSE * q.PosteriorSE
	mean := margin * margin * ofR * q.MCSE * q.MCSE
	type point struct {
		posterior []float64
		parts     [][]float64 // [candidate][tau x hidden]: of the relative variance of its evidence
	}
	var points []point
	var squares, n float64
	for _, step := range judged {
		if step == 0 || step > steps {
			continue
		}
		posterior, _ := r.posterior(step)
		if posterior == nil {
			continue
		}
		pt := point{posterior: posterior, parts: make([][]float64, len(m.hidden))}
		for candidate := range m.hidden {
			if posterior[candidate] > 0 {
				pt.parts[candidate], err = m.parts(ctx, l, candidate, p.GoalNoise, step, weight[candidate])
				if err != nil {
					return nil, 0, err
				}
			}
		}
		points = append(points, pt)
	}
	variance := func(pt *point, goal int) float64 {
		var v float64
		for h, p := range pt.posterior {
			if p == 0 {
				continue
			}
			x := -p
			if h == goal {
				x = 1 - p
			}
			x *= pt.posterior[goal]
			var u float64
			for _, part := range pt.parts[h] {
				u += part
			}
			v += float64(x * x * u)
		}
		return v
	}
	worst := make([]float64, len(points))
	for i := range points {
		for goal := range points[i].posterior {
			v := variance(&points[i], goal)
			squares += v
			n++
			worst[i] = max(worst[i], v)
		}
	}
	tooMuch := n > 0 && squares/n > mean
	if tooMuch {
		excess = squares / n / mean
	}
	sums := make([]float64, goals*steps)
	for i := range points {
		if worst[i] <= limit && !tooMuch {
			continue
		}
		excess = max(excess, worst[i]/limit)
		pt := &points[i]
		for h, parts := range pt.parts {
			p := pt.posterior[h]
			factor := float64(p * (1 - p) * p * (1 - p))
			hidden := &m.hidden[h]
			for k, part := range parts {
				tau, c := k/len(hidden.Goals), k%len(hidden.Goals)
				sums[hidden.Goals[c]*steps+tau] += float64(factor * part)
			}
		}
	}
	if excess == 0 {
		return nil, 0, nil
	}
	total := 0.0
	for _, v := range sums {
		total += v
	}
	for i, v := range sums {
		if v > negligibleShare*total {
			shares = append(shares, share{goal: i / steps, tau: i % steps, variance: v})
		}
	}
	return shares, excess, nil
}

// addTimes adds x a.
func addTimes(to, a *kernel.Lane, x float64) {
	to[0] += float64(a[0] * x)
	to[1] += float64(a[1] * x)
	to[2] += float64(a[2] * x)
	to[3] += float64(a[3] * x)
}

// backward has room for the errors of a result.
type backward struct {
	worth  [][]float64
	values []kernel.Lane
	// Room for numbers, so many of which are used.
	numbers []float64
	used    int
}

// zeros are good until the errors of another result are asked for.
func (r *backward) zeros(n int) []float64 {
	if len(r.numbers)-r.used < n {
		r.numbers, r.used = make([]float64, max(2*len(r.numbers), n)), 0 // what was used stays where it is
	}
	all := r.numbers[r.used : r.used+n : r.used+n]
	r.used += n
	clear(all)
	return all
}

// planning is the weight of those who plan, by step and hidden goal, averaged over
// batches and as a part of the evidence there. The error is that of ctx, if it ends before.
func (m *Inference) planning(ctx context.Context, l *segments, candidate int, e float64) ([][]float64, error) {
	h := &m.hidden[candidate]
	all := make([][]float64, len(m.steps))
	for tau := range all {
		all[tau] = m.backward.zeros(len(h.Goals))
	}
	batches := float64(l.outcomes.samples.batches)
	for group := range l.of {
		f := &m.forward
		if err := f.run(ctx, h, l.of[group][candidate], []float64{e}, nil); err != nil {
			return nil, err
		}
		for tau := range all {
			for b := range kernel.Lanes {
				for c := range f.goals(h) {
					all[tau][c] += f.weight(h, tau, b, c) / batches
				}
			}
		}
	}
	return all, nil
}

// parts are what tables add to the relative variance of a candidate's evidence at
// a step, [tau x hidden goal]: a backward recursion for what a unit of weight that
// plans at tau comes to. They are nil if there is no evidence. The error is that of ctx,
// if it ends before.
func (m *Inference) parts(ctx context.Context, l *segments, candidate int, e float64, step int, weight [][]float64) ([]float64, error) {
	h := &m.hidden[candidate]
	hidden := len(h.Goals)
	confusable := e > 0 && hidden > 1
	if hidden == 1 {
		e = 0
	}
	m.done.Recursions += step * (1 + hidden) * len(l.of)
	room := &m.backward
	m.forward.transitions.extend([kernel.Noises]float64{e}, h.Share[0], step)
	powers := m.forward.transitions.powers
	room.worth = room.worth[:0]
	for range step + 1 {
		room.worth = append(room.worth, room.zeros(hidden))
	}
	worth := room.worth             // [step][hidden goal]: of a unit of weight that plans there
	ofShare := room.zeros(step + 1) // of a unit that is spread by share
	for c := range hidden {
		worth[step][c] = 1
	}
	ofShare[step] = 1 - h.Share[0]
	parts := room.zeros(step * hidden)
	batches := l.outcomes.samples.batches
	room.values = slices.Grow(room.values[:0], hidden*len(l.of))[:hidden*len(l.of)]
	values := room.values
	searches, ofOne := room.zeros(hidden), room.zeros(hidden) // by hidden goal: variance of a search
	evidence := 0.0
	for tau := step - 1; tau >= 0; tau-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(values)
		for group := range l.of {
			link := &l.of[group][candidate][tau]
			v := values[group*hidden : (group+1)*hidden]
			for matched := range link.next {
				to := tau + matched + 1
				if to > step {
					break
				}
				x := float64(powers[matched+1].Own[0][0][0]*worth[to][0]) + float64(powers[matched+1].ToOthers[0][0][0]*ofShare[to])
				addTimes(&v[0], &link.next[matched], x)
			}
			if at := step - tau; at < len(link.live) {
				addTimes(&v[0], &link.live[at], 1)
			}
			if !confusable {
				continue
			}
			for matched, next := range link.nextHidden {
				to := tau + matched + 1
				if to > step {
					break
				}
				power, later := &powers[matched+1], worth[to]
				common, stay := float64(power.Own[1][0][0]*later[0])+float64(power.ToOthers[1][0][0]*ofShare[to]), power.Stay[0][0]
				for place := range next {
					c := link.order.At(place)
					addTimes(&v[c], &next[place], common+float64(stay*later[c]))
				}
			}
			if at := step - tau; at < len(link.matched) {
				for place := range link.left[at] {
					addTimes(&v[link.order.At(place)], &link.left[at][place], link.matched[at])
				}
			}
		}
		for c := range hidden {
			var mean, squares float64
			for batch := range batches {
				mean += values[batch/kernel.Lanes*hidden+c][batch%kernel.Lanes] / float64(batches)
			}
			for batch := range batches {
				d := values[batch/kernel.Lanes*hidden+c][batch%kernel.Lanes] - mean
				squares += float64(d * d)
			}
			worth[tau][c] = mean
			goal := h.Goals[c]
			searches[c] = m.cost(l.outcomes.samples, goal, l.outcomes.levels.of(goal, tau))
			ofOne[c] = searches[c] * squares / (near * near * float64(batches*(batches-1)))
			if c > 0 {
				ofShare[tau] += float64(h.Share[c] * mean)
			}
		}
		pooled := 0.0
		for _, v := range ofOne[1:] {
			pooled += v / float64(hidden-1)
		}
		for c, v := range ofOne {
			n := searches[c]
			if c > 0 { // few searches may be alike by chance: all others together count as one more
				v = (float64(n*v) + pooled) / (n + 1)
			}
			w := weight[tau][c]
			parts[tau*hidden+c] = w * w * v / n
		}
		if tau == 0 {
			for c := range hidden {
				evidence += float64(weight[0][c] * worth[0][c])
			}
		}
	}
	if evidence == 0 {
		return nil, nil
	}
	for i := range parts {
		parts[i] /= evidence * evidence
	}
	return parts, nil
}
