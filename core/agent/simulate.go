package agent

import (
	"math/rand/v2"

	"foible/core/ground"
)

// Action is a step of a simulated agent, with what it had in mind.
type Action struct {
	Taken    ground.OperatorID // Noop: it stayed put
	Intended ground.OperatorID // Noop: it had no plan
	State    ground.StateID    // to which it led
	Goal     int               // pursued; another one than the original if it was confused
	Planned  bool              // the plan was made just before
}

// Slip says whether another action was taken than was intended.
func (a *Action) Slip() bool { return a.Taken != a.Intended }

// Simulate lets an agent act from the initial state until its original goal is
// satisfied, or for so many steps.
func (a *Agent) Simulate(original, steps int, rng *rand.Rand) []Action {
	at := a.task.Initial()
	m := a.Begin(original, at, rng)
	var actions []Action
	for len(actions) < steps && !a.task.Satisfies(at, original) {
		action := Action{Intended: m.Intended(), Goal: int(m.Goal), Planned: m.Next == 0}
		action.Taken, action.State = a.Act(&m, at, rng)
		actions = append(actions, action)
		at = action.State
		a.Think(&m, at, rng)
	}
	return actions
}
