package agent_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/heuristic"
	"foible.dev/foible/core/internal/house"
	"foible.dev/foible/core/search"
)

// A boundedly rational agent walks to the garden: it plans two nodes ahead on average, and every third of its actions is a
// slip.
func Example() {
	task := house.Task()
	propositional, err := task.Propositional()
	if err != nil {
		fmt.Println(err)
		return
	}
	const kitchen, garden = 0, 1
	relaxation := heuristic.NewRelaxation(propositional)
	goals := &agent.Goals{
		Corrupt:   make([][]int, 2), // goals are not confused
		Heuristic: []search.Heuristic{relaxation.FF(kitchen), relaxation.FF(garden)},
	}
	person, err := agent.New(task, goals, search.New(task), agent.Parameters{BudgetR: 2, BudgetQ: .5, SearchNoise: .1, ActionNoise: .33})
	if err != nil {
		fmt.Println(err)
		return
	}

	rng := rand.New(rand.NewPCG(5, 4))
	mind, at := agent.Begin(garden), task.Initial()
	for !task.Satisfies(at, garden) {
		if _, err := person.Think(context.Background(), &mind, at, rng); err != nil {
			fmt.Println(err)
			return
		}
		intended := mind.Intended()
		action := agent.Noop
		action, at = person.Act(&mind, at, rng)
		switch {
		case action == agent.Noop:
			fmt.Println("stays")
		case action == intended:
			fmt.Println(task.Operators[action])
		default:
			fmt.Println(task.Operators[action], "by a slip")
		}
	}

	// Output:
	// (walk hall porch)
	// (walk porch hall) by a slip
	// (walk hall porch)
	// (walk porch garden)
}
