package results

import (
	"slices"
	"strings"

	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/diagnose"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/sweep"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// MoreValues of an axis: those of a sweep, and those to add.
type MoreValues struct {
	Axis    string
	Had     []model.Setting // of all models that have the axis
	Further []model.Setting
}

// Beyond is the command that goes on beyond the edges of a sweep's grid.
type Beyond func([]MoreValues) string

// PrintWarnings prints the warnings of a sweep's fits, and how to extend the sweep beyond the edges of its grid.
func PrintWarnings(term *terminal.Terminal, warnings []diagnose.Warning, c *sweep.Config, command Beyond) {
	for _, w := range warnings {
		term.Print("Warning: %s.", w.Text)
	}
	if edges := edgesOf(warnings, c); len(edges) > 0 {
		term.PrintCommand("To go on beyond the edge:", command(edges))
	}
}

// edgesOf gathers the values beyond edges by axis, in the order of tables.
func edgesOf(warnings []diagnose.Warning, c *sweep.Config) []MoreValues {
	var all []MoreValues
	for _, axis := range model.Axes {
		m := MoreValues{Axis: axis.Name}
		for _, grid := range c.Models {
			named, _ := model.ByName(grid.Model)
			values := grid.Axes[axis.Name]
			if len(values) == 0 {
				values = axis.Default
			}
			if named.Has(axis.Name) {
				m.Had = append(m.Had, values...)
			}
		}
		for _, w := range warnings {
			for _, edge := range w.Edges {
				if edge.Axis == axis.Name {
					m.Further = append(m.Further, edge.Beyond)
				}
			}
		}
		if len(m.Further) > 0 {
			m.Had, m.Further = Ascending(m.Had), Ascending(m.Further)
			all = append(all, m)
		}
	}
	return all
}

// Ascending values of an axis, each once.
func Ascending(values []model.Setting) []model.Setting {
	slices.SortFunc(values, func(a, b model.Setting) int {
		switch {
		case a.Number < b.Number:
			return -1
		case a.Number > b.Number:
			return 1
		}
		return strings.Compare(a.Word, b.Word)
	})
	return slices.Compact(values)
}

// ExtendCommand goes on with a coordinator's sweep.
func ExtendCommand(c *connect.Client, m *foiblev1.Sweep) Beyond {
	return func(edges []MoreValues) string {
		line := "foible extend" + c.Flags() + " " + m.GetSweepId()
		for _, m := range edges {
			line += input.SetFlag(m.Axis, m.Further)
		}
		return line
	}
}
