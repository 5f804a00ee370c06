package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"foible/coordinator/service"
	"foible/core/sweep"
	"foible/proto/codec"
	foiblev1 "foible/proto/foible/v1"
)

// opened finds a sweep's run; one that ended before this coordinator started is planned again.
func (c *Coordinator) opened(ctx context.Context, id string) (*sweepRun, error) {
	if run, ok := c.find(ctx, id); ok {
		return run, nil
	}
	spec, _, err := c.stored(ctx, id)
	if err != nil {
		return nil, err
	}
	return c.newRun(ctx, spec)
}

// undone says why a sweep may lack results.
var undone = map[foiblev1.SweepState]string{running: "is still running", paused: "is paused", cancelled: "was cancelled"}

// Results implements [service.Sweeps].
func (c *Coordinator) Results(ctx context.Context, id string, partial bool, each func(int, []byte) error) error {
	run, err := c.opened(ctx, id)
	if err != nil {
		return err
	}
	if why, undone := undone[run.now()]; undone && !partial {
		return fmt.Errorf("%w: it %s; ask for what is there with --partial", service.ErrPrecondition, why)
	}
	send := func(job int) error {
		result, err := run.recordedBytes(ctx, job)
		if partial && errors.Is(err, service.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return each(job, result)
	}
	for chunk := range run.plan.Chunks() {
		for i := range run.plan.Stimuli {
			if err := send(chunk*len(run.plan.Stimuli) + i); err != nil {
				return err
			}
		}
		if err := send(run.plan.ScoreJob(chunk)); err != nil {
			return err
		}
	}
	return nil
}

// Fits implements [service.Sweeps].
func (c *Coordinator) Fits(ctx context.Context, id string, perModel int) ([]*foiblev1.Fit, error) {
	run, err := c.opened(ctx, id)
	if err != nil {
		return nil, err
	}
	byModel := map[string][]*foiblev1.Fit{}
	take := func(fits []*foiblev1.Fit) {
		for _, fit := range fits {
			model := fit.GetParameterSet().GetModel()
			of := append(byModel[model], fit)
			if perModel > 0 && len(of) >= 2*perModel {
				of = keepBest(of, perModel)
			}
			byModel[model] = of
		}
	}
	toppedUp := map[sweep.ParameterSet]bool{}
	for round := run.plan.TopUps(); round >= 0; round-- { // the latest fits stand
		for chunk, end := run.plan.RoundChunks(round); chunk < end; chunk++ {
			result, err := run.result(ctx, run.plan.ScoreJob(chunk))
			if errors.Is(err, service.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			fits, err := without(toppedUp, result.GetScore().GetFits(), round > 0)
			if err != nil {
				return nil, err
			}
			take(fits)
		}
	}
	var fits []*foiblev1.Fit
	for _, model := range sweep.Models {
		fits = append(fits, keepBest(byModel[model.Name], perModel)...)
	}
	return fits, nil
}

// without are the fits of parameter sets that are not seen yet; they are from now on, if they are to be.
func without(seen map[sweep.ParameterSet]bool, fits []*foiblev1.Fit, see bool) ([]*foiblev1.Fit, error) {
	if len(seen) == 0 && !see {
		return fits, nil
	}
	var others []*foiblev1.Fit
	for _, fit := range fits {
		set, err := codec.ReadParameterSet(fit.GetParameterSet())
		if err != nil {
			return nil, err
		}
		if !seen[set] {
			others = append(others, fit)
		}
		if see {
			seen[set] = true
		}
	}
	return others, nil
}

// keepBest sorts by r, undefined last, and cuts to n if n > 0.
func keepBest(fits []*foiblev1.Fit, n int) []*foiblev1.Fit {
	r := func(f *foiblev1.Fit) float64 {
		if f.GetOverall().PearsonR == nil {
			return -2
		}
		return f.GetOverall().GetPearsonR()
	}
	slices.SortStableFunc(fits, func(a, b *foiblev1.Fit) int { return cmp.Compare(r(b), r(a)) })
	if n > 0 && len(fits) > n {
		fits = fits[:n]
	}
	return fits
}
