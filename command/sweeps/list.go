// Package sweeps has the commands on the sweeps of a coordinator: submit, list,
// status, watch, pause, resume, cancel, retry, extend, priority, results,
// delete and health. Each has a file with its flags, help and run function.
package sweeps

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/follow"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/words"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// NewList returns the command list.
func NewList(term *terminal.Terminal) *cobra.Command {
	var target connect.Target
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the sweeps of a coordinator",
		GroupID: cli.GroupCluster, Args: cli.AtMost(0),
		RunE: func(c *cobra.Command, _ []string) error { return List(c.Context(), term, target, asJSON) },
	}
	cli.JSONFlag(c, &asJSON)
	connect.TargetFlags(c, &target)
	return c
}

// List prints all sweeps of a coordinator; in JSON, if asked.
func List(ctx context.Context, term *terminal.Terminal, t connect.Target, asJSON bool) error {
	c, err := connect.DialWithWarnings(term, t)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	all, err := c.Sweeps.ListSweeps(ctx, &foiblev1.ListSweepsRequest{})
	if err != nil {
		return c.Explain(err)
	}
	if asJSON {
		list := make([]follow.SweepJSON, len(all.GetSweeps()))
		for i, m := range all.GetSweeps() {
			list[i] = follow.NewSweepJSON(m)
		}
		return term.PrintJSON(list)
	}
	if len(all.GetSweeps()) == 0 {
		term.Say("The coordinator has no sweeps yet; make one with `foible submit%s STUDY`.", c.Flags())
		return nil
	}
	printSweeps(term, all.GetSweeps())
	return nil
}

// printSweeps prints a line for each sweep, and below the table what keeps some from going on.
func printSweeps(term *terminal.Terminal, all []*foiblev1.Sweep) {
	table := terminal.NewTable("Sweep", "State", "Done", "Priority", "Made")
	for _, m := range all {
		table.Add(m.GetSweepId(), connect.StateText(m), connect.CellsText(m), words.Thousands(m.GetPriority()), madeAt(m))
	}
	term.PrintTable(table)
	if i := slices.IndexFunc(all, func(m *foiblev1.Sweep) bool { return m.GetStalled() != "" }); i >= 0 {
		term.Print("Sweeps are %s: %s.", connect.StateStalled, all[i].GetStalled())
	}
	for _, m := range all {
		if m.GetDamage() != "" {
			term.Print("%s is damaged: %s.", m.GetSweepId(), m.GetDamage())
		}
	}
}

// madeAt is when a sweep was made; of one whose record is lost, that is not known.
func madeAt(m *foiblev1.Sweep) string {
	if m.GetCreateTime() == nil {
		return "unknown"
	}
	return m.GetCreateTime().AsTime().Local().Format(time.DateTime)
}
