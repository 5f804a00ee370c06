package command

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"

	"foible/core/study"
	"foible/core/sweep"
)

// writePosteriors writes a row a model, step and goal. The columns of people
// are empty off the judgement steps, those of filters where the model is exact.
func writePosteriors(w io.Writer, c *chosen, cells []sweep.Cell) error {
	table := csv.NewWriter(w)
	header := []string{"model"}
	for i := range sweep.Axes {
		header = append(header, sweep.Axes[i].Name)
	}
	header = append(header, "stimulus", "step", "action", "goal", "probability", "mc_se", "human", "human_se", "ess", "goals_alive", "log_evidence", "goal_log_evidence", "outcome")
	rows := [][]string{header}
	for m := range cells {
		cell := &cells[m]
		settings := []string{c.sets[m].Model}
		for i := range sweep.Axes {
			text := ""
			if s, ok := c.sets[m].Get(sweep.Axes[i].Name); ok {
				text = s.String()
			}
			settings = append(settings, text)
		}
		for step := 0; step <= len(c.stimulus.Plan); step++ {
			for goal := range c.stimulus.Goals {
				rows = append(rows, append(settings[:len(settings):len(settings)], posteriorRow(c.stimulus, cell, step, goal)...))
			}
		}
	}
	return table.WriteAll(rows)
}

func posteriorRow(st *study.Stimulus, cell *sweep.Cell, step, goal int) []string {
	row := []string{st.ID, strconv.Itoa(step), actionText(st, step), st.Goals[goal].Name, "", "", "", "", "", "", "", "", ""}
	if step < len(cell.Posterior) {
		row[4] = numberText(cell.Posterior[step][goal])
		if step < len(cell.SE) {
			row[5] = numberText(cell.SE[step][goal])
		}
	} else if cell.Undefined != nil {
		row[12] = cell.Undefined.Reason
	}
	if mean, se := judged(st, step, goal); !math.IsNaN(mean) {
		row[6] = numberText(mean)
		if !math.IsNaN(se) {
			row[7] = numberText(se)
		}
	}
	for i, values := range [][]float64{cell.ESS, cell.Alive, cell.Evidence} {
		if step < len(values) && !math.IsInf(values[step], 0) {
			row[8+i] = numberText(values[step])
		}
	}
	if step < len(cell.LogEvidence) && !math.IsInf(cell.LogEvidence[step][goal], -1) {
		row[11] = numberText(cell.LogEvidence[step][goal])
	}
	return row
}

// writeMistakes writes a row a model and action; what is not known is empty.
func writeMistakes(w io.Writer, c *chosen, cells []sweep.Cell) error {
	table := csv.NewWriter(w)
	rows := [][]string{{"model", "stimulus", "step", "action", "goal_confused", "goal_confused_se", "slip", "slip_se", "plan_off_path", "plan_off_path_se"}}
	for m := range cells {
		mistakes := cells[m].Mistakes
		if mistakes == nil {
			continue
		}
		for i := range mistakes.Confused {
			row := []string{c.sets[m].Model, c.stimulus.ID, strconv.Itoa(i + 1), actionText(c.stimulus, i+1)}
			for _, estimate := range []sweep.Estimate{mistakes.Confused[i], mistakes.Slip[i]} {
				row = append(row, numberText(estimate.Probability), numberText(estimate.SE))
			}
			if offPath, known := mistakes.OffPath.Get(); known {
				row = append(row, numberText(offPath[i].Probability), numberText(offPath[i].SE))
			} else {
				row = append(row, "", "")
			}
			rows = append(rows, row)
		}
	}
	return table.WriteAll(rows)
}

// numberText is the shortest decimal that reads back as the same number.
func numberText(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// actionText is the action that led to a step; none to the first.
func actionText(st *study.Stimulus, step int) string {
	if step == 0 {
		return ""
	}
	return st.Plan[step-1].String()
}

// judged is the people's mean at a step and its standard error; NaN where there is none.
func judged(st *study.Stimulus, step, goal int) (mean, se float64) {
	mean, se = math.NaN(), math.NaN()
	for j, k := range st.JudgementSteps {
		if k != step {
			continue
		}
		if j < len(st.Human.Mean) && st.Human.Mean[j] != nil {
			mean = st.Human.Mean[j][goal]
		}
		if j < len(st.Human.SE) && st.Human.SE[j] != nil {
			se = st.Human.SE[j][goal]
		}
	}
	return mean, se
}
