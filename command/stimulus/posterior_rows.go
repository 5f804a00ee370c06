package stimulus

import (
	"math"

	"foible.dev/foible/command/input"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/tabular"
)

// writePosteriors writes a row a model, step and goal. The columns of people are empty off the judgement steps, those of
// filters where the model is exact.
func writePosteriors(out tabular.Output, c *chosen, cells []result.Cell) error {
	return tabular.Write(out, "inference", func(row func(...any) error) error {
		for m := range cells {
			key := append([]any{c.sets[m].Model}, tabular.Parameters(&c.sets[m])...)
			for step := 0; step <= len(c.stimulus.Plan); step++ {
				for goal := range c.stimulus.Goals {
					if err := row(append(key[:len(key):len(key)], posteriorRow(c.stimulus, &cells[m], step, goal)...)...); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

// posteriorRow has what follows the parameters; nil where there is nothing.
func posteriorRow(st *study.Stimulus, cell *result.Cell, step, goal int) []any {
	row := []any{st.ID, step, input.ActionText(st, step), st.Goals[goal].Name, nil, nil, nil, nil, nil, nil, nil, nil, nil}
	if step < len(cell.Posterior) {
		row[4] = cell.Posterior[step][goal]
		if se, known := cell.Error(step, goal); known && step < len(cell.SE) {
			row[5] = se
		}
	} else if cell.Undefined != nil {
		row[12] = cell.Undefined.Reason
	}
	mean, se := input.Judged(st, step, goal)
	row[6], row[7] = known(mean), known(se)
	for i, values := range [][]float64{cell.ESS, cell.Alive, cell.Evidence} {
		if step < len(values) {
			row[8+i] = known(values[step])
		}
	}
	if step < len(cell.LogEvidence) {
		row[11] = known(cell.LogEvidence[step][goal])
	}
	return row
}

// known is a number for a table; nil if it is none, or the logarithm of 0.
func known(x float64) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return x
}

// writeMistakes writes a row a model and action; what is not known is empty.
func writeMistakes(out tabular.Output, c *chosen, cells []result.Cell) error {
	return tabular.Write(out, "inference_mistakes", func(row func(...any) error) error {
		for m := range cells {
			mistakes := cells[m].Mistakes
			if mistakes == nil {
				continue
			}
			for i := range mistakes.Confused {
				values := []any{c.sets[m].Model, c.stimulus.ID, i + 1, input.ActionText(c.stimulus, i+1)}
				for _, estimate := range []result.Estimate{mistakes.Confused[i], mistakes.Slip[i]} {
					values = append(values, estimate.Probability, estimate.SE)
				}
				if offPath, known := mistakes.OffPath.Get(); known {
					values = append(values, offPath[i].Probability, offPath[i].SE)
				} else {
					values = append(values, nil, nil)
				}
				if err := row(values...); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
