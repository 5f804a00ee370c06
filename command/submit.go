package command

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"foible/proto/codec"
	foiblev1 "foible/proto/foible/v1"
)

// Submit sends a study and its sweep to a coordinator, and prints the sweep's id.
func (e *Env) Submit(ctx context.Context, address, name string, choice SweepChoice) error {
	fsys, err := openStudy(name)
	if err != nil {
		return err
	}
	s, err := e.loadStudy(fsys, false)
	if err != nil {
		return err
	}
	config, err := choice.config(fsys, s.Domain)
	if err != nil {
		return err
	}
	c, err := dial(address)
	if err != nil {
		return err
	}
	defer c.close()
	created, err := c.submit(ctx, s, config)
	if err != nil {
		return err
	}
	id := created.GetSweep().GetSweepId()
	if created.GetExisted() {
		e.say("this sweep is there already, %s", stateName(created.GetSweep().GetState()))
	}
	fmt.Fprintln(e.Out, id)
	e.say("see it with `foible status %s`, fetch it with `foible results %s`", id, id)
	return nil
}

// Status prints all sweeps, or one with its best fits.
func (e *Env) Status(ctx context.Context, address, id string) error {
	c, err := dial(address)
	if err != nil {
		return err
	}
	defer c.close()
	if id == "" {
		all, err := c.sweeps.ListSweeps(ctx, &foiblev1.ListSweepsRequest{})
		if err != nil {
			return c.explain(err)
		}
		w := tabwriter.NewWriter(e.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "Sweep\tState\tCells\tMade")
		for _, s := range all.GetSweeps() {
			cells := ""
			if p := s.GetProgress(); p != nil {
				cells = fmt.Sprintf("%d/%d", p.GetCellsDone(), p.GetCells())
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.GetSweepId(), stateName(s.GetState()), cells, s.GetCreateTime().AsTime().Local().Format(time.DateTime))
		}
		if len(all.GetSweeps()) == 0 {
			fmt.Fprintln(e.Err, "no sweeps yet; make one with `foible submit STUDY`")
		}
		return w.Flush()
	}
	got, err := c.sweeps.GetSweep(ctx, &foiblev1.GetSweepRequest{SweepId: id})
	if err != nil {
		return c.explain(err)
	}
	fits, err := c.sweeps.ListFits(ctx, &foiblev1.ListFitsRequest{SweepId: id, PerModel: 3})
	if err != nil {
		return c.explain(err)
	}
	return e.printSweep(got.GetSweep(), fits.GetFits())
}

func (e *Env) printSweep(s *foiblev1.Sweep, fits []*foiblev1.Fit) error {
	fmt.Fprintf(e.Out, "%s  %s\n", s.GetSweepId(), stateName(s.GetState()))
	if p := s.GetProgress(); p != nil {
		fmt.Fprintf(e.Out, "cells %d/%d, jobs %d/%d, %d leased, %d failed, %s refused\n",
			p.GetCellsDone(), p.GetCells(), p.GetJobsDone(), p.GetJobs(), p.GetJobsLeased(), p.GetJobsFailed(), count(int(p.GetDuplicates()), "duplicate"))
		if s.GetState() == foiblev1.SweepState_SWEEP_STATE_RUNNING {
			fmt.Fprintf(e.Out, "%s with %s\n", count(int(p.GetWorkers()), "worker"), count(int(p.GetSlots()), "slot"))
			if p.GetWorkers() == 0 {
				fmt.Fprintln(e.Out, "no worker is connected; start one with `foible worker`")
			}
		}
		for _, reason := range p.GetFailures() {
			fmt.Fprintf(e.Out, "failed: %s\n", reason)
		}
	}
	if len(fits) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(e.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "Model\tParameter set\tr\tn")
	for _, m := range fits {
		set, err := codec.ReadParameterSet(m.GetParameterSet())
		if err != nil {
			return err
		}
		r := "undefined"
		if m.GetOverall().PearsonR != nil {
			r = fmt.Sprintf("%.3f", m.GetOverall().GetPearsonR())
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\n", set.Model, set.Settings(), r, m.GetOverall().GetN())
	}
	return w.Flush()
}

func stateName(s foiblev1.SweepState) string {
	switch s {
	case foiblev1.SweepState_SWEEP_STATE_RUNNING:
		return "running"
	case foiblev1.SweepState_SWEEP_STATE_SUCCEEDED:
		return "succeeded"
	case foiblev1.SweepState_SWEEP_STATE_FAILED:
		return "failed in part"
	}
	return "unknown"
}
