package sips

import (
	"context"
	"math"
	"math/rand/v2"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/ground"
)

// particle is a hypothesis: what the agent had in mind when it acted last, and
// where it came to.
type particle struct {
	agent.Mind
	at    ground.StateID
	trace *trace // of all that it had in mind; kept for rejuvenation only
}

// population is the particles of one filter.
type population struct {
	first, goals int // its candidate goals
	particles    []particle
	spare        []particle // buffer of resampling
	weights      Weights    // normalized, unless dead
	evidence     float64    // natural logarithm, of all steps so far
	dead         bool       // every weight is 0
}

// filtering is one run of a filter. In a step a particle thinks, at the state that it has come to,
// and acts. So it thinks after a resampling, and children of one parent think
// each for itself.
type filtering struct {
	*Filter
	agent       *agent.Agent
	o           Options
	rng         *rand.Rand
	populations []population
	resampler   resampler
	path        []ground.StateID // buffer of rejuvenation
}

// begin makes the particles, stratified over the candidate goals.
func begin(s *Filter, a *agent.Agent, o Options, rng *rand.Rand) *filtering {
	f := &filtering{
		Filter: s, agent: a, o: o, rng: rng,
		resampler: resampler{kind: o.Kind},
	}
	goals := s.Candidates // of a population
	if o.PerGoal {
		goals = 1
	}
	for first := 0; first < s.Candidates; first += goals {
		p := population{first: first, goals: goals}
		for goal := first; goal < first+goals; goal++ {
			for range o.ParticlesPerGoal {
				p.particles = append(p.particles, particle{Mind: agent.Begin(goal), at: s.States[0]})
			}
		}
		p.weights = make(Weights, len(p.particles))
		p.weights.Equalize()
		f.populations = append(f.populations, p)
	}
	return f
}

// evidence is the natural logarithm of the probability of all steps so far; the
// goals are equally probable before.
func (f *filtering) evidence() float64 {
	all := make(Weights, len(f.populations))
	for i := range f.populations {
		all[i] = f.populations[i].evidence
	}
	return all.logSum() - math.Log(float64(len(all)))
}

// step takes a population from step k-1 to k. The error is that of ctx, if it ends before.
func (f *filtering) step(ctx context.Context, p *population, k int) error {
	if p.dead {
		return nil
	}
	if f.o.Resample == Always || f.o.Resample == ESS && p.weights.EffectiveSize() < f.o.Threshold*float64(len(p.weights)) {
		if err := f.resample(ctx, p, k-1); err != nil {
			return err
		}
	}
	f.moves += len(p.particles)
	for i := range p.particles {
		if math.IsInf(p.weights[i], -1) {
			continue
		}
		if i%particlesBetween == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		q := &p.particles[i]
		if _, err := f.agent.Think(ctx, &q.Mind, q.at, f.rng); err != nil {
			return err
		}
		f.remember(q)
		p.weights[i] += f.act(q, f.States[k])
	}
	sum := p.weights.Normalize()
	p.evidence += sum
	p.dead = math.IsInf(sum, -1)
	return nil
}

// particlesBetween is how many particles are moved between looks at a context.
const particlesBetween = 64

// act moves a particle, and returns ln of the probability of the move and of what
// is then observed, divided by the probability of its being proposed.
//
// The proposal is data-driven: mostly to the observed state, sometimes elsewhere,
// by actions in proportion to their probabilities.
func (f *filtering) act(q *particle, observed ground.StateID) float64 {
	matching := f.agent.Leading(&q.Mind, q.at, observed)
	if f.o.Exact {
		q.at = observed
		return math.Log(matching)
	}
	rest := 1 - matching
	if rest < 1e-12 { // rounding
		q.at = observed
		return math.Log(matching)
	}
	if matching == 0 {
		q.at = f.elsewhere(q, observed, rest)
		return f.likelihood(q.at, observed, &f.o)
	}
	if f.rng.Float64() < bulk {
		q.at = observed
		return math.Log(matching / bulk)
	}
	q.at = f.elsewhere(q, observed, rest)
	return math.Log(rest/(1-bulk)) + f.likelihood(q.at, observed, &f.o)
}

// bulk is the part of the proposal that leads to the observed state.
const bulk = 0.95

// elsewhere draws where a particle comes to, given that it is not the observed
// state, which has the probability rest.
func (f *filtering) elsewhere(q *particle, observed ground.StateID, rest float64) ground.StateID {
	u := f.rng.Float64() * rest
	to := q.at
	f.agent.Outcomes(&q.Mind, q.at, func(state ground.StateID, p float64) bool {
		if state == observed || p == 0 {
			return true
		}
		to = state // rounding may make it the last one
		u -= p
		return u >= 0
	})
	return to
}

// likelihood is ln of the probability of seeing one state as another, relative to
// seeing it as it is.
func (s *Filter) likelihood(at, observed ground.StateID, o *Options) float64 {
	if at == observed {
		return 0
	}
	facts, squares := s.Task.Difference(at, observed)
	var log float64
	if facts > 0 {
		log += float64(float64(facts) * (math.Log(o.PredicateNoise) - math.Log1p(-o.PredicateNoise)))
	}
	if squares > 0 {
		if o.FluentNoise == 0 {
			return math.Inf(-1)
		}
		log -= squares / (2 * o.FluentNoise * o.FluentNoise)
	}
	return log
}

// resample draws a population anew, and rejuvenates it. The error is that of ctx, if it
// ends before.
func (f *filtering) resample(ctx context.Context, p *population, k int) error {
	p.spare = p.spare[:0]
	for _, parent := range f.resampler.parents(p.weights, f.rng) {
		p.spare = append(p.spare, p.particles[parent])
	}
	p.particles, p.spare = p.spare, p.particles
	p.weights.Equalize()
	if f.o.Rejuvenate != NoMove && k > 0 {
		for i := range p.particles {
			if i%particlesBetween == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err := f.rejuvenate(ctx, p, &p.particles[i], k); err != nil {
				return err
			}
		}
	}
	return nil
}

// note adds a step to what the run found.
func (f *filtering) note(run *Run, evidence float64) {
	goals := make([]float64, f.Candidates)
	all := f.evidence() + math.Log(float64(len(f.populations)))
	var squares float64
	for i := range f.populations {
		p := &f.populations[i]
		if p.dead {
			continue
		}
		part := math.Exp(p.evidence - all)
		for j, w := range p.weights {
			goals[p.particles[j].Original] += float64(part * math.Exp(w))
		}
		squares += float64(part * part * p.weights.squares())
	}
	run.add(goals, evidence)
	run.ESS = append(run.ESS, 1/squares)
}
