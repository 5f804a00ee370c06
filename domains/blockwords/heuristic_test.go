package blockwords

import (
	"testing"

	"foible/core/ground"
	"foible/domains/internal/golden"
)

func value(t *ground.Task, goal int) (func(ground.StateID) float64, error) {
	h, err := Heuristic(t, goal)
	if err != nil {
		return nil, err
	}
	return h.Value, nil
}

func TestHeuristicAgainstGolden(t *testing.T) {
	gap, n, where := golden.Gap(t, Name, golden.Stimuli(t, Name, Goal), value)
	t.Logf("%d posteriors, largest gap %.3g at %+v", n, gap, where)
	if n == 0 {
		t.Error("nothing compared")
	}
	if gap > 1e-9 {
		t.Errorf("gap %v at %+v", gap, where)
	}
}
