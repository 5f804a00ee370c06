// Package agent is the boundedly rational agent of Alanqary et al. (2021): it
// may confuse its goal, plans a few steps ahead with a noisy search, and slips
// while acting. Read [Parameters] and [Agent] first.
package agent

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/search"
)

// Parameters of an agent. A lesioned agent lacks one kind of mistake: GoalNoise
// 0, ActionNoise 0, or SearchNoise 0 with Unlimited.
type Parameters struct {
	GoalNoise   float64   // epsilon_g: probability that the goal changes in a step
	BudgetR     int       // r: failures until the budget is spent, at least 1
	BudgetQ     float64   // q: probability of a success, in [0, 1)
	Unlimited   bool      // plan to the goal; BudgetR and BudgetQ play no part
	SearchNoise float64   // gamma, in units of cost; 0 is A*
	ActionNoise float64   // epsilon_a: probability or, by Kind, odds of a slip
	Kind        NoiseKind // what ActionNoise means; none is Total
}

// Validate says what is out of range.
func (p *Parameters) Validate() error {
	probability := func(x float64) bool { return x >= 0 && x <= 1 }
	switch {
	case !probability(p.GoalNoise):
		return fmt.Errorf("goal_noise %v is not a probability", p.GoalNoise)
	case !probability(p.ActionNoise):
		return fmt.Errorf("action_noise %v is not a probability", p.ActionNoise)
	case p.Kind != "" && p.Kind != Total && p.Kind != PerActionOdds:
		return fmt.Errorf("action_noise_kind %q; it can be %s, %s", string(p.Kind), Total, PerActionOdds)
	case !p.Unlimited && p.BudgetR < 1:
		return fmt.Errorf("budget_r %d is below 1", p.BudgetR)
	case !p.Unlimited && !(p.BudgetQ >= 0 && p.BudgetQ < 1):
		return fmt.Errorf("budget_q %v is not in [0, 1)", p.BudgetQ)
	case !(p.SearchNoise >= 0) || math.IsInf(p.SearchNoise, 1):
		return fmt.Errorf("search_noise %v is not a number from 0", p.SearchNoise)
	}
	return nil
}

// Budget of a search of the agent, unless it is unlimited.
func (p *Parameters) Budget() Budget { return Budget{R: p.BudgetR, Q: p.BudgetQ} }

// Goals are the goals that an agent may have, by their index in the task, and
// what each may be taken for.
type Goals struct {
	// Corrupt lists, by original goal, the goals that it becomes, each equally
	// probable; itself may be among them. An empty list: it is never confused.
	Corrupt [][]int
	// Heuristic of each goal.
	Heuristic []search.Heuristic
}

// Mind is what an agent has in mind.
type Mind struct {
	Original int32         // the goal it set out with
	Goal     int32         // the goal it pursues now
	Plan     []search.Step // what remains to be done; empty: stay put, and look again
}

// Noop is the action of staying put.
const Noop ground.OperatorID = -1

// Intended is the next action of the plan, or Noop.
func (m *Mind) Intended() ground.OperatorID {
	if len(m.Plan) > 0 {
		return m.Plan[0].Operator
	}
	return Noop
}

// Agent thinks and acts in one task: it thinks at the initial state, acts, thinks
// at the state that it has come to, and so on. Not safe for concurrent use.
type Agent struct {
	Parameters
	task   *ground.Task
	goals  *Goals
	search *search.Searcher
}

// New makes an agent. The searcher is of the same task, and may be shared with
// other agents that are not used at the same time.
func New(t *ground.Task, g *Goals, s *search.Searcher, p Parameters) (*Agent, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return &Agent{Parameters: p, task: t, goals: g, search: s}, nil
}

// Begin is the mind of an agent that has a goal and has not thought yet.
func Begin(goal int) Mind { return Mind{Original: int32(goal), Goal: int32(goal)} }

// Think updates goal and plan at a state, the initial one or that to which the
// last action has led. A plan goes on while it has a next step and led to where
// the agent is; a mere change of the goal does not end it. It reports whether the
// plan is a new one. The error is that of ctx, if it ends before there is a plan.
func (a *Agent) Think(ctx context.Context, m *Mind, at ground.StateID, rng *rand.Rand) (planned bool, err error) {
	a.changeGoal(m, rng)
	if len(m.Plan) > 1 && m.Plan[0].State == at {
		m.Plan = m.Plan[1:]
		return false, nil
	}
	budget := search.Unlimited
	if !a.Unlimited {
		budget = a.Budget().Draw(rng)
	}
	found, err := a.search.Run(ctx, &search.Query{From: at, Goal: int(m.Goal), Heuristic: a.goals.Heuristic[m.Goal], Options: search.Options{Noise: a.SearchNoise, Budget: budget}}, rng)
	m.Plan = found.Path
	return true, err
}

// changeGoal is the goal transition: with probability epsilon_g the original
// goal is taken for another, or another given up for the original.
func (a *Agent) changeGoal(m *Mind, rng *rand.Rand) {
	if a.GoalNoise == 0 {
		return
	}
	corrupt := a.goals.Corrupt[m.Original]
	if len(corrupt) == 0 || rng.Float64() >= a.GoalNoise {
		return
	}
	if m.Goal == m.Original {
		m.Goal = int32(corrupt[rng.IntN(len(corrupt))])
	} else {
		m.Goal = m.Original
	}
}
