package active

import (
	"context"
	"fmt"

	"foible.dev/foible/coordinator/answer"
	"foible.dev/foible/coordinator/web"
	"foible.dev/foible/core/result"
)

func (r *Sweep) Inside() *web.Inside {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := &web.Inside{
		Config: r.Config, Sets: r.Plan.Sets, Stimuli: r.Plan.Stimuli,
		Coverage: r.ledger.Coverage(), Chosen: r.ledger.Chosen(), Scored: r.ledger.Scored(),
	}
	for _, f := range r.ledger.FailedJobs() {
		job := r.ledger.Job(f.Job)
		failure := web.Failure{Job: f.Job, Stage: job.Stage, Score: job.Score, Sets: job.Sets, Reason: f.Reason}
		if f.Places != nil {
			failure.Cells, failure.Sets = true, nil
			for _, place := range f.Places {
				if place < len(job.Sets) {
					failure.Sets = append(failure.Sets, job.Sets[place])
				}
			}
		}
		if !job.Score {
			failure.Stimulus = r.Plan.Stimuli[job.Stimulus].Stimulus
		}
		in.Failures = append(in.Failures, failure)
	}
	return in
}

// Fits reads those of a score job, one a parameter set; none if it has failed.
func (r *Sweep) Fits(ctx context.Context, job int) ([]result.Fit, error) {
	result, err := r.Result(ctx, job)
	if err != nil {
		return nil, err
	}
	entry, err := answer.Entry(result)
	if err != nil {
		return nil, fmt.Errorf("job %d: %w", job, err)
	}
	return entry.Fits, nil
}

// cellPlace is a job, and the place of a cell in it.
type cellPlace struct{ Job, Place int }

// Cells are the places of what a parameter set predicts of a stimulus, the latest round first.
func (r *Sweep) Cells(set, stimulus int) []cellPlace {
	r.mu.Lock()
	defer r.mu.Unlock()
	var at []cellPlace
	for round := r.ledger.KnownRounds() - 1; round > 0; round-- {
		for chunk := range r.Plan.RoundChunks(round) {
			job := r.ledger.Job(r.Plan.InferJob(chunk, stimulus))
			for place := range job.Sets {
				if job.Index(place) == set {
					at = append(at, cellPlace{job.Number, place})
				}
			}
		}
	}
	job, place := r.Plan.FitCell(set, stimulus)
	return append(at, cellPlace{job, place})
}
