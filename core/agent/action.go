package agent

import (
	"math/rand/v2"

	"foible.dev/foible/core/ground"
)

// NoiseKind says what ActionNoise means.
type NoiseKind string

const (
	// Total: with probability epsilon_a a slip, uniform over the other available
	// actions; over all of them when the agent meant to stay put. No slip where
	// there is no other action.
	Total NoiseKind = "total"
	// PerActionOdds: the intended action has weight (1-epsilon_a)/epsilon_a
	// against 1 for each other one, staying put included.
	PerActionOdds NoiseKind = "per_action_odds"
)

// Chances are the probabilities of the actions that an agent may take in a state.
type Chances struct {
	Intended float64
	Other    float64 // each other available action
	Noop     float64 // staying put without the intention
}

// Chances in a state with n available actions, staying put not counted, when one
// of them was intended or, if noop, staying put.
func (p *Parameters) Chances(n int, noop bool) Chances {
	others := n
	if !noop {
		others--
	}
	e := p.ActionNoise
	switch {
	case n == 0:
		return Chances{Intended: 1}
	case p.Kind == PerActionOdds:
		total := 1 - e + float64(float64(n)*e) // one of the n+1 is intended
		return Chances{Intended: (1 - e) / total, Other: e / total, Noop: e / total}
	case others == 0:
		return Chances{Intended: 1}
	}
	return Chances{Intended: 1 - e, Other: e / float64(others)}
}

// Outcomes are where an agent's action at a state may lead, with their
// probabilities: as many as there are actions, staying put among them, so that one
// state may come several times. It ends early if yield returns false.
func (a *Agent) Outcomes(m *Mind, at ground.StateID, yield func(to ground.StateID, p float64) bool) {
	successors := a.task.Successors(at)
	c := a.Chances(len(successors), len(m.Plan) == 0)
	intended, stay := m.Intended(), c.Noop
	if intended == Noop {
		stay = c.Intended
	}
	for _, s := range successors {
		p := c.Other
		if s.Operator == intended {
			p = c.Intended
		}
		if !yield(s.State, p) {
			return
		}
	}
	yield(at, stay)
}

// Leading is the probability that an agent acts at one state so that it comes to another.
func (a *Agent) Leading(m *Mind, from, to ground.StateID) float64 {
	var sum float64
	a.Outcomes(m, from, func(state ground.StateID, p float64) bool {
		if state == to {
			sum += p
		}
		return true
	})
	return sum
}

// Act draws the action that is taken at a state, and says where it leads.
func (a *Agent) Act(m *Mind, at ground.StateID, rng *rand.Rand) (action ground.OperatorID, to ground.StateID) {
	successors := a.task.Successors(at)
	intended, to := Noop, at
	if len(m.Plan) > 0 {
		intended, to = m.Plan[0].Operator, m.Plan[0].State
	}
	c := a.Chances(len(successors), intended == Noop)
	u := rng.Float64()
	for _, s := range successors {
		if s.Operator == intended {
			continue
		}
		if u -= c.Other; u < 0 {
			return s.Operator, s.State
		}
	}
	if intended != Noop {
		if u -= c.Noop; u < 0 {
			return Noop, at
		}
	}
	return intended, to
}
