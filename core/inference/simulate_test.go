package inference

import (
	"testing"

	"foible.dev/foible/core/search"
)

// Where distances are not known, it is not known whether a plan leads to its goal.
func TestPlanWithoutDistances(t *testing.T) {
	plan, err := judge(t.Context(), nil, 0, 0, make([]search.Step, 2))
	if _, known := plan.Path.Get(); known || err != nil || plan.Actions != 2 {
		t.Errorf("a plan without distances: %+v, error %v", plan, err)
	}
}
