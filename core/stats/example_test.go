package stats_test

import (
	"fmt"
	"math/rand/v2"

	"foible.dev/foible/core/stats"
)

// A model is correlated with the mean judgements, with an interval over other participants.
func Example() {
	human := stats.Human{Stimuli: []stats.Responses{{
		Mean: []float64{.55, .45, .85, .15, .15, .85},
		Values: [][]float64{
			{.5, .5, .9, .1, .2, .8},
			{.6, .4, .8, .2, .1, .9},
		},
	}}}
	model := [][]float64{{.5, .5, .95, .05, .3, .7}}

	r, ok := stats.Pearson(model[0], human.Stimuli[0].Mean)
	fmt.Printf("r = %.3f (%v)\n", r, ok)

	bootstrap, err := stats.NewBootstrap(human, stats.ByParticipants, 500, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		fmt.Println(err)
		return
	}
	low, high, ok := stats.Interval(bootstrap.Pearson(model), .95)
	fmt.Printf("95 %% interval %.3f to %.3f (%v)\n", low, high, ok)

	// Output:
	// r = 0.929 (true)
	// 95 % interval 0.856 to 0.975 (true)
}
