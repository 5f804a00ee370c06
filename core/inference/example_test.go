package inference_test

import (
	"context"
	"fmt"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/heuristic"
	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/internal/house"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/sweep"
)

// A stimulus is inferred with any parameter set of any model. Here an observer takes the person for a boundedly rational
// agent, who may slip.
func Example() {
	st := house.Study()
	stimulus := inference.New(&st.Stimuli[0], inference.Domain{Heuristics: relaxed})

	set := model.ParameterSet{Model: "full"}
	for axis, value := range map[string]float64{"goal_noise": 0, "budget_r": 2, "budget_q": .9, "search_noise": .1, "action_noise": .1} {
		a, _ := model.AxisByName(axis)
		a.Of(&set).Number = value
	}
	in, fit, _ := sweep.DefaultsOf(sweep.Marginal)
	procedure := sweep.Procedure{StageName: sweep.FitStage, Stage: fit, Inference: in, Detail: sweep.DetailSteps}
	cell, err := stimulus.Infer(context.Background(), &set, procedure, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for step, p := range cell.Posterior {
		fmt.Printf("after %d actions: kitchen %.2f, garden %.2f\n", step, p[0], p[1])
	}

	// Output:
	// after 0 actions: kitchen 0.50, garden 0.50
	// after 1 actions: kitchen 0.90, garden 0.10
	// after 2 actions: kitchen 0.50, garden 0.50
	// after 3 actions: kitchen 0.10, garden 0.90
	// after 4 actions: kitchen 0.01, garden 0.99
}

// relaxed makes the FF heuristic of each goal.
func relaxed(t *ground.Task) (func(goal int) (*heuristic.Table, error), error) {
	p, err := t.Propositional()
	if err != nil {
		return nil, err
	}
	r := heuristic.NewRelaxation(p)
	return func(goal int) (*heuristic.Table, error) { return r.FF(goal), nil }, nil
}
