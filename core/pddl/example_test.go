package pddl_test

import (
	"fmt"

	"foible.dev/foible/core/internal/house"
	"foible.dev/foible/core/pddl"
)

// PDDL text becomes a domain, a problem of it, a goal and a plan. Names are resolved, so that whatever is not declared is
// refused with its place.
func Example() {
	domain, err := pddl.ParseDomain("domain.pddl", []byte(house.Domain))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(domain.Name, "has the action", domain.Actions[0].Name)

	problem, err := pddl.ParseProblem("problem.pddl", []byte(house.Problem), domain)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(problem.Name, "has", len(problem.Objects), "rooms and", len(problem.Init), "facts")

	goal, err := pddl.ParseGoal("goal", []byte("(in garden)"), problem)
	fmt.Println(goal, err)

	_, err = pddl.ParseGoal("goal", []byte("(in cellar)"), problem)
	fmt.Println(err)

	plan, err := pddl.ParsePlan("plan", []byte("(walk hall porch) ; towards the garden"))
	fmt.Println(plan[0], err)

	// Output:
	// corridor has the action walk
	// house has 5 rooms and 9 facts
	// (in garden) <nil>
	// goal:1:5: unknown object or function "cellar"
	// (walk hall porch) <nil>
}
