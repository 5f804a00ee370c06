package inference

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"foible/core/agent"
	"foible/core/ground"
	"foible/core/pddl"
	"foible/core/search"
)

// Run is what one run of the filter found, by step from 0. It is shorter than
// the plan where Undefined is set.
type Run struct {
	Posterior [][]float64 // [step][goal]
	// Evidence is the logarithm of the estimated probability of each step given
	// those before, 0 at step 0. A state seen as it is counts as 1, so that
	// noise of the observation lowers it by the ratio to that.
	Evidence []float64
	ESS      []float64 // effective sample size before resampling, of all particles; nil if exact
	Alive    []int     // candidate goals with a posterior above 0
	// Undefined is set if all particles lost their weight, or the plan cannot be followed.
	Undefined *Undefined
}

// Undefined says from which step on there is no posterior, and why.
type Undefined struct {
	Step   int
	Reason string
}

// SIPS is a stimulus made ready for inference about a boundedly rational agent:
// any parameters, any number of runs. Not safe for concurrent use.
type SIPS struct {
	task       *ground.Task
	goals      agent.Goals
	candidates int              // the first so many goals
	states     []ground.StateID // observed, as far as the plan can be followed
	steps      []pddl.Step
	search     *search.Searcher
	impossible *Undefined // the step from which the plan cannot be followed
	moves      int        // of particles, in all runs so far
}

// NewSIPS follows a plan through a task whose first goals are the candidates. A
// plan that cannot be followed gives posteriors up to there.
func NewSIPS(t *ground.Task, goals agent.Goals, candidates int, plan []pddl.Step) *SIPS {
	s := &SIPS{task: t, goals: goals, candidates: candidates, steps: plan, search: search.New(t)}
	states, _, err := t.Validate(plan)
	s.states = states
	if err != nil {
		k := len(states)
		s.impossible = &Undefined{Step: k, Reason: fmt.Sprintf("impossible at step %d, action %v", k, plan[k-1])}
	}
	return s
}

// Run filters once. The error is of parameters or options out of range, or that of
// ctx, if it ends before.
func (s *SIPS) Run(ctx context.Context, p agent.Parameters, o Options, rng *rand.Rand) (*Run, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	a, err := agent.New(s.task, &s.goals, s.search, p)
	if err != nil {
		return nil, err
	}
	f := newFilter(s, a, o, rng)
	run := &Run{Undefined: s.impossible}
	f.note(run, 0)
	for k := 1; k < len(s.states); k++ {
		before := f.evidence()
		for i := range f.populations {
			if err := f.step(ctx, &f.populations[i], k); err != nil {
				return nil, err
			}
		}
		after := f.evidence()
		if math.IsInf(after, -1) {
			run.Undefined = s.ranOut(k, &p, &o)
			return run, nil
		}
		f.note(run, after-before)
	}
	return run, nil
}

// ranOut says that all particles have lost their weight at step k. With noise in what is
// observed, other states than those seen may explain it.
func (s *SIPS) ranOut(k int, p *agent.Parameters, o *Options) *Undefined {
	of := s.support(k, p)
	if noisy := !o.Exact && (o.PredicateNoise > 0 || o.FluentNoise > 0); noisy && of == noSupport {
		of = unknownSupport
	}
	return s.vanished(k, of, "no particle is left", "more particles or marginal inference may find it")
}

// add adds a step to what a run found. The weights of the goals need not sum to 1.
func (r *Run) add(goals []float64, evidence float64) {
	var sum float64
	alive := 0
	for _, x := range goals {
		if sum += x; x > 0 {
			alive++
		}
	}
	posterior := make([]float64, len(goals))
	for i, x := range goals {
		posterior[i] = x / sum
	}
	r.Posterior = append(r.Posterior, posterior)
	r.Evidence = append(r.Evidence, evidence)
	r.Alive = append(r.Alive, alive)
}
