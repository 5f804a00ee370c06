package marginal

import (
	"context"
	"slices"

	"foible.dev/foible/core/inference/internal/kernel"
	"foible.dev/foible/core/inference/internal/observed"
)

// backward is a pass through the recursion (3) from a step back to 0: what a unit of weight
// that plans at τ for the goal c comes to at that step. Its fields are buffers.
type backward struct {
	worth  [][]float64   // [τ][hidden goal]: mean of batches
	shared []float64     // [τ]: of a unit that is shared out among the goals of confusion
	values []kernel.Lane // [group of batches × hidden goal]: of worth at one τ
	// One search of the table of each hidden goal at one τ.
	searches  []float64 // their number
	variances []float64 // of worth, as one search more or less changes it
	// Memory for numbers, and how many are used.
	numbers []float64
	used    int
}

// zeros are good until the points of another result are asked for.
func (r *backward) zeros(n int) []float64 {
	if len(r.numbers)-r.used < n {
		r.numbers, r.used = make([]float64, max(2*len(r.numbers), n)), 0 // what was used stays where it is
	}
	all := r.numbers[r.used : r.used+n : r.used+n]
	r.used += n
	clear(all)
	return all
}

// begin allots what a pass back from a step needs.
func (r *backward) begin(step int, h *observed.Hidden, groups int) {
	hidden := len(h.Goals)
	r.worth = r.worth[:0]
	for range step + 1 {
		r.worth = append(r.worth, r.zeros(hidden))
	}
	r.shared = r.zeros(step + 1)
	for c := range hidden {
		r.worth[step][c] = 1
	}
	r.shared[step] = 1 - h.Share[0]
	r.values = slices.Grow(r.values[:0], hidden*groups)[:hidden*groups]
	r.searches, r.variances = r.zeros(hidden), r.zeros(hidden)
}

// relativeVariances are what tables add to the relative variance of a candidate's evidence at
// a step, [τ × hidden goal]. planning is F, by τ and hidden goal. They are nil if there is no
// evidence. The error is that of ctx, if it ends before.
func (m *Inference) relativeVariances(ctx context.Context, candidate int, goalNoise float64, step int, planning [][]float64) ([]float64, error) {
	l, h, r := m.segments, &m.hidden[candidate], &m.backward
	hidden := len(h.Goals)
	if hidden == 1 {
		goalNoise = 0
	}
	m.forward.transitions.extend([kernel.Noises]float64{goalNoise}, h.Share[0], step)
	r.begin(step, h, len(l.at))
	parts := r.zeros(step * hidden)
	for tau := step - 1; tau >= 0; tau-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(r.values)
		for group := range l.at {
			values := r.values[group*hidden : (group+1)*hidden]
			s := &l.at[group][candidate][tau]
			r.addOwn(&values[0], s, tau, step, m.forward.transitions.powers)
			if goalNoise > 0 {
				r.addHidden(values, s, tau, step, m.forward.transitions.powers)
			}
		}
		m.searchVariances(h, tau)
		for c, v := range r.pooled() {
			w := planning[tau][c]
			parts[tau*hidden+c] = w * w * v / r.searches[c]
		}
	}
	evidence := 0.0
	for c := range hidden {
		evidence += float64(planning[0][c] * r.worth[0][c])
	}
	if evidence == 0 {
		return nil, nil
	}
	for i := range parts {
		parts[i] /= evidence * evidence
	}
	return parts, nil
}

// addOwn adds what plans made at τ for the original goal come to at a step.
func (r *backward) addOwn(to *kernel.Lane, s *segment, tau, step int, powers []kernel.Power) {
	for m := range s.next {
		next := tau + m + 1
		if next > step {
			break
		}
		p := &powers[m+1]
		addTimes(to, &s.next[m], float64(p.Own[0][0][0]*r.worth[next][0])+float64(p.ToOthers[0][0][0]*r.shared[next]))
	}
	if m := step - tau; m < len(s.live) {
		addTimes(to, &s.live[m], 1)
	}
}

// addHidden adds the same of the goals of confusion.
func (r *backward) addHidden(to []kernel.Lane, s *segment, tau, step int, powers []kernel.Power) {
	for m, weights := range s.nextHidden {
		next := tau + m + 1
		if next > step {
			break
		}
		p, later := &powers[m+1], r.worth[next]
		common, stay := float64(p.Own[1][0][0]*later[0])+float64(p.ToOthers[1][0][0]*r.shared[next]), p.Stay[0][0]
		for place := range weights {
			c := s.order.At(place)
			addTimes(&to[c], &weights[place], common+float64(stay*later[c]))
		}
	}
	if m := step - tau; m < len(s.matched) {
		for place := range s.left[m] {
			addTimes(&to[s.order.At(place)], &s.left[m][place], s.matched[m])
		}
	}
}

// searchVariances finds worth at τ, and the variance of a search of each table there.
func (m *Inference) searchVariances(h *observed.Hidden, tau int) {
	l, r, hidden := m.segments, &m.backward, len(h.Goals)
	batches := l.outcomes.samples.Batches
	for c := range hidden {
		var mean, squares float64
		for batch := range batches {
			mean += r.values[batch/kernel.Lanes*hidden+c][batch%kernel.Lanes] / float64(batches)
		}
		for batch := range batches {
			d := r.values[batch/kernel.Lanes*hidden+c][batch%kernel.Lanes] - mean
			squares += float64(d * d)
		}
		r.worth[tau][c] = mean
		goal := h.Goals[c]
		r.searches[c] = l.outcomes.samples.Searches(goal, l.outcomes.levels.of(goal, tau))
		r.variances[c] = r.searches[c] * squares / (shrinkage * shrinkage * float64(batches*(batches-1)))
		if c > 0 {
			r.shared[tau] += float64(h.Share[c] * mean)
		}
	}
}

// pooled are the variances of a search. A few searches may be alike by chance: to each goal
// of confusion, the mean of all of them counts as one search more.
func (r *backward) pooled() []float64 {
	all := r.variances
	mean := 0.0
	for _, v := range all[1:] {
		mean += v / float64(len(all)-1)
	}
	for c := 1; c < len(all); c++ {
		all[c] = (float64(r.searches[c]*all[c]) + mean) / (r.searches[c] + 1)
	}
	return all
}

// addTimes adds x a.
func addTimes(to, a *kernel.Lane, x float64) {
	to[0] += float64(a[0] * x)
	to[1] += float64(a[1] * x)
	to[2] += float64(a[2] * x)
	to[3] += float64(a[3] * x)
}
