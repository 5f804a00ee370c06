package marginal

import (
	"context"
	"math"
	"slices"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/inference/internal/samples"
	"foible.dev/foible/core/sweep"
)

// levels say how far each table is sampled.
type levels struct {
	level []int8 // [goal × steps + τ]
	steps int
}

func (l *levels) of(goal, tau int) int { return int(l.level[goal*l.steps+tau]) }

// max is the highest level of the first goals.
func (l *levels) max(goals int) int {
	if goals*l.steps == 0 {
		return 0
	}
	return int(slices.Max(l.level[:goals*l.steps]))
}

// family is a kind of parameter sets that find the same tables difficult.
type family struct {
	actionNoise, goalNoise float64 // of the probes
	common                 bool    // a large sweep also probes a common goal noise
	budgets                int     // index of probeBudgets
	kind                   agent.NoiseKind
	posteriorSE, mcse      float64 // asked for
}

// probeBudgets are a short and a long budget to probe with, for budgets whose mean is at most upTo.
var probeBudgets = []struct {
	upTo        float64
	short, long agent.Budget
}{
	{16, agent.Budget{R: 2, Q: 0.667}, agent.Budget{R: 2, Q: 0.889}},
	{80, agent.Budget{R: 2, Q: 0.9}, agent.Budget{R: 4, Q: 0.95}},
	{math.Inf(1), agent.Budget{R: 4, Q: 0.95}, agent.Budget{R: 4, Q: 0.9875}},
}

func familyOf(p *agent.Parameters, q *sweep.Procedure) family {
	f := family{kind: p.Kind, posteriorSE: q.PosteriorSE, mcse: q.MCSE}
	if p.ActionNoise > 0 { // the rarer slips are, the harder
		for f.actionNoise = 0.05; f.actionNoise > p.ActionNoise; f.actionNoise /= 2 {
		}
	}
	if p.GoalNoise >= 0.1 && q.Detail != sweep.DetailJudged {
		f.goalNoise = 0.2
	} else if p.GoalNoise > 0 {
		for f.goalNoise = 0.05; f.goalNoise > p.GoalNoise; f.goalNoise /= 2 {
		}
	}
	f.common = f.goalNoise == 0.05 && q.Detail == sweep.DetailJudged
	for !p.Unlimited && p.Budget().Mean() > probeBudgets[f.budgets].upTo {
		f.budgets++
	}
	return f
}

// probes are the parameter sets by which the samples of a family are sized, whatever a
// sweep asks for. So the samples of a cell depend on nothing but the cell.
func (f family) probes(p *agent.Parameters) []agent.Parameters {
	probe := *p
	probe.ActionNoise = f.actionNoise
	goalNoises := []float64{f.goalNoise}
	if f.common {
		goalNoises = []float64{0.2, f.goalNoise}
	}
	var all []agent.Parameters
	for _, probe.GoalNoise = range goalNoises {
		if p.Unlimited {
			all = append(all, probe)
			continue
		}
		b := &probeBudgets[f.budgets]
		for _, budget := range []agent.Budget{b.short, b.long} {
			probe.BudgetR, probe.BudgetQ = budget.R, budget.Q
			all = append(all, probe)
		}
	}
	return all
}

// probePrecision is the part of the standard errors asked for that probes are refined to, so
// that other parameter sets of the family are likely to be precise enough.
const probePrecision = 0.95

// levelsFor are the levels with which inference of a parameter set begins. The error is
// that of ctx, if it ends before.
func (m *Inference) levelsFor(ctx context.Context, s *samples.Samples, p *agent.Parameters, q *sweep.Procedure, goal precision) (*levels, error) {
	f := familyOf(p, q)
	if l := m.levels[s][f]; l != nil {
		return l, nil
	}
	l := m.firstLevels(s)
	if q.Detail != sweep.DetailMistakes { // that is asked of a few parameter sets, each refined by itself
		for _, probe := range f.probes(p) {
			var err error
			if l, err = m.refine(ctx, &evidenceRequest{s, []agent.Parameters{probe}, l, nil}, goal.times(probePrecision)); err != nil {
				return nil, err
			}
		}
	}
	m.levels[s][f] = l
	return l, nil
}

// firstLevels give each goal of confusion a search for every four batches, and all those of
// an original goal together at least half as many searches as that goal has.
func (m *Inference) firstLevels(s *samples.Samples) *levels {
	l := &levels{make([]int8, len(m.path.Task.Goals)*len(m.steps)), len(m.steps)}
	for i := range m.hidden {
		others := m.hidden[i].Goals[1:]
		least := float64(s.Batches) / 4
		if n := float64(len(others)); n > 0 {
			least = max(least, s.Searches(0, 0)/(2*n))
		}
		level := 0
		for level < samples.MaxHiddenLevel && s.Searches(m.path.Candidates, level) < least {
			level++
		}
		for _, goal := range others {
			if goal < m.path.Candidates {
				continue
			}
			for tau := range m.steps {
				at := &l.level[goal*l.steps+tau]
				*at = max(*at, int8(level))
			}
		}
	}
	return l
}
