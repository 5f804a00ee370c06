package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"foible.dev/foible/coordinator/active"
	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/store"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// opened finds a sweep's run; one that is not in memory is planned again, and knows none of its results.
func (c *Coordinator) opened(ctx context.Context, id string) (run *active.Sweep, taken bool, err error) {
	if run, ok := c.find(ctx, id); ok {
		return run, true, nil
	}
	spec, _, err := c.store.Sweep(ctx, id)
	if err != nil {
		return nil, false, err
	}
	if run, err = active.New(ctx, c.env, spec); err != nil {
		return nil, false, err
	}
	return run, false, c.samePlan(ctx, run)
}

// undone says why a sweep may lack results.
var undone = map[foiblev1.SweepState]string{store.Running: "is still running", store.Paused: "is paused", store.Cancelled: "was cancelled"}

// Results implements [service.Sweeps].
func (c *Coordinator) Results(ctx context.Context, id string, partial bool, each func(int, []byte) error) error {
	run, _, err := c.opened(ctx, id)
	if err != nil {
		return err
	}
	if why, undone := undone[run.State()]; undone && !partial {
		return fmt.Errorf("%w: it %s; ask for what is there with --partial", service.ErrPrecondition, why)
	}
	if damage := c.damages.Of(id); damage != "" && !partial {
		return fmt.Errorf("%w: %s; or ask for what is there with --partial", service.ErrPrecondition, damage)
	}
	send := func(job int) error {
		result, err := c.store.JobResultBytes(ctx, run.ID, job)
		if partial && errors.Is(err, service.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return each(job, result)
	}
	for chunk := range run.Plan.Chunks() {
		for i := range run.Plan.Stimuli {
			if err := send(run.Plan.InferJob(chunk, i)); err != nil {
				return err
			}
		}
		if err := send(run.Plan.ScoreJob(chunk)); err != nil {
			return err
		}
	}
	return nil
}

// Fits implements [service.Sweeps].
func (c *Coordinator) Fits(ctx context.Context, id string, perModel int) ([]*foiblev1.Fit, error) {
	run, taken, err := c.opened(ctx, id)
	if err != nil {
		return nil, err
	}
	standing := sweep.NewStanding(run.Plan.Points())
	kept := map[int]*foiblev1.Fit{} // by index of the parameter set; none that is not among the perModel best
	for round := 0; round <= run.Plan.TopUps() && round < run.KnownRounds(); round++ {
		for chunk := range run.Plan.RoundChunks(round) {
			job := run.Job(run.Plan.ScoreJob(chunk))
			result, err := run.Result(ctx, job.Number)
			if errors.Is(err, service.ErrNotFound) {
				continue
			}
			if err == nil && !taken { // by the fits of this round it is known what the next one is
				_, _, err = run.Enter(job.Number, result)
			}
			if err != nil {
				return nil, err
			}
			if err := keep(standing, kept, &job, result.GetScore().GetFits()); err != nil {
				return nil, err
			}
			if perModel > 0 && len(kept) >= 2*perModel*len(run.Plan.Models()) {
				drop(standing, kept, run.Plan, perModel)
			}
		}
	}
	drop(standing, kept, run.Plan, perModel)
	var fits []*foiblev1.Fit
	for _, m := range model.Models {
		for _, set := range standing.Ranking(m.Name) {
			if fit := kept[set]; fit != nil {
				fits = append(fits, numbered(fit, standing, set))
			}
		}
	}
	return fits, nil
}

// keep takes up the fits of a score job, and keeps those by which parameter sets rank.
func keep(standing *sweep.Standing, kept map[int]*foiblev1.Fit, job *sweep.Job, fits []*foiblev1.Fit) error {
	for i, m := range fits {
		fit, err := codec.ReadFit(m)
		if err != nil {
			return fmt.Errorf("job %d: %w", job.Number, err)
		}
		set := job.Index(i)
		standing.Add(job.Sets[i].Model, set, job.Round, &fit)
		if place, _ := standing.Place(set); place.Round == job.Round {
			kept[set] = m
		}
	}
	return nil
}

// drop leaves of each model the n best, all if n is 0.
func drop(standing *sweep.Standing, kept map[int]*foiblev1.Fit, plan *sweep.Plan, n int) {
	for _, m := range plan.Models() {
		var sets []int
		for set := range kept {
			if m.First <= set && set < m.End {
				sets = append(sets, set)
			}
		}
		if n == 0 || len(sets) <= n {
			continue
		}
		slices.SortFunc(sets, standing.Compare)
		for _, set := range sets[n:] {
			delete(kept, set)
		}
	}
}

// numbered is a fit with what is known of its parameter set among the others.
func numbered(m *foiblev1.Fit, standing *sweep.Standing, set int) *foiblev1.Fit {
	place, _ := standing.Place(set)
	return &foiblev1.Fit{
		ParameterSet: m.GetParameterSet(), ScoreHash: m.GetScoreHash(), Overall: m.GetOverall(), ByCategory: m.GetByCategory(),
		ByStimulus: m.GetByStimulus(), Intervals: m.GetIntervals(), Undefined: m.GetUndefined(), Failed: m.GetFailed(), McSe: m.GetMcSe(), McSeUnknown: m.GetMcSeUnknown(),
		Number: int32(set + 1), Incomplete: !place.Complete,
	}
}
