package coordinator

import (
	"context"
	"errors"

	"foible.dev/foible/coordinator/active"
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

// viewed finds a sweep's run with its progress. One that is not in memory, because it has ended or is of another version, is made again from its results, only to be looked at.
func (c *Coordinator) viewed(ctx context.Context, id string) (*active.Sweep, error) {
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
	if run != nil && run.IsOf(revision) {
		return run, nil
	}
	spec.Extends = "" // what it kept is among its results
	if run, err = active.New(ctx, c.env, spec); err != nil {
		return nil, err
	}
	if err := c.samePlan(ctx, run); err != nil {
		return nil, err
	}
	if err := run.Look(ctx, revision); err != nil && !errors.Is(err, service.ErrNotFound) {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.past, id)
	jobs := run.Plan.Jobs()
	for _, other := range c.past {
		jobs += other.Plan.Jobs()
	}
	for id, other := range c.past {
		if len(c.past) < maxViewed && jobs <= maxViewedJobs {
			break
		}
		jobs -= other.Plan.Jobs()
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
	return run.Inside(), nil
}

// ChunkFits implements [web.Coordinator].
func (c *Coordinator) ChunkFits(ctx context.Context, id string, chunk sweep.Chunk) (sweep.Job, []result.Fit, error) {
	run, err := c.viewed(ctx, id)
	if err != nil {
		return sweep.Job{}, nil, err
	}
	job := run.Job(run.Plan.ScoreJob(chunk))
	fits, err := run.Fits(ctx, job.Number)
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
	for _, at := range run.Cells(set, stimulus) {
		result, err := run.Result(ctx, at.Job)
		if errors.Is(err, service.ErrNotFound) || err == nil && at.Place >= codec.CellCount(result.GetInfer()) {
			continue
		}
		if err != nil {
			return nil, err
		}
		cells, err := codec.ReadCells(result.GetInfer(), &run.Plan.Stimuli[stimulus])
		if err != nil {
			return nil, err
		}
		return &cells[at.Place], nil
	}
	return nil, nil
}

// Study implements [web.Coordinator].
func (c *Coordinator) Study(ctx context.Context, hash string) ([]byte, error) {
	return c.store.Study(ctx, hash)
}

// Changes implements [web.Coordinator].
func (c *Coordinator) Changes(id string) <-chan struct{} {
	if run, ok := c.run(id); ok {
		return run.Changes()
	}
	return nil
}

// Workers implements [web.Coordinator].
func (c *Coordinator) Workers() []web.Worker {
	return c.crew.Shown(c.leases.Jobs())
}

// Elsewhere implements [web.Coordinator].
func (c *Coordinator) Elsewhere() int {
	workers, _, _ := c.others.Sum("")
	return workers
}
