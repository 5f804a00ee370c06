package marginal

import (
	"context"
	"fmt"
	"math/rand/v2"

	"foible/core/agent"
	"foible/core/inference/internal/kernel"
	"foible/core/inference/internal/observed"
	"foible/core/policy"
	"foible/core/sweep"
)

// Inference is a stimulus made ready for marginal inference. Its stages, each of which is
// kept for the parameter sets that follow as long as they share it:
//
//	samples   what searches found, by search noise (samples)
//	outcomes  E and D of every table, by budget
//	segments  N and L, by action noise
//	forward   F and Z, by goal noise
//
// Not safe for concurrent use.
type Inference struct {
	path     *observed.Path
	sampler  sampler
	seeds    func(stage string, tau, goal int, noise float64, seed uint64) [2]uint64
	steps    []observed.Action // each action that can be followed
	hidden   []observed.Hidden // by candidate goal
	far      *policy.Distances // nil until needed, or where there are too many states
	asked    bool              // for far
	keep     int               // how many events samples may have
	samples  []*samples        // most recently used first
	outcomes []*outcomes       // most recently used first
	segments *segments         // used last
	switches []switches        // [group of batches × candidate]
	forward  forward           // that ran last
	backward backward          // buffers
	results  [kernel.Noises]*result
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

// bytesPerEvent is the memory that an event takes.
const bytesPerEvent = 12

// New makes a stimulus ready. Samples depend on its id and the names of the goals of its
// task. They are kept for later parameter sets up to a number of bytes; 0 is 48 MiB.
func New(p *observed.Path, stimulus string, goals []string, bytes int) *Inference {
	m := &Inference{path: p, keep: maxEvents}
	if bytes > 0 {
		m.keep = bytes / bytesPerEvent
	}
	for i := range m.results {
		m.results[i] = &result{}
	}
	m.sampler.path, m.sampler.rng, m.sampler.thinFrom = p, rand.New(&m.sampler.pcg), thinFrom
	m.seeds = func(stage string, tau, goal int, noise float64, seed uint64) [2]uint64 {
		r := sweep.SampleStream(seed, stage, stimulus, tau, goals[goal], noise, 0)
		return [2]uint64{r.Uint64(), r.Uint64()}
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
func Names(p *agent.Parameters, q *sweep.Procedure) (samples, sizes, plans string) {
	return fmt.Sprint("search_noise ", p.SearchNoise, " unlimited ", p.Unlimited, " draws ", draws(p)), fmt.Sprint(familyOf(p, q)), fmt.Sprint(p.BudgetR, " ", p.BudgetQ)
}

// Cells infers parameter sets that are Together, at most MaxTogether, until the posteriors
// at the judged steps are as precise as the procedure asks for. The error is of parameters
// out of range, or that of ctx, if it ends before; the Inference is then of no more use.
func (m *Inference) Cells(ctx context.Context, ps []agent.Parameters, q *sweep.Procedure, seed uint64, judged []int) ([]sweep.Cell, error) {
	cells := make([]sweep.Cell, len(ps))
	err := m.converge(ctx, ps, q, seed, judged, func(i int, r *result) (err error) {
		cells[i], err = m.cell(ctx, &ps[i], r, judged, q)
		return err
	})
	return cells, err
}

// converge samples until the posteriors are as sure as asked for, of parameter sets that
// differ in their goal noises alone and are of one family, at most abreast. yield gets
// them in any order; its error ends the work. The error is also of parameters out of
// range, or that of ctx, if it ends before.
func (m *Inference) converge(ctx context.Context, ps []agent.Parameters, q *sweep.Procedure, seed uint64, judged []int, yield func(i int, r *result) error) error {
	for i := range ps {
		if err := ps[i].Validate(); err != nil {
			return err
		}
	}
	p := &ps[0]
	key := samplesKey{
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
	m.done.Posteriors += len(ps) * len(judged) * len(m.hidden) * q.Runs * q.Runs
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

// infer computes the evidence of parameter sets that differ in their goal noises alone,
// at most kernel.Noises, with samples up to some levels; right at named steps alone, if there
// are any. The results are left in some. The error is that of ctx, if it ends before.
func (m *Inference) infer(ctx context.Context, some []*result, s *samples, ps []agent.Parameters, at *levels, named []bool) error {
	l, err := m.segmentsFor(ctx, s, &ps[0], at)
	if err != nil {
		return err
	}
	candidates := len(m.hidden)
	var noises [kernel.Noises]float64
	for i := range ps {
		noises[i] = ps[i].GoalNoise
		some[i].begin(s.batches, candidates, len(m.steps)+1)
		some[i].samples = s.batches * searches(at.most(candidates), true)
	}
	for group := range l.of {
		first, n := group*kernel.Lanes, min(kernel.Lanes, s.batches-group*kernel.Lanes)
		for goal := range candidates {
			var o *switches
			if named != nil {
				if o, err = m.switchesFor(ctx, l, group, goal, named); err != nil {
					return err
				}
				m.done.Recursions += len(m.steps) * (1 + len(ps))
			} else {
				m.done.Recursions += len(m.steps) * (1 + len(m.hidden[goal].Goals))
			}
			if err := m.forward.run(ctx, &m.hidden[goal], l.of[group][goal], noises[:len(ps)], o); err != nil {
				return err
			}
			for i := range ps {
				r := some[i]
				for step := range r.evidence {
					if named == nil || named[step] {
						copy(r.evidence[step][goal][first:], m.forward.evidence[step][i][:n])
					}
					r.scale[step][group*candidates+goal] = m.forward.scale[step]
				}
			}
		}
	}
	for i := range ps {
		some[i].align(s.batches, candidates)
		if named == nil {
			continue
		}
		for step := range some[i].evidence {
			if named[step] && some[i].sum(step) < 1e-200 { // or none at all
				if err := m.infer(ctx, some[i:i+1], s, ps[i:i+1], at, nil); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// inferOne is infer of one parameter set, at all steps. The result is the caller's until the next call.
func (m *Inference) inferOne(ctx context.Context, s *samples, p *agent.Parameters, at *levels) (*result, error) {
	return m.results[0], m.infer(ctx, m.results[:1], s, []agent.Parameters{*p}, at, nil)
}

// rows are rows of zeros, side by side.
func rows(n, columns int) [][]float64 {
	flat := make([]float64, n*columns)
	all := make([][]float64, n)
	for i := range all {
		all[i] = flat[i*columns : (i+1)*columns : (i+1)*columns]
	}
	return all
}
