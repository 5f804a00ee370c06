package marginal

import (
	"context"
	"math"
	"slices"

	"foible/core/agent"
	"foible/core/sweep"
)

// levels say how far each table is sampled.
type levels struct {
	by []int8 // [goal x steps + tau]
	n  int    // steps
}

func (l *levels) of(goal, tau int) int { return int(l.by[goal*l.n+tau]) }

// most is the highest level among the first so many goals.
func (l *levels) most(goals int) int {
	if goals*l.n == 0 {
		return 0
	}
	return int(slices.Max(l.by[:goals*l.n]))
}

// family is a kind of parameter sets that find the same tables difficult.
type family struct {
	slips, confused   float64 // action and goal noise of the probes
	wide              bool    // there are probes of common goal noises, too: a large sweep has both
	budgets           int     // which of probeBudgets
	kind              agent.NoiseKind
	posteriorSE, mcse float64 // asked for
}

// probeBudgets are those of the probes for budgets of a mean up to some number.
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
	if p.ActionNoise > 0 { // the rarer, the harder
		for f.slips = 0.05; f.slips > p.ActionNoise; f.slips /= 2 {
		}
	}
	if p.GoalNoise >= 0.1 && q.Detail != sweep.DetailJudged {
		f.confused = 0.2
	} else if p.GoalNoise > 0 {
		for f.confused = 0.05; f.confused > p.GoalNoise; f.confused /= 2 {
		}
	}
	f.wide = f.confused == 0.05 && q.Detail == sweep.DetailJudged
	for !p.Unlimited && p.Budget().Mean() > probeBudgets[f.budgets].upTo {
		f.budgets++
	}
	return f
}

// probes of a family: parameter sets by which its samples are sized, whatever a
// sweep asks for, so that the samples of a cell depend on nothing but the cell.
func (f family) probes(p *agent.Parameters) []agent.Parameters {
	probe := *p
	probe.ActionNoise = f.slips
	confused := []float64{f.confused}
	if f.wide {
		confused = []float64{0.2, f.confused}
	}
	var all []agent.Parameters
	for _, probe.GoalNoise = range confused {
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

// levelsFor are the levels with which the inference of a parameter set begins. The error
// is that of ctx, if it ends before.
func (m *Inference) levelsFor(ctx context.Context, s *samples, p *agent.Parameters, q *sweep.Procedure, judged []int) (*levels, error) {
	f := familyOf(p, q)
	if l := s.levels[f]; l != nil {
		return l, nil
	}
	l := m.first(s)
	if q.Detail != sweep.DetailMistakes { // of a few parameter sets, each for itself
		for _, probe := range f.probes(p) {
			var err error
			if l, err = m.refine(ctx, s, &probe, l, q, judged, margin); err != nil {
				return nil, err
			}
		}
	}
	s.levels[f] = l
	return l, nil
}

// first are the levels to begin with: a search for every four batches, and what an
// original goal may be taken for is searched, all together, at least half as often as
// that goal itself.
func (m *Inference) first(s *samples) *levels {
	l := &levels{make([]int8, len(m.path.Task.Goals)*len(m.steps)), len(m.steps)}
	for i := range m.hidden {
		others := m.hidden[i].Goals[1:]
		least := float64(s.batches) / 4
		if n := float64(len(others)); n > 0 {
			least = max(least, m.cost(s, 0, 0)/(2*n))
		}
		level := 0
		for level < lastConfused && m.cost(s, m.path.Candidates, level) < least {
			level++
		}
		for _, goal := range others {
			if goal < m.path.Candidates {
				continue
			}
			for tau := range m.steps {
				by := &l.by[goal*l.n+tau]
				*by = max(*by, int8(level))
			}
		}
	}
	return l
}

// Refinement for probes ends when the errors, by the delta method, are this part of
// what is asked for, so that other parameter sets are likely to be sure as well.
const margin = 0.95
