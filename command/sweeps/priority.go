package sweeps

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/terminal"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// NewPriority returns the command priority.
func NewPriority(term *terminal.Terminal) *cobra.Command {
	var target connect.Target
	c := &cobra.Command{
		Use:     "priority SWEEP N",
		Short:   "Change a sweep's share of the workers",
		Long:    fmt.Sprintf("Priority changes a sweep's share of the workers: of two sweeps, one of twice the priority is given twice as many jobs.\nIt is 1 to %d, and 10 by default.", MaxPriority),
		GroupID: cli.GroupCluster,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cli.Usagef("name a sweep and its priority, as in `%s`", cli.Synopsis(c))
			}
			return cli.AtMost(2)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			return SetPriority(c.Context(), term, target, args[0], args[1])
		},
	}
	connect.TargetFlags(c, &target)
	return c
}

// MaxPriority is the highest priority of a sweep; the lowest is 1.
const MaxPriority = 1000

// SetPriority changes a sweep's share of the workers.
func SetPriority(ctx context.Context, term *terminal.Terminal, t connect.Target, id, priority string) error {
	n, err := strconv.Atoi(priority)
	if err != nil || n < 1 || n > MaxPriority {
		return cli.Usagef("priority %q: must be a whole number from 1 to %d", priority, MaxPriority)
	}
	return control(ctx, term, t, id, func(c *connect.Client) (swept, error) {
		return c.Sweeps.SetSweepPriority(ctx, &foiblev1.SetSweepPriorityRequest{SweepId: id, Priority: int32(n)})
	})
}
