package coordinator

import (
	"context"
	"errors"
	"fmt"

	"foible.dev/foible/coordinator/crew"
	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/web"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/proto/codec"
)

// What follows implements [web.Coordinator].

// Bounds of the sweeps that have ended and are kept as they were: how many, and their jobs in all, but for the one that is
// looked at.
const (
	maxViewed     = 8
	maxViewedJobs = 500_000
)

// viewed finds a sweep's run with its progress. One that is not in memory, because it has ended or is of another version, is made again from its results, to be looked at alone.
func (c *Coordinator) viewed(ctx context.Context, id string) (*sweepRun, error) {
	if run, ok := c.find(ctx, id); ok {
		return run, nil
	}
	spec, revision, err := c.store.Sweep(ctx, id)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	run := c.past[id]
	c.mu.Unlock()
	if run != nil && run.revision == revision {
		return run, nil
	}
	spec.Extends = "" // what it kept is among its results
	if run, err = c.newRun(ctx, spec); err != nil {
		return nil, err
	}
	run.revision = revision
	if err := c.samePlan(ctx, run); err != nil {
		return nil, err
	}
	if err := run.replay(ctx); err != nil && !errors.Is(err, service.ErrNotFound) {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.past, id)
	jobs := run.plan.Jobs()
	for _, other := range c.past {
		jobs += other.plan.Jobs()
	}
	for id, other := range c.past {
		if len(c.past) < maxViewed && jobs <= maxViewedJobs {
			break
		}
		jobs -= other.plan.Jobs()
		delete(c.past, id)
	}
	c.past[id] = run
	return run, nil
}

// Inside implements [web.Coordinator].
func (c *Coordinator) Inside(ctx context.Context, id string) (*web.Inside, error) {
	run, err := c.viewed(ctx, id)
	if err != nil {
		return nil, err
	}
	return run.inside(), nil
}

func (r *sweepRun) inside() *web.Inside {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := &web.Inside{
		Config: r.config, Sets: r.plan.Sets, Stimuli: r.plan.Stimuli,
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
			failure.Stimulus = r.plan.Stimuli[job.Stimulus].Stimulus
		}
		in.Failures = append(in.Failures, failure)
	}
	return in
}

// fits reads those of a score job, one a parameter set; none if it has failed.
func (r *sweepRun) fits(ctx context.Context, job int) ([]result.Fit, error) {
	result, err := r.result(ctx, job)
	if err != nil {
		return nil, err
	}
	entry, err := entryOf(result)
	if err != nil {
		return nil, fmt.Errorf("job %d: %w", job, err)
	}
	return entry.Fits, nil
}

// ChunkFits implements [web.Coordinator].
func (c *Coordinator) ChunkFits(ctx context.Context, id string, chunk sweep.Chunk) (sweep.Job, []result.Fit, error) {
	run, err := c.viewed(ctx, id)
	if err != nil {
		return sweep.Job{}, nil, err
	}
	job := run.job(run.plan.ScoreJob(chunk))
	fits, err := run.fits(ctx, job.Number)
	if errors.Is(err, service.ErrNotFound) {
		err = nil
	}
	return job, fits, err
}

// Cell implements [web.Coordinator]. That of the latest stage goes first.
func (c *Coordinator) Cell(ctx context.Context, id string, set, stimulus int) (*result.Cell, error) {
	run, err := c.viewed(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, at := range run.cells(set, stimulus) {
		result, err := run.result(ctx, at.job)
		if errors.Is(err, service.ErrNotFound) || err == nil && at.place >= codec.CellCount(result.GetInfer()) {
			continue
		}
		if err != nil {
			return nil, err
		}
		cells, err := codec.ReadCells(result.GetInfer(), &run.plan.Stimuli[stimulus])
		if err != nil {
			return nil, err
		}
		return &cells[at.place], nil
	}
	return nil, nil
}

// cellPlace is a job, and the place of a cell in it.
type cellPlace struct{ job, place int }

// cells are the places of what a parameter set predicts of a stimulus, the latest round first.
func (r *sweepRun) cells(set, stimulus int) []cellPlace {
	r.mu.Lock()
	defer r.mu.Unlock()
	var at []cellPlace
	for round := r.ledger.KnownRounds() - 1; round > 0; round-- {
		for chunk := range r.plan.RoundChunks(round) {
			job := r.ledger.Job(r.plan.InferJob(chunk, stimulus))
			for place := range job.Sets {
				if job.Index(place) == set {
					at = append(at, cellPlace{job.Number, place})
				}
			}
		}
	}
	job, place := r.plan.FitCell(set, stimulus)
	return append(at, cellPlace{job, place})
}

// Study implements [web.Coordinator].
func (c *Coordinator) Study(ctx context.Context, hash string) ([]byte, error) {
	return c.store.Study(ctx, hash)
}

// Changes implements [web.Coordinator].
func (c *Coordinator) Changes(id string) <-chan struct{} {
	if run, ok := c.run(id); ok {
		return run.changes()
	}
	return nil
}

// Workers implements [web.Coordinator].
func (c *Coordinator) Workers() []web.Worker {
	c.mu.Lock()
	defer c.mu.Unlock()
	jobs := map[*crew.Member][]web.Job{}
	for _, l := range c.leases {
		jobs[l.owner] = append(jobs[l.owner], web.Job{Sweep: l.run.id, Number: l.job, Since: l.since})
	}
	return c.crew.Shown(jobs)
}

// Elsewhere implements [web.Coordinator].
func (c *Coordinator) Elsewhere() int {
	workers, _, _ := c.others.Sum("")
	return workers
}
