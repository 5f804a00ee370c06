package marginal

import (
	"context"
	"math"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/inference/internal/kernel"
	"foible.dev/foible/core/inference/internal/observed"
	"foible.dev/foible/core/optional"
	"foible.dev/foible/core/result"
)

// mistakeSums are sums over what an agent may have had in mind when it took an action, by
// batch: the probability of the actions so far, and the parts of it with a mistake.
type mistakeSums struct {
	all, confused, slip, offPath []float64
	scale                        int // of all these, as a power of 2
}

// batchSums are mistakeSums of one batch, without confusion.
type batchSums struct{ all, slip, offPath float64 }

// mistakes are the probabilities of the mistakes behind each action, given the actions up to
// it, of the parameter set whose segments were used last. steps is how many have a posterior.
// The error is that of ctx, if it ends before.
func (m *Inference) mistakes(ctx context.Context, p *agent.Parameters, steps int) (*result.Mistakes, error) {
	l := m.segments
	batches := l.outcomes.samples.Batches
	chances := m.chances(p)
	sums := make([]mistakeSums, len(m.steps))
	for k := range sums {
		flat := make([]float64, 4*batches)
		sums[k] = mistakeSums{flat[:batches], flat[batches : 2*batches], flat[2*batches : 3*batches], flat[3*batches:], math.MaxInt32}
	}
	for candidate := range m.hidden {
		for group := range l.at {
			if err := m.forward.run(ctx, &m.hidden[candidate], l.at[group][candidate], []float64{p.GoalNoise}, nil); err != nil {
				return nil, err
			}
			for tau := range chances {
				if err := m.addMistakes(ctx, sums[tau:], chances[tau:], place{group, candidate, tau}); err != nil {
					return nil, err
				}
			}
		}
	}
	out := &result.Mistakes{}
	var offPath []result.Estimate
	for k := range steps - 1 {
		s := &sums[k]
		out.Confused = append(out.Confused, ratio(s.confused, s.all))
		out.Slip = append(out.Slip, ratio(s.slip, s.all))
		offPath = append(offPath, ratio(s.offPath, s.all))
	}
	if m.store.PathsKnown() {
		out.OffPath = optional.Known(offPath)
	}
	return out, nil
}

// addMistakes adds agents whose plan was made at τ, with the weights of the forward recursion
// that ran last. sums and chances are those of the actions from τ on. The error is that of
// ctx, if it ends before.
func (m *Inference) addMistakes(ctx context.Context, sums []mistakeSums, chances []observed.Chances, at place) error {
	f, h, o := &m.forward, &m.hidden[at.candidate], m.segments.outcomes
	for lane := range min(kernel.Lanes, o.samples.Batches-at.group*kernel.Lanes) {
		batch := at.group*kernel.Lanes + lane
		own := make([]batchSums, len(chances))
		others := make([]batchSums, len(chances))
		for c := range f.goals(h) {
			weight, to := f.weight(h, at.tau, lane, c), own
			if c > 0 {
				to = others
			}
			if weight == 0 {
				continue
			}
			p, err := m.outcome(ctx, o, h.Goals[c], at.tau)
			if err != nil {
				return err
			}
			p.addMistakes(to, chances, batch, weight)
		}
		for matched := range own {
			sums[matched].add(batch, f.scale[at.tau], &own[matched], &others[matched], &f.transitions.powers[matched])
		}
	}
	return ctx.Err()
}

// add adds agents that planned for their original goal and for others, and whose goals have
// changed since as power says.
func (s *mistakeSums) add(batch, scale int, own, others *batchSums, power *kernel.Power) {
	s.rescale(scale)
	factor := math.Ldexp(1, s.scale-scale)
	all := own.all + others.all
	s.all[batch] += factor * all
	s.confused[batch] += factor * max(0, all-float64(power.Own[0][0][0]*own.all)-float64(power.Own[1][0][0]*others.all))
	s.slip[batch] += factor * (own.slip + others.slip)
	s.offPath[batch] += factor * (own.offPath + others.offPath)
}

// rescale makes the scale no greater than that of what is to be added.
func (s *mistakeSums) rescale(scale int) {
	if scale >= s.scale {
		return
	}
	factor := math.Ldexp(1, scale-s.scale)
	for _, sums := range [][]float64{s.all, s.confused, s.slip, s.offPath} {
		for i := range sums {
			sums[i] *= factor
		}
	}
	s.scale = scale
}

// addMistakes adds, by the number of actions that matched before, a weight of agents that
// plan at a step, which is the first of chances.
func (p *outcome) addMistakes(to []batchSums, chances []observed.Chances, batch int, weight float64) {
	group, b := batch/kernel.Lanes, batch%kernel.Lanes
	// [m]: probability that m or more actions match.
	right, offPathRight := make([]float64, p.maxMatched+2), make([]float64, p.maxMatched+2)
	for m := p.maxMatched; m >= 0; m-- {
		at := m*p.groups + group
		right[m] = right[m+1] + p.ends[at][b] + p.differs[at][b]
		if p.offPathEnds != nil {
			offPathRight[m] = offPathRight[m+1] + p.offPathEnds[at][b] + p.offPathDiffers[at][b]
		}
	}
	for m := range min(len(to), p.maxMatched+1) {
		now, at := &chances[m], m*p.groups+group
		differs := float64(weight * p.differs[at][b] * now.Other)
		goes := float64(weight * right[m+1] * now.Match)
		stays := 0.0
		if m == 0 {
			stays = float64(weight * p.ends[at][b] * now.Stay)
		}
		to[m].all += differs + goes + stays
		to[m].slip += differs + float64(goes*now.SlippedMatch) + float64(stays*now.SlippedStay)
		if p.offPathEnds != nil {
			to[m].offPath += float64(weight*p.offPathDiffers[at][b]*now.Other) + float64(weight*offPathRight[m+1]*now.Match)
		}
		weight *= now.Match
	}
}

// ratio is that of two sums over batches, with the jackknife's standard error.
func ratio(part, all []float64) result.Estimate {
	var x, y float64
	for i := range all {
		x, y = x+part[i], y+all[i]
	}
	if y == 0 {
		return result.Estimate{}
	}
	e := result.Estimate{Probability: min(x/y, 1)}
	var without []float64
	for i := range all {
		if y > all[i] {
			without = append(without, (x-part[i])/(y-all[i]))
		}
	}
	e.SE = math.Sqrt(jackknife(len(without), func(i int) float64 { return without[i] }))
	return e
}
