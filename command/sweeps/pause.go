package sweeps

import (
	"context"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/follow"
	"foible.dev/foible/command/terminal"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// NewPause returns the command pause.
func NewPause(term *terminal.Terminal) *cobra.Command {
	return oneSweep("pause", "Pause a sweep",
		"Pause starts no more jobs of a sweep. Those that workers have are finished and recorded.", func(ctx context.Context, target connect.Target, id string) error { return Pause(ctx, term, target, id) })
}

// Pause stops the scheduling of a sweep's jobs.
func Pause(ctx context.Context, term *terminal.Terminal, t connect.Target, id string) error {
	return control(ctx, term, t, id, func(c *connect.Client) (swept, error) {
		return c.Sweeps.PauseSweep(ctx, &foiblev1.PauseSweepRequest{SweepId: id})
	})
}

// NewResume returns the command resume.
func NewResume(term *terminal.Terminal) *cobra.Command {
	return oneSweep("resume", "Resume a paused sweep", "", func(ctx context.Context, target connect.Target, id string) error {
		return Resume(ctx, term, target, id)
	})
}

// Resume lets a paused sweep go on.
func Resume(ctx context.Context, term *terminal.Terminal, t connect.Target, id string) error {
	return control(ctx, term, t, id, func(c *connect.Client) (swept, error) {
		return c.Sweeps.ResumeSweep(ctx, &foiblev1.ResumeSweepRequest{SweepId: id})
	})
}

// NewCancel returns the command cancel.
func NewCancel(term *terminal.Terminal) *cobra.Command {
	return oneSweep("cancel", "Cancel a sweep",
		"Cancel ends a sweep. What is recorded stays, `foible results --partial` writes it; what workers still have is refused when\nit comes. Submitted again, the sweep goes on from there.", func(ctx context.Context, target connect.Target, id string) error {
			return Cancel(ctx, term, target, id)
		})
}

// Cancel ends a sweep before it is done.
func Cancel(ctx context.Context, term *terminal.Terminal, t connect.Target, id string) error {
	return control(ctx, term, t, id, func(c *connect.Client) (swept, error) {
		return c.Sweeps.CancelSweep(ctx, &foiblev1.CancelSweepRequest{SweepId: id})
	})
}

// oneSweep is a command that takes a sweep.
func oneSweep(name, short, long string, run func(context.Context, connect.Target, string) error) *cobra.Command {
	var target connect.Target
	c := &cobra.Command{
		Use: name + " SWEEP", Short: short, Long: long,
		GroupID: cli.GroupCluster, Args: cli.ExactlyOne(connect.AskForSweep),
		RunE: func(c *cobra.Command, args []string) error { return run(c.Context(), target, args[0]) },
	}
	connect.TargetFlags(c, &target)
	return c
}

// swept is a response with the sweep as it stands.
type swept interface{ GetSweep() *foiblev1.Sweep }

// control changes a sweep, and prints how it stands.
func control(ctx context.Context, term *terminal.Terminal, t connect.Target, id string, call func(*connect.Client) (swept, error)) error {
	c, err := connect.DialWithWarnings(term, t)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	response, err := call(c)
	if err != nil {
		return c.ExplainSweep(ctx, id, err)
	}
	follow.PrintSweep(term, response.GetSweep())
	follow.SayNext(ctx, term, c, response.GetSweep())
	return nil
}
