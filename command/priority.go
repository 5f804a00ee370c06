package command

import (
	"context"
	"fmt"
	"strconv"

	foiblev1 "foible.dev/foible/proto/foible/v1"
	"github.com/spf13/cobra"
)

func newPriority(term *Terminal) *cobra.Command {
	var target Target
	c := &cobra.Command{
		Use:     "priority SWEEP N",
		Short:   "Change a sweep's share of the workers",
		Long:    fmt.Sprintf("Priority changes a sweep's share of the workers: of two sweeps, one of twice the priority is given twice as many jobs.\nIt is 1 to %d, and 10 unless told otherwise.", MaxPriority),
		GroupID: cluster,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("name a sweep and its priority, as in `%s`", synopsis(c))
			}
			return atMost(2)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			return SetPriority(c.Context(), term, target, args[0], args[1])
		},
	}
	targetFlags(c, &target)
	return c
}

// MaxPriority is the highest priority of a sweep; the lowest is 1.
const MaxPriority = 1000

// SetPriority changes a sweep's share of the workers.
func SetPriority(ctx context.Context, term *Terminal, t Target, id, priority string) error {
	n, err := strconv.Atoi(priority)
	if err != nil || n < 1 || n > MaxPriority {
		return usagef("priority %q: must be a whole number from 1 to %d", priority, MaxPriority)
	}
	return control(ctx, term, t, id, func(c *client) (swept, error) {
		return c.sweeps.SetSweepPriority(ctx, &foiblev1.SetSweepPriorityRequest{SweepId: id, Priority: int32(n)})
	})
}
