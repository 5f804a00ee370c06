package command

import (
	"context"

	foiblev1 "foible.dev/foible/proto/foible/v1"
	"github.com/spf13/cobra"
)

func newStatus(term *Terminal) *cobra.Command {
	var o StatusOptions
	c := &cobra.Command{
		Use:     "status [SWEEP]",
		Short:   "Show a sweep of a coordinator with its best fits, or list all",
		Long:    "Status shows a sweep with its best fits, or lists all. With --json it prints an object, or a list of them, with the fields\n\n" + StatusFields(),
		GroupID: cluster, Args: atMost(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.Sweep = argument(args)
			return Status(c.Context(), term, o)
		},
	}
	jsonFlag(c, &o.JSON)
	targetFlags(c, &o.Coordinator)
	return c
}

// StatusOptions say what to look at.
type StatusOptions struct {
	Coordinator Target
	Sweep       string // its id; "": all
	JSON        bool
}

// Status prints all sweeps, or one with its best fits.
func Status(ctx context.Context, term *Terminal, o StatusOptions) error {
	if o.Sweep == "" {
		return List(ctx, term, o.Coordinator, o.JSON)
	}
	c, err := dialWarning(term, o.Coordinator)
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }()
	m, err := c.sweep(ctx, o.Sweep)
	if err != nil {
		return err
	}
	if o.JSON {
		s, err := statusOf(ctx, c, m)
		if err != nil {
			return err
		}
		return term.printJSON(s)
	}
	if m.GetDamage() != "" {
		printSweep(term, m)
		return nil
	}
	fits, err := c.sweeps.ListFits(ctx, &foiblev1.ListFitsRequest{SweepId: o.Sweep, PerModel: 3})
	if err != nil {
		return c.explain(err)
	}
	printSweep(term, m)
	sayNext(ctx, term, c, m)
	return printFits(term, fits.GetFits())
}
