package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// ResultsOptions say which results to write, and where.
type ResultsOptions struct {
	Coordinator Target
	Sweep       string // its id
	Out         string // output directory; "": named after the study
	Partial     bool   // though the sweep is running
	Recovery    string // directory of a recovery of the same study, for the page; "": none
	Overwrite   bool   // what the directory holds of others
}

// Results writes what a sweep has come to into a directory.
func Results(ctx context.Context, term *Terminal, o ResultsOptions) error {
	c, err := dialWarning(term, o.Coordinator)
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }()
	m, err := c.sweep(ctx, o.Sweep)
	if err != nil {
		return err
	}
	if err := unfinished(term, c, m, o.Partial); err != nil {
		return err
	}
	s, err := c.study(ctx, m.GetStudyHash())
	if err != nil {
		return err
	}
	if o.Out == "" {
		o.Out = defaultOut(s)
	}
	recovered, err := recoveryOf(o.Recovery, s)
	if err != nil {
		return err
	}
	if err := free(o.Out, sweepOwner(m.GetSweepId()), o.Overwrite); err != nil {
		return err
	}
	r := sweepResults{client: c, sweep: m, study: s, dir: o.Out, partial: o.Partial, recovered: recovered, beyond: extending(c, m)}
	return r.write(ctx, term)
}

// unfinished says what the results of a sweep that is not done lack; unless that is what is wanted, it is an error.
func unfinished(term *Terminal, c *client, m *foiblev1.Sweep, partial bool) error {
	if state := m.GetState(); m.GetDamage() == "" && !unended(state) && state != foiblev1.SweepState_SWEEP_STATE_CANCELLED {
		return nil
	}
	var is, todo string
	switch stateName(m) {
	case stateRunning:
		is, todo = "the sweep is still running, "+cells(m)+" are done", "wait for it"
	case statePaused:
		is, todo = "the sweep is paused, "+cells(m)+" are done", fmt.Sprintf("let it go on with `foible resume%s %s`", c.flags(), m.GetSweepId())
	case stateDamaged:
		is, todo = "the sweep is damaged: "+m.GetDamage(), "submit it again"
	case stateCancelled:
		is, todo = "the sweep was cancelled, "+cells(m)+" are done", "submit it again"
		if m.GetVersion() != Version() {
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
	term.say("%s%s; what is not done is missing from what follows.", strings.ToUpper(is[:1]), is[1:])
	return nil
}

func newResults(term *Terminal) *cobra.Command {
	var o ResultsOptions
	c := &cobra.Command{
		Use:     "results SWEEP",
		Short:   "Write the tables and figures of a coordinator's sweep",
		GroupID: cluster, Args: exactlyOne(nameSweep),
		RunE: func(c *cobra.Command, args []string) error {
			o.Sweep = args[0]
			return Results(c.Context(), term, o)
		},
	}
	targetFlags(c, &o.Coordinator)
	outFlag(c, &o.Out, &o.Overwrite)
	recoveryFlag(c, &o.Recovery)
	c.Flags().BoolVar(&o.Partial, "partial", false, "write what is there, though the sweep is not done")
	return c
}
