package sweeps

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/words"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// DeleteOptions say which sweeps to delete.
type DeleteOptions struct {
	Coordinator connect.Target
	Sweeps      []string // their ids
	Yes         bool     // without asking
}

// Delete removes sweeps that have ended, and their results, from a coordinator's disk. It removes none if one of them is
// not there, or has not ended.
func Delete(ctx context.Context, term *terminal.Terminal, o DeleteOptions) error {
	c, err := connect.DialWithWarnings(term, o.Coordinator)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	var all []*foiblev1.Sweep
	for i, id := range o.Sweeps {
		if slices.Contains(o.Sweeps[:i], id) {
			continue
		}
		m, err := c.Sweep(ctx, id)
		if err != nil {
			return err
		}
		if connect.HasNotEnded(m.GetState()) {
			return fmt.Errorf("sweep %s is %s; end it with `foible cancel%s %[1]s` first", id, connect.StateText(m), c.Flags())
		}
		all = append(all, m)
	}
	if !o.Yes {
		if !xterm.IsTerminal(int(os.Stdin.Fd())) || !xterm.IsTerminal(int(os.Stderr.Fd())) {
			return cli.Usagef("what is deleted cannot be had back: say --yes to delete %s", words.Count(len(all), "sweep"))
		}
		for _, m := range all {
			fmt.Fprintf(term.Err, "%s: %s, %s done\n", m.GetSweepId(), connect.StateText(m), connect.CellsText(m))
		}
		if !terminal.Confirmed(os.Stdin, term.Err, fmt.Sprintf("Delete %s with all results?", words.Count(len(all), "sweep"))) {
			term.Say("Nothing is deleted.")
			return nil
		}
	}
	for _, m := range all {
		if _, err := c.Sweeps.DeleteSweep(ctx, &foiblev1.DeleteSweepRequest{SweepId: m.GetSweepId()}); err != nil {
			return c.ExplainSweep(ctx, m.GetSweepId(), err)
		}
		fmt.Fprintf(term.Out, "%s: deleted\n", m.GetSweepId())
	}
	return nil
}

// NewDelete returns the command delete.
func NewDelete(term *terminal.Terminal) *cobra.Command {
	var o DeleteOptions
	c := &cobra.Command{
		Use: "delete SWEEP...", Short: "Delete sweeps and their results from the coordinator's disk",
		Long: `Delete removes sweeps that have ended, or were cancelled, from the coordinator's disk, with all that is recorded of them.
What foible results has written stays. Submitted again, such a sweep starts from nothing. It asks first; where nobody can
be asked, say --yes. Their studies stay at the coordinator: other sweeps may be of the same.`,
		Example: "  foible delete SWEEP --yes",
		GroupID: cli.GroupCluster,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("%s, as in `%s`", connect.AskForSweep, cli.Synopsis(c))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			o.Sweeps = args
			return Delete(c.Context(), term, o)
		},
	}
	c.Flags().BoolVar(&o.Yes, "yes", false, "do not ask")
	connect.TargetFlags(c, &o.Coordinator)
	return c
}
