package inference

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/optional"
	"foible.dev/foible/core/policy"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/search"
	"foible.dev/foible/core/sweep"
)

// Trajectory is what a simulated agent did.
type Trajectory struct {
	Goal    string
	Reached bool
	Acts    []Act
}

// Act is a step of a simulated agent. Operators are written "(up)"; an empty
// one is staying put.
type Act struct {
	Taken string

	// Of a boundedly rational agent:
	Goal     string // that it pursued; another than the trajectory's if it was confused
	Intended string
	Plan     *Plan // made just before; nil = it went on with the one before

	// Of a Boltzmann agent:
	Probability float64  // of Taken
	Best        []string // the most probable actions
	Highest     float64  // probability of each of Best
}

// Plan is a partial plan.
type Plan struct {
	Actions int // 0 = to stay put
	// Path is not known where more than [result.PathStates] states can be reached.
	Path optional.Value[Path]
}

// Path compares a plan with the shortest path to the goal pursued. It is zero where that
// goal cannot be reached anyway.
type Path struct {
	// Detour is how many actions more than the shortest path the shortest one by the
	// plan's end has.
	Detour  int
	DeadEnd bool // the plan ends where the goal cannot be reached any more
}

// simulator is what simulations of boundedly rational agents share.
type simulator struct {
	goals     []string          // names, by index in the task of path
	distances *policy.Distances // nil where there are too many states
}

func (s *Stimulus) newSimulator(ctx context.Context, task *ground.Task) (*simulator, error) {
	d, err := policy.NewDistances(ctx, task, result.PathStates)
	if err != nil && !errors.Is(err, policy.ErrTooLarge) {
		return nil, err
	}
	return &simulator{goals: s.goalNames, distances: d}, nil
}

// Slip says whether a boundedly rational agent did other than it meant to.
func (a *Act) Slip() bool { return a.Taken != a.Intended }

// Simulation says who acts.
type Simulation struct {
	Set       *model.ParameterSet // of the agent
	Inference sweep.Inference     // that says how the agent's action noise is meant
	Goal      int                 // of the stimulus
	Steps     int                 // after which it ends at the latest
}

// Simulate lets an agent act until its goal is satisfied. The error is of the
// stimulus, of parameters that cannot be used, or that of ctx, if it ends before.
func (s *Stimulus) Simulate(ctx context.Context, q *Simulation, rng *rand.Rand) (*Trajectory, error) {
	simulate := s.simulate
	if q.Set.Model == "boltzmann" {
		simulate = s.simulateBoltzmann
	}
	t, err := simulate(ctx, q, rng)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", q.Set, err)
	}
	t.Goal = s.stimulus.Goals[q.Goal].Name
	return t, nil
}

func (s *Stimulus) simulate(ctx context.Context, q *Simulation, rng *rand.Rand) (*Trajectory, error) {
	parameters, err := s.agent(q.Set, q.Inference)
	if err != nil {
		return nil, err
	}
	path, err := s.observed(ctx)
	if err != nil {
		return nil, err
	}
	task := path.Task
	a, err := agent.New(task, &path.Goals, path.Search, parameters)
	if err != nil {
		return nil, err
	}
	if s.simulator == nil {
		if s.simulator, err = s.newSimulator(ctx, task); err != nil {
			return nil, err
		}
	}
	t := &Trajectory{}
	at := task.Initial()
	actions, err := a.Simulate(ctx, q.Goal, q.Steps, rng)
	if err != nil {
		return nil, err
	}
	for _, action := range actions {
		act := Act{Taken: operator(task, action.Taken), Goal: s.simulator.goals[action.Mind.Goal], Intended: operator(task, action.Mind.Intended())}
		if action.Planned {
			if act.Plan, err = judge(ctx, s.simulator.distances, int(action.Mind.Goal), action.At, action.Mind.Plan); err != nil {
				return nil, err
			}
		}
		t.Acts = append(t.Acts, act)
		at = action.State
	}
	t.Reached = task.Satisfies(at, q.Goal)
	return t, nil
}

// judge compares a plan with the shortest path to its goal. d is nil where that is not
// known. The error is that of ctx, if it ends before.
func judge(ctx context.Context, d *policy.Distances, goal int, from ground.StateID, steps []search.Step) (*Plan, error) {
	p := &Plan{Actions: len(steps)}
	switch {
	case len(steps) == 0:
		p.Path = optional.Known(Path{})
		return p, nil
	case d == nil:
		return p, nil
	}
	to, err := d.To(ctx, goal)
	if err != nil {
		return nil, err
	}
	before, after := to(from), to(steps[len(steps)-1].State)
	var path Path
	switch {
	case before < 0: // no plan is any good
	case after < 0:
		path.DeadEnd = true
	default:
		path.Detour = len(steps) + after - before
	}
	p.Path = optional.Known(path)
	return p, nil
}

func operator(t *ground.Task, op ground.OperatorID) string {
	if op == agent.Noop {
		return ""
	}
	return t.Operators[op].String()
}

// boltzmann are the parameters of a Boltzmann agent.
func boltzmann(set *model.ParameterSet) policy.Parameters {
	return policy.Parameters{
		Alpha:       set.Alpha.Number,
		Value:       policy.Value(set.Value.Word),
		Unreachable: set.UnreachableValue.Number,
	}
}

func (s *Stimulus) simulateBoltzmann(ctx context.Context, q *Simulation, rng *rand.Rand) (*Trajectory, error) {
	o, err := s.Boltzmann()
	if err != nil {
		return nil, err
	}
	a, err := o.Agent(ctx, q.Goal, boltzmann(q.Set))
	if err != nil {
		return nil, err
	}
	t := &Trajectory{}
	actions, reached, err := a.Simulate(ctx, q.Steps, rng)
	if err != nil {
		return nil, err
	}
	t.Reached = reached
	for _, action := range actions {
		act := Act{Taken: a.Operator(action.Taken), Probability: action.Probability, Highest: action.Highest}
		for _, op := range action.Best {
			act.Best = append(act.Best, a.Operator(op))
		}
		t.Acts = append(t.Acts, act)
	}
	return t, nil
}
