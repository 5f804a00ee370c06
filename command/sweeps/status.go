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

// NewStatus returns the command status.
func NewStatus(term *terminal.Terminal) *cobra.Command {
	var o StatusOptions
	c := &cobra.Command{
		Use:     "status [SWEEP]",
		Short:   "Show a sweep of a coordinator with its best fits, or list all",
		Long:    "Status shows a sweep with its best fits, or lists all. With --json it prints an object, or a list of them, with the fields\n\n" + follow.StatusFields(),
		GroupID: cli.GroupCluster, Args: cli.AtMost(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.Sweep = cli.OptionalArgument(args)
			return Status(c.Context(), term, o)
		},
	}
	cli.JSONFlag(c, &o.JSON)
	connect.TargetFlags(c, &o.Coordinator)
	return c
}

// dialSweep makes a client of a coordinator, for the caller to close, and finds a sweep there.
func dialSweep(ctx context.Context, term *terminal.Terminal, t connect.Target, id string) (*connect.Client, *foiblev1.Sweep, error) {
	c, err := connect.DialWithWarnings(term, t)
	if err != nil {
		return nil, nil, err
	}
	m, err := c.Sweep(ctx, id)
	if err != nil {
		_ = c.Close()
		return nil, nil, err
	}
	return c, m, nil
}

// StatusOptions say what to look at.
type StatusOptions struct {
	Coordinator connect.Target
	Sweep       string // its id; "": all
	JSON        bool
}

// Status prints all sweeps, or one with its best fits.
func Status(ctx context.Context, term *terminal.Terminal, o StatusOptions) error {
	if o.Sweep == "" {
		return List(ctx, term, o.Coordinator, o.JSON)
	}
	c, m, err := dialSweep(ctx, term, o.Coordinator, o.Sweep)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if o.JSON {
		s, err := follow.StatusOf(ctx, c, m)
		if err != nil {
			return err
		}
		return term.PrintJSON(s)
	}
	if m.GetDamage() != "" {
		follow.PrintSweep(term, m)
		return nil
	}
	fits, err := c.Sweeps.ListFits(ctx, &foiblev1.ListFitsRequest{SweepId: o.Sweep, PerModel: 3})
	if err != nil {
		return c.Explain(err)
	}
	follow.PrintSweep(term, m)
	follow.SayNext(ctx, term, c, m)
	return follow.PrintFits(term, fits.GetFits())
}
