package sweep_test

import (
	"fmt"

	"foible.dev/foible/core/internal/house"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/sweep"
)

// A sweep's grid is expanded into parameter sets; what a model predicts with one of them is scored against the judgements.
func Example() {
	config := sweep.Config{Models: []sweep.ModelGrid{{
		Model: "boltzmann",
		Axes:  map[string][]model.Setting{"alpha": {{Number: .5}, {Number: 2}}},
	}}}
	sets, err := config.ParameterSets()
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range sets {
		fmt.Println(sets[i].Model, sets[i].Settings())
	}

	scorer, err := score.NewScorer(house.Study(), sweep.Bootstrap{}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fit, err := scorer.Score([]result.Prediction{{Rows: [][]float64{{.5, .5}, {.95, .05}, {.3, .7}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("r = %.3f over %d points\n", fit.Overall.PearsonR, fit.Overall.N)

	// Output:
	// boltzmann alpha=0.5 value=optimal unreachable_value=-1000
	// boltzmann alpha=2 value=optimal unreachable_value=-1000
	// r = 0.929 over 6 points
}
