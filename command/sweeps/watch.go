package sweeps

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/follow"
	"foible.dev/foible/command/terminal"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// NewWatch returns the command watch.
func NewWatch(term *terminal.Terminal) *cobra.Command {
	var o WatchOptions
	c := &cobra.Command{
		Use: "watch SWEEP", Short: "Follow a sweep until it ends",
		Long: fmt.Sprintf(`Watch shows the progress of a sweep until it ends, from any machine and at any time, also while its coordinator is
started again: on a terminal a view that is redrawn, where q quits and p pauses or resumes the sweep, and elsewhere, or
with TERM=dumb, lines. To stop watching changes nothing.

Its exit code is 0 if the sweep succeeded, %d if some jobs failed, %d if it was cancelled, %d if the watching was stopped,
and %d if the sweep could not be watched, as when no coordinator answers at first.

The ETA is a range in which the sweep ends in 8 of 10 cases. It counts what is left of each stage, the jobs that workers
have, and how jobs differ; it widens where workers come and go.`, cli.ExitFailures, cli.ExitCancelled, cli.ExitInterrupted, cli.ExitError),
		GroupID: cli.GroupCluster, Args: cli.ExactlyOne(connect.AskForSweep),
		RunE: func(c *cobra.Command, args []string) error {
			o.Sweep = args[0]
			return Watch(c.Context(), term, o)
		},
	}
	follow.NotifyFlag(c, &o.Notify)
	connect.TargetFlags(c, &o.Coordinator)
	return c
}

// WatchOptions say which sweep to watch.
type WatchOptions struct {
	Coordinator connect.Target
	Sweep       string // its id
	Notify      follow.Notify
}

// Watch shows the progress of a sweep until it ends, also over a coordinator that is started again. The error is an
// EndedError if it has not succeeded.
func Watch(ctx context.Context, term *terminal.Terminal, o WatchOptions) error {
	if err := o.Notify.Check(); err != nil {
		return err
	}
	id := o.Sweep
	c, m, err := dialSweep(ctx, term, o.Coordinator, id)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	follow.SayNext(ctx, term, c, m)
	if m, err = follow.Watch(ctx, term, c, follow.Options{ID: id, MayReturn: true, Before: -1}); err != nil {
		if errors.Is(err, cli.ErrInterrupted) {
			term.Say("The sweep goes on; `foible watch%s %s` watches it again.", c.Flags(), id)
		}
		return err
	}
	follow.NotifyEnd(ctx, term, o.Notify, c, m)
	results := fmt.Sprintf("`foible results%s %s", c.Flags(), id)
	if m.GetDamage() != "" {
		return &cli.EndedError{Message: fmt.Sprintf("the sweep is damaged: %s", m.GetDamage())}
	}
	switch m.GetState() {
	case foiblev1.SweepState_SWEEP_STATE_SUCCEEDED:
		term.Say("The sweep has succeeded; %s` writes its tables and figures.", results)
		return nil
	case foiblev1.SweepState_SWEEP_STATE_FAILED:
		return &cli.EndedError{Message: fmt.Sprintf("%s; %s` writes what there is, and why, and %s tries again what failed", strings.Join(follow.Failed(m.GetProgress()), ", "), results, c.RetryAdvice(id))}
	case foiblev1.SweepState_SWEEP_STATE_CANCELLED:
		return &cli.EndedError{Cancelled: true, Message: fmt.Sprintf("the sweep was cancelled with %s done; %s --partial` writes what there is", connect.CellsText(m), results)}
	}
	return fmt.Errorf("version %s left the sweep unfinished; submit it again", m.GetVersion())
}
