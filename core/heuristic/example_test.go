package heuristic_test

import (
	"fmt"

	"foible.dev/foible/core/heuristic"
	"foible.dev/foible/core/internal/house"
)

// The heuristics of a task share its relaxation, in which nothing ever becomes false.
func Example() {
	task := house.Task()
	propositional, err := task.Propositional()
	if err != nil {
		fmt.Println(err)
		return
	}
	relaxation := heuristic.NewRelaxation(propositional)
	const garden = 1
	ff, max, count := relaxation.FF(garden), relaxation.Max(garden), relaxation.GoalCount(garden)
	for _, next := range task.Successors(task.Initial()) {
		fmt.Printf("%v: FF %v, hmax %v, goal count %v\n", task.Operators[next.Operator], ff.Value(next.State), max.Value(next.State), count.Value(next.State))
	}

	// Output:
	// (walk hall pantry): FF 3, hmax 3, goal count 1
	// (walk hall porch): FF 1, hmax 1, goal count 1
}
