package policy

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"foible.dev/foible/core/ground"
)

// Agent acts by the policy of one goal. Not safe for concurrent use, nor together with
// the observer that it comes from.
type Agent struct {
	task  *ground.Task
	goal  int
	alpha float64
	value func(ctx context.Context, s ground.StateID) (float64, error)
}

// Action is one step of an agent.
type Action struct {
	Taken       ground.OperatorID
	State       ground.StateID // to which it led
	Probability float64        // of taking it
	Best        []ground.OperatorID
	Highest     float64 // probability of each of Best
}

// Agent is the agent with one of the task's goals. The error is of the task (too large for
// on-policy values, no such heuristic), of parameters out of range, or that of ctx, if it ends before.
func (o *Observer) Agent(ctx context.Context, goal int, p Parameters) (*Agent, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	a := &Agent{task: o.task, goal: goal, alpha: p.Alpha}
	if p.Value == Heuristic {
		if o.heuristic == nil {
			return nil, errNoHeuristic
		}
		h, err := o.heuristic(o.task, goal)
		if err != nil {
			return nil, fmt.Errorf("heuristic: %w", err)
		}
		a.value = func(_ context.Context, s ground.StateID) (float64, error) {
			if cost := h(s); !math.IsInf(cost, 1) {
				return -cost, nil
			}
			return p.Unreachable, nil
		}
		return a, nil
	}
	switch p.Value {
	case Optimal:
		a.value = func(ctx context.Context, s ground.StateID) (float64, error) {
			dist, err := o.distance(ctx, goal, s)
			if err != nil || dist >= 0 {
				return -float64(dist), err
			}
			return p.Unreachable, nil
		}
	case OnPolicy:
		d, g, err := o.distances(ctx, goal)
		if err != nil {
			return nil, err
		}
		v, _, err := onPolicyValues(ctx, g, d, p.Alpha, p.Unreachable)
		if err != nil {
			return nil, err
		}
		a.value = func(_ context.Context, s ground.StateID) (float64, error) { return v[s], nil }
	default:
		return nil, fmt.Errorf("unknown value %q", p.Value)
	}
	return a, nil
}

// Operator is an action as it is written in a plan.
func (a *Agent) Operator(op ground.OperatorID) string { return a.task.Operators[op].String() }

// Act draws an action from pi(a|s); ok is false where there is none. The error is of the
// task (too large), or that of ctx, if it ends before.
func (a *Agent) Act(ctx context.Context, s ground.StateID, rng *rand.Rand) (act Action, ok bool, err error) {
	successors := a.task.Successors(s)
	if len(successors) == 0 {
		return Action{}, false, nil
	}
	pi := make([]float64, len(successors))
	for i, next := range successors {
		v, err := a.value(ctx, next.State)
		if err != nil {
			return Action{}, false, err
		}
		pi[i] = a.alpha * v
	}
	pi = softmax(pi)
	u := rng.Float64()
	taken := len(pi) - 1
	for i, p := range pi {
		if u -= p; u < 0 {
			taken = i
			break
		}
	}
	act = Action{Taken: successors[taken].Operator, State: successors[taken].State, Probability: pi[taken]}
	for i, p := range pi {
		const equal = 1e-9 // on-policy values are as precise
		switch {
		case p > act.Highest*(1+equal):
			act.Highest, act.Best = p, []ground.OperatorID{successors[i].Operator}
		case p >= act.Highest*(1-equal):
			act.Best = append(act.Best, successors[i].Operator)
		}
	}
	return act, true, nil
}

// Simulate acts from the initial state until the goal is satisfied, nothing can
// be done, or for the given number of steps. Errors are those of Act.
func (a *Agent) Simulate(ctx context.Context, steps int, rng *rand.Rand) (actions []Action, reached bool, err error) {
	at := a.task.Initial()
	for len(actions) < steps && !a.task.Satisfies(at, a.goal) {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		act, ok, err := a.Act(ctx, at, rng)
		if !ok {
			return actions, false, err
		}
		actions = append(actions, act)
		at = act.State
	}
	return actions, a.task.Satisfies(at, a.goal), nil
}
