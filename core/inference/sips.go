package inference

import (
	"fmt"
	"math"
	"math/rand/v2"

	"foible/core/agent"
	"foible/core/ground"
	"foible/core/pddl"
	"foible/core/search"
)

// Options of Sequential Inverse Plan Search (Zhi-Xuan et al. 2020; Alanqary et
// al. 2021), a particle filter over what an agent has in mind.
type Options struct {
	ParticlesPerGoal int
	// Exact pins the state to the observed one; otherwise a particle's state is
	// seen through Observation.
	Exact bool
	// PerGoal runs one filter for each goal and compares goals by evidence, so
	// that no goal can die by resampling.
	PerGoal bool
	// Resample is when a filter is resampled: below Threshold, always, or never.
	Resample Occasion
	// Threshold of the effective sample size, as a part of the particles.
	Threshold float64
	// Kind of resampling.
	Kind Resampling
	// Rejuvenate is which Metropolis-Hastings move follows a resampling.
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
	case !(o.PredicateNoise >= 0 && o.PredicateNoise < 1):
		return fmt.Errorf("predicate_noise %v is not in [0, 1)", o.PredicateNoise)
	case !(o.FluentNoise >= 0) || math.IsInf(o.FluentNoise, 1):
		return fmt.Errorf("fluent_noise %v is not a number from 0", o.FluentNoise)
	}
	return nil
}

// bulk is the part of the proposal that leads to the observed state.
const bulk = 0.95

// Run is what one run of the filter found, by step from 0. It is shorter than
// the plan where Undefined is set.
type Run struct {
	Posterior [][]float64 // [step][goal]
	// Evidence is the logarithm of the estimated probability of each step given
	// those before, 0 at step 0. A state seen as it is counts as 1, so that
	// noise of the observation lowers it by the ratio to that.
	Evidence []float64
	ESS      []float64 // effective sample size before resampling, over all filters
	Alive    []int     // goals that some particle of a weight above 0 has
	// Undefined is set if all weights vanished, or the plan cannot be followed.
	Undefined *Undefined
}

// Undefined says from which step on there is no posterior, and why.
type Undefined struct {
	Step   int
	Reason string
}

// SIPS is a stimulus made ready for the filter: any agent, any number of runs.
// Not safe for concurrent use.
type SIPS struct {
	task     *ground.Task
	goals    agent.Goals
	original int              // the first so many goals are the candidates
	states   []ground.StateID // observed, as far as the plan can be followed
	steps    []pddl.Step
	search   *search.Searcher
	failed   *Undefined
}

// NewSIPS follows a plan through a task whose first `original` goals are the
// candidates. A plan that cannot be followed gives posteriors up to there.
func NewSIPS(t *ground.Task, goals agent.Goals, original int, plan []pddl.Step) *SIPS {
	s := &SIPS{task: t, goals: goals, original: original, steps: plan, search: search.New(t)}
	states, _, err := t.Validate(plan)
	s.states = states
	if err != nil {
		k := len(states)
		s.failed = &Undefined{Step: k, Reason: fmt.Sprintf("impossible at step %d, action %v", k, plan[k-1])}
	}
	return s
}

// particle is a hypothesis: what the agent has in mind, and where it is.
type particle struct {
	agent.Mind
	at    ground.StateID
	trace *trace // how it came here; kept only for rejuvenation
}

// population is the particles of one filter.
type population struct {
	particles []particle
	spare     []particle // room for resampling
	weights   Weights    // normalized, unless dead
	evidence  float64    // logarithm, of all steps so far
	dead      bool       // every weight is 0
}

// filter is one run.
type filter struct {
	*SIPS
	agent       *agent.Agent
	o           Options
	rng         *rand.Rand
	populations []population
	parents     []int32
	flip        float64 // ln of the odds that a fact is seen flipped
}

// Run filters once. The error is of parameters or options out of range.
func (s *SIPS) Run(p agent.Parameters, o Options, rng *rand.Rand) (*Run, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	a, err := agent.New(s.task, &s.goals, s.search, p)
	if err != nil {
		return nil, err
	}
	f := &filter{SIPS: s, agent: a, o: o, rng: rng, flip: math.Log(o.PredicateNoise) - math.Log1p(-o.PredicateNoise)}
	f.begin()
	run := &Run{Undefined: s.failed}
	f.note(run, 0, 0)
	for k := 1; k < len(s.states); k++ {
		before := f.evidence()
		for i := range f.populations {
			f.step(&f.populations[i], k)
		}
		after := f.evidence()
		if math.IsInf(after, -1) {
			run.Undefined = &Undefined{Step: k, Reason: fmt.Sprintf("zero probability at step %d, action %v", k, s.steps[k-1])}
			return run, nil
		}
		f.note(run, k, after-before)
	}
	return run, nil
}

// begin makes the particles, stratified over the candidate goals.
func (f *filter) begin() {
	n := f.o.ParticlesPerGoal
	each := f.original // goals of a population
	if f.o.PerGoal {
		each = 1
	}
	for first := 0; first < f.original; first += each {
		p := population{particles: make([]particle, 0, n*each), weights: make(Weights, n*each)}
		for goal := first; goal < first+each; goal++ {
			for range n {
				m := f.agent.Begin(goal, f.states[0], f.rng)
				p.particles = append(p.particles, particle{Mind: m, at: f.states[0], trace: f.trace(nil, m, f.states[0])})
			}
		}
		for i := range p.weights {
			p.weights[i] = -math.Log(float64(len(p.weights)))
		}
		f.populations = append(f.populations, p)
	}
}

// evidence is the logarithm of the probability of all steps so far: goals are
// equally probable before.
func (f *filter) evidence() float64 {
	all := make(Weights, len(f.populations))
	for i := range f.populations {
		all[i] = f.populations[i].evidence
	}
	return all.logSum() - math.Log(float64(len(all)))
}

// step takes a population from step k-1 to k.
func (f *filter) step(p *population, k int) {
	if p.dead {
		return
	}
	if f.o.Resample == Always || f.o.Resample == ESS && p.weights.EffectiveSize() < f.o.Threshold*float64(len(p.weights)) {
		f.resample(p, k-1)
	}
	for i := range p.particles {
		q := &p.particles[i]
		if math.IsInf(p.weights[i], -1) {
			continue
		}
		var by float64
		if f.o.Exact {
			by = f.moveExactly(q, k)
		} else {
			by = f.move(q, k)
		}
		if p.weights[i] += by; math.IsInf(p.weights[i], -1) {
			continue
		}
		f.agent.Think(&q.Mind, q.at, f.rng)
		q.trace = f.trace(q.trace, q.Mind, q.at)
	}
	sum := p.weights.Normalize()
	p.evidence += sum
	p.dead = math.IsInf(sum, -1)
}

// moveExactly puts a particle into the observed state: the probability of all
// actions that lead there is its weight.
func (f *filter) moveExactly(q *particle, k int) float64 {
	q.at = f.states[k]
	return math.Log(f.leading(&q.Mind, f.states[k-1], f.states[k]))
}

// leading is the probability that an agent at one state acts so that it comes to another.
func (f *filter) leading(m *agent.Mind, from, to ground.StateID) float64 {
	successors := f.task.Successors(from)
	intended := m.Intended()
	var p float64
	for _, s := range successors {
		if s.State == to {
			p += f.agent.Probability(s.Operator, intended, len(successors))
		}
	}
	if from == to {
		p += f.agent.Probability(agent.Noop, intended, len(successors))
	}
	return p
}

// move proposes an action: mostly one that leads to the observed state, sometimes
// another one, each in proportion to its probability. The weight is the ratio of
// probability to proposal, times the likelihood of the observation.
func (f *filter) move(q *particle, k int) float64 {
	observed := f.states[k]
	matching := f.leading(&q.Mind, q.at, observed)
	match := matching > 0
	ratio := matching
	if rest := 1 - matching; match && rest > 1e-12 {
		if match = f.rng.Float64() < bulk; match {
			ratio = matching / bulk
		} else {
			ratio = rest / (1 - bulk)
		}
	} else if !match {
		ratio = 1
	}
	if match {
		q.at = observed
		return math.Log(ratio)
	}
	q.at = f.wander(q, observed)
	return math.Log(ratio) + f.likelihood(q.at, observed)
}

// wander draws an action that does not lead to the observed state, in proportion to its probability.
func (f *filter) wander(q *particle, observed ground.StateID) ground.StateID {
	successors := f.task.Successors(q.at)
	intended := q.Intended()
	rest := 1 - f.leading(&q.Mind, q.at, observed)
	u := f.rng.Float64() * rest
	to := q.at
	for _, s := range successors {
		if s.State == observed {
			continue
		}
		p := f.agent.Probability(s.Operator, intended, len(successors))
		if p == 0 {
			continue
		}
		to = s.State
		if u -= p; u < 0 {
			return to
		}
	}
	if q.at != observed && f.agent.Probability(agent.Noop, intended, len(successors)) > 0 {
		return q.at
	}
	return to // rounding: the last possible one
}

// likelihood of seeing one state as another, relative to seeing it as it is.
func (f *filter) likelihood(at, observed ground.StateID) float64 {
	if at == observed {
		return 0
	}
	facts, squares := f.task.Difference(at, observed)
	var log float64
	if facts > 0 {
		log += float64(float64(facts) * f.flip)
	}
	if squares > 0 {
		if f.o.FluentNoise == 0 {
			return math.Inf(-1)
		}
		log -= squares / (2 * f.o.FluentNoise * f.o.FluentNoise)
	}
	return log
}

// resample draws a population anew, and rejuvenates it.
func (f *filter) resample(p *population, k int) {
	f.parents = f.o.Kind.parents(p.weights, f.rng, f.parents)
	p.spare = p.spare[:0]
	for _, parent := range f.parents {
		p.spare = append(p.spare, p.particles[parent])
	}
	p.particles, p.spare = p.spare, p.particles
	for i := range p.weights {
		p.weights[i] = -math.Log(float64(len(p.weights)))
	}
	if f.o.Rejuvenate != NoMove {
		for i := range p.particles {
			f.rejuvenate(&p.particles[i], k)
		}
	}
}

// note adds a step to what the run found.
func (f *filter) note(run *Run, k int, evidence float64) {
	posterior := make([]float64, f.original)
	all := f.evidence() + math.Log(float64(len(f.populations)))
	var ess float64
	for i := range f.populations {
		p := &f.populations[i]
		if p.dead {
			continue
		}
		part := math.Exp(p.evidence - all)
		for j, w := range p.weights {
			posterior[p.particles[j].Original] += float64(part * math.Exp(w))
		}
		ess += p.weights.EffectiveSize()
	}
	alive := 0
	var sum float64
	for _, x := range posterior {
		sum += x
		if x > 0 {
			alive++
		}
	}
	for goal := range posterior {
		posterior[goal] /= sum
	}
	run.Posterior = append(run.Posterior, posterior)
	run.Evidence = append(run.Evidence, evidence)
	run.ESS = append(run.ESS, ess)
	run.Alive = append(run.Alive, alive)
}
