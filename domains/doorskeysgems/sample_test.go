package doorskeysgems

import (
	"testing"

	"foible.dev/foible/domains/internal/domaintest"
)

func TestSample(t *testing.T) {
	domaintest.Sample(t, Sample, domaintest.Source(Name, PDDL, Goal),
		[]string{"control", "plan-mistake-backtracking", "plan-mistake-failure", "action-mistake"}, "plan-mistake-failure")
}
