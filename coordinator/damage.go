package coordinator

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator/active"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/store"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// A sweep with something damaged in the store is not touched, and says so; all others go on. Submitted again, it
// keeps what can be read, and what is missing is computed again.

// findLost notes the sweeps with nothing left but results.
func (c *Coordinator) findLost(ctx context.Context) error {
	lost, err := c.store.WithoutSweep(ctx)
	for _, id := range lost {
		c.damages.Set(id, errors.New("its record is lost"))
	}
	return err
}

// salvage takes away, of the results of a damaged sweep, those that are not what the sweep wants. If its record is lost,
// how many cells a job has follows from them.
func (c *Coordinator) salvage(ctx context.Context, spec *foiblev1.Sweep, recordLost bool) error {
	id := spec.GetSweepId()
	if err := c.store.EnsureResults(ctx, id); err != nil {
		return store.Sentinel(err)
	}
	if recordLost {
		cells, err := c.store.RecordedCellsPerJob(ctx, id)
		if err != nil {
			return err
		}
		if cells > 0 {
			spec.CellsPerJob = int32(cells)
		}
	}
	planned := proto.CloneOf(spec)
	planned.Extends = "" // it takes nothing from another sweep here
	run, err := active.New(ctx, c.env, planned)
	if err != nil {
		return err
	}
	var wrong, later []int // jobs whose result is not that; those of later rounds, which rest on the others
	kept := 0
	err = c.store.Recorded(ctx, id, run.Plan.Jobs(), func(job int) error {
		value, err := c.store.Result(ctx, id, job)
		if err != nil && !errors.Is(err, engine.ErrDamaged) {
			return err
		}
		switch {
		case err != nil || run.Known(job) && !run.Sound(job, value):
			wrong = append(wrong, job)
		case !run.Known(job):
			later = append(later, job)
		default:
			kept++
		}
		return nil
	})
	if err != nil {
		return store.Sentinel(err)
	}
	if len(wrong) > 0 {
		wrong, later = append(wrong, later...), nil
	}
	for _, job := range wrong {
		if err := c.store.Forget(ctx, id, job); err != nil {
			return store.Sentinel(err)
		}
	}
	c.log.Info("damaged sweep goes on with what is left", "sweep", id, "results", kept+len(later), "results_dropped", len(wrong))
	return nil
}

// lostSweep is what can be said of a sweep whose record is lost or damaged.
func (c *Coordinator) lostSweep(id string) (*foiblev1.Sweep, error) {
	damage := c.damages.Of(id)
	if damage == "" {
		return nil, service.ErrNotFound
	}
	return &foiblev1.Sweep{SweepId: id, Damage: damage, Priority: store.DefaultPriority}, nil
}
