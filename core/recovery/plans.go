package recovery

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/random"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// Stimulus is a simulated trajectory, to be judged as those of the study are.
type Stimulus struct {
	ID             string
	Source         int                 // stimulus of the study whose problem it is
	Agent          *model.ParameterSet // that acted
	Goal           int                 // that it had, of the study's stimulus
	Reached        bool                // the agent satisfied its goal
	Plan           string              // an action a line, mistakes as comments
	Actions        int
	JudgementSteps []int
}

// Bounds of a trajectory: it ends after this many times the steps of the study's
// plan, and one with fewer actions is thrown away and simulated anew.
const (
	longer       = 2
	leastActions = 2
	attempts     = 100
)

// Agents say who acts, and how often.
type Agents struct {
	Sets      []model.ParameterSet // those of a model next to each other
	Inference sweep.Inference      // that says how their action noise is meant
	Times     int                  // on each problem
	Seed      uint64
}

// Simulate lets agents of known settings act on the problems of a study. Models take turns in a random order, and so do the parameter sets of a
// model and the goals of a problem, so that each acts about as often as any other.
// Judgement steps are where the study has them, in parts of the plan. ready makes
// a stimulus of the study ready for inference. The error is also that of ctx, if it ends before.
func Simulate(ctx context.Context, st *study.Study, ready func(i int) (*inference.Stimulus, error), a *Agents) ([]Stimulus, error) {
	models := modelsOf(a.Sets)
	actors := deal(len(models), a.Times*len(st.Stimuli), random.RecoveryStream(a.Seed, "models", "agents", 0))
	settings := make([]func() int, len(models)) // of each model, one after the other
	for m, model := range models {
		rng := random.RecoveryStream(a.Seed, "settings of agents", model.Name, 0)
		settings[m] = turns(model.End-model.First, rng)
	}
	var all []Stimulus
	for i := range st.Stimuli {
		of := &st.Stimuli[i]
		stimulus, err := ready(i)
		if err != nil {
			return nil, err
		}
		goals := deal(len(of.Goals), a.Times, random.RecoveryStream(a.Seed, "goals", of.ID, 0))
		for k := range a.Times {
			m := actors[len(all)]
			set := &a.Sets[models[m].First+settings[m]()]
			s := Stimulus{ID: fmt.Sprintf("%s-t%d", of.ID, k+1), Source: i, Agent: set, Goal: goals[k]}
			if err := s.act(ctx, stimulus, of, a.Inference, random.RecoveryStream(a.Seed, "agent", of.ID, k)); err != nil {
				return nil, fmt.Errorf("stimulus %s: %w", of.ID, err)
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// act simulates the agent until its plan is long enough.
func (s *Stimulus) act(ctx context.Context, stimulus *inference.Stimulus, of *study.Stimulus, in sweep.Inference, rng *rand.Rand) error {
	for range attempts {
		t, err := stimulus.Simulate(ctx, &inference.Simulation{Set: s.Agent, Inference: in, Goal: s.Goal, Steps: longer * len(of.Plan)}, rng)
		if err != nil {
			return err
		}
		if n := t.Tally().Actions; n >= leastActions {
			s.Plan, s.Actions, s.Reached = t.Plan(), n, t.Reached
			s.JudgementSteps = placed(of.JudgementSteps, len(of.Plan), n)
			return nil
		}
	}
	return errors.New(s.Agent.String() + " does not move; leave it out, or keep the plans of the study")
}

// placed are judgement steps of a plan of one length in a plan of another, each
// once.
func placed(steps []int, from, to int) []int {
	var out []int
	for _, step := range steps {
		at := step
		if from > 0 {
			at = int(math.Round(float64(step) * float64(to) / float64(from)))
		}
		if n := len(out); n == 0 || out[n-1] != at {
			out = append(out, at)
		}
	}
	return out
}

// deal gives n numbers below kinds, each as often as any other but for one time.
func deal(kinds, n int, rng *rand.Rand) []int {
	next := turns(kinds, rng)
	out := make([]int, n)
	for i := range out {
		out[i] = next()
	}
	return out
}

// turns gives the numbers below n in a random order, and then again in another.
func turns(n int, rng *rand.Rand) func() int {
	var left []int
	return func() int {
		if len(left) == 0 {
			left = rng.Perm(n)
		}
		next := left[0]
		left = left[1:]
		return next
	}
}

// modelsOf are the models of parameter sets, in their order.
func modelsOf(sets []model.ParameterSet) []sweep.ModelSets {
	var models []sweep.ModelSets
	for i := range sets {
		if n := len(models); n == 0 || models[n-1].Name != sets[i].Model {
			models = append(models, sweep.ModelSets{Name: sets[i].Model, First: i})
		}
		models[len(models)-1].End = i + 1
	}
	return models
}
