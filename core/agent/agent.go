// Package agent is the boundedly rational agent of Alanqary et al. (2021): it
// may confuse its goal, plans a few steps ahead with a noisy search, and slips
// while acting. Read [Parameters] and [Agent] first.
package agent

import (
	"fmt"
	"math"
	"math/rand/v2"

	"foible/core/ground"
	"foible/core/search"
)

// Parameters of an agent. A lesioned agent lacks one kind of mistake: GoalNoise
// 0, ActionNoise 0, or SearchNoise 0 with Unlimited.
type Parameters struct {
	GoalNoise   float64 // epsilon_g: probability that the goal changes in a step
	BudgetR     int     // r: failures until the budget is spent, at least 1
	BudgetQ     float64 // q: probability of a success, in [0, 1)
	Unlimited   bool    // plan to the goal; BudgetR and BudgetQ play no part
	SearchNoise float64 // gamma, in units of cost; 0 is A*
	ActionNoise float64 // epsilon_a: probability or, by Kind, odds of a slip
	Kind        NoiseKind
}

// NoiseKind says what ActionNoise means.
type NoiseKind uint8

const (
	// Total: with probability epsilon_a a slip, uniform over the other available
	// actions; over all of them when the agent meant to stay put. No slip where
	// there is no other action.
	Total NoiseKind = iota
	// PerActionOdds: the intended action has weight (1-epsilon_a)/epsilon_a
	// against 1 for each other one, staying put included.
	PerActionOdds
)

// Validate says what is out of range.
func (p *Parameters) Validate() error {
	probability := func(x float64) bool { return x >= 0 && x <= 1 }
	switch {
	case !probability(p.GoalNoise):
		return fmt.Errorf("goal_noise %v is not a probability", p.GoalNoise)
	case !probability(p.ActionNoise):
		return fmt.Errorf("action_noise %v is not a probability", p.ActionNoise)
	case !p.Unlimited && p.BudgetR < 1:
		return fmt.Errorf("budget_r %d is below 1", p.BudgetR)
	case !p.Unlimited && !(p.BudgetQ >= 0 && p.BudgetQ < 1):
		return fmt.Errorf("budget_q %v is not in [0, 1)", p.BudgetQ)
	case !(p.SearchNoise >= 0) || math.IsInf(p.SearchNoise, 1):
		return fmt.Errorf("search_noise %v is not a number from 0", p.SearchNoise)
	}
	return nil
}

// Goals are the goals that an agent may have, by their index in the task, and
// what each may be taken for.
type Goals struct {
	// Corrupt lists the goals that an original goal becomes, each equally
	// probable; itself may be among them. Empty: it is never confused.
	Corrupt [][]int
	// Heuristic of each goal.
	Heuristic []search.Heuristic
}

// Mind is what an agent has in mind. A plan without a next step is one step of
// staying put.
type Mind struct {
	Original int32 // the goal it set out with
	Goal     int32 // the goal it pursues now
	Next     int32 // index of the next step of Plan
	Plan     []search.Step
}

// Noop is the action of staying put.
const Noop ground.OperatorID = -1

// Intended is the next action of the plan, or Noop.
func (m *Mind) Intended() ground.OperatorID {
	if int(m.Next) < len(m.Plan) {
		return m.Plan[m.Next].Operator
	}
	return Noop
}

// Agent thinks and acts in one task. Not safe for concurrent use.
type Agent struct {
	task   *ground.Task
	goals  *Goals
	search *search.Searcher
	Parameters
	logQ float64
}

// New makes an agent. The searcher is of the same task, and may be shared with
// other agents that are not used at the same time.
func New(t *ground.Task, g *Goals, s *search.Searcher, p Parameters) (*Agent, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return &Agent{task: t, goals: g, search: s, Parameters: p, logQ: math.Log(p.BudgetQ)}, nil
}

// Begin is a mind with an original goal that has thought once, at the initial state.
func (a *Agent) Begin(original int, at ground.StateID, rng *rand.Rand) Mind {
	m := Mind{Original: int32(original), Goal: int32(original)}
	a.changeGoal(&m, rng)
	a.plan(&m, at, rng)
	return m
}

// Think updates goal and plan after a step that has led to a state.
func (a *Agent) Think(m *Mind, at ground.StateID, rng *rand.Rand) {
	a.changeGoal(m, rng)
	if int(m.Next) < len(m.Plan) && m.Plan[m.Next].State == at {
		if m.Next++; int(m.Next) < len(m.Plan) {
			return
		}
	}
	a.plan(m, at, rng)
}

// changeGoal is the goal transition: with probability epsilon_g the original
// goal is taken for another, or another given up for the original.
func (a *Agent) changeGoal(m *Mind, rng *rand.Rand) {
	corrupt := a.goals.Corrupt[m.Original]
	if a.GoalNoise == 0 || len(corrupt) == 0 || rng.Float64() >= a.GoalNoise {
		return
	}
	if m.Goal == m.Original {
		m.Goal = int32(corrupt[rng.IntN(len(corrupt))])
	} else {
		m.Goal = m.Original
	}
}

// plan makes a partial plan within a budget drawn anew.
func (a *Agent) plan(m *Mind, at ground.StateID, rng *rand.Rand) {
	m.Next = 0
	budget := search.Unlimited
	if !a.Unlimited {
		budget = a.Budget(rng)
	}
	o := search.Options{Noise: a.SearchNoise, Budget: budget}
	m.Plan = nil
	if r := a.search.Run(at, int(m.Goal), a.goals.Heuristic[m.Goal], o, rng); r.Status != search.Exhausted {
		m.Plan = r.Path
	}
}

// Budget draws the number of nodes to look at, NegBin(r, q): successes, each of
// probability q, before the r-th failure. Its mean is r q / (1 - q).
func (a *Agent) Budget(rng *rand.Rand) int {
	n := 0
	for range a.BudgetR {
		// A geometric number by inversion; 1 - Float64 is never 0.
		if a.BudgetQ > 0 {
			n += int(math.Log(1-rng.Float64()) / a.logQ)
		}
	}
	return n
}

// BudgetProbabilities are those that Budget is 0, 1, ... as far as the remaining
// ones are less probable than least in sum.
func (p *Parameters) BudgetProbabilities(least float64) []float64 {
	x := math.Pow(1-p.BudgetQ, float64(p.BudgetR))
	all := []float64{x}
	for sum := x; 1-sum >= least && x > 0; sum += x {
		n := float64(len(all))
		x *= p.BudgetQ * (n + float64(p.BudgetR) - 1) / n
		all = append(all, x)
	}
	return all
}

// Probability of taking an action in a state with n available ones, staying put
// not counted, when another one or the same was intended.
func (p *Parameters) Probability(action, intended ground.OperatorID, n int) float64 {
	if p.Kind == PerActionOdds {
		total := 1 - p.ActionNoise + float64(float64(n)*p.ActionNoise)
		if action == intended {
			return (1 - p.ActionNoise) / total
		}
		return p.ActionNoise / total
	}
	others := n
	if intended != Noop {
		others--
	}
	switch {
	case others == 0 && action == intended:
		return 1
	case others == 0:
		return 0
	case action == intended:
		return 1 - p.ActionNoise
	case action == Noop:
		return 0
	}
	return p.ActionNoise / float64(others)
}

// Act draws the action that is taken in a state.
func (a *Agent) Act(m *Mind, at ground.StateID, rng *rand.Rand) (action ground.OperatorID, to ground.StateID) {
	successors := a.task.Successors(at)
	intended := m.Intended()
	u := rng.Float64()
	for _, s := range successors {
		if u -= a.Probability(s.Operator, intended, len(successors)); u < 0 {
			return s.Operator, s.State
		}
	}
	if intended == Noop || a.Probability(Noop, intended, len(successors)) > 0 {
		return Noop, at
	}
	for _, s := range successors { // rounding
		if s.Operator == intended {
			return s.Operator, s.State
		}
	}
	return Noop, at
}
