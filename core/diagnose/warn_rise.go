package diagnose

import (
	"fmt"
	"math"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
)

// rises warns of a best setting, as it is reported, whose r more runs would raise.
func (w *Warner) rises(m *model.Model, g *sweep.Gathered) (text string, ok bool) {
	if m.Exact || w.config.Inference.Method != sweep.SIPS {
		return "", false
	}
	predictions, ok := w.plan.Predictions(g)
	if !ok {
		return "", false
	}
	rise, ok := w.scorer.Rises(predictions)
	if !ok || !rise.Matters() {
		return "", false
	}
	gain := rise.Limit - rise.R
	enough := runsFor(rise.Runs, gain)
	how := fmt.Sprintf("--runs %d", enough)
	if g.Stage == sweep.ReportStage {
		how = fmt.Sprintf("`report: {runs: %d}` in sweep.yaml", enough)
	}
	return fmt.Sprintf("r still rises with runs: of half of the %s it is %s, of all %s, and of ever more it would be %s (%s higher, with an error of %s), by the spread of the runs; %s comes within %v of that",
		words.Count(rise.Runs, "run"), decimal(rise.Half), decimal(rise.R), decimal(rise.Limit), decimal(gain), decimal(rise.SE), how, score.MostRise), true
}

// runsFor is how many runs leave a gain of at most mostRise, where the present runs leave this one;
// to two digits, upwards.
func runsFor(runs int, gain float64) int {
	n := math.Ceil(float64(runs) * gain / score.MostRise)
	unit := math.Pow(10, max(0, math.Floor(math.Log10(n))-1))
	return int(math.Ceil(n/unit) * unit)
}
