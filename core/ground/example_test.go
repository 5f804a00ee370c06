package ground_test

import (
	"fmt"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/internal/house"
	"foible.dev/foible/core/pddl"
)

// A problem is grounded with its candidate goals. States are numbers; what can be done in one is found when it is asked for.
func Example() {
	domain, err := pddl.ParseDomain("domain.pddl", []byte(house.Domain))
	if err != nil {
		fmt.Println(err)
		return
	}
	problem, err := pddl.ParseProblem("problem.pddl", []byte(house.Problem), domain)
	if err != nil {
		fmt.Println(err)
		return
	}
	garden, err := pddl.ParseGoal("goal", []byte("(in garden)"), problem)
	if err != nil {
		fmt.Println(err)
		return
	}
	task, err := ground.New(problem, []pddl.Formula{garden})
	if err != nil {
		fmt.Println(err)
		return
	}

	for _, next := range task.Successors(task.Initial()) {
		fmt.Println(task.Operators[next.Operator], "leads to", task.True(next.State)[0])
	}

	plan, err := pddl.ParsePlan("plan", []byte("(walk hall porch) (walk porch garden)"))
	if err != nil {
		fmt.Println(err)
		return
	}
	states, _, err := task.Validate(plan)
	fmt.Println(len(states), "states;", "the last one satisfies the goal:", task.Satisfies(states[2], 0), err)

	_, _, err = task.Validate([]pddl.Step{{Name: "walk", Args: []string{"hall", "garden"}}})
	fmt.Println(err)

	// Output:
	// (walk hall pantry) leads to {in [pantry]}
	// (walk hall porch) leads to {in [porch]}
	// 3 states; the last one satisfies the goal: true <nil>
	// step 1: (walk hall garden) is not applicable: precondition (beside hall garden) does not hold
}
