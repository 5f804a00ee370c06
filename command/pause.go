package command

import (
	"context"

	foiblev1 "foible.dev/foible/proto/foible/v1"
	"github.com/spf13/cobra"
)

func newPause(term *Terminal) *cobra.Command {
	return oneSweep("pause", "Pause a sweep",
		"Pause starts no more jobs of a sweep. Those that workers have are finished and recorded.", func(ctx context.Context, target Target, id string) error { return Pause(ctx, term, target, id) })
}

// Pause lets a sweep give out no more jobs.
func Pause(ctx context.Context, term *Terminal, t Target, id string) error {
	return control(ctx, term, t, id, func(c *client) (swept, error) {
		return c.sweeps.PauseSweep(ctx, &foiblev1.PauseSweepRequest{SweepId: id})
	})
}

func newResume(term *Terminal) *cobra.Command {
	return oneSweep("resume", "Resume a paused sweep", "", func(ctx context.Context, target Target, id string) error { return Resume(ctx, term, target, id) })
}

// Resume lets a paused sweep go on.
func Resume(ctx context.Context, term *Terminal, t Target, id string) error {
	return control(ctx, term, t, id, func(c *client) (swept, error) {
		return c.sweeps.ResumeSweep(ctx, &foiblev1.ResumeSweepRequest{SweepId: id})
	})
}

func newCancel(term *Terminal) *cobra.Command {
	return oneSweep("cancel", "Cancel a sweep",
		"Cancel ends a sweep. What is recorded stays, `foible results --partial` writes it; what workers still have is refused when\nit comes. Submitted again, the sweep goes on from there.", func(ctx context.Context, target Target, id string) error { return Cancel(ctx, term, target, id) })
}

// Cancel ends a sweep before it is done.
func Cancel(ctx context.Context, term *Terminal, t Target, id string) error {
	return control(ctx, term, t, id, func(c *client) (swept, error) {
		return c.sweeps.CancelSweep(ctx, &foiblev1.CancelSweepRequest{SweepId: id})
	})
}

// oneSweep is a command that takes a sweep.
func oneSweep(name, short, long string, run func(context.Context, Target, string) error) *cobra.Command {
	var target Target
	c := &cobra.Command{
		Use: name + " SWEEP", Short: short, Long: long,
		GroupID: cluster, Args: exactlyOne(nameSweep),
		RunE: func(c *cobra.Command, args []string) error { return run(c.Context(), target, args[0]) },
	}
	targetFlags(c, &target)
	return c
}

// swept is a response with the sweep as it stands.
type swept interface{ GetSweep() *foiblev1.Sweep }

// control changes a sweep, and prints how it stands.
func control(ctx context.Context, term *Terminal, t Target, id string, call func(*client) (swept, error)) error {
	c, err := dialWarning(term, t)
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }()
	response, err := call(c)
	if err != nil {
		return c.explainSweep(ctx, id, err)
	}
	printSweep(term, response.GetSweep())
	sayNext(ctx, term, c, response.GetSweep())
	return nil
}
