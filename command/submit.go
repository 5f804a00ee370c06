package command

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"foible/coordinator/access"
	"foible/proto/codec"
	foiblev1 "foible/proto/foible/v1"
)

// SubmitOptions say which sweep to give to which coordinator.
type SubmitOptions struct {
	Coordinator Target
	Study       string
	Sweep       SweepChoice
}

// Submit sends a study and its sweep to a coordinator, and prints the sweep's id.
func (e *Env) Submit(ctx context.Context, o SubmitOptions) error {
	s, config, err := e.prepare(o.Study, o.Sweep)
	if err != nil {
		return err
	}
	c, err := dial(o.Coordinator)
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }()
	created, err := c.submit(ctx, s, config)
	if err != nil {
		return err
	}
	m := created.GetSweep()
	if created.GetExisted() {
		e.say("This sweep is there already, %s, with %s done.", stateName(m), cells(m))
	}
	fmt.Fprintln(e.Out, m.GetSweepId())
	e.sayWorkers(c, m)
	e.say("`foible status%s %s` shows how far it is, `foible results%s %[2]s` writes its tables and figures.", c.flags(), m.GetSweepId(), c.flags())
	return nil
}

// sayWorkers says that a running sweep has no workers, if so.
func (e *Env) sayWorkers(c *client, m *foiblev1.Sweep) {
	if stateName(m) == stateRunning && m.GetProgress().GetWorkers() == 0 {
		e.say("No worker is connected; start one with `foible worker%s`.", c.target.flags(access.Worker))
	}
}

// StatusOptions say what to look at.
type StatusOptions struct {
	Coordinator Target
	Sweep       string // its id; "": all
}

// Status prints all sweeps, or one with its best fits.
func (e *Env) Status(ctx context.Context, o StatusOptions) error {
	c, err := dial(o.Coordinator)
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }()
	if o.Sweep == "" {
		return e.listSweeps(ctx, c)
	}
	m, err := c.sweep(ctx, o.Sweep)
	if err != nil {
		return err
	}
	fits, err := c.sweeps.ListFits(ctx, &foiblev1.ListFitsRequest{SweepId: o.Sweep, PerModel: 3})
	if err != nil {
		return c.explain(err)
	}
	e.printSweep(m)
	e.sayWorkers(c, m)
	return e.printFits(fits.GetFits())
}

func (e *Env) listSweeps(ctx context.Context, c *client) error {
	all, err := c.sweeps.ListSweeps(ctx, &foiblev1.ListSweepsRequest{})
	if err != nil {
		return c.explain(err)
	}
	if len(all.GetSweeps()) == 0 {
		e.say("The coordinator has no sweeps yet; make one with `foible submit%s STUDY`.", c.flags())
		return nil
	}
	w := tabwriter.NewWriter(e.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "Sweep\tState\tDone\tMade")
	for _, m := range all.GetSweeps() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", m.GetSweepId(), stateName(m), cells(m), m.GetCreateTime().AsTime().Local().Format(time.DateTime))
	}
	return w.Flush()
}

func (e *Env) printSweep(m *foiblev1.Sweep) {
	fmt.Fprintf(e.Out, "%s: %s, %s done\n", m.GetSweepId(), stateName(m), cells(m))
	p := m.GetProgress()
	if p == nil {
		return
	}
	fmt.Fprintf(e.Out, "jobs: %d of %d done, %d with workers, %d failed; %s refused\n",
		p.GetJobsDone(), p.GetJobs(), p.GetJobsLeased(), p.GetJobsFailed(), count(int(p.GetDuplicates()), "repeated result"))
	if stateName(m) == stateRunning {
		fmt.Fprintf(e.Out, "%s with %s\n", count(int(p.GetWorkers()), "worker"), count(int(p.GetSlots()), "slot"))
	}
	for _, reason := range p.GetFailures() {
		fmt.Fprintf(e.Out, "failed: %s\n", reason)
	}
}

func (e *Env) printFits(fits []*foiblev1.Fit) error {
	if len(fits) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(e.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "Model\tBest parameter sets\tr\tn")
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

const stateRunning = "running"

func stateName(m *foiblev1.Sweep) string {
	switch m.GetState() {
	case foiblev1.SweepState_SWEEP_STATE_RUNNING:
		if m.GetProgress() == nil {
			return "left by version " + m.GetVersion() // no other version takes it up
		}
		return stateRunning
	case foiblev1.SweepState_SWEEP_STATE_SUCCEEDED:
		return "succeeded"
	case foiblev1.SweepState_SWEEP_STATE_FAILED:
		return "failed in part"
	}
	return "unknown"
}

// cells says how many of a sweep's cells are done. Of a sweep that ended in an
// earlier life of the coordinator, that is all.
func cells(m *foiblev1.Sweep) string {
	p := m.GetProgress()
	if p != nil {
		return fmt.Sprintf("%d of %s", p.GetCellsDone(), count(int(p.GetCells()), "cell"))
	}
	plan, _, err := planOf(m)
	switch {
	case err != nil:
		return "an unknown number of cells"
	case m.GetState() == foiblev1.SweepState_SWEEP_STATE_RUNNING:
		return "some of " + count(plan.Cells(), "cell")
	}
	return fmt.Sprintf("%d of %s", plan.Cells(), count(plan.Cells(), "cell"))
}
