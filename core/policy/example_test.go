package policy_test

import (
	"context"
	"fmt"

	"foible.dev/foible/core/internal/house"
	"foible.dev/foible/core/policy"
)

// An observer who takes the person for a Boltzmann agent infers where she is going, action by action.
func Example() {
	observer, err := policy.NewObserver(house.Task(), house.Steps(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	posterior, err := observer.Posterior(context.Background(), policy.Parameters{Alpha: 1, Value: policy.Optimal, Unreachable: -1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	for step, p := range posterior.Goals {
		fmt.Printf("after %d actions: kitchen %.2f, garden %.2f\n", step, p[0], p[1])
	}

	// Output:
	// after 0 actions: kitchen 0.50, garden 0.50
	// after 1 actions: kitchen 0.88, garden 0.12
	// after 2 actions: kitchen 0.50, garden 0.50
	// after 3 actions: kitchen 0.12, garden 0.88
	// after 4 actions: kitchen 0.02, garden 0.98
}
