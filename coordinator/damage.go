package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// A sweep of which something is damaged in the store is left alone, and says so; all others go on. Submitted again, it
// keeps what can be read, and what is missing is computed again.

// submitAgain is what to do about a damaged sweep.
const submitAgain = "submit it again: what can be read is kept, the rest is computed again"

var errRecordDamaged = errors.New("its record is damaged")

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

// passing says whether an error says nothing of what is stored.
func passing(err error) bool {
	return errors.Is(err, engine.ErrUnavailable) || errors.Is(err, engine.ErrStalled) || errors.Is(err, engine.ErrClosed)
}

// checkEnded says what has been lost of a sweep that has ended by itself.
func (c *Coordinator) checkEnded(ctx context.Context, spec *foiblev1.Sweep) error {
	want := int(spec.GetProgress().GetJobsDone())
	if spec.GetState() == cancelled || want == 0 {
		return nil
	}
	n, err := c.engine.CountResults(ctx, spec.GetSweepId())
	switch {
	case errors.Is(err, engine.ErrNotFound):
		n = 0
	case err != nil:
		return err
	}
	if n < want {
		return fmt.Errorf("%d of its %d results are lost", want-n, want)
	}
	return nil
}

// checkStudy says whether the study of a sweep can be read.
func (c *Coordinator) checkStudy(ctx context.Context, spec *foiblev1.Sweep, checked map[string]error) error {
	err, known := checked[spec.GetStudyHash()]
	if !known {
		_, err = c.engine.Study(ctx, spec.GetStudyHash())
		checked[spec.GetStudyHash()] = err
	}
	if errors.Is(err, engine.ErrNotFound) || errors.Is(err, engine.ErrDamaged) {
		return errors.New("its study is lost or damaged")
	}
	if errors.Is(err, engine.ErrUnavailable) && !c.engine.Shared() { // the rest of it is waited for in vain
		return fmt.Errorf("its study cannot be read: %v", err)
	}
	return err
}

// findLost notes the sweeps of which nothing is left but results.
func (c *Coordinator) findLost(ctx context.Context) error {
	lost, err := c.engine.WithoutSweep(ctx)
	for _, id := range lost {
		c.setDamage(id, errors.New("its record is lost"))
	}
	return err
}

// salvage takes away, of the results of a damaged sweep, those that are not what the sweep wants. If its record is lost,
// how many cells a job has follows from them.
func (c *Coordinator) salvage(ctx context.Context, spec *foiblev1.Sweep, recordLost bool) error {
	id := spec.GetSweepId()
	if err := c.engine.EnsureResults(ctx, id); err != nil {
		return sentinel(err)
	}
	if recordLost {
		cells, err := c.recordedCellsPerJob(ctx, id)
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
	err = c.engine.Recorded(ctx, id, run.plan.Jobs(), func(job int) error {
		value, err := c.engine.Result(ctx, id, job)
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
		return sentinel(err)
	}
	if len(wrong) > 0 {
		wrong, later = append(wrong, later...), nil
	}
	for _, job := range wrong {
		if err := c.engine.Forget(ctx, id, job); err != nil {
			return sentinel(err)
		}
	}
	c.log.Info("damaged sweep goes on with what is left", "sweep", id, "results", kept+len(later), "results_dropped", len(wrong))
	return nil
}

// enough results, of those recorded first, tell how many cells a job has: the last job of a stimulus may have fewer.
const enough = 64

// recordedCellsPerJob is how many cells the jobs of a sweep have that recorded any; 0 if none did.
func (c *Coordinator) recordedCellsPerJob(ctx context.Context, id string) (cells int, err error) {
	seen, stop := 0, errors.New("enough")
	err = c.engine.Results(ctx, id, func(_ int, value []byte) error {
		m := &foiblev1.JobResult{}
		if proto.Unmarshal(value, m) == nil && m.GetInfer() != nil {
			cells = max(cells, codec.CellCount(m.GetInfer()))
			seen++
		}
		if seen == enough {
			return stop
		}
		return nil
	})
	if err != nil && !errors.Is(err, stop) && !errors.Is(err, engine.ErrDamaged) {
		return 0, sentinel(err)
	}
	return cells, nil
}

// spoil leaves a sweep alone from now on, of which something cannot be read any more.
func (r *sweepRun) spoil(damage error) {
	if r.c.damageOf(r.id) != "" {
		return
	}
	r.c.setDamage(r.id, damage)
	r.mu.Lock()
	r.change()
	r.mu.Unlock()
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
