package agent

import (
	"context"
	"math/rand/v2"

	"foible.dev/foible/core/ground"
)

// Action is a step of a simulated agent, with what it had in mind.
type Action struct {
	Mind    Mind
	Planned bool // the plan was made just before
	At      ground.StateID
	Taken   ground.OperatorID // Noop: it stayed put
	State   ground.StateID    // to which it led
}

// Slip says whether another action was taken than was intended.
func (a *Action) Slip() bool { return a.Taken != a.Mind.Intended() }

// Confused says whether another goal was pursued than the original one.
func (a *Action) Confused() bool { return a.Mind.Goal != a.Mind.Original }

// Simulate lets an agent act from the initial state until its original goal is
// satisfied, or for the given number of steps. The error is that of ctx, if it ends before.
func (a *Agent) Simulate(ctx context.Context, original, steps int, rng *rand.Rand) ([]Action, error) {
	m, at := Begin(original), a.task.Initial()
	var actions []Action
	for len(actions) < steps && !a.task.Satisfies(at, original) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		planned, err := a.Think(ctx, &m, at, rng)
		if err != nil {
			return nil, err
		}
		taken, to := a.Act(&m, at, rng)
		actions = append(actions, Action{Mind: m, Planned: planned, At: at, Taken: taken, State: to})
		at = to
	}
	return actions, nil
}
