package inference

import (
	"context"
	"fmt"
	"iter"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/inference/marginal"
	"foible.dev/foible/core/inference/sips"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/random"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

// Infer computes a cell. The error is of the stimulus, of parameters that cannot be
// used, or that of ctx, if it ends before; what a model cannot explain is in the cell.
func (s *Stimulus) Infer(ctx context.Context, set *model.ParameterSet, p sweep.Procedure, seed uint64) (cell result.Cell, err error) {
	for cell, err = range s.InferAll(ctx, []model.ParameterSet{*set}, p, seed) {
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("%s: %w", set, err)
		}
	}
	return cell, err
}

// InferAll computes cells one after the other, as [Stimulus.Infer] does: for each parameter
// set there is either a cell or an error, which does not name the parameter set and would be
// the same if it were tried again. After the error of ctx there are no more. Parameter sets
// in a row that share most of the work are inferred together. A stimulus whose work was
// interrupted has forgotten what it had found, and can be used again.
func (s *Stimulus) InferAll(ctx context.Context, sets []model.ParameterSet, p sweep.Procedure, seed uint64) iter.Seq2[result.Cell, error] {
	return func(yield func(result.Cell, error) bool) {
		for len(sets) > 0 {
			cells, err := s.inferSome(ctx, sets, &p, seed)
			if ctx.Err() != nil { // tables may be half made
				s.forget()
				yield(result.Cell{}, ctx.Err())
				return
			}
			if err != nil && len(cells) > 1 { // one of them may be to blame: the first is inferred by itself
				cells, err = s.inferSome(ctx, sets[:1], &p, seed)
				if ctx.Err() != nil {
					continue
				}
			}
			if err != nil {
				if !yield(result.Cell{}, err) {
					return
				}
				sets = sets[1:]
				continue
			}
			for i := range cells {
				if !yield(cells[i], nil) {
					return
				}
			}
			sets = sets[len(cells):]
		}
	}
}

// forget gives up all that was made for inference; it is made anew when needed.
func (s *Stimulus) forget() {
	*s = Stimulus{stimulus: s.stimulus, domain: s.domain, memory: s.memory}
}

// inferSome computes the cells of the first parameter sets, one at least. With an error, the
// cells are those that were to be computed together, without content, or none.
func (s *Stimulus) inferSome(ctx context.Context, sets []model.ParameterSet, p *sweep.Procedure, seed uint64) ([]result.Cell, error) {
	var cell result.Cell
	var err error
	switch {
	case sets[0].Model == "boltzmann":
		cell, err = s.inferBoltzmann(ctx, &sets[0])
	case p.Method == sweep.Marginal:
		return s.inferMarginal(ctx, sets, p, seed)
	default:
		cell, err = s.inferSIPS(ctx, &sets[0], p, seed)
	}
	return []result.Cell{cell}, err
}

// inferSIPS computes a cell by runs of the particle filter.
func (s *Stimulus) inferSIPS(ctx context.Context, set *model.ParameterSet, p *sweep.Procedure, seed uint64) (result.Cell, error) {
	parameters, err := s.agent(set, p.Inference)
	if err != nil {
		return result.Cell{}, err
	}
	if p.Runs < 1 {
		return result.Cell{}, fmt.Errorf("%d runs of a model that is not exact", p.Runs)
	}
	filter, err := s.Filter(ctx)
	if err != nil {
		return result.Cell{}, err
	}
	o := sips.Options{
		ParticlesPerGoal: p.ParticlesPerGoal,
		Exact:            p.Observe == "exact",
		PerGoal:          p.Filters == "per_goal",
		Resample:         sips.Occasion(p.Resample),
		Threshold:        p.ResampleThreshold,
		Kind:             sips.Resampling(p.ResampleKind),
		Rejuvenate:       sips.Move(p.Rejuvenate),
		PredicateNoise:   s.domain.PredicateNoise,
		FluentNoise:      s.domain.FluentNoise,
	}
	of := runsOf{*set, o, p.StageName, seed}
	runs := s.runs.take(of)
	for i := len(runs); i < p.Runs; i++ {
		run, err := filter.Run(ctx, parameters, o, random.RunStream(seed, p.StageName, set, s.stimulus.ID, i))
		if err != nil {
			return result.Cell{}, err
		}
		runs = append(runs, run)
	}
	if s.memory > 0 {
		s.runs.keep(of, runs)
	}
	return sips.Average(runs[:p.Runs], s.stimulus.JudgementSteps), nil
}

// runsOf is what runs are of.
type runsOf struct {
	set   model.ParameterSet
	o     sips.Options
	stage string
	seed  uint64
}

// runs remembers the last ones, for a cell that is asked for again with more of them.
type runs struct {
	of   map[runsOf][]*sips.Run
	size int // bytes, about
}

// maxRunBytes bounds the runs remembered of a stimulus.
const maxRunBytes = 8 << 20

// take returns what is remembered, and forgets it.
func (r *runs) take(of runsOf) []*sips.Run {
	all := r.of[of]
	delete(r.of, of)
	r.size -= sizeOf(all)
	return all
}

// keep forgets all else if there is no room.
func (r *runs) keep(of runsOf, all []*sips.Run) {
	if size := sizeOf(all); r.of == nil || r.size+size > maxRunBytes {
		r.of, r.size = map[runsOf][]*sips.Run{}, 0
	}
	r.of[of] = all
	r.size += sizeOf(all)
}

func sizeOf(all []*sips.Run) (bytes int) {
	for _, run := range all {
		for _, row := range run.Posterior {
			bytes += 8*len(row) + 64
		}
	}
	return bytes
}

// inferMarginal computes the cells of the first parameter sets that are inferred together.
func (s *Stimulus) inferMarginal(ctx context.Context, sets []model.ParameterSet, p *sweep.Procedure, seed uint64) ([]result.Cell, error) {
	if p.Runs < 2 {
		return nil, fmt.Errorf("%d batches of samples; there must be 2, so that they tell the error", p.Runs)
	}
	var all []agent.Parameters
	for i := range sets[:min(len(sets), marginal.MaxTogether)] {
		one, err := s.agent(&sets[i], p.Inference)
		if i > 0 && (err != nil || !marginal.Together(&all[0], &one, p)) {
			break
		}
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	m, err := s.recursion(ctx)
	if err != nil {
		return nil, err
	}
	cells, err := m.Cells(ctx, &marginal.Request{Parameters: all, Procedure: p, Seed: seed, Judged: s.stimulus.JudgementSteps})
	if err != nil { // samples may be half made
		s.marginal = nil
	}
	return cells, err
}

func (s *Stimulus) inferBoltzmann(ctx context.Context, set *model.ParameterSet) (result.Cell, error) {
	o, err := s.Boltzmann()
	if err != nil {
		return result.Cell{}, err
	}
	post, err := o.Posterior(ctx, boltzmann(set))
	if err != nil {
		return result.Cell{}, err
	}
	cell := result.Cell{Posterior: post.Goals, UnreachableFrom: post.UnreachableFrom}
	if post.Undefined != nil {
		cell.Undefined = &result.Undefined{Step: post.Undefined.Step, Reason: post.Undefined.Reason}
	}
	return cell, nil
}

// Agent is the boundedly rational agent of a parameter set: the full one, or
// one that lacks what the model has no axis for.
func Agent(set *model.ParameterSet, in sweep.Inference) (agent.Parameters, error) {
	m, ok := model.ByName(set.Model)
	if !ok || set.Model == "boltzmann" {
		return agent.Parameters{}, fmt.Errorf("no boundedly rational agent for model %q", set.Model)
	}
	p := agent.Parameters{
		GoalNoise:   set.GoalNoise.Number,
		BudgetR:     int(set.BudgetR.Number),
		BudgetQ:     set.BudgetQ.Number,
		Unlimited:   !m.Has("budget_r"),
		SearchNoise: set.SearchNoise.Number,
		ActionNoise: set.ActionNoise.Number,
	}
	switch in.ActionNoiseKind {
	case "total":
		p.Kind = agent.Total
	case "per_action_odds":
		p.Kind = agent.PerActionOdds
	default:
		return p, fmt.Errorf("unknown action_noise_kind %q", in.ActionNoiseKind)
	}
	return p, p.Validate()
}
