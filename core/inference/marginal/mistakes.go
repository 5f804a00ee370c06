package marginal

import (
	"context"
	"math"

	"foible/core/agent"
	"foible/core/inference/internal/kernel"
	"foible/core/inference/internal/observed"
	"foible/core/optional"
	"foible/core/sweep"
)

// behind are sums over what an agent may have had in mind when it took an action,
// by batch: the probability of the actions so far, and the parts of it with a mistake.
type behind struct {
	all, confused, slip, stray []float64
	scale                      int // of all these, as a power of 2
}

// mistakes are the probabilities of the mistakes behind each action, given the
// actions up to it, of a parameter set whose links are those used last. The
// posterior has so many steps. The error is that of ctx, if it ends before.
func (m *Inference) mistakes(ctx context.Context, p *agent.Parameters, steps int) (*sweep.Mistakes, error) {
	l := m.segments
	batches := l.outcomes.samples.batches
	seen := make([]observed.Chances, len(m.steps))
	sums := make([]behind, len(m.steps))
	for k := range seen {
		seen[k] = m.steps[k].Chances(p)
		flat := make([]float64, 4*batches)
		sums[k] = behind{flat[:batches], flat[batches : 2*batches], flat[2*batches : 3*batches], flat[3*batches:], math.MaxInt32}
	}
	for candidate := range m.hidden {
		for group := range l.of {
			if err := m.forward.run(ctx, &m.hidden[candidate], l.of[group][candidate], []float64{p.GoalNoise}, nil); err != nil {
				return nil, err
			}
			for tau := range seen {
				if err := m.behind(ctx, sums, seen, candidate, group, tau); err != nil {
					return nil, err
				}
			}
		}
	}
	out := &sweep.Mistakes{}
	var offPath []sweep.Estimate
	for k := range steps - 1 {
		s := &sums[k]
		out.Confused = append(out.Confused, ratio(s.confused, s.all))
		out.Slip = append(out.Slip, ratio(s.slip, s.all))
		offPath = append(offPath, ratio(s.stray, s.all))
	}
	if m.far != nil {
		out.OffPath = optional.Known(offPath)
	}
	return out, nil
}

// behind adds those whose plan was made at tau, with the weights of the recursion
// that ran last. The error is that of ctx, if it ends before.
func (m *Inference) behind(ctx context.Context, sums []behind, seen []observed.Chances, candidate, group, tau int) error {
	f, h, ps := &m.forward, &m.hidden[candidate], m.segments.outcomes
	for lane := range min(kernel.Lanes, ps.samples.batches-group*kernel.Lanes) {
		batch := group*kernel.Lanes + lane
		own := make([]lanesum, len(seen)-tau)
		others := make([]lanesum, len(seen)-tau)
		for c := range f.goals(h) {
			weight, to := f.weight(h, tau, lane, c), own
			if c > 0 {
				to = others
			}
			if weight == 0 {
				continue
			}
			p, err := m.outcome(ctx, ps, h.Goals[c], tau)
			if err != nil {
				return err
			}
			p.behind(to, seen[tau:], batch, weight)
		}
		for matched := range own {
			sum := &sums[tau+matched]
			sum.rescale(f.scale[tau])
			factor := math.Ldexp(1, sum.scale-f.scale[tau])
			a, b := &own[matched], &others[matched]
			power := &f.transitions.powers[matched]
			all := a.all + b.all
			sum.all[batch] += factor * all
			sum.confused[batch] += factor * max(0, all-float64(power.Own[0][0][0]*a.all)-float64(power.Own[1][0][0]*b.all))
			sum.slip[batch] += factor * (a.slip + b.slip)
			sum.stray[batch] += factor * (a.stray + b.stray)
		}
	}
	return ctx.Err()
}

// rescale makes the scale no greater than that of what is to be added.
func (b *behind) rescale(scale int) {
	if scale >= b.scale {
		return
	}
	factor := math.Ldexp(1, scale-b.scale)
	for _, sums := range [][]float64{b.all, b.confused, b.slip, b.stray} {
		for i := range sums {
			sums[i] *= factor
		}
	}
	b.scale = scale
}

// lanesum is behind of one batch, without confusion.
type lanesum struct{ all, slip, stray float64 }

// behind adds, by the number of actions before that went right, a weight that plans.
func (p *outcome) behind(to []lanesum, seen []observed.Chances, batch int, weight float64) {
	// By m: plans of which at least so many actions are right.
	group, b := batch/kernel.Lanes, batch%kernel.Lanes
	right, strayRight := make([]float64, p.most+2), make([]float64, p.most+2)
	for m := p.most; m >= 0; m-- {
		at := m*p.groups + group
		right[m] = right[m+1] + p.ends[at][b] + p.differs[at][b]
		if p.strayEnds != nil {
			strayRight[m] = strayRight[m+1] + p.strayEnds[at][b] + p.strayDiffers[at][b]
		}
	}
	for m := range min(len(to), p.most+1) {
		now, at := &seen[m], m*p.groups+group
		differs := float64(weight * p.differs[at][b] * now.Other)
		goes := float64(weight * right[m+1] * now.Match)
		stays := 0.0
		if m == 0 {
			stays = float64(weight * p.ends[at][b] * now.Stay)
		}
		to[m].all += differs + goes + stays
		to[m].slip += differs + float64(goes*now.SlippedMatch) + float64(stays*now.SlippedStay)
		if p.strayEnds != nil {
			to[m].stray += float64(weight*p.strayDiffers[at][b]*now.Other) + float64(weight*strayRight[m+1]*now.Match)
		}
		weight *= now.Match
	}
}

// ratio is that of two sums over batches, with the jackknife's standard error.
func ratio(part, all []float64) sweep.Estimate {
	var x, y float64
	for i := range all {
		x, y = x+part[i], y+all[i]
	}
	if y == 0 {
		return sweep.Estimate{}
	}
	e := sweep.Estimate{Probability: min(x/y, 1)}
	var without []float64
	for i := range all {
		if y > all[i] {
			without = append(without, (x-part[i])/(y-all[i]))
		}
	}
	e.SE = math.Sqrt(jackknifed(len(without), func(i int) float64 { return without[i] }))
	return e
}
