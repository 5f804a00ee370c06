package marginal

import (
	"context"
	"fmt"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/inference/internal/kernel"
	"foible.dev/foible/core/inference/internal/observed"
	"foible.dev/foible/core/inference/internal/samples"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

// Inference is a stimulus made ready for marginal inference. Its stages, each
// kept for the parameter sets that follow as long as they share it:
//
//	samples   what searches found, by search noise (package samples)
//	outcomes  E and D of every table, by budget
//	segments  N and L, by action noise
//	forward   F and Z, by goal noise
//
// Not safe for concurrent use.
type Inference struct {
	path   *observed.Path
	steps  []observed.Action // each action that can be followed
	hidden []observed.Hidden // by candidate goal

	store    *samples.Store
	levels   map[*samples.Samples]map[family]*levels // of what the store keeps
	outcomes []*outcomes                             // most recently used first
	segments *segments                               // used last
	switches []switches                              // [group of batches × candidate]
	forward  forward                                 // that ran last
	backward backward                                // buffers
	results  [kernel.Noises]*setResult
	done     Counts
}

// Counts say how often inference has done what it takes its time for.
type Counts struct {
	Events     int // of tables, weighed with a budget
	Recursions int // forward and backward: a step and a hidden goal, or with switches a goal noise, for a group of batches
	Posteriors int // at a step: a goal, a batch, and a batch without which it is formed
}

// Counts since the stimulus was made ready.
func (m *Inference) Counts() Counts { return m.done }

// New makes a stimulus ready. Samples depend on its id and the names of the goals of its
// task. They are kept for later parameter sets up to a number of bytes; 0 is 48 MiB.
func New(p *observed.Path, stimulus string, goals []string, bytes int) *Inference {
	m := &Inference{path: p, store: samples.New(p, stimulus, goals), levels: map[*samples.Samples]map[family]*levels{}}
	if bytes > 0 {
		m.store.SetMemory(bytes)
	}
	for i := range m.results {
		m.results[i] = &setResult{}
	}
	for step := 1; step < len(p.States); step++ {
		m.steps = append(m.steps, p.Action(step))
	}
	for goal := range p.Candidates {
		m.hidden = append(m.hidden, p.Hidden(goal))
	}
	return m
}

// MaxTogether is how many parameter sets Cells infers together.
const MaxTogether = kernel.Noises

// Together reports whether two parameter sets are best inferred together: they differ only
// in their goal noises, and belong to a large sweep, where few of them need samples of their own.
func Together(a, b *agent.Parameters, q *sweep.Procedure) bool {
	other := *b
	other.GoalNoise = a.GoalNoise
	return q.Detail == sweep.DetailJudged && other == *a && a.GoalNoise > 0 && b.GoalNoise > 0 && familyOf(a, q) == familyOf(b, q)
}

// Names say which cells share work; see inference.Work.
func Names(p *agent.Parameters, q *sweep.Procedure) (searches, sizes, plans string) {
	return fmt.Sprint("search_noise ", p.SearchNoise, " unlimited ", p.Unlimited, " draws ", samples.Draws(p)), fmt.Sprint(familyOf(p, q)), fmt.Sprint(p.BudgetR, " ", p.BudgetQ)
}

// Request asks for cells.
type Request struct {
	// Parameters are inferred together; see [Together]. At most MaxTogether.
	Parameters []agent.Parameters
	Procedure  *sweep.Procedure
	Seed       uint64
	Judged     []int // judgement steps
}

// Cells computes a cell for each parameter set of a request, until the posteriors at the
// judgement steps are as precise as its procedure asks for. The error is of parameters out of
// range, or that of ctx, if it ends before; the Inference is then of no more use.
func (m *Inference) Cells(ctx context.Context, r *Request) ([]result.Cell, error) {
	cells := make([]result.Cell, len(r.Parameters))
	err := m.converge(ctx, r, func(i int, found *setResult) (err error) {
		cells[i], err = m.cell(ctx, r, i, found)
		return err
	})
	return cells, err
}

// converge computes results that are as precise as asked for. yield gets them in any
// order; its error ends the work.
func (m *Inference) converge(ctx context.Context, r *Request, yield func(i int, found *setResult) error) error {
	for i := range r.Parameters {
		if err := r.Parameters[i].Validate(); err != nil {
			return err
		}
	}
	q, p := r.Procedure, &r.Parameters[0]
	s := m.samplesFor(samples.Key{
		Stage: q.StageName, Seed: r.Seed, Noise: p.SearchNoise, Unlimited: p.Unlimited, Draws: samples.Draws(p), Batches: q.Runs,
		OffPath: q.Detail == sweep.DetailMistakes,
	})
	goal := precision{se: q.PosteriorSE, mcse: q.MCSE, judged: r.Judged, slack: 1, part: 1}
	var named []bool
	if q.Detail == sweep.DetailJudged {
		goal.slack = sweep.ClearlyUnsure * sweep.ClearlyUnsure
		named = make([]bool, len(m.steps)+1)
		for _, step := range r.Judged {
			if step < len(named) {
				named[step] = true
			}
		}
	}
	at, err := m.levelsFor(ctx, s, p, q, goal)
	if err != nil {
		return err
	}
	if err := m.infer(ctx, m.results[:], &evidenceRequest{s, r.Parameters, at, named}); err != nil {
		return err
	}
	m.done.Posteriors += len(r.Parameters) * len(r.Judged) * len(m.hidden) * q.Runs * q.Runs
	var unsure []int
	for i := range r.Parameters {
		if found := m.results[i]; !goal.met(found) {
			unsure = append(unsure, i)
		} else if err := yield(i, found); err != nil {
			return err
		}
	}
	part := 1.0
	if named != nil {
		part = sweep.UnsureTo
	}
	for _, i := range unsure {
		refined, err := m.refine(ctx, &evidenceRequest{s, r.Parameters[i : i+1], at, nil}, goal.times(part))
		if err != nil {
			return err
		}
		if err := m.infer(ctx, m.results[:1], &evidenceRequest{s, r.Parameters[i : i+1], refined, named}); err != nil {
			return err
		}
		if err := yield(i, m.results[0]); err != nil {
			return err
		}
	}
	return nil
}

// samplesFor finds samples in the store, or makes them. What belongs to samples that the
// store then gives up is given up too.
func (m *Inference) samplesFor(key samples.Key) *samples.Samples {
	s, dropped := m.store.For(key)
	for _, old := range dropped {
		delete(m.levels, old)
	}
	if m.levels[s] == nil { // they are new
		m.levels[s] = map[family]*levels{}
		m.outcomes, m.segments = nil, nil // they may be made of what is gone
	}
	return s
}

// evidenceRequest asks for the evidence of parameter sets that differ only in their goal noises.
type evidenceRequest struct {
	samples    *samples.Samples
	parameters []agent.Parameters // at most kernel.Noises
	levels     *levels
	named      []bool // [step]: the evidence is only needed here; nil for every step
}

// infer computes the evidence, and leaves it in the first results. It is right at named
// steps only, if there are any. The error is that of ctx, if it ends before.
func (m *Inference) infer(ctx context.Context, results []*setResult, r *evidenceRequest) error {
	l, err := m.segmentsFor(ctx, r.samples, &r.parameters[0], r.levels)
	if err != nil {
		return err
	}
	candidates := len(m.hidden)
	for i := range r.parameters {
		results[i].reset(r.samples.Batches, candidates, len(m.steps)+1)
		results[i].samples = r.samples.Batches * samples.BatchSearches(r.levels.max(candidates), true)
	}
	for group := range l.at {
		for candidate := range candidates {
			if err := m.inferGroup(ctx, results, r, l, place{group: group, candidate: candidate}); err != nil {
				return err
			}
		}
	}
	for i := range r.parameters {
		results[i].align(r.samples.Batches, candidates)
		if r.named != nil && results[i].vanishes(r.named) {
			one := &evidenceRequest{r.samples, r.parameters[i : i+1], r.levels, nil}
			if err := m.infer(ctx, results[i:i+1], one); err != nil {
				return err
			}
		}
	}
	return nil
}

// inferGroup computes the evidence for one candidate and a group of batches.
func (m *Inference) inferGroup(ctx context.Context, results []*setResult, r *evidenceRequest, l *segments, at place) error {
	h := &m.hidden[at.candidate]
	var s *switches
	if r.named != nil {
		var err error
		if s, err = m.switchesFor(ctx, l, at, r.named); err != nil {
			return err
		}
		m.done.Recursions += len(m.steps) * (1 + len(r.parameters))
	} else {
		m.done.Recursions += len(m.steps) * (1 + len(h.Goals))
	}
	var noises [kernel.Noises]float64
	for i := range r.parameters {
		noises[i] = r.parameters[i].GoalNoise
	}
	if err := m.forward.run(ctx, h, l.at[at.group][at.candidate], noises[:len(r.parameters)], s); err != nil {
		return err
	}
	first := at.group * kernel.Lanes
	n := min(kernel.Lanes, r.samples.Batches-first)
	for i := range r.parameters {
		found := results[i]
		for step := range found.evidence {
			if r.named == nil || r.named[step] {
				copy(found.evidence[step][at.candidate][first:], m.forward.evidence[step][i][:n])
			}
			found.scale[step][at.group*len(m.hidden)+at.candidate] = m.forward.scale[step]
		}
	}
	return nil
}

// inferOne is infer for one parameter set, at all steps. The result is good until the next call.
func (m *Inference) inferOne(ctx context.Context, s *samples.Samples, p *agent.Parameters, at *levels) (*setResult, error) {
	return m.results[0], m.infer(ctx, m.results[:1], &evidenceRequest{s, []agent.Parameters{*p}, at, nil})
}

// rows are rows of zeros, side by side in memory.
func rows(n, columns int) [][]float64 {
	flat := make([]float64, n*columns)
	all := make([][]float64, n)
	for i := range all {
		all[i] = flat[i*columns : (i+1)*columns : (i+1)*columns]
	}
	return all
}
