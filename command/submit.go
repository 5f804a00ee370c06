package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
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

func newSubmit(term *Terminal) *cobra.Command {
	var o SubmitOptions
	c := &cobra.Command{
		Use:     "submit [STUDY]",
		Short:   "Give a study's sweep to a coordinator",
		Long:    "Submit sends a study and its sweep to a coordinator and prints the sweep's id. The same study and sweep have the same\nid, and are not done twice. One that was cancelled goes on, with the results that it has;\nwhat has failed of one is tried again, as by foible retry.",
		GroupID: cluster, Args: atMost(1), ValidArgsFunction: studies,
		RunE: func(c *cobra.Command, args []string) error {
			o.Study = argument(args)
			return Submit(c.Context(), term, o)
		},
	}
	sweepFlags(c, &o.Sweep)
	c.Flags().IntVar(&o.Priority, "priority", 0, "the sweep's `share` of the workers, see `foible priority` (default 10)")
	c.Flags().BoolVar(&o.Wait, "wait", false, "follow it until it ends, with the exit codes of `foible watch`")
	notifyFlag(c, &o.Notify)
	verifyFlag(c, &o.Verify)
	withoutJudgementsFlag(c, &o.WithoutJudgements)
	targetFlags(c, &o.Coordinator)
	return c
}
