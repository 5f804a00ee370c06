// Package inference computes cells: what an observer with given parameters infers about the
// goal of a stimulus, step by step. [Stimulus] is the entry. There are three methods:
//
//   - Boltzmann agents are inferred exactly; see package policy.
//   - Package sips is Sequential Inverse Plan Search, the particle filter of Alanqary et
//     al. (2021).
//   - Package marginal computes the same posterior without particles, by a recursion over
//     the steps at which the agent plans anew.
//
// [Stimulus.Simulate] runs the agents themselves.
package inference

import (
	"context"
	"fmt"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/heuristic"
	"foible.dev/foible/core/inference/internal/observed"
	"foible.dev/foible/core/inference/marginal"
	"foible.dev/foible/core/inference/sips"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/policy"
	"foible.dev/foible/core/search"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
)

// Domain is what inference needs to know of a domain, and how its states are observed.
type Domain struct {
	// Heuristics makes the heuristic of a goal, by its index in the task.
	Heuristics func(t *ground.Task) (func(goal int) (*heuristic.Table, error), error)
	// Admissible: they never overestimate.
	Admissible bool
	// Goal is the goal language: the PDDL text of a goal's name.
	Goal func(name string, p *pddl.Problem) (string, error)
	// Corruptions are the goals that an agent may take a goal for; nil for none.
	Corruptions func(goal string) []string
	// CorruptionCount is how many these are; nil as Corruptions.
	CorruptionCount func(goal string) int
	// PredicateNoise and FluentNoise are those of the observation.
	PredicateNoise, FluentNoise float64
}

// Stimulus is a stimulus made ready for any number of parameter sets, which
// share its grounded task, states and heuristic values. Not safe for concurrent use.
type Stimulus struct {
	stimulus  *study.Stimulus
	domain    Domain
	boltzmann *policy.Observer    // nil until needed
	path      *observed.Path      // nil until needed
	filter    *sips.Filter        // nil until needed
	estimates []*heuristic.Table  // of the goals of path
	goalNames []string            // of the task of path, by index
	runs      runs                // of filter
	marginal  *marginal.Inference // nil until needed
	memory    int                 // for its samples, in bytes; 0 is its default
	simulator *simulator          // nil until needed

	// Why something cannot be made for this stimulus; nil as long as that is not known.
	// It is not tried again for each parameter set.
	noBoltzmann, noPath error
}

// New makes a stimulus ready. What a model needs is made when it is first asked for.
func New(s *study.Stimulus, d Domain) *Stimulus { return &Stimulus{stimulus: s, domain: d} }

// Boltzmann is the exact observer of a Boltzmann agent.
func (s *Stimulus) Boltzmann() (*policy.Observer, error) {
	if s.boltzmann == nil && s.noBoltzmann == nil {
		s.boltzmann, s.noBoltzmann = s.makeBoltzmann()
	}
	return s.boltzmann, s.noBoltzmann
}

func (s *Stimulus) makeBoltzmann() (*policy.Observer, error) {
	task, err := s.stimulus.Task()
	if err != nil {
		return nil, err
	}
	o, err := policy.NewObserver(task, s.stimulus.Plan, s.domain.values())
	if err != nil {
		return nil, fmt.Errorf("stimulus %s: %w", s.stimulus.ID, err)
	}
	if s.domain.Admissible {
		o.Bound(s.domain.Heuristics)
	}
	return o, nil
}

// values are the heuristics as a Boltzmann agent takes them; nil if there are none.
func (d *Domain) values() policy.HeuristicFunc {
	if d.Heuristics == nil {
		return nil
	}
	var of func(goal int) (*heuristic.Table, error) // made by the first goal
	return func(t *ground.Task, goal int) (func(ground.StateID) float64, error) {
		if of == nil {
			var err error
			if of, err = d.Heuristics(t); err != nil {
				return nil, err
			}
		}
		table, err := of(goal)
		if err != nil {
			return nil, err
		}
		return table.Value, nil
	}
}

// observed is the plan as an observer of boundedly rational agents sees it. Its task has the
// candidate goals first, and then those that they can be confused with. The error is of the
// stimulus, or that of ctx, if it ends before.
func (s *Stimulus) observed(ctx context.Context) (*observed.Path, error) {
	if s.path != nil || s.noPath != nil {
		return s.path, s.noPath
	}
	path, err := s.observe(ctx)
	switch {
	case err == nil:
		s.path = path
	case ctx.Err() == nil:
		s.noPath = err
	}
	return path, err
}

func (s *Stimulus) observe(ctx context.Context) (*observed.Path, error) {
	switch {
	case s.stimulus.Problem == nil:
		return nil, fmt.Errorf("stimulus %s has no problem", s.stimulus.ID)
	case len(s.stimulus.Goals) == 0:
		return nil, fmt.Errorf("stimulus %s: no goals to infer", s.stimulus.ID)
	case s.domain.Heuristics == nil:
		return nil, fmt.Errorf("stimulus %s: the domain has no heuristic", s.stimulus.ID)
	}
	var formulas []pddl.Formula
	var names []string
	index := map[string]int{}
	for i, g := range s.stimulus.Goals {
		formulas, names = append(formulas, g.Formula), append(names, g.Name)
		index[g.Name] = i
	}
	goals := agent.Goals{Corrupt: make([][]int, len(formulas))}
	if s.domain.Corruptions != nil && s.Confusable() == nil {
		for i, g := range s.stimulus.Goals {
			for _, name := range s.domain.Corruptions(g.Name) {
				at, ok := index[name]
				if !ok {
					if err := ctx.Err(); err != nil {
						return nil, err
					}
					formula, err := s.goal(name)
					if err != nil {
						return nil, fmt.Errorf("stimulus %s: goal %q may be taken for %q: %w", s.stimulus.ID, g.Name, name, err)
					}
					at = len(formulas)
					index[name] = at
					formulas, names = append(formulas, formula), append(names, name)
				}
				goals.Corrupt[i] = append(goals.Corrupt[i], at)
			}
		}
	}
	task, err := ground.New(s.stimulus.Problem, formulas)
	if err != nil {
		return nil, fmt.Errorf("stimulus %s: %w", s.stimulus.ID, err)
	}
	of, err := s.domain.Heuristics(task)
	if err != nil {
		return nil, fmt.Errorf("stimulus %s: heuristic: %w", s.stimulus.ID, err)
	}
	goals.Heuristic, s.estimates = make([]search.Heuristic, len(formulas)), nil
	for goal := range formulas {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		table, err := of(goal)
		if err != nil {
			return nil, fmt.Errorf("stimulus %s: heuristic: %w", s.stimulus.ID, err)
		}
		goals.Heuristic[goal], s.estimates = table, append(s.estimates, table)
	}
	s.goalNames = names
	return observed.Follow(task, goals, len(s.stimulus.Goals), s.stimulus.Plan), nil
}

// Filter is the particle filter over boundedly rational agents. The error is of the
// stimulus, or that of ctx, if it ends before.
func (s *Stimulus) Filter(ctx context.Context) (*sips.Filter, error) {
	if s.filter == nil {
		path, err := s.observed(ctx)
		if err != nil {
			return nil, err
		}
		s.filter = sips.New(path)
	}
	return s.filter, nil
}

// recursion is marginal inference about boundedly rational agents. Errors are those of Filter.
func (s *Stimulus) recursion(ctx context.Context) (*marginal.Inference, error) {
	if s.marginal == nil {
		path, err := s.observed(ctx)
		if err != nil {
			return nil, err
		}
		s.marginal = marginal.New(path, s.stimulus.ID, s.goalNames, s.memory)
	}
	return s.marginal, nil
}

// Remember bounds the memory for what marginal inference has sampled, in bytes:
// parameter sets of a search noise that comes again then find it. Of sips, runs are
// remembered, in a few megabytes, for a cell that comes again with more of them. It is to be
// called before the first inference.
func (s *Stimulus) Remember(bytes int) { s.memory = bytes }

// MostConfusions bounds the goals that a goal may be taken for: the orders of seven letters.
// Plans are made for each of them.
const MostConfusions = 5040

// ConfusionsError is of a goal that may be taken for too many others.
type ConfusionsError struct {
	Goal  string
	Count int // of goals that it may be taken for
}

func (e *ConfusionsError) Error() string {
	return fmt.Sprintf("goal %q may be taken for %s, more than %s: leave goals unconfused (goal_noise 0, or goal-lesioned), or shorten it",
		e.Goal, words.Count(e.Count, "goal"), words.Thousands(MostConfusions))
}

// Confusions is the candidate goal that may be taken for the most goals, and their number; 0
// where goals are never taken for others.
func (s *Stimulus) Confusions() (goal string, count int) {
	if s.domain.CorruptionCount == nil {
		return "", 0
	}
	for _, g := range s.stimulus.Goals {
		if n := s.domain.CorruptionCount(g.Name); n > count {
			goal, count = g.Name, n
		}
	}
	return goal, count
}

// Confusable is a [*ConfusionsError] if a goal may be taken for more than MostConfusions. An
// agent that confuses goals can then not be used; others can.
func (s *Stimulus) Confusable() error {
	if goal, count := s.Confusions(); count > MostConfusions {
		return &ConfusionsError{goal, count}
	}
	return nil
}

// agent is the boundedly rational agent of a parameter set, if the stimulus can be used with it.
func (s *Stimulus) agent(set *model.ParameterSet, in sweep.Inference) (agent.Parameters, error) {
	p, err := Agent(set, in)
	if err == nil && p.GoalNoise > 0 {
		if err := s.Confusable(); err != nil {
			return p, fmt.Errorf("stimulus %s: %w", s.stimulus.ID, err)
		}
	}
	return p, err
}

func (s *Stimulus) goal(name string) (pddl.Formula, error) {
	text, err := s.domain.Goal(name, s.stimulus.Problem)
	if err != nil {
		return nil, err
	}
	return pddl.ParseGoal(name, []byte(text), s.stimulus.Problem)
}
