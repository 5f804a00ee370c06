// Package sweep says what a sweep is: a grid of parameter sets for each model,
// split into jobs of cells, and gathered again into fits by a pure fold.
// Read [Config] and [Plan] first. It starts nothing and sends nothing; a
// coordinator does, and everything here gives it the same answer on every machine.
package sweep

import "slices"

// Model is a family of agents; its axes are the parameters it has.
type Model struct {
	Name string
	Axes []string // names of its axes, in the order of tables
	// Exact models give the same posterior on every run, so they are run once.
	Exact bool
}

// Models lists the models that can be swept, in the order of tables and legends.
var Models = []Model{
	{Name: "boltzmann", Axes: []string{"alpha", "value", "unreachable_value"}, Exact: true},
}

// ModelByName finds a model.
func ModelByName(name string) (Model, bool) {
	i := slices.IndexFunc(Models, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return Model{}, false
	}
	return Models[i], true
}

// Axis is a parameter that can be swept: a number, or a word of a fixed list.
type Axis struct {
	Name    string
	Default []Setting // its values where a sweep names none; empty: must be named
	Words   []string  // the words allowed; empty for a number
	Min     float64   // least number allowed
	Max     float64   // greatest number allowed
	slot    func(*Parameters) *Setting
}

// Setting is the value of an axis: a number, or a word where Word is not empty.
type Setting struct {
	Number float64
	Word   string
}

// Axes lists every axis, in the order of tables. An axis not listed by a model is not applicable to it.
var Axes = []Axis{
	{
		Name: "alpha", Min: 1e-9, Max: 1e6, // inverse temperature, 1 / cost
		Default: numbers(0.125, 0.25, 0.5, 1, 2, 4, 8),
		slot:    func(p *Parameters) *Setting { return &p.Alpha },
	},
	{
		Name: "value", Words: []string{"optimal", "on_policy", "heuristic"},
		Default: []Setting{{Word: "optimal"}},
		slot:    func(p *Parameters) *Setting { return &p.Value },
	},
	{
		Name: "unreachable_value", Min: -1e6, Max: 0, // cost
		Default: numbers(-1000),
		slot:    func(p *Parameters) *Setting { return &p.UnreachableValue },
	},
}

func numbers(xs ...float64) []Setting {
	settings := make([]Setting, len(xs))
	for i, x := range xs {
		settings[i].Number = x
	}
	return settings
}

// AxisByName finds an axis.
func AxisByName(name string) (Axis, bool) {
	i := slices.IndexFunc(Axes, func(a Axis) bool { return a.Name == name })
	if i < 0 {
		return Axis{}, false
	}
	return Axes[i], true
}
