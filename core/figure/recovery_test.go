package figure_test

import (
	"math"

	"foible.dev/foible/core/figure"
)

func ExampleRecovery() {
	few := figure.RecoveryPanel{Labels: []string{"0.05", "0.1", "0.2"}, Count: [][]int{{10, 5, 1}, {4, 8, 5}, {0, 3, 14}}, Rho: 0.71, Low: 0.55, High: 0.83}
	many := figure.RecoveryPanel{Labels: few.Labels, Count: [][]int{{16, 0, 0}, {1, 16, 0}, {0, 0, 17}}, Rho: 0.98, Low: 0.95, High: 1}
	flat := figure.RecoveryPanel{Labels: []string{"2", "4"}, Count: [][]int{{25, 0}, {25, 0}}, Rho: math.NaN()}
	golden("recovery", figure.Recovery("A study", "full", []int{5, 80}, []figure.RecoveryAxis{
		{Axis: "action_noise", Panels: []figure.RecoveryPanel{few, many}},
		{Axis: "budget_r", Panels: []figure.RecoveryPanel{flat, flat}},
	}))
	// Output: recovery as before
}

func ExampleRecovery_wide() {
	p := figure.RecoveryPanel{Labels: []string{"0.9", "0.95"}, Count: [][]int{{20, 5}, {10, 15}}, Rho: 0.41, Low: 0.14, High: 0.64}
	alpha := figure.RecoveryPanel{
		Labels: []string{"0.125", "0.25", "0.5", "1", "2", "4", "8"},
		Count:  [][]int{{5, 2}, {1, 4, 2}, {0, 1, 6}, {0, 0, 0, 7}, {0, 0, 0, 3, 4}, {0, 0, 0, 0, 2, 5}, {0, 0, 0, 0, 0, 3, 4}},
		Rho:    0.93, Low: 0.88, High: 0.96,
	}
	golden("recovery-wide", figure.Recovery("A study", "action-lesioned", []int{1, 1000}, []figure.RecoveryAxis{
		{Axis: "goal_noise", Panels: []figure.RecoveryPanel{p, p}},
		{Axis: "budget_r", Panels: []figure.RecoveryPanel{p, p}},
		{Axis: "alpha", Panels: []figure.RecoveryPanel{alpha, alpha}},
		{Axis: "unreachable_value", Panels: []figure.RecoveryPanel{p, p}},
	}))
	// Output: recovery-wide as before
}

func ExampleRecovery_empty() {
	golden("recovery-empty", figure.Recovery("", "full", []int{5}, nil))
	// Output: recovery-empty as before
}

func ExampleConfusions() {
	nan := math.NaN()
	golden("confusions", figure.Confusions("A study", "Confusion of models", "Rows sum to 1: the part of the datasets of a true model to which each model was fitted.",
		[]string{"full", "action-lesioned", "boltzmann"},
		[]figure.Confusion{
			{Title: "5 participants, r", Parts: [][]float64{{0.64, 0.36, 0}, {0.01, 0.99, 0}, {0, 0, 1}}},
			{Title: "5 participants, held-out r", Parts: [][]float64{{0.49, 0.49, 0.02}, {0, 0.98, 0.02}, {nan, nan, nan}}},
			{Title: "20 participants, r", Parts: [][]float64{{0.8, 0.2, 0}, {0, 1, 0}, {0, 0, 1}}},
		}))
	// Output: confusions as before
}
