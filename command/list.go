package command

import (
	"context"
	"slices"
	"time"

	"foible.dev/foible/core/words"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"github.com/spf13/cobra"
)

func newList(term *Terminal) *cobra.Command {
	var target Target
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the sweeps of a coordinator",
		GroupID: cluster, Args: atMost(0),
		RunE: func(c *cobra.Command, _ []string) error { return List(c.Context(), term, target, asJSON) },
	}
	jsonFlag(c, &asJSON)
	targetFlags(c, &target)
	return c
}

// List prints all sweeps of a coordinator; in JSON, if asked.
func List(ctx context.Context, term *Terminal, t Target, asJSON bool) error {
	c, err := dialWarning(term, t)
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }()
	all, err := c.sweeps.ListSweeps(ctx, &foiblev1.ListSweepsRequest{})
	if err != nil {
		return c.explain(err)
	}
	if asJSON {
		list := make([]sweepJSON, len(all.GetSweeps()))
		for i, m := range all.GetSweeps() {
			list[i] = newSweepJSON(m)
		}
		return term.printJSON(list)
	}
	if len(all.GetSweeps()) == 0 {
		term.say("The coordinator has no sweeps yet; make one with `foible submit%s STUDY`.", c.flags())
		return nil
	}
	printSweeps(term, all.GetSweeps())
	return nil
}

// printSweeps prints a line for each sweep, and below the table what keeps some from going on.
func printSweeps(term *Terminal, all []*foiblev1.Sweep) {
	table := newTable("Sweep", "State", "Done", "Priority", "Made")
	for _, m := range all {
		table.add(m.GetSweepId(), stateText(m), cells(m), words.Thousands(m.GetPriority()), madeAt(m))
	}
	term.table(table)
	if i := slices.IndexFunc(all, func(m *foiblev1.Sweep) bool { return m.GetStalled() != "" }); i >= 0 {
		term.print("Sweeps are %s: %s.", stateStalled, all[i].GetStalled())
	}
	for _, m := range all {
		if m.GetDamage() != "" {
			term.print("%s is damaged: %s.", m.GetSweepId(), m.GetDamage())
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
