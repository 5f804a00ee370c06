package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"foible.dev/foible/coordinator/active"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/limits"
	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/store"
	"foible.dev/foible/core/words"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// CreateSweep implements [service.Sweeps].
func (c *Coordinator) CreateSweep(ctx context.Context, m *foiblev1.CreateSweepRequest) (*foiblev1.CreateSweepResponse, error) {
	if err := c.checkStimuli(ctx, m); err != nil {
		return nil, fmt.Errorf("study %s: %w", m.GetStudyHash(), err)
	}
	return c.create(ctx, &foiblev1.Sweep{
		StudyHash: m.GetStudyHash(), StudyName: m.GetStudyName(), Config: m.GetConfig(), Stimuli: m.GetStimuli(),
		Priority: m.GetPriority(), Verify: m.GetVerify(),
	})
}

// checkStimuli reads the study of a sweep, and refuses a sweep whose stimuli are not those of the study: its fits could
// not be compared with the judgements.
func (c *Coordinator) checkStimuli(ctx context.Context, m *foiblev1.CreateSweepRequest) error {
	bundle, release, err := c.transfers.Fetch(ctx, m.GetStudyHash())
	if err != nil {
		return err
	}
	defer release()
	if c.cfg.Shapes == nil {
		return nil
	}
	shapes, err := c.cfg.Shapes(bundle)
	if err != nil {
		return fmt.Errorf("%w: %w", service.ErrInvalid, err)
	}
	if !slices.EqualFunc(shapes, m.GetStimuli(), func(a, b *foiblev1.StimulusShape) bool { return proto.Equal(a, b) }) {
		return fmt.Errorf("%w: the sweep's %s are not the study's %s, or have other goals, actions or judgement steps",
			service.ErrInvalid, words.Count(len(m.GetStimuli()), "stimulus"), words.Count(len(shapes), "stimulus"))
	}
	return nil
}

// create makes a sweep of what it is asked to be, or finds the one that is there.
func (c *Coordinator) create(ctx context.Context, spec *foiblev1.Sweep) (*foiblev1.CreateSweepResponse, error) {
	if err := c.cfg.Limits.CheckSweep(spec); err != nil { // before anything is made of it
		return nil, err
	}
	if err := c.name(spec); err != nil {
		return nil, err
	}
	if there, err := c.existing(ctx, spec.GetSweepId()); there != nil || err != nil {
		return there, err
	}
	// What takes time is done before others have to wait.
	planned, err := c.plan(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer c.taking.lock(spec.GetSweepId())()
	run, taken := c.run(spec.GetSweepId())
	damaged := c.damages.Of(spec.GetSweepId()) != ""
	switch {
	case taken && damaged: // it begins again, with what can be read
		c.discard(run)
	case taken && !run.Ended():
		return &foiblev1.CreateSweepResponse{Sweep: run.Snapshot(), Existed: true}, nil
	}
	if err := c.reserve(spec.GetSweepId(), planned.Plan); err != nil {
		return nil, err
	}
	defer c.arrived(spec.GetSweepId())
	existing, revision, err := c.store.SweepRecord(ctx, spec.GetSweepId())
	existed := err == nil
	var retried *foiblev1.Retried
	switch {
	case existed && existing.GetDeleted():
		return nil, fmt.Errorf("%w: it is being deleted; if that takes long, delete it again", service.ErrUnavailable)
	case existed && existing.GetState() == store.FailedInPart && !damaged:
		again, retried, err := c.retry(ctx, existing)
		return &foiblev1.CreateSweepResponse{Sweep: again, Existed: true, Retried: retried}, err
	case existed && (existing.GetState() == store.Cancelled || damaged && !store.Unended(existing.GetState())):
		retried = store.RetriedOf(existing.GetProgress())
		if spec, revision, err = c.revive(ctx, existing.GetSweepId()); err != nil {
			return nil, err
		}
	case existed && !store.Unended(existing.GetState()):
		return &foiblev1.CreateSweepResponse{Sweep: c.shown(existing), Existed: true}, nil
	case existed:
		spec = existing // it could not be taken up when it was made, or another coordinator has just made it
	case !errors.Is(err, service.ErrNotFound) && !errors.Is(err, store.ErrRecordDamaged):
		return nil, err
	}
	if damaged {
		if err := c.salvage(ctx, spec, !existed); err != nil {
			return nil, err
		}
	}
	if run = planned; existed || damaged { // as it was made then
		if run, err = active.New(ctx, c.env, spec); err != nil {
			return nil, err
		}
	}
	if !existed {
		revision, err = c.storeNew(ctx, spec, revision)
		if errors.Is(err, engine.ErrExists) { // by another coordinator, at this moment
			existed = true
			if spec, revision, err = c.store.Sweep(ctx, run.ID); err == nil {
				run, err = active.New(ctx, c.env, spec)
			}
		}
		if err != nil {
			return nil, store.Sentinel(err)
		}
	}
	if err := c.begin(run, revision); err != nil {
		return nil, err
	}
	c.damages.Clear(run.ID)
	c.log.Info("sweep created", "sweep", run.ID, "cells", run.Plan.Cells(), "jobs", run.Plan.Jobs())
	return &foiblev1.CreateSweepResponse{Sweep: run.Snapshot(), Existed: existed, Retried: retried}, nil
}

// name completes what is asked of a new sweep: its id, the size of its jobs, and the beginning of its life.
func (c *Coordinator) name(spec *foiblev1.Sweep) error {
	config, err := codec.Config(spec.GetConfig())
	if err != nil {
		return fmt.Errorf("%w: %w", service.ErrInvalid, err)
	}
	_, slots := c.env.ConnectedAnywhere()
	spec.SweepId = spec.GetStudyName() + "-" + config.ID(spec.GetStudyHash(), c.cfg.Version)
	spec.CellsPerJob = int32(config.CellsPerJob(codec.Shapes(spec.GetStimuli()), slots))
	spec.Version = c.cfg.Version
	spec.CreateTime = timestamppb.New(time.Now())
	spec.State = store.Running
	return nil
}

// plan plans a new sweep, and refuses one that is too large.
func (c *Coordinator) plan(ctx context.Context, spec *foiblev1.Sweep) (*active.Sweep, error) {
	planned, err := active.New(ctx, c.env, spec)
	if err != nil {
		return nil, err
	}
	if err := planned.Plan.CheckSizes(&planned.Config); err != nil {
		return nil, fmt.Errorf("%w: %w", service.ErrInvalid, err)
	}
	if jobs, most := planned.Plan.Jobs(), c.cfg.Limits.SweepJobs; jobs > most {
		return nil, limits.Beyond("max-sweep-jobs", jobs, most, "jobs in a sweep")
	}
	return planned, nil
}

// storeNew stores the record of a new sweep, in the place of a damaged one if that has a revision.
func (c *Coordinator) storeNew(ctx context.Context, spec *foiblev1.Sweep, damaged uint64) (revision uint64, err error) {
	value, err := proto.Marshal(spec)
	if err != nil {
		return 0, err
	}
	c.storing.Lock()
	defer c.storing.Unlock()
	if err := c.checkStored(ctx); err != nil {
		return 0, err
	}
	if damaged > 0 {
		return c.store.UpdateSweep(ctx, spec.GetSweepId(), value, damaged)
	}
	return c.store.CreateSweep(ctx, spec.GetSweepId(), value)
}

// existing finds a sweep that runs, or has succeeded: there is nothing to do. It is nil if there is none.
func (c *Coordinator) existing(ctx context.Context, id string) (*foiblev1.CreateSweepResponse, error) {
	if c.damages.Of(id) != "" {
		return nil, nil
	}
	if run, taken := c.run(id); taken && !run.Ended() {
		return &foiblev1.CreateSweepResponse{Sweep: run.Snapshot(), Existed: true}, nil
	}
	spec, _, err := c.store.Sweep(ctx, id)
	switch {
	case errors.Is(err, service.ErrNotFound), errors.Is(err, store.ErrRecordDamaged):
		return nil, nil
	case err != nil:
		return nil, err
	case spec.GetState() != store.Succeeded:
		return nil, nil
	}
	return &foiblev1.CreateSweepResponse{Sweep: c.shown(spec), Existed: true}, nil
}

// begin lets a run go on from what is stored. The caller holds the sweep's lock in taking, or nobody else has c yet.
func (c *Coordinator) begin(run *active.Sweep, revision uint64) error {
	if err := run.Begin(c.ctx, revision); err != nil {
		return err
	}
	c.add(run)
	return nil
}

// takeUp makes the run of a stored sweep that has not ended. The caller holds the sweep's lock in taking, or nobody
// else has c yet.
func (c *Coordinator) takeUp(ctx context.Context, spec *foiblev1.Sweep, revision uint64) error {
	if spec.GetVersion() != c.cfg.Version {
		c.log.Warn("sweep of another version is not touched", "sweep", spec.GetSweepId(), "version", spec.GetVersion())
		return nil
	}
	run, err := active.New(ctx, c.env, spec)
	if err != nil {
		return err
	}
	if err := c.begin(run, revision); err != nil {
		return err
	}
	c.log.Info("sweep taken up", "sweep", run.ID, "jobs_done", run.JobsDone(), "jobs", run.Plan.Jobs())
	return nil
}

// revive lets a cancelled sweep run again, with the results that it has; what failed of it is tried again in the end. Its
// run, if there is one, is of no more use. The caller holds its lock in taking.
func (c *Coordinator) revive(ctx context.Context, id string) (*foiblev1.Sweep, uint64, error) {
	if run, taken := c.run(id); taken {
		c.discard(run)
	}
	return c.update(ctx, id, func(s *foiblev1.Sweep) error {
		s.RetryDue = s.GetRetryDue() || store.RetriedOf(s.GetProgress()) != nil
		s.State, s.EndTime, s.Progress = store.Running, nil, nil
		return nil
	})
}

// resume takes up every sweep that has not ended.
func (c *Coordinator) resume(ctx context.Context) error {
	ids, err := c.store.Sweeps(ctx)
	if err != nil {
		return err
	}
	studies := map[string]error{}
	for _, id := range ids {
		switch err := c.resumeOne(ctx, id, studies); {
		case err == nil, errors.Is(err, service.ErrNotFound): // it was deleted at this moment
		case ctx.Err() != nil || store.Passing(err):
			return fmt.Errorf("sweep %s: %w", id, err)
		default:
			c.damages.Set(id, err)
		}
	}
	return c.findLost(ctx)
}

// resumeOne takes up a sweep that has not ended. Its error says what is damaged of it, but for those that are passing;
// studies are those that were read, with their errors.
func (c *Coordinator) resumeOne(ctx context.Context, id string, studies map[string]error) error {
	spec, revision, err := c.store.SweepRecord(ctx, id)
	switch {
	case err != nil:
		return err
	case spec.GetDeleted(): // which was cut short
		return c.store.DeleteSweep(ctx, id)
	case !store.Unended(spec.GetState()):
		if err := c.store.DeleteJobs(ctx, id); err != nil { // should the end have been cut short
			return err
		}
		if spec.GetRetries() > 0 && spec.GetState() != store.Cancelled {
			if err := c.store.DropFormer(ctx, id); err != nil {
				return err
			}
		}
		return c.store.CheckEnded(ctx, spec)
	}
	if err := c.store.CheckStudy(ctx, spec, studies); err != nil {
		return err
	}
	if err := c.store.EnsureResults(ctx, id); err != nil {
		return err
	}
	err = c.takeUp(ctx, spec, revision)
	if errors.Is(err, service.ErrNotFound) {
		return fmt.Errorf("something of it is lost: %v", err)
	}
	return err
}

func (c *Coordinator) add(run *active.Sweep) {
	c.mu.Lock()
	c.sweeps[run.ID] = run
	delete(c.ended, run.ID)
	for _, m := range c.crew.Members() {
		run.Joined(m)
	}
	c.mu.Unlock()
	c.demand.Signal()
}

// run finds a sweep that this coordinator has in memory: one that has not ended, or has just done so.
func (c *Coordinator) run(id string) (*active.Sweep, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	run, ok := c.sweeps[id]
	return run, ok
}

// running lists the sweeps whose jobs may be scheduled, in a fixed order. One that extends another waits for its end.
func (c *Coordinator) running() []*active.Sweep {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(sorted(c.sweeps), func(run *active.Sweep) bool {
		return c.damages.Of(run.ID) != "" || run.State() != store.Running || c.waitsFor(run) != ""
	})
}

// waitsFor is the id of the sweep that one extends, if that has not ended, or is being taken up, so that none of its jobs is
// scheduled; else "". The caller holds mu.
func (c *Coordinator) waitsFor(run *active.Sweep) string {
	id := run.Spec.GetExtends()
	if extended, taken := c.sweeps[id]; taken && !extended.Ended() || !taken && c.coming[id] != nil {
		return id
	}
	return ""
}

// waits is the id of the sweep that one waits for; "" if it does not.
func (c *Coordinator) waits(run *active.Sweep) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waitsFor(run)
}

// sorted are sweeps, the oldest first.
func sorted(sweeps map[string]*active.Sweep) []*active.Sweep {
	return slices.SortedFunc(maps.Values(sweeps), func(a, b *active.Sweep) int { return compareSweeps(a.Spec, b.Spec) })
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
	if run, ok := c.find(ctx, id); ok {
		return run.Snapshot(), nil
	}
	spec, _, err := c.store.Sweep(ctx, id)
	if errors.Is(err, service.ErrNotFound) || errors.Is(err, store.ErrRecordDamaged) {
		return c.lostSweep(id)
	}
	if err != nil {
		return nil, err
	}
	if c.comes(spec) {
		unlock := c.taking.lock(id) // as long as it is being taken up
		run, ok := c.run(id)
		unlock()
		if ok {
			return run.Snapshot(), nil
		}
	}
	return c.shown(spec), nil
}

// comes says whether a sweep that is not in memory is to be taken up here.
func (c *Coordinator) comes(spec *foiblev1.Sweep) bool {
	return store.Unended(spec.GetState()) && spec.GetVersion() == c.cfg.Version && c.damages.Of(spec.GetSweepId()) == ""
}

// shown completes the record of a sweep that is not in memory by what is not stored.
func (c *Coordinator) shown(spec *foiblev1.Sweep) *foiblev1.Sweep {
	spec.Priority, spec.Damage = cmp.Or(spec.GetPriority(), store.DefaultPriority), c.damages.Of(spec.GetSweepId())
	if p := spec.GetProgress(); p != nil {
		workers, slots := c.env.ConnectedAnywhere()
		p.Workers, p.Slots = int32(workers), int32(slots)
	}
	return spec
}

// ListSweeps implements [service.Sweeps].
func (c *Coordinator) ListSweeps(ctx context.Context) ([]*foiblev1.Sweep, error) {
	all := map[string]*foiblev1.Sweep{}
	var others []string // those for which more than the record is to be asked
	err := c.store.EachSweep(ctx, func(id string, value []byte, _ uint64) {
		spec := &foiblev1.Sweep{}
		if proto.Unmarshal(value, spec) != nil || store.Unended(spec.GetState()) {
			others = append(others, id)
			return
		}
		all[id] = spec
	})
	if err != nil {
		return nil, store.Sentinel(err)
	}
	for id, spec := range all {
		if all[id] = c.shown(spec); spec.GetDeleted() {
			delete(all, id)
		}
	}
	for _, id := range append(others, c.damages.Sweeps()...) {
		s, err := c.Sweep(ctx, id)
		if errors.Is(err, service.ErrNotFound) { // it was deleted at this moment
			delete(all, id)
			continue
		}
		if err != nil {
			return nil, err
		}
		all[id] = s
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *foiblev1.Sweep) int { return compareSweeps(b, a) }), nil
}

// watchInterval is the least time between two messages of WatchSweep.
const watchInterval = 100 * time.Millisecond

// WatchSweep implements [service.Sweeps].
func (c *Coordinator) WatchSweep(ctx context.Context, id string, each func(*foiblev1.Sweep) error) error {
	if _, ok := c.find(ctx, id); ok {
		defer c.watchers.Add(-1)
		if n, most := c.watchers.Add(1), c.cfg.Limits.Watchers; n > int64(most) {
			return limits.Beyond("max-watchers", int(n), most, "calls that watch sweeps")
		}
	}
	for {
		var changed <-chan struct{}
		run, ok := c.run(id)
		var s *foiblev1.Sweep
		if ok {
			changed, s = run.Changes(), run.Snapshot()
		} else {
			var err error
			if s, err = c.Sweep(ctx, id); err != nil {
				return err
			}
		}
		coming := !ok && c.comes(s) // in another life
		if !coming {
			if err := each(s); err != nil || !ok || !store.Unended(s.GetState()) || s.GetDamage() != "" {
				return err
			}
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
