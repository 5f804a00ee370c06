package command

import (
	"fmt"
	"time"

	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/core/words"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"github.com/spf13/cobra"
)

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

// sayWorkers says that a running sweep has no workers, if so.
func sayWorkers(term *Terminal, c *client, m *foiblev1.Sweep) {
	if stateText(m) == stateRunning && m.GetProgress().GetWorkers() == 0 {
		term.say("No worker is connected; start one with `foible worker%s`.", c.target.flags(access.Worker))
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

func verifyFlag(c *cobra.Command, share *float64) {
	c.Flags().Float64Var(share, "verify", 0, "`share` of the cells, from 0 to 1, to compute twice, by different workers where there are others; a job whose numbers differ fails, and the exit code says so")
}
