package sweeps

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/follow"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/words"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// NewExtend returns the command extend.
func NewExtend(term *terminal.Terminal) *cobra.Command {
	var o ExtendOptions
	c := &cobra.Command{
		Use:   "extend SWEEP",
		Short: "Add values to the grid of a sweep",
		Long: `Extend makes a sweep of a larger grid and prints its id, which is that of the larger grid submitted anew; so are its tables
and figures. It begins when SWEEP has ended, of itself or cancelled. Cells that SWEEP has recorded are not run again;
the comparisons with people and the report are.`,
		Example: "  foible extend SWEEP --set alpha=0.75,16",
		GroupID: cli.GroupCluster, Args: cli.ExactlyOne(connect.AskForSweep),
		RunE: func(c *cobra.Command, args []string) error {
			o.Sweep = args[0]
			return Extend(c.Context(), term, o)
		},
	}
	c.Flags().StringArrayVar(&o.Set, "set", nil, "`axis=value,...` to add to the values of the axis; may be repeated")
	connect.TargetFlags(c, &o.Coordinator)
	return c
}

// ExtendOptions say which sweep to extend, by which values.
type ExtendOptions struct {
	Coordinator connect.Target
	Sweep       string   // its id
	Set         []string // axis=value[,value...] for every model of the sweep that has the axis
}

// Extend makes a sweep of a larger grid, and prints its id.
func Extend(ctx context.Context, term *terminal.Terminal, o ExtendOptions) error {
	if len(o.Set) == 0 {
		return cli.Usagef("say which values to add with --set axis=value,value")
	}
	c, from, err := dialSweep(ctx, term, o.Coordinator, o.Sweep)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	added := &foiblev1.SweepConfig{Models: map[string]*foiblev1.ModelConfig{}}
	for name := range from.GetConfig().GetModels() {
		added.Models[name] = &foiblev1.ModelConfig{}
	}
	if err := input.SetAxes(added, o.Set); err != nil {
		return err
	}
	for name, model := range added.GetModels() {
		if proto.Size(model) == 0 {
			delete(added.Models, name)
		}
	}
	made, err := c.Sweeps.ExtendSweep(ctx, &foiblev1.ExtendSweepRequest{SweepId: o.Sweep, Models: added.GetModels()})
	if err != nil {
		return c.ExplainSweep(ctx, o.Sweep, err)
	}
	m := made.GetSweep()
	if made.GetExisted() {
		term.Say("This sweep is there already, %s, with %s done.", connect.StateName(m), connect.CellsText(m))
	} else if before, _, err := connect.PlanOf(from); err == nil {
		term.Say("It has %s more than %s, whose cells are kept.", words.Count(int(m.GetProgress().GetCells())-before.Cells(), "cell"), o.Sweep)
	}
	fmt.Fprintln(term.Out, m.GetSweepId())
	follow.SayNext(ctx, term, c, m)
	follow.SayHow(term, c, m)
	return nil
}
