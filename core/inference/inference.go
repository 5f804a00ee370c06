// Package inference computes cells: what an observer with given parameters
// infers about the goal of a stimulus. Read [Stimulus] first.
package inference

import (
	"fmt"

	"foible/core/policy"
	"foible/core/study"
	"foible/core/sweep"
)

// Stimulus is a stimulus made ready for any number of parameter sets, which
// share its grounded task, states and values. Safe for concurrent use.
type Stimulus struct {
	boltzmann *policy.Observer
}

// New grounds a stimulus. The heuristic is the domain's; nil if it has none.
func New(s *study.Stimulus, h policy.HeuristicFunc) (*Stimulus, error) {
	task, err := s.Task()
	if err != nil {
		return nil, err
	}
	boltzmann, err := policy.NewObserver(task, s.Plan, h)
	if err != nil {
		return nil, fmt.Errorf("stimulus %s: %w", s.ID, err)
	}
	return &Stimulus{boltzmann: boltzmann}, nil
}

// Infer computes a cell. The error is of the stimulus or of parameters that
// cannot be used; what a model cannot explain is in the cell.
func (s *Stimulus) Infer(set *sweep.ParameterSet) (sweep.Cell, error) {
	if set.Model != "boltzmann" {
		return sweep.Cell{}, fmt.Errorf("no inference for model %q", set.Model)
	}
	p, err := s.boltzmann.Posterior(policy.Parameters{
		Alpha:       set.Alpha.Number,
		Value:       policy.Value(set.Value.Word),
		Unreachable: set.UnreachableValue.Number,
	})
	if err != nil {
		return sweep.Cell{}, fmt.Errorf("%s: %w", set, err)
	}
	cell := sweep.Cell{Posterior: p.Goals, UnreachableFrom: p.UnreachableFrom}
	if p.Undefined != nil {
		cell.Undefined = &sweep.Undefined{Step: p.Undefined.Step, Reason: p.Undefined.Reason}
	}
	return cell, nil
}
