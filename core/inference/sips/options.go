package sips

import (
	"fmt"
	"math"
)

// Options of Sequential Inverse Plan Search (Zhi-Xuan et al. 2020; Alanqary et
// al. 2021), a particle filter over what an agent has in mind.
type Options struct {
	// ParticlesPerGoal, of every candidate goal at the beginning.
	ParticlesPerGoal int
	// Exact pins the state to the observed one; otherwise a particle has a state
	// of its own, which is seen with noise.
	Exact bool
	// PerGoal runs one filter for each goal and compares goals by evidence, so
	// that no goal can die by resampling.
	PerGoal bool
	// Resample is when a filter is resampled, before a step.
	Resample Occasion
	// Threshold of the effective sample size, as a part of the particles.
	Threshold float64
	// Kind of resampling.
	Kind Resampling
	// Rejuvenate is the Metropolis-Hastings move that follows a resampling.
	Rejuvenate Move
	// PredicateNoise is the probability that a fact is seen flipped.
	PredicateNoise float64
	// FluentNoise is the standard deviation of a numeric fluent as seen.
	FluentNoise float64
}

// Occasion of resampling.
type Occasion string

const (
	ESS    Occasion = "ess"    // when the effective sample size is below the threshold
	Always Occasion = "always" // before every step
	Never  Occasion = "never"
)

// DefaultOptions are the paper's.
func DefaultOptions() Options {
	return Options{ParticlesPerGoal: 100, Resample: ESS, Threshold: 0.25, Kind: Residual, Rejuvenate: NoMove}
}

// Validate says what is out of range.
func (o *Options) Validate() error {
	switch {
	case o.ParticlesPerGoal < 1:
		return fmt.Errorf("particles_per_goal %d is below 1", o.ParticlesPerGoal)
	case o.Resample != ESS && o.Resample != Always && o.Resample != Never:
		return fmt.Errorf("resample %q; it can be ess, always, never", string(o.Resample))
	case o.Kind != Residual && o.Kind != Systematic && o.Kind != Multinomial:
		return fmt.Errorf("resample kind %q; it can be residual, systematic, multinomial", string(o.Kind))
	case !(o.Threshold >= 0 && o.Threshold <= 1):
		return fmt.Errorf("threshold %v is not in [0, 1]", o.Threshold)
	case o.Rejuvenate != NoMove && o.Rejuvenate != Replan && o.Rejuvenate != ChangeGoal && o.Rejuvenate != Mixed:
		return fmt.Errorf("rejuvenate %q; it can be none, replan, goal, mixed", string(o.Rejuvenate))
	}
	return o.validateNoise()
}

func (o *Options) validateNoise() error {
	switch {
	case !(o.PredicateNoise >= 0 && o.PredicateNoise < 1):
		return fmt.Errorf("predicate_noise %v is not in [0, 1)", o.PredicateNoise)
	case !(o.FluentNoise >= 0) || math.IsInf(o.FluentNoise, 1):
		return fmt.Errorf("fluent_noise %v is not a number from 0", o.FluentNoise)
	}
	return nil
}
