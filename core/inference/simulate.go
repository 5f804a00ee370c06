package inference

import (
	"fmt"
	"math/rand/v2"

	"foible/core/agent"
	"foible/core/ground"
	"foible/core/policy"
	"foible/core/search"
	"foible/core/sweep"
)

// distanceStates bounds the tasks in which plans are compared with shortest ways.
const distanceStates = 500_000

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
	// Detour is how many actions more than the shortest way to the goal pursued
	// the shortest way by the plan's end has; 0 where that is not known.
	Detour  int
	DeadEnd bool // the plan ends where that goal cannot be reached any more
}

// simulator is what simulations of boundedly rational agents share.
type simulator struct {
	goals     []string          // names, by index in the task of SIPS
	distances *policy.Distances // nil where there are too many states
}

func (s *Stimulus) newSimulator(task *ground.Task) *simulator {
	m := &simulator{goals: s.goalNames()}
	m.distances, _ = policy.NewDistances(task, distanceStates)
	return m
}

// Slip says whether a boundedly rational agent did other than it meant to.
func (a *Act) Slip() bool { return a.Taken != a.Intended }

// Simulate lets the agent of a parameter set act with one of the stimulus's
// goals until that is satisfied, or for so many steps. The error is of the
// stimulus or of parameters that cannot be used.
func (s *Stimulus) Simulate(set *sweep.ParameterSet, in sweep.Inference, goal, steps int, rng *rand.Rand) (*Trajectory, error) {
	simulate := s.simulate
	if set.Model == "boltzmann" {
		simulate = s.simulateBoltzmann
	}
	t, err := simulate(set, in, goal, steps, rng)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", set, err)
	}
	t.Goal = s.stimulus.Goals[goal].Name
	return t, nil
}

func (s *Stimulus) simulate(set *sweep.ParameterSet, in sweep.Inference, goal, steps int, rng *rand.Rand) (*Trajectory, error) {
	parameters, err := Agent(set, in)
	if err != nil {
		return nil, err
	}
	sips, err := s.SIPS()
	if err != nil {
		return nil, err
	}
	task := sips.task
	a, err := agent.New(task, &sips.goals, sips.search, parameters)
	if err != nil {
		return nil, err
	}
	if s.simulator == nil {
		s.simulator = s.newSimulator(task)
	}
	t := &Trajectory{}
	at := task.Initial()
	for _, action := range a.Simulate(goal, steps, rng) {
		act := Act{Taken: operator(task, action.Taken), Goal: s.simulator.goals[action.Mind.Goal], Intended: operator(task, action.Mind.Intended())}
		if action.Planned {
			act.Plan = judge(s.simulator.distances, int(action.Mind.Goal), action.At, action.Mind.Plan)
		}
		t.Acts = append(t.Acts, act)
		at = action.State
	}
	t.Reached = task.Satisfies(at, goal)
	return t, nil
}

// judge compares a plan with the shortest way to its goal. d may be nil.
func judge(d *policy.Distances, goal int, from ground.StateID, steps []search.Step) *Plan {
	p := &Plan{Actions: len(steps)}
	if d == nil || len(steps) == 0 {
		return p
	}
	before, after := d.To(goal, from), d.To(goal, steps[len(steps)-1].State)
	switch {
	case before < 0: // no plan is any good
	case after < 0:
		p.DeadEnd = true
	default:
		p.Detour = len(steps) + after - before
	}
	return p
}

func operator(t *ground.Task, op ground.OperatorID) string {
	if op == agent.Noop {
		return ""
	}
	return t.Operators[op].String()
}

// boltzmann are the parameters of a Boltzmann agent.
func boltzmann(set *sweep.ParameterSet) policy.Parameters {
	return policy.Parameters{
		Alpha:       set.Alpha.Number,
		Value:       policy.Value(set.Value.Word),
		Unreachable: set.UnreachableValue.Number,
	}
}

func (s *Stimulus) simulateBoltzmann(set *sweep.ParameterSet, _ sweep.Inference, goal, steps int, rng *rand.Rand) (*Trajectory, error) {
	o, err := s.Boltzmann()
	if err != nil {
		return nil, err
	}
	a, err := o.Agent(goal, boltzmann(set))
	if err != nil {
		return nil, err
	}
	t := &Trajectory{}
	actions, reached := a.Simulate(steps, rng)
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
