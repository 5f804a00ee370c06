// Package model is the table of what can be fitted: the models ([Models]), their
// parameters ([Axes]), and what a [ParameterSet] of one of them is. A model or a
// parameter more is a row here, and the code that means it.
package model

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"foible.dev/foible/core/words"
)

// Model is a family of agents; its axes are the parameters it has.
type Model struct {
	Name    string
	Meaning string   // what its agent does, to follow the name in a sentence
	Axes    []string // names of its axes, in the order of tables
	// Exact models give the same posterior on every run, so they are run once.
	Exact bool
}

// Models lists the models that can be swept, in the order of tables and
// legends. A lesioned model is the full one without the axes of one kind of mistake.
var Models = []Model{
	full,
	full.without("goal-lesioned", "which never confuses its goal", "goal_noise"),
	full.without("plan-lesioned", "which plans optimally to its goal, ties broken at random", "budget_r", "budget_q", "search_noise"),
	full.without("action-lesioned", "which never slips", "action_noise"),
	{Name: "boltzmann", Meaning: "which acts by P(a) ∝ exp(alpha [−1 + V(s′)]), alpha being an inverse temperature, value how V is computed, and unreachable_value V where the goal cannot be reached", Axes: []string{"alpha", "value", "unreachable_value"}, Exact: true},
}

var full = Model{
	Name:    "full",
	Meaning: "an agent that may confuse its goal (goal_noise, the probability a step), plans only as far as a noisy A* search comes within a random number of nodes (budget, negative binomial with budget_r failures and probability budget_q of a success; search_noise, the temperature of the search in units of cost), and may slip (action_noise)",
	Axes:    []string{"goal_noise", "budget_r", "budget_q", "search_noise", "action_noise"},
}

func (m Model) without(name, meaning string, axes ...string) Model {
	lesioned := Model{Name: name, Meaning: meaning}
	for _, axis := range m.Axes {
		if !slices.Contains(axes, axis) {
			lesioned.Axes = append(lesioned.Axes, axis)
		}
	}
	return lesioned
}

// Has says whether a model has an axis.
func (m *Model) Has(axis string) bool { return slices.Contains(m.Axes, axis) }

// ByName finds a model.
func ByName(name string) (Model, bool) {
	if m := Find(name); m != nil {
		return *m, true
	}
	return Model{}, false
}

// Find is nil if there is no such model.
func Find(name string) *Model {
	for i := range Models {
		if Models[i].Name == name {
			return &Models[i]
		}
	}
	return nil
}

// Names lists the models for messages.
func Names() []string {
	names := make([]string, len(Models))
	for i, m := range Models {
		names[i] = m.Name
	}
	return names
}

// AxisNames lists the axes.
func AxisNames() []string {
	names := make([]string, len(Axes))
	for i, a := range Axes {
		names[i] = a.Name
	}
	return names
}

// Axis is a parameter that can be swept: a number, or a word of a fixed list.
type Axis struct {
	Name    string
	Symbol  string    // as a paper writes it, in LaTeX (Alanqary et al. 2021)
	Meaning string    // in a few words, after the symbol
	Default []Setting // its values where a sweep names none
	Words   []string  // the words allowed; empty for a number
	Min     float64   // least number allowed
	Max     float64   // greatest number allowed
	Whole   bool      // only whole numbers
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
		Name: "goal_noise", Symbol: `$\epsilon_g$`, Meaning: "goal noise",
		Max:     1, // epsilon_g, probability a step
		Default: numbers(0),
		slot:    func(p *Parameters) *Setting { return &p.GoalNoise },
	},
	{
		Name: "budget_r", Symbol: `$r_\eta$`, Meaning: "failures that end a search budget",
		Min: 1, Max: 1e4, Whole: true, // failures until the budget is spent
		Default: numbers(2, 4),
		slot:    func(p *Parameters) *Setting { return &p.BudgetR },
	},
	{
		Name: "budget_q", Symbol: `$q_\eta$`, Meaning: "its probability of a success",
		Max:     0.9999, // probability of a success
		Default: numbers(0.9, 0.95),
		slot:    func(p *Parameters) *Setting { return &p.BudgetQ },
	},
	{
		Name: "search_noise", Symbol: `$\gamma$`, Meaning: "search noise",
		Max:     1e6, // gamma, cost
		Default: numbers(0.02, 0.5),
		slot:    func(p *Parameters) *Setting { return &p.SearchNoise },
	},
	{
		Name: "action_noise", Symbol: `$\epsilon_a$`, Meaning: "action noise",
		Max:     1, // epsilon_a
		Default: numbers(0.05, 0.1, 0.2),
		slot:    func(p *Parameters) *Setting { return &p.ActionNoise },
	},
	{
		Name: "alpha", Symbol: `$\alpha$`, Meaning: "inverse temperature",
		Min: 1e-9, Max: 1e6, // inverse temperature, 1 / cost
		Default: numbers(0.125, 0.25, 0.5, 1, 2, 4, 8),
		slot:    func(p *Parameters) *Setting { return &p.Alpha },
	},
	{
		Name: "value", Symbol: `$V$`, Meaning: "how values are computed",
		Words:   []string{"optimal", "on_policy", "heuristic"},
		Default: []Setting{{Word: "optimal"}},
		slot:    func(p *Parameters) *Setting { return &p.Value },
	},
	{
		Name: "unreachable_value", Symbol: `$V_\infty$`, Meaning: "value where the goal cannot be reached",
		Min: -1e6, Max: 0, // cost
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
	if a := FindAxis(name); a != nil {
		return *a, true
	}
	return Axis{}, false
}

// Of is where a parameter set has its setting of the axis.
func (a *Axis) Of(s *ParameterSet) *Setting { return a.slot(&s.Parameters) }

// FindAxis is nil if there is no such axis.
func FindAxis(name string) *Axis {
	for i := range Axes {
		if Axes[i].Name == name {
			return &Axes[i]
		}
	}
	return nil
}

// Points checks values and drops those that are there already.
func (a *Axis) Points(values []Setting) ([]Setting, error) {
	var points []Setting
	seen := map[Setting]bool{}
	for _, v := range values {
		if err := a.Check(v); err != nil {
			return nil, err
		}
		if v.Number == 0 {
			v.Number = 0 // -0 and 0 are one point
		}
		if !seen[v] {
			seen[v] = true
			points = append(points, v)
		}
	}
	return points, nil
}

// Check says what is wrong with a value of the axis.
func (a *Axis) Check(v Setting) error {
	switch {
	case len(a.Words) > 0 && !slices.Contains(a.Words, v.Word):
		return fmt.Errorf("%s is %q; it can be %s", a.Name, v.String(), words.Options(v.String(), a.Words))
	case len(a.Words) == 0 && v.Word != "":
		return fmt.Errorf("%s is %q, not a number", a.Name, v.Word)
	case a.Whole && v.Number != math.Trunc(v.Number):
		return fmt.Errorf("%s is %v, not a whole number", a.Name, v.Number)
	case len(a.Words) == 0 && (math.IsNaN(v.Number) || v.Number < a.Min || v.Number > a.Max):
		return fmt.Errorf("%s is %v; it must lie between %v and %v", a.Name, v.Number, a.Min, a.Max)
	}
	return nil
}

// Beyond proposes a value outside a grid; edge is the grid's outermost value, next its neighbour. It repeats the
// step from next to edge (the same factor, between 1/2 and 2, where both have one sign, else the same difference),
// or goes half of the way to the bound of the axis where that step would pass it.
// It is not ok where no value is legal beyond the edge.
func (a *Axis) Beyond(edge, next float64) (beyond float64, ok bool) {
	if edge*next > 0 {
		beyond = edge * min(2, max(0.5, edge/next))
	} else {
		beyond = edge + (edge - next)
	}
	bound := a.Max
	if edge < next {
		bound = a.Min
	}
	if (beyond-bound)*(edge-bound) < 0 || beyond == bound && edge == bound {
		beyond = edge + (bound-edge)/2
	}
	if a.Whole {
		if beyond = math.Floor(beyond); edge < next && beyond == edge {
			beyond--
		}
	} else if rounded, err := strconv.ParseFloat(strconv.FormatFloat(beyond, 'g', 3, 64), 64); err == nil {
		beyond = rounded
	}
	outward := beyond > edge && edge > next || beyond < edge && edge < next
	return beyond, outward && a.Check(Setting{Number: beyond}) == nil
}
