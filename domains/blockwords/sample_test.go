package blockwords

import (
	"testing"

	"foible.dev/foible/domains/internal/domaintest"
)

func TestSample(t *testing.T) {
	domaintest.Sample(t, Sample, domaintest.Source(Name, PDDL, Goal),
		[]string{"control", "goal-mistake", "plan-mistake", "action-mistake"}, "")
}
