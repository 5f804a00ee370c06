package marginal

import (
	"cmp"
	"context"
	"slices"

	"foible.dev/foible/core/inference/internal/kernel"
	"foible.dev/foible/core/inference/internal/samples"
)

// precision is what is asked of the posteriors at judgement steps.
type precision struct {
	se     float64 // standard error of a probability
	mcse   float64 // Monte-Carlo standard error of r
	judged []int   // steps
	// slack is the factor by which variances may be greater. Batches are few, so the errors
	// are uncertain themselves; where the samples must do as the probes have sized them, only
	// clear cases count as imprecise.
	slack float64
	part  float64 // of both errors, which refinement aims at
}

// times is the precision with another part.
func (want precision) times(part float64) precision {
	want.part = part
	return want
}

// varianceOfR is the mean variance of the probabilities divided by that of r, over some ten
// stimuli: a rule of thumb from the published grids. A worker sees one stimulus and cannot
// know; the score of all stimuli says what the error of r came to.
const varianceOfR = 25

// met reports whether a result is precise enough: every probability, and all of them together,
// so that r is.
func (want *precision) met(r *setResult) bool {
	var squares, n float64
	for _, step := range want.judged {
		if step >= len(r.evidence) {
			break
		}
		_, without := r.posterior(step)
		for goal := range r.evidence[step] {
			v := goalVariance(without, goal)
			if v > want.slack*want.se*want.se {
				return false
			}
			squares += v
			n++
		}
	}
	return n == 0 || squares/n <= want.slack*varianceOfR*want.mcse*want.mcse
}

// Refinement goes in rounds. In each, the tables with the greatest gain for the work are
// raised by a level, up to those that make up raisedShare of the variance.
const (
	maxRounds   = 24
	raisedShare = 0.7
)

// contribution is what a table adds to the variances that are too great.
type contribution struct {
	goal, tau int
	variance  float64
	gain      float64 // variance divided by the work of as many searches again
}

// refine raises levels from those of the request, which has one parameter set, until its
// posteriors are as precise as wanted. The error is that of ctx, if it ends before.
func (m *Inference) refine(ctx context.Context, r *evidenceRequest, want precision) (*levels, error) {
	at, p := r.levels, &r.parameters[0]
	for range maxRounds {
		found, err := m.inferOne(ctx, r.samples, p, at)
		if err != nil {
			return nil, err
		}
		shares, excess, err := m.contributions(ctx, found, p.GoalNoise, want)
		if err != nil {
			return nil, err
		}
		for i := range shares {
			x := &shares[i]
			level := at.of(x.goal, x.tau)
			x.gain = x.variance / (r.samples.Searches(x.goal, level) * r.samples.Effort(x.goal, x.tau, level))
		}
		next := m.raise(at, shares, min(raisedShare, 2*(1-1/excess)))
		if next == nil {
			break
		}
		at = next
	}
	return at, nil
}

// raise is the levels with those of the tables with the greatest gain, up to a part of all
// variance, raised; nil if none can be.
func (m *Inference) raise(at *levels, shares []contribution, part float64) *levels {
	var total, sum float64
	for _, x := range shares {
		total += x.variance
	}
	slices.SortFunc(shares, func(a, b contribution) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), a.goal-b.goal, a.tau-b.tau)
	})
	next := &levels{slices.Clone(at.level), at.steps}
	raised := false
	for _, x := range shares {
		if sum > part*total {
			break
		}
		sum += x.variance
		last := int8(samples.MaxHiddenLevel)
		if x.goal < m.path.Candidates {
			last = samples.MaxLevel
		}
		if level := &next.level[x.goal*at.steps+x.tau]; *level < last {
			*level++
			raised = true
		}
	}
	if !raised {
		return nil
	}
	return next
}

// negligibleShare is a part of the variance for which no table is raised.
const negligibleShare = 1e-6

// point is a judgement step to the delta method.
type point struct {
	posterior []float64
	// relative is [candidate][τ × hidden goal]: what each table adds to the relative variance
	// of the candidate's evidence; nil for a candidate without evidence.
	relative [][]float64
}

// variance of the probability of a goal.
func (pt *point) variance(goal int) (v float64) {
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
		for _, part := range pt.relative[h] {
			u += part
		}
		v += float64(x * x * u)
	}
	return v
}

// contributions are the tables that variances come from which are greater than wanted, by
// the delta method: the evidence is linear in every table, and batches tell how much a table
// varies. excess is how many times too great the worst variance is; 0 if none is. The error
// is that of ctx, if it ends before.
func (m *Inference) contributions(ctx context.Context, r *setResult, goalNoise float64, want precision) (shares []contribution, excess float64, err error) {
	points, err := m.points(ctx, r, goalNoise, want.judged)
	if err != nil {
		return nil, 0, err
	}
	limit := want.part * want.part * want.se * want.se
	mean := want.part * want.part * varianceOfR * want.mcse * want.mcse
	var squares, n float64
	worst := make([]float64, len(points))
	for i := range points {
		for goal := range points[i].posterior {
			v := points[i].variance(goal)
			squares += v
			n++
			worst[i] = max(worst[i], v)
		}
	}
	tooMuch := n > 0 && squares/n > mean
	if tooMuch {
		excess = squares / n / mean
	}
	steps := len(m.steps)
	sums := make([]float64, len(m.path.Task.Goals)*steps) // [goal × steps + τ]
	for i := range points {
		if worst[i] <= limit && !tooMuch {
			continue
		}
		excess = max(excess, worst[i]/limit)
		m.addVariances(sums, &points[i])
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
			shares = append(shares, contribution{goal: i / steps, tau: i % steps, variance: v})
		}
	}
	return shares, excess, nil
}

// addVariances adds to the sums of tables what they contribute at a point.
func (m *Inference) addVariances(sums []float64, pt *point) {
	for candidate, relative := range pt.relative {
		p := pt.posterior[candidate]
		factor := float64(p * (1 - p) * p * (1 - p))
		goals := m.hidden[candidate].Goals
		for k, part := range relative {
			tau, c := k/len(goals), k%len(goals)
			sums[goals[c]*len(m.steps)+tau] += float64(factor * part)
		}
	}
}

// points are the judgement steps that have a posterior, but step 0.
func (m *Inference) points(ctx context.Context, r *setResult, goalNoise float64, judged []int) ([]point, error) {
	m.backward.used = 0
	planning := make([][][]float64, len(m.hidden)) // [candidate][τ][hidden goal]: F, mean of batches
	for candidate := range m.hidden {
		var err error
		if planning[candidate], err = m.planning(ctx, candidate, goalNoise); err != nil {
			return nil, err
		}
	}
	var points []point
	for _, step := range judged {
		if step == 0 || step > len(m.steps) {
			continue
		}
		posterior, _ := r.posterior(step)
		if posterior == nil {
			continue
		}
		pt := point{posterior: posterior, relative: make([][]float64, len(m.hidden))}
		for candidate := range m.hidden {
			if posterior[candidate] == 0 {
				continue
			}
			m.done.Recursions += step * (1 + len(m.hidden[candidate].Goals)) * len(m.segments.at)
			var err error
			if pt.relative[candidate], err = m.relativeVariances(ctx, candidate, goalNoise, step, planning[candidate]); err != nil {
				return nil, err
			}
		}
		points = append(points, pt)
	}
	return points, nil
}

// planning is F of a candidate, averaged over batches: [τ][hidden goal].
func (m *Inference) planning(ctx context.Context, candidate int, goalNoise float64) ([][]float64, error) {
	l, h, f := m.segments, &m.hidden[candidate], &m.forward
	all := make([][]float64, len(m.steps))
	for tau := range all {
		all[tau] = m.backward.zeros(len(h.Goals))
	}
	batches := float64(l.outcomes.samples.Batches)
	for group := range l.at {
		if err := f.run(ctx, h, l.at[group][candidate], []float64{goalNoise}, nil); err != nil {
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
