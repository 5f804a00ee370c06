package sweeps

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/output"
	"foible.dev/foible/command/results"
	"foible.dev/foible/command/terminal"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// ResultsOptions say which results to write, and where.
type ResultsOptions struct {
	Coordinator connect.Target
	Sweep       string // its id
	Out         string // output directory; "": named after the study
	Partial     bool   // though the sweep is running
	Recovery    string // directory of a recovery of the same study, for the page; "": none
	Overwrite   bool   // what the directory holds of others
}

// Results writes what a sweep has come to into a directory.
func Results(ctx context.Context, term *terminal.Terminal, o ResultsOptions) error {
	c, m, err := dialSweep(ctx, term, o.Coordinator, o.Sweep)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if err := unfinished(term, c, m, o.Partial); err != nil {
		return err
	}
	s, err := c.Study(ctx, m.GetStudyHash())
	if err != nil {
		return err
	}
	if o.Out == "" {
		o.Out = results.DefaultDir(s)
	}
	recovered, err := results.ReadRecovery(o.Recovery, s)
	if err != nil {
		return err
	}
	if err := output.Free(o.Out, results.Owner(m.GetSweepId()), o.Overwrite); err != nil {
		return err
	}
	r := results.Writer{Client: c, Sweep: m, Study: s, Dir: o.Out, Partial: o.Partial, Recovered: recovered, Beyond: results.ExtendCommand(c, m)}
	return r.Write(ctx, term)
}

// unfinished says what the results of a sweep that is not done lack; unless that is what is wanted, it is an error.
func unfinished(term *terminal.Terminal, c *connect.Client, m *foiblev1.Sweep, partial bool) error {
	if state := m.GetState(); m.GetDamage() == "" && !connect.HasNotEnded(state) && state != foiblev1.SweepState_SWEEP_STATE_CANCELLED {
		return nil
	}
	var is, todo string
	switch connect.StateName(m) {
	case connect.StateRunning:
		is, todo = "the sweep is still running, "+connect.CellsText(m)+" are done", "wait for it"
	case connect.StatePaused:
		is, todo = "the sweep is paused, "+connect.CellsText(m)+" are done", fmt.Sprintf("let it go on with `foible resume%s %s`", c.Flags(), m.GetSweepId())
	case connect.StateDamaged:
		is, todo = "the sweep is damaged: "+m.GetDamage(), "submit it again"
	case connect.StateCancelled:
		is, todo = "the sweep was cancelled, "+connect.CellsText(m)+" are done", "submit it again"
		if m.GetVersion() != cli.Version() {
			todo = "submit it again, which begins anew but with version " + m.GetVersion()
		}
	default:
		is, todo = "version "+m.GetVersion()+" left the sweep unfinished", "submit it again"
	}
	if m.GetDamage() != "" && (!partial || m.GetStudyHash() == "") { // the damage says what to do
		return errors.New(is)
	}
	if !partial {
		return fmt.Errorf("%s; %s, or take what is there with --partial", is, todo)
	}
	term.Say("%s%s; what is not done is missing from what follows.", strings.ToUpper(is[:1]), is[1:])
	return nil
}

// NewResults returns the command results.
func NewResults(term *terminal.Terminal) *cobra.Command {
	var o ResultsOptions
	c := &cobra.Command{
		Use:     "results SWEEP",
		Short:   "Write the tables and figures of a coordinator's sweep",
		GroupID: cli.GroupCluster, Args: cli.ExactlyOne(connect.AskForSweep),
		RunE: func(c *cobra.Command, args []string) error {
			o.Sweep = args[0]
			return Results(c.Context(), term, o)
		},
	}
	connect.TargetFlags(c, &o.Coordinator)
	cli.OutFlag(c, &o.Out, &o.Overwrite)
	results.RecoveryFlag(c, &o.Recovery)
	c.Flags().BoolVar(&o.Partial, "partial", false, "write the results so far of a sweep that has not ended")
	return c
}
