package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/store"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// A sweep of which something is damaged in the store is left alone, and says so; all others go on. Submitted again, it
// keeps what can be read, and what is missing is computed again.

// submitAgain is what to do about a damaged sweep.
const submitAgain = "submit it again: what can be read is kept, the rest is computed again"

// setDamage notes what is damaged of a sweep.
func (c *Coordinator) setDamage(id string, damage error) {
	c.log.Error("sweep is damaged; "+submitAgain, "sweep", id, "damage", damage)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.damage[id] = fmt.Sprintf("%v; %s", damage, submitAgain)
}

// damageOf is what is damaged of a sweep, and what to do, for people; "" if nothing is known to be.
func (c *Coordinator) damageOf(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.damage[id]
}

func (c *Coordinator) clearDamage(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.damage, id)
}

// damaged are the sweeps of which something is damaged.
func (c *Coordinator) damaged() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := make([]string, 0, len(c.damage))
	for id := range c.damage {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// findLost notes the sweeps of which nothing is left but results.
func (c *Coordinator) findLost(ctx context.Context) error {
	lost, err := c.store.WithoutSweep(ctx)
	for _, id := range lost {
		c.setDamage(id, errors.New("its record is lost"))
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
	run, err := c.newRun(ctx, planned)
	if err != nil {
		return err
	}
	var wrong, later []int // jobs whose result is not that; those of later rounds, which rest on the others
	kept := 0
	err = c.store.Recorded(ctx, id, run.plan.Jobs(), func(job int) error {
		value, err := c.store.Result(ctx, id, job)
		if err != nil && !errors.Is(err, engine.ErrDamaged) {
			return err
		}
		switch {
		case err != nil || run.known(job) && !run.sound(job, value):
			wrong = append(wrong, job)
		case !run.known(job):
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

// spoil leaves a sweep alone from now on, of which something cannot be read any more.
func (r *sweepRun) spoil(damage error) {
	if r.c.damageOf(r.id) != "" {
		return
	}
	r.c.setDamage(r.id, damage)
	r.touch()
}

// sound says whether a recorded result is one of its job, which is known.
func (r *sweepRun) sound(number int, value []byte) bool {
	m := &foiblev1.JobResult{}
	if proto.Unmarshal(value, m) != nil {
		return false
	}
	job := r.job(number)
	switch {
	case m.GetFailure() != nil:
		return true
	case m.GetInfer() != nil:
		return !job.Score && r.checkCells(job, m.GetInfer()) == nil
	}
	return m.GetScore() != nil && r.checkRecordedFits(&job, m.GetScore()) == nil
}

// lostSweep is what can be said of a sweep whose record is lost or damaged.
func (c *Coordinator) lostSweep(id string) (*foiblev1.Sweep, error) {
	damage := c.damageOf(id)
	if damage == "" {
		return nil, service.ErrNotFound
	}
	return &foiblev1.Sweep{SweepId: id, Damage: damage, Priority: DefaultPriority}, nil
}
