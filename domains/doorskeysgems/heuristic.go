package doorskeysgems

import (
	"fmt"
	"math"
	"strings"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/heuristic"
	"foible.dev/foible/core/pddl"
)

// Heuristic estimates the actions to a goal (has gem) by the shortest way
// through the maze to the gem with all doors open, and 1 to pick it up: 0 when
// it is held, +Inf where there is no way. It never overestimates.
func Heuristic(t *ground.Task, goal int) (*heuristic.Table, error) {
	return estimate(t, goal, func(m *maze, gem cell) func(cell) int {
		steps := m.distances(gem)
		return func(from cell) int {
			if n, ok := steps[from]; ok {
				return n
			}
			return none
		}
	})
}

// Heuristics makes the heuristic of a goal, by its index in the task.
func Heuristics(t *ground.Task) (func(goal int) (*heuristic.Table, error), error) {
	return func(goal int) (*heuristic.Table, error) { return Heuristic(t, goal) }, nil
}

// Manhattan estimates as if there were neither walls nor doors.
func Manhattan(t *ground.Task, goal int) (*heuristic.Table, error) {
	return estimate(t, goal, func(_ *maze, gem cell) func(cell) int {
		return func(from cell) int { return abs(from.x-gem.x) + abs(from.y-gem.y) }
	})
}

// none is the distance where there is no way.
const none = -1

func estimate(t *ground.Task, goal int, distance func(*maze, cell) func(cell) int) (*heuristic.Table, error) {
	name, err := gemOf(t, goal)
	if err != nil {
		return nil, err
	}
	m, err := newMaze(t)
	if err != nil {
		return nil, err
	}
	if _, err := agent(t, t.Initial()); err != nil {
		return nil, err
	}
	steps := func(cell) int { return none }
	for _, i := range m.items {
		if i.name == name && i.lies {
			steps = distance(m, i.at)
		}
	}
	return heuristic.NewTable(func(s ground.StateID) float64 {
		if t.Satisfies(s, goal) {
			return 0
		}
		from, err := agent(t, s)
		if err != nil {
			return math.Inf(1) // off the grid of whole cells
		}
		if n := steps(from); n != none {
			return float64(n + 1)
		}
		return math.Inf(1)
	}), nil
}

// gemOf is the item that a goal of the form (has item) asks for.
func gemOf(t *ground.Task, goal int) (string, error) {
	if atom, ok := t.Goals[goal].(*pddl.Atom); ok && strings.EqualFold(atom.Predicate.Name, "has") && len(atom.Args) == 1 {
		if c, ok := atom.Args[0].(*pddl.Constant); ok {
			return c.Object.Name, nil
		}
	}
	return "", fmt.Errorf("the maze heuristic needs a goal (has gem), not %v", t.Goals[goal])
}

func abs(n int) int { return max(n, -n) }
