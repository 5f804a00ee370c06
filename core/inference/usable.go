package inference

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/policy"
	"foible.dev/foible/core/search"
	"foible.dev/foible/core/words"
)

// Need is what a parameter set needs of a stimulus beyond its plan.
type Need int

// The needs. What Plans needs, WholePlans needs too.
const (
	// Estimates of a heuristic near the observed plan: boltzmann with value heuristic.
	Estimates Need = iota
	// Plans of agents with a planning budget, also to goals that are taken for others.
	Plans
	// WholePlans of agents that plan by A* to the goal, without a budget.
	WholePlans
	// Distances to the goals near the observed plan: boltzmann with value optimal.
	Distances
	// States are all that can be reached: boltzmann with value on_policy.
	States
)

// NeedOf is the need of a parameter set.
func NeedOf(set *model.ParameterSet) Need {
	m, _ := model.ByName(set.Model)
	value, exact := set.Get("value")
	switch {
	case exact && value.Word == "heuristic":
		return Estimates
	case exact && value.Word == "optimal":
		return Distances
	case exact:
		return States
	case m.Has("budget_r"):
		return Plans
	}
	return WholePlans
}

// Limits say how far [Stimulus.Try] goes.
type Limits struct {
	States int // that can be reached, above which their values are not computed
	Nodes  int // that a search may draw before it is called long
}

// DefaultLimits are those of inference for the states; searches have no such limit.
var DefaultLimits = Limits{States: policy.MaxStates, Nodes: 100_000}

// LongSearchError is of a goal whose search without a budget goes beyond the limit. It can
// be done, and may take very long.
type LongSearchError struct {
	Goal  string
	Nodes int // of the limit
}

func (e *LongSearchError) Error() string {
	return fmt.Sprintf("no plan to %q is found in the first %s nodes of A*", e.Goal, words.Thousands(e.Nodes))
}

// planBudget is that of the search that is tried for an agent with a budget.
const planBudget = 100

// Try makes what inference makes for parameter sets of a need: the grounded tasks,
// heuristics of all goals, and a search for each candidate goal, or all states. Distances
// beyond the limit of states are searched for. The error
// says why that cannot be made, or is that of ctx, if it ends before. It keeps what models
// of the same need share, and of the states nothing.
func (s *Stimulus) Try(ctx context.Context, need Need, limits Limits) error {
	switch need {
	case Estimates:
		observer, err := s.Boltzmann()
		if err != nil {
			return err
		}
		return observer.Estimate()
	case States:
		return s.tryStates(ctx, limits.States)
	case Distances:
		many := s.tryStates(ctx, limits.States)
		if !errors.Is(many, policy.ErrTooLarge) {
			return many
		}
		observer, err := s.Boltzmann()
		if err != nil {
			return err
		}
		if err := observer.Search(ctx); !errors.Is(err, policy.ErrTooLarge) {
			return err
		}
		return many
	}
	path, err := s.observed(ctx)
	if err != nil {
		return err
	}
	o := search.Options{Budget: planBudget}
	if need == WholePlans {
		o.Budget = limits.Nodes
	}
	return s.trySearches(ctx, path.Goals, path.Task.Initial(), o, need == WholePlans)
}

// trySearches searches for each candidate goal from a state, by A*.
func (s *Stimulus) trySearches(ctx context.Context, goals agent.Goals, from ground.StateID, o search.Options, whole bool) error {
	searcher := search.New(s.path.Task)
	for goal := range s.stimulus.Goals {
		rng := rand.New(rand.NewPCG(1, uint64(goal)))
		result, err := searcher.Run(ctx, &search.Query{From: from, Goal: goal, Heuristic: goals.Heuristic[goal], Options: o}, rng)
		if err != nil {
			return err
		}
		if whole && result.Status == search.Spent {
			return &LongSearchError{s.stimulus.Goals[goal].Name, o.Budget}
		}
	}
	return nil
}

// tryStates counts the states that can be reached.
func (s *Stimulus) tryStates(ctx context.Context, limit int) error {
	task, err := s.stimulus.Task()
	if err != nil {
		return err
	}
	if unread := task.Unread(); len(unread) > 0 {
		return &pddl.Error{Pos: unread[0].Pos, Message: fmt.Sprintf("%s makes every state a new one, without end", unread[0])}
	}
	complete, err := task.Count(ctx, limit)
	if err != nil {
		return err
	}
	if !complete {
		return policy.TooManyStates(limit)
	}
	return nil
}
