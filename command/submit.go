package command

import (
	"context"
	"fmt"
	"time"

	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/core/words"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// SubmitOptions say which sweep to give to which coordinator.
type SubmitOptions struct {
	Coordinator Target
	Study       string
	Sweep       SweepChoice
	Priority    int     // 0: the coordinator's default
	Verify      float64 // share of the cells to compute twice, from 0 to 1
	Wait        bool    // until it ends, as Watch does
	Notify      Notify  // of the end, if it waits for that
	// WithoutJudgements: the study may be without judgements, for the posteriors alone.
	WithoutJudgements bool
}

// Submit sends a study and its sweep to a coordinator, and prints the sweep's id.
func Submit(ctx context.Context, term *Terminal, o SubmitOptions) error {
	if o.Priority < 0 || o.Priority > MaxPriority {
		return usagef("--priority %d: must be 1 to %d", o.Priority, MaxPriority)
	}
	if err := o.Notify.check(); err != nil {
		return err
	}
	if o.Notify != "" && !o.Wait {
		return usagef("--notify is done by who waits for the end: say --wait too, or watch the sweep with `foible watch --notify`")
	}
	if err := checkVerify(o.Verify); err != nil {
		return err
	}
	s, config, err := prepare(ctx, term, o.Study, o.Sweep)
	if err != nil {
		return err
	}
	if err := judgedOr(s, o.WithoutJudgements); err != nil {
		return err
	}
	c, err := dialWarning(term, o.Coordinator)
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }()
	created, err := c.submit(ctx, s, config, o.Priority, o.Verify)
	if err != nil {
		return err
	}
	m := created.GetSweep()
	if created.GetExisted() {
		term.say("This sweep is there already, %s, with %s done.", stateName(m), cells(m))
	}
	sayVerify(term, created, o.Verify)
	sayRetried(term, m, created.GetRetried())
	fmt.Fprintln(term.Out, m.GetSweepId())
	if o.Wait {
		return Watch(ctx, term, WatchOptions{Coordinator: o.Coordinator, Sweep: m.GetSweepId(), Notify: o.Notify})
	}
	sayNext(ctx, term, c, m)
	sayHow(term, c, m)
	return nil
}

// sayWorkers says that a running sweep has no workers, if so.
func sayWorkers(term *Terminal, c *client, m *foiblev1.Sweep) {
	if stateText(m) == stateRunning && m.GetProgress().GetWorkers() == 0 {
		term.say("No worker is connected; start one with `foible worker%s`.", c.target.flags(access.Worker))
	}
}

// StatusOptions say what to look at.
type StatusOptions struct {
	Coordinator Target
	Sweep       string // its id; "": all
	JSON        bool
}

// Status prints all sweeps, or one with its best fits.
func Status(ctx context.Context, term *Terminal, o StatusOptions) error {
	if o.Sweep == "" {
		return List(ctx, term, o.Coordinator, o.JSON)
	}
	c, err := dialWarning(term, o.Coordinator)
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }()
	m, err := c.sweep(ctx, o.Sweep)
	if err != nil {
		return err
	}
	if o.JSON {
		s, err := statusOf(ctx, c, m)
		if err != nil {
			return err
		}
		return term.printJSON(s)
	}
	if m.GetDamage() != "" {
		printSweep(term, m)
		return nil
	}
	fits, err := c.sweeps.ListFits(ctx, &foiblev1.ListFitsRequest{SweepId: o.Sweep, PerModel: 3})
	if err != nil {
		return c.explain(err)
	}
	printSweep(term, m)
	sayNext(ctx, term, c, m)
	return printFits(term, fits.GetFits())
}

func printSweep(term *Terminal, m *foiblev1.Sweep) {
	term.print("%s: %s, %s done", m.GetSweepId(), stateText(m), cells(m))
	for _, reason := range []string{m.GetStalled(), m.GetDamage()} {
		if reason != "" {
			term.print("%s: %s", stateText(m), reason)
		}
	}
	p := m.GetProgress()
	if p == nil {
		return
	}
	term.print("jobs: %s of %s done, %s with workers, %s failed, %s tried again; %s lost, %s refused",
		words.Thousands(p.GetJobsDone()), words.Thousands(p.GetJobs()), words.Thousands(p.GetJobsLeased()), words.Thousands(p.GetJobsFailed()), words.Thousands(p.GetRetries()), words.Count(int(p.GetLeasesLost()), "lease"), words.Count(int(p.GetDuplicates()), "repeated result"))
	if n := p.GetCopies(); n > 0 {
		term.print("%s took longer than the deadline, and went to another worker too", words.Count(int(n), "job"))
	}
	if text := verified(m); text != "" {
		fmt.Fprintln(term.Out, text)
	}
	if stateName(m) == stateRunning {
		term.print("priority %d; %s with %s", m.GetPriority(), words.Count(int(p.GetWorkers()), "worker"), words.Count(int(p.GetSlots()), "slot"))
		if eta := (&countdown{}).eta(m, time.Now()); eta != "" {
			term.print("%s; %s cells/s", eta, rounded(p.GetCellsPerSecond()))
		}
	}
	for _, trouble := range p.GetTroubles() {
		term.print("now: %s", trouble)
	}
	if n := p.GetCellsFailed(); n > 0 {
		term.print("%s could not be computed", words.Count(int(n), "cell"))
	}
	for _, reason := range causes(p) {
		term.print("failed: %s", reason)
	}
	if m.GetRetryDue() {
		fmt.Fprintln(term.Out, "what failed is tried again when all other jobs are done")
	}
}

// checkVerify returns an error if a share of cells is none.
func checkVerify(share float64) error {
	if !(share >= 0 && share <= 1) {
		return usagef("--verify %v: must be a share of the cells, from 0 to 1", share)
	}
	return nil
}

// sayVerify says that a sweep was there already and verifies another share of its cells than is asked for, if so.
func sayVerify(term *Terminal, created *foiblev1.CreateSweepResponse, asked float64) {
	if was := created.GetSweep().GetVerify(); created.GetExisted() && was != asked {
		term.say("It was made with --verify %v, which stays as it is.", was)
	}
}

// verified says how many cells were computed twice with the same numbers; "" if none is to be.
func verified(m *foiblev1.Sweep) string {
	p := m.GetProgress()
	n, alone := p.GetCellsVerified(), p.GetCellsVerifiedAlone()
	switch {
	case m.GetVerify() == 0:
		return ""
	case n == 0:
		return "no cell has been computed twice with the same numbers"
	case alone == n:
		return words.Count(n, "cell") + " computed twice, with the same numbers, by the same worker, as there was no other"
	case alone > 0:
		return fmt.Sprintf("%s computed twice, with the same numbers; %s of them by the same worker, as there was no other", words.Count(n, "cell"), words.Thousands(alone))
	}
	return words.Count(n, "cell") + " computed twice, with the same numbers, by different workers"
}

func printFits(term *Terminal, fits []*foiblev1.Fit) error {
	if len(fits) == 0 {
		return nil
	}
	t := newTable("Model", "Best parameter sets↓", "r", "n")
	for _, m := range fits {
		set, err := codec.ReadParameterSet(m.GetParameterSet())
		if err != nil {
			return err
		}
		r := "undefined"
		if m.GetOverall().PearsonR != nil {
			r = words.Fixed(m.GetOverall().GetPearsonR(), 3)
		}
		n := words.Thousands(m.GetOverall().GetN())
		if m.GetIncomplete() {
			n += " (not all)"
		}
		t.add(set.Model, fmt.Sprintf("#%d %s", m.GetNumber(), set.Settings()), r, n)
	}
	term.table(t)
	return nil
}

// States as they are shown.
const (
	stateRunning   = "running"
	statePaused    = "paused"
	stateCancelled = "cancelled"
	stateInPart    = "failed in part"
	stateDamaged   = "damaged"
	stateWaiting   = "waiting"                   // of running ones, for the sweep that they extend; see stateText
	stateStalled   = "paused by the coordinator" // of running ones; see stateText
)

// stateText is the state of a sweep for people to read: a running one may be stalled, or wait for another.
func stateText(m *foiblev1.Sweep) string {
	switch name := stateName(m); {
	case name != stateRunning:
		return name
	case m.GetStalled() != "":
		return stateStalled
	case m.GetWaitsFor() != "":
		return stateWaiting
	}
	return stateRunning
}

func stateName(m *foiblev1.Sweep) string {
	switch state := m.GetState(); {
	case m.GetDamage() != "":
		return stateDamaged
	case unended(state) && m.GetProgress() == nil:
		return "left by version " + m.GetVersion() // no other version takes it up
	case state == foiblev1.SweepState_SWEEP_STATE_FAILED:
		return stateInPart
	case stateWords[state] != "":
		return stateWords[state]
	}
	return "unknown"
}

// unended says whether a sweep in a state may still have results.
func unended(state foiblev1.SweepState) bool {
	return state == foiblev1.SweepState_SWEEP_STATE_RUNNING || state == foiblev1.SweepState_SWEEP_STATE_PAUSED
}

// cells says how many of a sweep's cells are done. Of a sweep that ended in an
// earlier life of the coordinator, that is all.
func cells(m *foiblev1.Sweep) string {
	p := m.GetProgress()
	if p != nil && m.GetDamage() == "" {
		return fmt.Sprintf("%s of %s", words.Thousands(p.GetCellsDone()), words.Count(p.GetCells(), "cell"))
	}
	plan, _, err := planOf(m)
	switch {
	case err != nil || m.GetDamage() != "":
		return "an unknown number of cells"
	case unended(m.GetState()) || m.GetState() == foiblev1.SweepState_SWEEP_STATE_CANCELLED:
		return "some of " + words.Count(plan.Cells(), "cell")
	}
	return fmt.Sprintf("%s of %s", words.Thousands(plan.Cells()), words.Count(plan.Cells(), "cell"))
}
