package marginal

import (
	"context"
	"math"
	"slices"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

// cell is what a sweep keeps of the result of the i-th parameter set. The error is that of
// ctx, if it ends before.
func (m *Inference) cell(ctx context.Context, r *Request, i int, found *setResult) (result.Cell, error) {
	p, q := &r.Parameters[i], r.Procedure
	cell := result.Cell{Samples: found.samples, Judged: q.Detail == sweep.DetailJudged}
	if u := m.path.Impossible; u != nil {
		cell.Undefined = &result.Undefined{Step: u.Step, Reason: u.Reason}
	}
	steps, err := m.defined(ctx, p, found, r.Judged, &cell)
	if err != nil {
		return result.Cell{}, err
	}
	var kept, judged []int // steps
	for step := range steps {
		isJudged := slices.Contains(r.Judged, step)
		if isJudged {
			judged = append(judged, step)
		}
		if isJudged || !cell.Judged {
			kept = append(kept, step)
		}
	}
	m.addPosteriors(&cell, found, kept)
	cell.Runs = runs(found, judged, q.Runs, len(m.hidden))
	if q.Detail == sweep.DetailMistakes {
		if cell.Mistakes, err = m.mistakes(ctx, p, steps); err != nil {
			return result.Cell{}, err
		}
	}
	return cell, nil
}

// defined is the number of steps that have a posterior. If it is not all of them, the cell
// says why.
func (m *Inference) defined(ctx context.Context, p *agent.Parameters, found *setResult, judged []int, cell *result.Cell) (int, error) {
	for step := range found.evidence {
		if cell.Judged && !slices.Contains(judged, step) || found.sum(step) > 0 {
			continue
		}
		if cell.Judged { // an earlier step may be the first
			o := m.segments.outcomes
			if err := m.infer(ctx, []*setResult{found}, &evidenceRequest{o.samples, []agent.Parameters{*p}, o.levels, nil}); err != nil {
				return 0, err
			}
			for step = 0; found.sum(step) > 0; step++ {
			}
		}
		u := m.path.Vanished(step, m.path.Support(step, p), "no sampled plan explains what is seen", "the samples are too few to show it")
		cell.Undefined = &result.Undefined{Step: u.Step, Reason: u.Reason}
		return step, nil
	}
	return len(found.evidence), nil
}

// addPosteriors adds posteriors and evidence of steps, and standard errors if the cell has
// all steps.
func (m *Inference) addPosteriors(cell *result.Cell, found *setResult, steps []int) {
	goals := len(m.hidden)
	cell.Posterior = rows(len(steps), goals)
	if !cell.Judged {
		cell.SE, cell.LogEvidence = rows(len(steps), goals), rows(len(steps), goals)
	}
	for at, step := range steps {
		all, without := found.posterior(step)
		copy(cell.Posterior[at], all)
		total, batches := 0.0, 0
		for goal, by := range found.evidence[step] {
			sum := 0.0
			for _, e := range by {
				sum += e
			}
			total += sum
			batches = len(by)
			if !cell.Judged {
				cell.SE[at][goal] = math.Sqrt(goalVariance(without, goal))
				cell.LogEvidence[at][goal] = math.Log(max(0, sum)/float64(batches)) + found.shift[step]
			}
		}
		m.done.Posteriors += goals * batches * batches
		cell.Evidence = append(cell.Evidence, math.Log(total/float64(batches*goals))+found.shift[step])
	}
}

// runs are the pseudo-values of the jackknife at judgement steps, one run for each batch;
// none if some batch is all that a posterior rests on.
func runs(found *setResult, judged []int, batches, goals int) (none result.Runs) {
	values := make([]float64, batches*len(judged)*goals)
	for at, step := range judged {
		all, without := found.posterior(step)
		if len(without) != batches {
			return none
		}
		for i := range batches {
			row := values[(i*len(judged)+at)*goals:]
			for goal, p := range all {
				row[goal] = p + float64(float64(batches-1)/shrinkage*(p-without[i][goal]))
			}
		}
	}
	return result.NewRuns(values, len(judged), goals)
}
