package follow

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/core/words"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// PrintSweep describes a sweep.
func PrintSweep(term *terminal.Terminal, m *foiblev1.Sweep) {
	term.Print("%s: %s, %s done", m.GetSweepId(), connect.StateText(m), connect.CellsText(m))
	for _, reason := range []string{m.GetStalled(), m.GetDamage()} {
		if reason != "" {
			term.Print("%s: %s", connect.StateText(m), reason)
		}
	}
	p := m.GetProgress()
	if p == nil {
		return
	}
	term.Print("jobs: %s of %s done, %s with workers, %s failed, %s tried again; %s lost, %s refused",
		words.Thousands(p.GetJobsDone()), words.Thousands(p.GetJobs()), words.Thousands(p.GetJobsLeased()), words.Thousands(p.GetJobsFailed()), words.Thousands(p.GetRetries()), words.Count(int(p.GetLeasesLost()), "lease"), words.Count(int(p.GetDuplicates()), "repeated result"))
	if n := p.GetCopies(); n > 0 {
		term.Print("%s took longer than the deadline, and went to another worker too", words.Count(int(n), "job"))
	}
	if text := connect.VerifiedText(m); text != "" {
		fmt.Fprintln(term.Out, text)
	}
	if connect.StateName(m) == connect.StateRunning {
		term.Print("priority %d; %s with %s", m.GetPriority(), words.Count(int(p.GetWorkers()), "worker"), words.Count(int(p.GetSlots()), "slot"))
		if eta := (&countdown{}).eta(m, time.Now()); eta != "" {
			term.Print("%s; %s cells/s", eta, rounded(p.GetCellsPerSecond()))
		}
	}
	for _, trouble := range p.GetTroubles() {
		term.Print("now: %s", trouble)
	}
	if n := p.GetCellsFailed(); n > 0 {
		term.Print("%s could not be computed", words.Count(int(n), "cell"))
	}
	for _, reason := range Causes(p) {
		term.Print("failed: %s", reason)
	}
	if m.GetRetryDue() {
		fmt.Fprintln(term.Out, "what failed is tried again when all other jobs are done")
	}
}

// PrintFits prints the best fits of each model as a table.
func PrintFits(term *terminal.Terminal, fits []*foiblev1.Fit) error {
	if len(fits) == 0 {
		return nil
	}
	t := terminal.NewTable("Model", "Best parameter sets↓", "r", "n")
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
		t.Add(set.Model, fmt.Sprintf("#%d %s", m.GetNumber(), set.Settings()), r, n)
	}
	term.PrintTable(t)
	return nil
}

// sayWorkers says that a running sweep has no workers, if so.
func sayWorkers(term *terminal.Terminal, c *connect.Client, m *foiblev1.Sweep) {
	if connect.StateText(m) == connect.StateRunning && m.GetProgress().GetWorkers() == 0 {
		term.Say("No worker is connected; start one with `foible worker%s`.", c.Target.Flags(access.Worker))
	}
}

// CheckVerify returns an error if a share of cells is none.
func CheckVerify(share float64) error {
	if !(share >= 0 && share <= 1) {
		return cli.Usagef("--verify %v: must be a share of the cells, from 0 to 1", share)
	}
	return nil
}

// SayVerify says that a sweep was there already and verifies another share of its cells than is asked for, if so.
func SayVerify(term *terminal.Terminal, created *foiblev1.CreateSweepResponse, asked float64) {
	if was := created.GetSweep().GetVerify(); created.GetExisted() && was != asked {
		term.Say("It was made with --verify %v, which stays as it is.", was)
	}
}

// VerifyFlag adds --verify.
func VerifyFlag(c *cobra.Command, share *float64) {
	c.Flags().Float64Var(share, "verify", 0, "`share` of the cells, from 0 to 1, to compute twice, by different workers where there are others; a job whose numbers differ fails, and the exit code says so")
}
