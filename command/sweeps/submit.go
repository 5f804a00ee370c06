package sweeps

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/follow"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/terminal"
)

// SubmitOptions say which sweep to give to which coordinator.
type SubmitOptions struct {
	Coordinator connect.Target
	Study       string
	Sweep       input.SweepChoice
	Priority    int           // 0: the coordinator's default
	Verify      float64       // share of the cells to compute twice, from 0 to 1
	Wait        bool          // until it ends, as Watch does
	Notify      follow.Notify // of the end, if it waits for that
	// WithoutJudgements: the study may have no judgements; there are only posteriors then.
	WithoutJudgements bool
}

// Submit sends a study and its sweep to a coordinator, and prints the sweep's id.
func Submit(ctx context.Context, term *terminal.Terminal, o SubmitOptions) error {
	if o.Priority < 0 || o.Priority > MaxPriority {
		return cli.Usagef("--priority %d: must be 1 to %d", o.Priority, MaxPriority)
	}
	if err := follow.CheckVerify(o.Verify); err != nil {
		return err
	}
	if err := o.Notify.Check(); err != nil {
		return err
	}
	if o.Notify != "" && !o.Wait {
		return cli.Usagef("--notify is done by who waits for the end: say --wait too, or watch the sweep with `foible watch --notify`")
	}
	s, config, err := input.Prepare(ctx, term, o.Study, o.Sweep)
	if err != nil {
		return err
	}
	if err := input.RequireJudgements(s, o.WithoutJudgements); err != nil {
		return err
	}
	c, err := connect.DialWithWarnings(term, o.Coordinator)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	created, err := c.Submit(ctx, s, config, o.Priority, o.Verify)
	if err != nil {
		return err
	}
	m := created.GetSweep()
	if created.GetExisted() {
		term.Say("This sweep is there already, %s, with %s done.", connect.StateName(m), connect.CellsText(m))
	}
	follow.SayVerify(term, created, o.Verify)
	follow.SayRetried(term, m, created.GetRetried())
	fmt.Fprintln(term.Out, m.GetSweepId())
	if o.Wait {
		return Watch(ctx, term, WatchOptions{Coordinator: o.Coordinator, Sweep: m.GetSweepId(), Notify: o.Notify})
	}
	follow.SayNext(ctx, term, c, m)
	follow.SayHow(term, c, m)
	return nil
}

// NewSubmit returns the command submit.
func NewSubmit(term *terminal.Terminal) *cobra.Command {
	var o SubmitOptions
	c := &cobra.Command{
		Use:     "submit [STUDY]",
		Short:   "Submit a study's sweep to a coordinator",
		Long:    "Submit sends a study and its sweep to a coordinator and prints the sweep's id. The same study and sweep have the same\nid, and are not done twice. One that was cancelled goes on, with the results that it has;\nwhat has failed of one is tried again, as by foible retry.",
		GroupID: cli.GroupCluster, Args: cli.AtMost(1), ValidArgsFunction: input.CompleteStudy,
		RunE: func(c *cobra.Command, args []string) error {
			o.Study = cli.OptionalArgument(args)
			return Submit(c.Context(), term, o)
		},
	}
	input.SweepFlags(c, &o.Sweep)
	c.Flags().IntVar(&o.Priority, "priority", 0, "the sweep's `share` of the workers, see `foible priority` (default 10)")
	c.Flags().BoolVar(&o.Wait, "wait", false, "follow it until it ends, with the exit codes of `foible watch`")
	follow.NotifyFlag(c, &o.Notify)
	follow.VerifyFlag(c, &o.Verify)
	input.WithoutJudgementsFlag(c, &o.WithoutJudgements)
	connect.TargetFlags(c, &o.Coordinator)
	return c
}
