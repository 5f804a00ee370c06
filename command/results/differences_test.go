package results

import (
	"bytes"
	"testing"

	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/report/fit"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
)

// The first model is told from each of the others, with the sign; a difference
// that is not defined, or is of two others, is left to the report.
func TestDifferencesArePrinted(t *testing.T) {
	change := func(value, low, high float64) score.Difference {
		return score.Difference{N: 9, PearsonR: score.Change{Value: value, Defined: true, Intervals: []result.Interval{
			{Unit: "participants", Low: low, High: high}, {Unit: "both", Low: low - 0.25, High: high},
		}}}
	}
	for _, c := range []struct {
		all  []fit.Difference
		want string
	}{
		{nil, ""},
		{[]fit.Difference{
			{Model: "full", Other: "goal-lesioned", Difference: change(-0.125, -0.25, 0.125)},
			{Model: "full", Other: "plan-lesioned"},
			{Model: "full", Other: "boltzmann", Difference: change(0.1875, 0.125, 0.25)},
			{Model: "goal-lesioned", Other: "boltzmann", Difference: change(0.5, 0.25, 0.75)},
		}, "Difference in r, with 95% intervals of both models on the same resamples:\n" +
			"full - goal-lesioned  -0.125  [-0.250, +0.125] by participants  [-0.500, +0.125] by both\n" +
			"full - boltzmann      +0.188  [+0.125, +0.250] by participants  [-0.125, +0.250] by both\n"},
	} {
		var out bytes.Buffer
		printDifferences((&terminal.Terminal{Out: &out}), c.all, 0)
		if out.String() != c.want {
			t.Errorf("got\n%s\nwant\n%s", &out, c.want)
		}
	}
}
