package command

import (
	"slices"
	"strconv"
	"strings"

	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
	"foible.dev/foible/domains"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// moreValues of an axis: those of a sweep, and those to add.
type moreValues struct {
	axis    string
	had     []sweep.Setting // of all models that have the axis
	further []sweep.Setting
}

// beyond is the command that goes on beyond the edges of a sweep's grid.
type beyond func([]moreValues) string

// warn prints what a sweep's fits have to be warned of, and how to go on beyond the edges of its grid.
func printWarnings(term *Terminal, warnings []sweep.Warning, c *sweep.Config, command beyond) {
	for _, w := range warnings {
		term.print("Warning: %s.", w.Text)
	}
	if edges := edgesOf(warnings, c); len(edges) > 0 {
		term.printCommand("To go on beyond the edge:", command(edges))
	}
}

// edgesOf gathers the values beyond edges by axis, in the order of tables.
func edgesOf(warnings []sweep.Warning, c *sweep.Config) []moreValues {
	var all []moreValues
	for _, axis := range sweep.Axes {
		m := moreValues{axis: axis.Name}
		for _, grid := range c.Models {
			model, _ := sweep.ModelByName(grid.Model)
			values := grid.Axes[axis.Name]
			if len(values) == 0 {
				values = axis.Default
			}
			if model.Has(axis.Name) {
				m.had = append(m.had, values...)
			}
		}
		for _, w := range warnings {
			for _, edge := range w.Edges {
				if edge.Axis == axis.Name {
					m.further = append(m.further, edge.Beyond)
				}
			}
		}
		if len(m.further) > 0 {
			m.had, m.further = ascending(m.had), ascending(m.further)
			all = append(all, m)
		}
	}
	return all
}

// ascending values of an axis, each once.
func ascending(values []sweep.Setting) []sweep.Setting {
	slices.SortFunc(values, func(a, b sweep.Setting) int {
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

// extending goes on with a coordinator's sweep.
func extending(c *client, m *foiblev1.Sweep) beyond {
	return func(edges []moreValues) string {
		line := "foible extend" + c.flags() + " " + m.GetSweepId()
		for _, m := range edges {
			line += setFlag(m.axis, m.further)
		}
		return line
	}
}

// fitting is the same fit once more, with the values of the grid and those beyond.
func fitting(o *FitOptions, s *domains.Study) beyond {
	return func(edges []moreValues) string {
		line := "foible fit"
		if o.Study != "" {
			line += " " + words.Quoted(o.Study)
		}
		choice := o.Sweep
		choice.Set = slices.DeleteFunc(slices.Clone(choice.Set), func(assignment string) bool {
			axis, _, _ := strings.Cut(assignment, "=")
			return slices.ContainsFunc(edges, func(m moreValues) bool { return m.axis == strings.TrimSpace(axis) })
		})
		line += choice.flags()
		for _, m := range edges {
			line += setFlag(m.axis, ascending(append(slices.Clone(m.had), m.further...)))
		}
		if o.Workers > 0 {
			line += " --workers " + strconv.Itoa(o.Workers)
		}
		line += " --out " + words.Quoted(nextTo(o.Out)) // which this sweep's results are not in
		if o.Recovery != "" {
			line += " --recovery " + words.Quoted(o.Recovery)
		}
		return line
	}
}
