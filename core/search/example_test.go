package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"foible.dev/foible/core/heuristic"
	"foible.dev/foible/core/internal/house"
	"foible.dev/foible/core/search"
)

// With a budget, a search ends at the node that is drawn last; without one it goes on to the goal. Noise makes it draw
// other nodes than the best.
func Example() {
	task := house.Task()
	propositional, err := task.Propositional()
	if err != nil {
		fmt.Println(err)
		return
	}
	const garden = 1
	ff := heuristic.NewRelaxation(propositional).FF(garden)
	searcher := search.New(task)
	rng := rand.New(rand.NewPCG(2, 2))

	for _, options := range []search.Options{
		{Budget: search.Unlimited},
		{Budget: 2},
		{Budget: 2, Noise: 10},
	} {
		result, err := searcher.Run(context.Background(), &search.Query{From: task.Initial(), Goal: garden, Heuristic: ff, Options: options}, rng)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d nodes drawn:", result.Drawn)
		for _, step := range result.Path {
			fmt.Print(" ", task.Operators[step.Operator])
		}
		fmt.Println()
	}

	// Output:
	// 3 nodes drawn: (walk hall porch) (walk porch garden)
	// 2 nodes drawn: (walk hall porch)
	// 2 nodes drawn: (walk hall pantry)
}
