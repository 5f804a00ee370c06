package inference

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"foible/core/agent"
	"foible/core/ground"
	"foible/core/policy"
	"foible/core/sweep"
)

// Marginal is a stimulus made ready for marginal inference: the posterior of SIPS
// with observed states taken as known, by a forward recursion over the steps at
// which the agent plans anew. All that matters of a plan is how it meets the
// actions observed after it, and that is what searches are sampled for. Given the
// tables of samples nothing else is random; the evidence is unbiased, since no
// history uses a table twice. Not safe for concurrent use.
type Marginal struct {
	sips    *SIPS
	sampler sampler
	seeds   func(stage string, tau, goal int, noise float64, seed uint64) [2]uint64
	steps   []observation     // of each action that can be followed
	hidden  []hidden          // by candidate goal
	far     *policy.Distances // nil until needed, or where there are too many states
	asked   bool              // for far

	keep     int       // events of stores
	stores   []*store  // most recently used first
	plans    []*plans  // used last, latest first
	links    *links    // used last
	origins  []origins // [group of lanes x candidate]
	room     recursion
	backward backward
	results  [abreast]*result
	done     counts
}

// observation is an action as an observer sees it, who knows the states alone.
type observation struct {
	actions  int // available
	leading  int // how many of them lead to the state observed
	standing bool
}

// hidden are the goals that an agent with a candidate goal may pursue: that goal
// itself and what it may be taken for.
type hidden struct {
	goals []int     // in the task; the candidate first
	share []float64 // of each among what the candidate is taken for; sums to 1, or all 0 if it is never confused
}

// store has the samples of a stage of a sweep for one search noise.
type store struct {
	storeKey
	of       [][]*sampled       // [goal][tau]; nil as long as not asked for
	size     int                // events
	expected []event            // of a search for a goal that another one may be taken for
	levels   map[family]*levels // with which inference begins
}

type storeKey struct {
	stage     string
	seed      uint64
	noise     float64
	unlimited bool
	draws     int // of the longest searches
	batches   int
	stray     bool
}

// roomForEvents bounds the samples kept for later parameter sets, of a stimulus: 12
// bytes each.
const roomForEvents = 4 << 20

// NewMarginal makes marginal inference ready. Samples depend on the stimulus's id.
func NewMarginal(s *SIPS, stimulus string, names []string) *Marginal {
	m := &Marginal{sips: s, keep: roomForEvents}
	for i := range m.results {
		m.results[i] = &result{}
	}
	m.sampler.sips, m.sampler.rng, m.sampler.thinFrom = s, rand.New(&m.sampler.pcg), thinFrom
	m.seeds = func(stage string, tau, goal int, noise float64, seed uint64) [2]uint64 {
		r := sweep.SampleStream(seed, stage, stimulus, tau, names[goal], noise, 0)
		return [2]uint64{r.Uint64(), r.Uint64()}
	}
	for step := 1; step < len(s.states); step++ {
		m.steps = append(m.steps, s.observe(step))
	}
	for goal := range s.candidates {
		m.hidden = append(m.hidden, newHidden(goal, s.goals.Corrupt[goal]))
	}
	return m
}

func newHidden(goal int, corrupt []int) hidden {
	h := hidden{goals: []int{goal}, share: []float64{0}}
	at := map[int]int{goal: 0}
	for _, c := range corrupt {
		i, ok := at[c]
		if !ok {
			i = len(h.goals)
			at[c] = i
			h.goals, h.share = append(h.goals, c), append(h.share, 0)
		}
		h.share[i] += 1 / float64(len(corrupt))
	}
	return h
}

// chances are the probabilities of an observed action by what the agent intended.
type chances struct {
	match float64 // what leads to the state observed
	other float64 // what leads elsewhere
	stay  float64 // to stay put
	// slipped is the part of match and of stay that is slips nevertheless: another action that leads to the same state.
	slippedMatch, slippedStay float64
}

func (o *observation) chances(p *agent.Parameters) chances {
	acting, staying := p.Chances(o.actions, false), p.Chances(o.actions, true)
	stands := 0.0
	if o.standing {
		stands = 1
	}
	c := chances{
		other: float64(float64(o.leading)*acting.Other) + float64(stands*acting.Noop),
		stay:  float64(float64(o.leading)*staying.Other) + float64(stands*staying.Intended),
	}
	if o.leading > 0 {
		slips := float64(float64(o.leading-1)*acting.Other) + float64(stands*acting.Noop)
		c.match = acting.Intended + slips
		if c.match > 0 {
			c.slippedMatch = slips / c.match
		}
	}
	if c.stay > 0 {
		c.slippedStay = float64(float64(o.leading)*staying.Other) / c.stay
	}
	return c
}

// samplesFor finds or makes the store of samples.
func (m *Marginal) samplesFor(key storeKey) *store {
	for i, s := range m.stores {
		if s.storeKey == key {
			copy(m.stores[1:i+1], m.stores[:i])
			m.stores[0] = s
			return s
		}
	}
	s := &store{storeKey: key, of: make([][]*sampled, len(m.sips.task.Goals)), expected: expected(key.unlimited), levels: map[family]*levels{}}
	m.stores = append([]*store{s}, m.stores...)
	size := 0
	for i, s := range m.stores {
		if size += s.size; size > m.keep && i > 0 {
			m.stores = m.stores[:i]
			break
		}
	}
	m.plans, m.links = nil, nil // they may be of what is gone
	return s
}

// table finds or makes a table, sampled up to a level. The error is that of ctx, if it
// ends before.
func (m *Marginal) table(ctx context.Context, s *store, tau, goal, level int) (*sampled, error) {
	if s.of[goal] == nil {
		s.of[goal] = make([]*sampled, len(m.steps))
	}
	t := s.of[goal][tau]
	if t == nil {
		t = &sampled{original: goal < m.sips.candidates, seed: m.seeds(s.stage, tau, goal, s.noise, s.seed)}
		if s.stray {
			var err error
			if t.stray, err = m.stray(ctx, tau, goal); err != nil {
				return nil, err
			}
		}
		s.of[goal][tau] = t
	}
	return t, m.sampler.reach(ctx, s, t, tau, goal, level)
}

// stray says of a plan from the state after tau actions whether it ends off every
// shortest path to a goal; nil where that is not known. The error is that of ctx, if it
// ends before.
func (m *Marginal) stray(ctx context.Context, tau, goal int) (func(to ground.StateID, length int) bool, error) {
	if !m.asked {
		far, err := policy.NewDistances(ctx, m.sips.task, sweep.PathStates)
		if err != nil && !errors.Is(err, policy.ErrTooLarge) {
			return nil, err
		}
		m.asked, m.far = true, far
	}
	if m.far == nil {
		return nil, nil
	}
	to, err := m.far.To(ctx, goal)
	if err != nil {
		return nil, err
	}
	before := to(m.sips.states[tau])
	if before < 0 { // no plan is any good
		return nil, nil
	}
	return func(end ground.StateID, length int) bool {
		after := to(end)
		return after < 0 || length+after > before
	}, nil
}

// draws that searches need for a budget; one for an unlimited one, of which the end alone counts.
func draws(p *agent.Parameters) int {
	if p.Unlimited {
		return 1
	}
	n := leastLong
	for p.Budget().AtLeast(n+1) > negligibleTail {
		n *= 2
	}
	return n
}

// result of marginal inference.
type result struct {
	// evidence is [step][goal][batch]: the probability of the actions so far, times
	// exp(-shift[step]).
	evidence [][][]float64
	shift    []float64
	samples  int
	// What follows from it, by step, once it is asked for; and room.
	posteriors []posterior
	scale      [][]int // [step][group of lanes x goal]: of evidence before it is brought to one
}

// posterior over goals at a step, and without each of the batches that leave any.
type posterior struct {
	known   bool
	none    bool // there is no posterior
	all     []float64
	without [][]float64 // [batch][goal]
	left    int         // so many rows of without are in use
}

// begin makes room for a result of so many batches, goals and steps.
func (r *result) begin(batches, goals, steps int) {
	if len(r.evidence) == 0 || len(r.evidence[0][0]) != batches {
		*r = result{shift: make([]float64, steps), evidence: make([][][]float64, steps), scale: make([][]int, steps), posteriors: make([]posterior, steps)}
		for step := range r.evidence {
			r.evidence[step], r.scale[step] = rows(goals, batches), make([]int, groups(batches)*goals)
			r.posteriors[step] = posterior{all: make([]float64, goals), without: rows(batches, goals)}
		}
	}
	for step := range r.posteriors {
		r.posteriors[step].known = false
	}
}

// align brings the evidence of a step to one scale.
func (r *result) align(batches, goals int) {
	for step, scales := range r.scale {
		least := slices.Min(scales)
		r.shift[step] = -float64(least) * math.Ln2
		for i, scale := range scales {
			if scale == least {
				continue
			}
			group, goal := i/goals, i%goals
			for b := group * lanes; b < min((group+1)*lanes, batches); b++ {
				r.evidence[step][goal][b] = math.Ldexp(r.evidence[step][goal][b], least-scale)
			}
		}
	}
}

// converge samples until the posteriors are as sure as asked for, of parameter sets that
// differ in their goal noises alone and are of one family, at most abreast. yield gets
// them in any order; its error ends the work. The error is also of parameters out of
// range, or that of ctx, if it ends before.
func (m *Marginal) converge(ctx context.Context, ps []agent.Parameters, q *sweep.Procedure, seed uint64, judged []int, yield func(i int, r *result) error) error {
	for i := range ps {
		if err := ps[i].Validate(); err != nil {
			return err
		}
	}
	p := &ps[0]
	key := storeKey{
		stage: q.StageName, seed: seed, noise: p.SearchNoise, unlimited: p.Unlimited, draws: draws(p), batches: q.Runs,
		stray: q.Detail == sweep.DetailMistakes,
	}
	s := m.samplesFor(key)
	at, err := m.levelsFor(ctx, s, p, q, judged)
	if err != nil {
		return err
	}
	var named []bool
	if q.Detail == sweep.DetailJudged {
		named = make([]bool, len(m.steps)+1)
		for _, step := range judged {
			if step < len(named) {
				named[step] = true
			}
		}
	}
	if err := m.infer(ctx, m.results[:], s, ps, at, named); err != nil {
		return err
	}
	m.done.posteriors += len(ps) * len(judged) * len(m.hidden) * q.Runs * q.Runs
	var unsure []int
	for i := range ps {
		if r := m.results[i]; !r.sure(judged, q) {
			unsure = append(unsure, i)
		} else if err := yield(i, r); err != nil {
			return err
		}
	}
	margin := 1.0
	if named != nil {
		margin = sweep.UnsureTo
	}
	for _, i := range unsure {
		refined, err := m.refine(ctx, s, &ps[i], at, q, judged, margin)
		if err != nil {
			return err
		}
		if err := m.infer(ctx, m.results[:1], s, ps[i:i+1], refined, named); err != nil {
			return err
		}
		if err := yield(i, m.results[0]); err != nil {
			return err
		}
	}
	return nil
}

// sum of the evidence at a step.
func (r *result) sum(step int) (sum float64) {
	for _, by := range r.evidence[step] {
		for _, e := range by {
			sum += e
		}
	}
	return sum
}

// ofR is the variance of the probabilities, on average, by that of r, over some ten
// stimuli: a rule of thumb from the published grids. A worker has one stimulus and so
// cannot know; the score of all says what the error of r came to.
const ofR = 25

// sure reports whether the standard errors at the judgement steps are as small as
// asked for: of every probability, and of all together so that r's is.
//
// The errors are of a few batches and so uncertain themselves. Where a sweep is so
// large that the samples must do as the probes have sized them, only clear cases
// count as unsure.
func (r *result) sure(judged []int, q *sweep.Procedure) bool {
	slack := 1.0
	if q.Detail == sweep.DetailJudged {
		slack = sweep.ClearlyUnsure * sweep.ClearlyUnsure
	}
	var squares, n float64
	for _, step := range judged {
		if step >= len(r.evidence) {
			break
		}
		_, without := r.posterior(step)
		for goal := range r.evidence[step] {
			v := jackknife(without, goal)
			if v > slack*q.PosteriorSE*q.PosteriorSE {
				return false
			}
			squares += v
			n++
		}
	}
	return n == 0 || squares/n <= slack*ofR*q.MCSE*q.MCSE
}

// posterior over goals at a step, and without each of the batches that leave any;
// nil if there is none. They are good as long as the result.
func (r *result) posterior(step int) (all []float64, without [][]float64) {
	p := &r.posteriors[step]
	if !p.known {
		p.find(r.evidence[step])
	}
	if p.none {
		return nil, nil
	}
	return p.all, p.without[:p.left]
}

// find makes the posterior from evidence, [goal][batch].
func (p *posterior) find(evidence [][]float64) {
	for goal, by := range evidence {
		var sum float64
		for _, e := range by {
			sum += e
		}
		p.all[goal] = max(0, sum)
	}
	p.left = 0
	for batch := range p.without {
		one := p.without[p.left]
		for goal, by := range evidence {
			var sum float64
			for i, e := range by {
				if i != batch {
					sum += e
				}
			}
			one[goal] = sum
		}
		if normalize(one) {
			p.left++
		}
	}
	p.known, p.none = true, !normalize(p.all)
}

func normalize(p []float64) bool {
	var sum float64
	for _, x := range p {
		sum += x
	}
	if sum <= 0 {
		return false
	}
	for i := range p {
		p[i] /= sum
	}
	return true
}

// jackknife is the variance of a goal's probability.
func jackknife(without [][]float64, goal int) float64 {
	return jackknifed(len(without), func(i int) float64 { return without[i][goal] })
}

// jackknifed is the variance of a statistic by its values without each one of n
// batches (Quenouille, Tukey), which are near their mean; 0 for fewer than two.
func jackknifed(n int, without func(i int) float64) float64 {
	if n < 2 {
		return 0
	}
	var mean, squares float64
	for i := range n {
		mean += without(i) / float64(n)
	}
	for i := range n {
		d := without(i) - mean
		squares += float64(d * d)
	}
	return squares * float64(n-1) / (near * near * float64(n))
}

// cell is what a sweep keeps of a result. The error is that of ctx, if it ends before.
func (m *Marginal) cell(ctx context.Context, p *agent.Parameters, r *result, judged []int, q *sweep.Procedure) (sweep.Cell, error) {
	cell := sweep.Cell{Samples: r.samples, Judged: q.Detail == sweep.DetailJudged}
	if m.sips.impossible != nil {
		cell.Undefined = &sweep.Undefined{Step: m.sips.impossible.Step, Reason: m.sips.impossible.Reason}
	}
	steps := len(r.evidence)
	for step := range r.evidence {
		if cell.Judged && !slices.Contains(judged, step) || r.sum(step) > 0 {
			continue
		}
		if cell.Judged { // an earlier step may be the first
			if err := m.infer(ctx, []*result{r}, m.links.plans.store, []agent.Parameters{*p}, m.links.plans.levels, nil); err != nil {
				return sweep.Cell{}, err
			}
			for step = 0; r.sum(step) > 0; step++ {
			}
		}
		steps = step
		u := m.sips.vanished(step, m.sips.support(step, p), "no sampled plan explains what is seen", "the samples are too few to show it")
		cell.Undefined = &sweep.Undefined{Step: u.Step, Reason: u.Reason}
		break
	}
	var kept, asked []int // steps
	for step := range steps {
		isJudged := slices.Contains(judged, step)
		if isJudged {
			asked = append(asked, step)
		}
		if isJudged || !cell.Judged {
			kept = append(kept, step)
		}
	}
	batches, goals := q.Runs, len(m.hidden)
	cell.Posterior = rows(len(kept), goals)
	if !cell.Judged {
		cell.SE, cell.LogEvidence = rows(len(kept), goals), rows(len(kept), goals)
	}
	runs := make([]float64, batches*len(asked)*goals)
	complete := true
	for at, step := range kept {
		all, without := r.posterior(step)
		m.done.posteriors += goals * batches * batches
		copy(cell.Posterior[at], all)
		total := 0.0
		for goal, by := range r.evidence[step] {
			sum := 0.0
			for _, e := range by {
				sum += e
			}
			total += sum
			if !cell.Judged {
				cell.SE[at][goal] = math.Sqrt(jackknife(without, goal))
				cell.LogEvidence[at][goal] = math.Log(max(0, sum)/float64(batches)) + r.shift[step]
			}
		}
		cell.Evidence = append(cell.Evidence, math.Log(total/float64(batches*goals))+r.shift[step])
		judgement := slices.Index(asked, step)
		if judgement < 0 {
			continue
		}
		if complete = complete && len(without) == batches; !complete {
			continue // without one batch there is nothing left: no jackknife
		}
		for i := range batches {
			row := runs[(i*len(asked)+judgement)*goals:]
			for goal, p := range all {
				row[goal] = p + float64(float64(batches-1)/near*(p-without[i][goal]))
			}
		}
	}
	if complete {
		cell.Runs = sweep.NewRuns(runs, len(asked), goals)
	}
	if q.Detail == sweep.DetailMistakes {
		var err error
		if cell.Mistakes, err = m.mistakes(ctx, p, steps); err != nil {
			return sweep.Cell{}, err
		}
	}
	return cell, nil
}
