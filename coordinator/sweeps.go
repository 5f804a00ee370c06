package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"foible/coordinator/engine"
	"foible/coordinator/service"
	"foible/core/sweep"
	"foible/proto/codec"
	foiblev1 "foible/proto/foible/v1"
)

// CreateSweep implements [service.Sweeps].
func (c *Coordinator) CreateSweep(ctx context.Context, m *foiblev1.CreateSweepRequest) (*foiblev1.Sweep, bool, error) {
	config, err := codec.Config(m.GetConfig())
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", service.ErrInvalid, err)
	}
	if _, err := c.engine.Study(ctx, m.GetStudyHash()); err != nil {
		return nil, false, fmt.Errorf("study %s: %w", m.GetStudyHash(), sentinel(err))
	}
	sets, err := config.ParameterSets()
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", service.ErrInvalid, err)
	}
	shapes := codec.Shapes(m.GetStimuli())
	spec := &foiblev1.Sweep{
		SweepId:     m.GetStudyName() + "-" + config.ID(m.GetStudyHash(), c.cfg.Version, sets),
		StudyHash:   m.GetStudyHash(),
		StudyName:   m.GetStudyName(),
		Config:      m.GetConfig(),
		Stimuli:     m.GetStimuli(),
		CellsPerJob: int32(sweep.CellsPerJob(len(sets), shapes, config.Fit.Runs, max(c.slotCount(), 8))),
		Version:     c.cfg.Version,
		CreateTime:  timestamppb.New(time.Now()),
		State:       foiblev1.SweepState_SWEEP_STATE_RUNNING,
	}
	if existing, err := c.Sweep(ctx, spec.GetSweepId()); !errors.Is(err, service.ErrNotFound) {
		return existing, true, err
	}
	run, err := c.newRun(ctx, spec)
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", service.ErrInvalid, err)
	}
	value, err := proto.Marshal(spec)
	if err != nil {
		return nil, false, err
	}
	if run.revision, err = c.engine.CreateSweep(ctx, spec.GetSweepId(), value); err != nil {
		if errors.Is(err, engine.ErrExists) { // another call came first
			existing, err := c.Sweep(ctx, spec.GetSweepId())
			return existing, true, err
		}
		return nil, false, sentinel(err)
	}
	if err := run.start(c.ctx); err != nil {
		return nil, false, sentinel(err)
	}
	c.add(run)
	c.log.Info("sweep created", "sweep", run.id, "cells", run.plan.Cells(), "jobs", run.plan.Jobs())
	return run.snapshot(c), false, nil
}

// resume takes up every sweep that has not ended.
func (c *Coordinator) resume(ctx context.Context) error {
	ids, err := c.engine.Sweeps(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		spec, revision, err := c.stored(ctx, id)
		if err != nil {
			return err
		}
		if spec.GetState() != foiblev1.SweepState_SWEEP_STATE_RUNNING {
			continue
		}
		if spec.GetVersion() != c.cfg.Version {
			c.log.Warn("sweep of another version left alone", "sweep", id, "version", spec.GetVersion())
			continue
		}
		run, err := c.newRun(ctx, spec)
		if err != nil {
			return fmt.Errorf("sweep %s: %w", id, err)
		}
		run.revision = revision
		if err := run.start(ctx); err != nil {
			return fmt.Errorf("sweep %s: %w", id, err)
		}
		c.add(run)
		c.log.Info("sweep taken up", "sweep", id, "jobs_done", run.jobsDone(), "jobs", run.plan.Jobs())
	}
	return nil
}

func (c *Coordinator) stored(ctx context.Context, id string) (*foiblev1.Sweep, uint64, error) {
	value, revision, err := c.engine.Sweep(ctx, id)
	if err != nil {
		return nil, 0, sentinel(err)
	}
	spec := &foiblev1.Sweep{}
	if err := proto.Unmarshal(value, spec); err != nil {
		return nil, 0, fmt.Errorf("sweep %s: its record is damaged: %w", id, err)
	}
	return spec, revision, nil
}

func (c *Coordinator) add(run *sweepRun) {
	c.mu.Lock()
	c.sweeps[run.id] = run
	c.mu.Unlock()
	c.demand.signal()
}

// run finds a sweep that this coordinator has taken up, ended ones included.
func (c *Coordinator) run(id string) (*sweepRun, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	run, ok := c.sweeps[id]
	return run, ok
}

// running lists the sweeps that have not ended, in a fixed order.
func (c *Coordinator) running() []*sweepRun {
	c.mu.Lock()
	defer c.mu.Unlock()
	var runs []*sweepRun
	for _, run := range c.sweeps {
		if !run.ended() {
			runs = append(runs, run)
		}
	}
	slices.SortFunc(runs, func(a, b *sweepRun) int { return compareSweeps(a.spec, b.spec) })
	return runs
}

// compareSweeps orders by time of creation, oldest first.
func compareSweeps(a, b *foiblev1.Sweep) int {
	if by := a.GetCreateTime().AsTime().Compare(b.GetCreateTime().AsTime()); by != 0 {
		return by
	}
	if a.GetSweepId() < b.GetSweepId() {
		return -1
	}
	return 1
}

// Sweep implements [service.Sweeps].
func (c *Coordinator) Sweep(ctx context.Context, id string) (*foiblev1.Sweep, error) {
	if run, ok := c.run(id); ok {
		return run.snapshot(c), nil
	}
	spec, _, err := c.stored(ctx, id)
	return spec, err
}

// ListSweeps implements [service.Sweeps].
func (c *Coordinator) ListSweeps(ctx context.Context) ([]*foiblev1.Sweep, error) {
	ids, err := c.engine.Sweeps(ctx)
	if err != nil {
		return nil, sentinel(err)
	}
	sweeps := make([]*foiblev1.Sweep, 0, len(ids))
	for _, id := range ids {
		s, err := c.Sweep(ctx, id)
		if err != nil {
			return nil, err
		}
		sweeps = append(sweeps, s)
	}
	slices.SortFunc(sweeps, func(a, b *foiblev1.Sweep) int { return compareSweeps(b, a) })
	return sweeps, nil
}

// watchInterval is the least time between two messages of WatchSweep.
const watchInterval = 100 * time.Millisecond

// WatchSweep implements [service.Sweeps].
func (c *Coordinator) WatchSweep(ctx context.Context, id string, each func(*foiblev1.Sweep) error) error {
	run, ok := c.run(id)
	if !ok {
		spec, err := c.Sweep(ctx, id)
		if err != nil {
			return err
		}
		return each(spec)
	}
	for {
		changed := run.changes()
		s := run.snapshot(c)
		if err := each(s); err != nil {
			return err
		}
		if s.GetState() != foiblev1.SweepState_SWEEP_STATE_RUNNING {
			return nil
		}
		select {
		case <-time.After(watchInterval):
		case <-c.ctx.Done():
			return service.ErrStopping
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case <-changed:
		case <-time.After(time.Second): // workers come and go
		case <-c.ctx.Done():
			return service.ErrStopping
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
