package blockwords

import (
	"foible/core/ground"
	"foible/core/heuristic"
)

// Heuristic is the FF heuristic of a goal, by its index in the task.
func Heuristic(t *ground.Task, goal int) (*heuristic.Table, error) {
	p, err := t.Propositional()
	if err != nil {
		return nil, err
	}
	return heuristic.NewRelaxation(p).FF(goal), nil
}
