package blockwords

import (
	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/heuristic"
)

// Heuristics makes the FF heuristic of a goal, by its index in the task. The
// relaxation is compiled once for all goals.
func Heuristics(t *ground.Task) (func(goal int) (*heuristic.Table, error), error) {
	p, err := t.Propositional()
	if err != nil {
		return nil, err
	}
	r := heuristic.NewRelaxation(p)
	return func(goal int) (*heuristic.Table, error) { return r.FF(goal), nil }, nil
}
