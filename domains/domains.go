// Package domains lists the built-in domains and loads studies of them. A new
// domain is a package next to the others and a line in [All].
package domains

import (
	"io/fs"
	"slices"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/heuristic"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/picture"
	"foible.dev/foible/domains/blockwords"
	"foible.dev/foible/domains/doorskeysgems"
)

// Domain is what Foible knows of a domain beyond its PDDL.
type Domain struct {
	Name string
	// PDDL is used by studies that bring none.
	PDDL []byte
	// Goal is the goal language: the PDDL text of a goal's name in a problem.
	Goal func(name string, p *pddl.Problem) (string, error)
	// Check finds what cannot be in the world that a problem describes.
	Check func(p *pddl.Problem) []pddl.Warning
	// Heuristics makes the heuristic of a goal, by its index in the task.
	Heuristics func(t *ground.Task) (func(goal int) (*heuristic.Table, error), error)
	// Admissible: they never overestimate.
	Admissible bool
	// Corruptions are the goals that an agent may take a goal for, each equally
	// probable, itself perhaps among them; nil where goals are not confused.
	Corruptions func(goal string) []string
	// CorruptionCount is how many these are, without making them; nil as Corruptions.
	CorruptionCount func(goal string) int
	// Picture draws a state, and the way that led there.
	Picture func(t *ground.Task, s ground.StateID, past []ground.StateID) (*picture.Picture, error)
	// Colour is the colour of a goal in figures, as #rrggbb.
	Colour func(goal int, name string) string
	// Sample is a study directory to try things with.
	Sample fs.FS
	// Sweep is the sweep.yaml of studies that bring none.
	Sweep []byte
}

// All lists the domains; the first one's sample is what is fitted when nothing is named.
var All = []Domain{
	{
		Name: doorskeysgems.Name, PDDL: doorskeysgems.PDDL, Goal: doorskeysgems.Goal, Check: doorskeysgems.Check, Heuristics: doorskeysgems.Heuristics, Admissible: true,
		Picture: doorskeysgems.Picture, Colour: doorskeysgems.Colour, Sample: doorskeysgems.Sample, Sweep: doorskeysgems.Sweep,
	},
	{
		Name: blockwords.Name, PDDL: blockwords.PDDL, Goal: blockwords.Goal, Check: blockwords.Check, Heuristics: blockwords.Heuristics, Corruptions: blockwords.Corruptions, CorruptionCount: blockwords.CorruptionCount,
		Picture: blockwords.Picture, Colour: blockwords.Colour, Sample: blockwords.Sample, Sweep: blockwords.Sweep,
	},
}

// ByName finds a domain.
func ByName(name string) (*Domain, bool) {
	i := slices.IndexFunc(All, func(d Domain) bool { return d.Name == name })
	if i < 0 {
		return nil, false
	}
	return &All[i], true
}

// Names lists the domains.
func Names() []string {
	names := make([]string, len(All))
	for i, d := range All {
		names[i] = d.Name
	}
	return names
}
