// Package policy is the Boltzmann agent and its exact observer (Baker, Saxe &
// Tenenbaum 2009; the baseline of Alanqary et al. 2021): an agent at state s
// takes action a with probability
//
//	pi(a|s) ~ exp(alpha [R + V(s')]),  R = -1,
//
// and whoever watches it infers the goal by Bayes' rule. Read [Parameters] and
// [Observer] first; [Agent] acts.
//
// The temperature T that some implementations call alpha is 1/alpha here.
package policy

import (
	"fmt"
	"math"
)

// Value is what an agent expects of a state.
type Value string

const (
	// Optimal is V(s) = -(shortest number of actions to the goal).
	Optimal Value = "optimal"
	// OnPolicy is the fixed point V(s) = sum_a pi(a|s) [R + V(s')], the
	// expected future reward of an agent that goes on as noisily.
	OnPolicy Value = "on_policy"
	// Heuristic is V(s) = -h(s): no planning at all.
	Heuristic Value = "heuristic"
)

// Parameters of the Boltzmann agent.
type Parameters struct {
	Alpha       float64 // inverse temperature, 1 / cost, above 0
	Value       Value
	Unreachable float64 // V of a state from which the goal cannot be reached, cost
}

func (p *Parameters) check() error {
	if !(p.Alpha > 0) || math.IsInf(p.Alpha, 0) || math.IsNaN(p.Unreachable) || math.IsInf(p.Unreachable, 0) {
		return fmt.Errorf("alpha %v, unreachable value %v: not a Boltzmann agent", p.Alpha, p.Unreachable)
	}
	return nil
}
