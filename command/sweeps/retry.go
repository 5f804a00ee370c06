package sweeps

import (
	"context"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/follow"
	"foible.dev/foible/command/terminal"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Retry tries again what has failed of a sweep, and prints how the sweep stands.
func Retry(ctx context.Context, term *terminal.Terminal, t connect.Target, id string) error {
	return control(ctx, term, t, id, func(c *connect.Client) (swept, error) {
		retried, err := c.Sweeps.RetrySweep(ctx, &foiblev1.RetrySweepRequest{SweepId: id})
		if err == nil {
			follow.SayRetried(term, retried.GetSweep(), retried.GetRetried())
		}
		return retried, err
	})
}

// NewRetry returns the command retry.
func NewRetry(term *terminal.Terminal) *cobra.Command {
	return oneSweep("retry", "Retry the failed jobs of a sweep",
		`Retry removes the failures of a sweep from its results and computes what is missing: failed jobs, jobs with cells that
could not be computed, and what rests on them: the stages after theirs. No cell that is good is
computed again. Figures and tables are those of a sweep in which nothing failed, unless it fails again.

A sweep that still runs goes on, and tries again what failed when all its other jobs are done. Submitting a sweep again,
and foible fit in the same directory, do the same as retry.`, func(ctx context.Context, target connect.Target, id string) error { return Retry(ctx, term, target, id) })
}
