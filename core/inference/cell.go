package inference

import (
	"context"
	"fmt"
	"iter"
	"math"

	"foible/core/agent"
	"foible/core/sweep"
)

// Infer computes a cell. The error is of the stimulus, of parameters that cannot be
// used, or that of ctx, if it ends before; what a model cannot explain is in the cell.
func (s *Stimulus) Infer(ctx context.Context, set *sweep.ParameterSet, p sweep.Procedure, seed uint64) (cell sweep.Cell, err error) {
	for cell, err = range s.InferAll(ctx, []sweep.ParameterSet{*set}, p, seed) {
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
func (s *Stimulus) InferAll(ctx context.Context, sets []sweep.ParameterSet, p sweep.Procedure, seed uint64) iter.Seq2[sweep.Cell, error] {
	return func(yield func(sweep.Cell, error) bool) {
		for len(sets) > 0 {
			cells, err := s.inferSome(ctx, sets, &p, seed)
			if ctx.Err() != nil { // tables may be half made
				s.forget()
				yield(sweep.Cell{}, ctx.Err())
				return
			}
			if err != nil && len(cells) > 1 { // one of them may be to blame: the first is inferred alone
				cells, err = s.inferSome(ctx, sets[:1], &p, seed)
				if ctx.Err() != nil {
					continue
				}
			}
			if err != nil {
				if !yield(sweep.Cell{}, err) {
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
func (s *Stimulus) inferSome(ctx context.Context, sets []sweep.ParameterSet, p *sweep.Procedure, seed uint64) ([]sweep.Cell, error) {
	var cell sweep.Cell
	var err error
	switch {
	case sets[0].Model == "boltzmann":
		cell, err = s.inferBoltzmann(ctx, &sets[0])
	case p.Method == sweep.Marginal:
		return s.inferMarginal(ctx, sets, p, seed)
	default:
		cell, err = s.inferSIPS(ctx, &sets[0], p, seed)
	}
	return []sweep.Cell{cell}, err
}

// inferSIPS computes a cell by runs of the particle filter.
func (s *Stimulus) inferSIPS(ctx context.Context, set *sweep.ParameterSet, p *sweep.Procedure, seed uint64) (sweep.Cell, error) {
	parameters, err := s.agent(set, p.Inference)
	if err != nil {
		return sweep.Cell{}, err
	}
	if p.Runs < 1 {
		return sweep.Cell{}, fmt.Errorf("%d runs of a model that is not exact", p.Runs)
	}
	sips, err := s.SIPS(ctx)
	if err != nil {
		return sweep.Cell{}, err
	}
	o := Options{
		ParticlesPerGoal: p.ParticlesPerGoal,
		Exact:            p.Observe == "exact",
		PerGoal:          p.Filters == "per_goal",
		Resample:         Occasion(p.Resample),
		Threshold:        p.ResampleThreshold,
		Kind:             Resampling(p.ResampleKind),
		Rejuvenate:       Move(p.Rejuvenate),
		PredicateNoise:   s.domain.PredicateNoise,
		FluentNoise:      s.domain.FluentNoise,
	}
	of := runsOf{*set, o, p.StageName, seed}
	runs := s.runs.take(of)
	for i := len(runs); i < p.Runs; i++ {
		run, err := sips.Run(ctx, parameters, o, sweep.RunStream(seed, p.StageName, set, s.stimulus.ID, i))
		if err != nil {
			return sweep.Cell{}, err
		}
		runs = append(runs, run)
	}
	if s.memory > 0 {
		s.runs.keep(of, runs)
	}
	return average(runs[:p.Runs], s.stimulus.JudgementSteps), nil
}

// runsOf is what runs are of.
type runsOf struct {
	set   sweep.ParameterSet
	o     Options
	stage string
	seed  uint64
}

// runs remembers the last ones, for a cell that is asked for again with more of them.
type runs struct {
	of   map[runsOf][]*Run
	size int // bytes, about
}

// roomForRuns bounds the runs remembered of a stimulus, in bytes.
const roomForRuns = 8 << 20

// take returns what is remembered, and forgets it.
func (r *runs) take(of runsOf) []*Run {
	all := r.of[of]
	delete(r.of, of)
	r.size -= sizeOf(all)
	return all
}

// keep forgets all else if there is no room.
func (r *runs) keep(of runsOf, all []*Run) {
	if size := sizeOf(all); r.of == nil || r.size+size > roomForRuns {
		r.of, r.size = map[runsOf][]*Run{}, 0
	}
	r.of[of] = all
	r.size += sizeOf(all)
}

func sizeOf(all []*Run) (bytes int) {
	for _, run := range all {
		for _, row := range run.Posterior {
			bytes += 8*len(row) + 64
		}
	}
	return bytes
}

// inferMarginal computes the cells of the first parameter sets that are inferred together.
func (s *Stimulus) inferMarginal(ctx context.Context, sets []sweep.ParameterSet, p *sweep.Procedure, seed uint64) ([]sweep.Cell, error) {
	if p.Runs < 2 {
		return nil, fmt.Errorf("%d batches of samples; there must be 2, so that they tell the error", p.Runs)
	}
	var all []agent.Parameters
	for i := range sets[:min(len(sets), abreast)] {
		one, err := s.agent(&sets[i], p.Inference)
		if i > 0 && (err != nil || !together(&all[0], &one, p)) {
			break
		}
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	m, err := s.Marginal(ctx)
	if err != nil {
		return nil, err
	}
	cells := make([]sweep.Cell, len(all))
	err = m.converge(ctx, all, p, seed, s.stimulus.JudgementSteps, func(i int, r *result) (err error) {
		cells[i], err = m.cell(ctx, &all[i], r, s.stimulus.JudgementSteps, p)
		return err
	})
	if err != nil { // samples may be half made
		s.marginal = nil
	}
	return cells, err
}

// together reports whether parameter sets are inferred together: they differ in their goal
// noises alone, and few of a large sweep need samples of their own.
func together(a, b *agent.Parameters, p *sweep.Procedure) bool {
	other := *b
	other.GoalNoise = a.GoalNoise
	return p.Detail == sweep.DetailJudged && other == *a && a.GoalNoise > 0 && b.GoalNoise > 0 && familyOf(a, p) == familyOf(b, p)
}

func (s *Stimulus) inferBoltzmann(ctx context.Context, set *sweep.ParameterSet) (sweep.Cell, error) {
	o, err := s.Boltzmann()
	if err != nil {
		return sweep.Cell{}, err
	}
	post, err := o.Posterior(ctx, boltzmann(set))
	if err != nil {
		return sweep.Cell{}, err
	}
	cell := sweep.Cell{Posterior: post.Goals, UnreachableFrom: post.UnreachableFrom}
	if post.Undefined != nil {
		cell.Undefined = &sweep.Undefined{Step: post.Undefined.Step, Reason: post.Undefined.Reason}
	}
	return cell, nil
}

// Agent is the boundedly rational agent of a parameter set: the full one, or
// one that lacks what the model has no axis for.
func Agent(set *sweep.ParameterSet, in sweep.Inference) (agent.Parameters, error) {
	model, ok := sweep.ModelByName(set.Model)
	if !ok || set.Model == "boltzmann" {
		return agent.Parameters{}, fmt.Errorf("no boundedly rational agent for model %q", set.Model)
	}
	p := agent.Parameters{
		GoalNoise:   set.GoalNoise.Number,
		BudgetR:     int(set.BudgetR.Number),
		BudgetQ:     set.BudgetQ.Number,
		Unlimited:   !model.Has("budget_r"),
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

// average is the mean of runs. A run that ends early, because all its weights
// vanished, is left out from there on; where all have ended, so has the cell.
func average(runs []*Run, judgementSteps []int) sweep.Cell {
	var cell sweep.Cell
	longest := runs[0]
	for _, run := range runs {
		if len(run.Posterior) > len(longest.Posterior) {
			longest = run
		}
	}
	if u := longest.Undefined; u != nil {
		cell.Undefined = &sweep.Undefined{Step: u.Step, Reason: u.Reason}
	}
	steps := len(longest.Posterior)
	for _, run := range runs {
		if len(run.Posterior) < steps {
			cell.FailedRuns++
			continue
		}
		var judged [][]float64
		for _, step := range judgementSteps {
			if step < steps {
				judged = append(judged, run.Posterior[step])
			}
		}
		cell.Runs.Add(judged)
	}
	if cell.Undefined != nil {
		cell.FailedRuns = len(runs)
	}
	for step := range steps {
		addStep(&cell, runs, step)
	}
	return cell
}

// addStep adds the means of a step over the runs that reach it.
func addStep(cell *sweep.Cell, runs []*Run, step int) {
	var reach []*Run
	var evidence Weights
	for _, run := range runs {
		if step >= len(run.Posterior) {
			continue
		}
		reach = append(reach, run)
		var log float64
		for _, x := range run.Evidence[:step+1] {
			log += x
		}
		evidence = append(evidence, log)
	}
	n := len(reach)
	posterior := make([]float64, len(reach[0].Posterior[step]))
	se := make([]float64, len(posterior))
	for goal := range posterior {
		posterior[goal], se[goal] = meanAndError(n, func(i int) float64 { return reach[i].Posterior[step][goal] })
	}
	ess, _ := meanAndError(n, func(i int) float64 { return reach[i].ESS[step] })
	alive, _ := meanAndError(n, func(i int) float64 { return float64(reach[i].Alive[step]) })
	cell.Posterior = append(cell.Posterior, posterior)
	cell.SE = append(cell.SE, se)
	cell.ESS = append(cell.ESS, ess)
	cell.Alive = append(cell.Alive, alive)
	cell.Evidence = append(cell.Evidence, evidence.logSum()-math.Log(float64(len(runs)))) // a failed run counts as 0
}

// meanAndError is the mean of n numbers, and its standard error.
func meanAndError(n int, x func(i int) float64) (mean, se float64) {
	for i := range n {
		mean += x(i) / float64(n)
	}
	if n < 2 {
		return mean, 0
	}
	var squares float64
	for i := range n {
		d := x(i) - mean
		squares += float64(d * d)
	}
	return mean, math.Sqrt(squares / float64(n-1) / float64(n))
}
