// Package sips is Sequential Inverse Plan Search (Zhi-Xuan et al. 2020; Alanqary et al.
// 2021): a particle filter over what a boundedly rational agent has in mind. [Filter.Exact]
// enumerates what the filter samples, for tests.
package sips

import (
	"context"
	"math"
	"math/rand/v2"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/inference/internal/observed"
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
	Undefined *observed.Undefined
}

// Filter is the particle filter for an observed path: any parameters, any number of runs.
// Not safe for concurrent use.
type Filter struct {
	*observed.Path
	moves int // of particles, in all runs so far
}

// New makes a filter ready.
func New(path *observed.Path) *Filter { return &Filter{Path: path} }

// Moves counts how often a particle was moved on by a step, in all runs so far.
func (s *Filter) Moves() int { return s.moves }

// Run filters once. The error is of parameters or options out of range, or that of
// ctx, if it ends before.
func (s *Filter) Run(ctx context.Context, p agent.Parameters, o Options, rng *rand.Rand) (*Run, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	a, err := agent.New(s.Task, &s.Goals, s.Search, p)
	if err != nil {
		return nil, err
	}
	f := begin(s, a, o, rng)
	run := &Run{Undefined: s.Impossible}
	f.note(run, 0)
	for k := 1; k < len(s.States); k++ {
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
func (s *Filter) ranOut(k int, p *agent.Parameters, o *Options) *observed.Undefined {
	of := s.Support(k, p)
	if noisy := !o.Exact && (o.PredicateNoise > 0 || o.FluentNoise > 0); noisy && of == observed.NoSupport {
		of = observed.UnknownSupport
	}
	return s.Vanished(k, of, "no particle is left", "more particles or marginal inference may find it")
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
