package marginal

import (
	"context"
	"math"
	"slices"

	"foible/core/agent"
	"foible/core/sweep"
)

// cell is what a sweep keeps of a result. The error is that of ctx, if it ends before.
func (m *Inference) cell(ctx context.Context, p *agent.Parameters, r *result, judged []int, q *sweep.Procedure) (sweep.Cell, error) {
	cell := sweep.Cell{Samples: r.samples, Judged: q.Detail == sweep.DetailJudged}
	if m.path.Impossible != nil {
		cell.Undefined = &sweep.Undefined{Step: m.path.Impossible.Step, Reason: m.path.Impossible.Reason}
	}
	steps := len(r.evidence)
	for step := range r.evidence {
		if cell.Judged && !slices.Contains(judged, step) || r.sum(step) > 0 {
			continue
		}
		if cell.Judged { // an earlier step may be the first
			if err := m.infer(ctx, []*result{r}, m.segments.outcomes.samples, []agent.Parameters{*p}, m.segments.outcomes.levels, nil); err != nil {
				return sweep.Cell{}, err
			}
			for step = 0; r.sum(step) > 0; step++ {
			}
		}
		steps = step
		u := m.path.Vanished(step, m.path.Support(step, p), "no sampled plan explains what is seen", "the samples are too few to show it")
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
		m.done.Posteriors += goals * batches * batches
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
