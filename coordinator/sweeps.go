package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

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
	_, slots := c.connected()
	spec := &foiblev1.Sweep{
		SweepId:     m.GetStudyName() + "-" + config.ID(m.GetStudyHash(), c.cfg.Version, sets),
		StudyHash:   m.GetStudyHash(),
		StudyName:   m.GetStudyName(),
		Config:      m.GetConfig(),
		Stimuli:     m.GetStimuli(),
		CellsPerJob: int32(sweep.CellsPerJob(len(sets), shapes, config.Fit.Runs, max(slots, 8))),
		Version:     c.cfg.Version,
		CreateTime:  timestamppb.New(time.Now()),
		State:       foiblev1.SweepState_SWEEP_STATE_RUNNING,
	}
	c.taking.Lock()
	defer c.taking.Unlock()
	if run, ok := c.run(spec.GetSweepId()); ok {
		return run.snapshot(), true, nil
	}
	existing, err := c.stored(ctx, spec.GetSweepId())
	existed := err == nil
	switch {
	case existed && existing.GetState() != foiblev1.SweepState_SWEEP_STATE_RUNNING:
		return existing, true, nil
	case existed:
		spec = existing // it could not be taken up when it was made
	case !errors.Is(err, service.ErrNotFound):
		return nil, false, err
	}
	run, err := c.newRun(spec)
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", service.ErrInvalid, err)
	}
	if !existed {
		value, err := proto.Marshal(spec)
		if err != nil {
			return nil, false, err
		}
		if _, err := c.engine.CreateSweep(ctx, run.id, value); err != nil {
			return nil, false, sentinel(err)
		}
	}
	if err := run.start(c.ctx); err != nil {
		return nil, false, sentinel(err)
	}
	c.add(run)
	c.log.Info("sweep created", "sweep", run.id, "cells", run.plan.Cells(), "jobs", run.plan.Jobs())
	return run.snapshot(), existed, nil
}

// resume takes up every sweep that has not ended.
func (c *Coordinator) resume(ctx context.Context) error {
	ids, err := c.engine.Sweeps(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := c.resumeOne(ctx, id); err != nil {
			return fmt.Errorf("sweep %s: %w", id, err)
		}
	}
	return nil
}

func (c *Coordinator) resumeOne(ctx context.Context, id string) error {
	spec, err := c.stored(ctx, id)
	switch {
	case err != nil:
		return err
	case spec.GetState() != foiblev1.SweepState_SWEEP_STATE_RUNNING:
		return c.engine.DeleteJobs(ctx, id) // should the end have been cut short
	case spec.GetVersion() != c.cfg.Version:
		c.log.Warn("sweep of another version left alone", "sweep", id, "version", spec.GetVersion())
		return nil
	}
	run, err := c.newRun(spec)
	if err != nil {
		return err
	}
	if err := run.start(ctx); err != nil {
		return err
	}
	c.add(run)
	c.log.Info("sweep taken up", "sweep", id, "jobs_done", run.jobsDone(), "jobs", run.plan.Jobs())
	return nil
}

func (c *Coordinator) stored(ctx context.Context, id string) (*foiblev1.Sweep, error) {
	value, _, err := c.engine.Sweep(ctx, id)
	if err != nil {
		return nil, sentinel(err)
	}
	spec := &foiblev1.Sweep{}
	if err := proto.Unmarshal(value, spec); err != nil {
		return nil, fmt.Errorf("its record is damaged: %w", err)
	}
	return spec, nil
}

// store replaces what is stored of a sweep.
func (c *Coordinator) store(ctx context.Context, spec *foiblev1.Sweep) error {
	_, revision, err := c.engine.Sweep(ctx, spec.GetSweepId())
	if err != nil {
		return err
	}
	value, err := proto.Marshal(spec)
	if err != nil {
		return err
	}
	_, err = c.engine.UpdateSweep(ctx, spec.GetSweepId(), value, revision)
	return err
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
		return run.snapshot(), nil
	}
	return c.stored(ctx, id)
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
		s := run.snapshot()
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
