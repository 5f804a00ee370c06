package stimulus

import (
	"fmt"
	"math"
	"slices"

	"foible.dev/foible/command/input"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/words"
)

// posteriorTable has a row a step, and one below it for the people who judged
// there. A model that is sampled also has the largest Monte-Carlo standard error
// of the step, and how its filters fared or which mistakes are behind the action.
func posteriorTable(st *study.Stimulus, cell *result.Cell, people string) *terminal.Table {
	t := &terminal.Table{Columns: []terminal.Column{{Head: "Step", Lead: true}, {Head: "Action", Lead: true, Left: true}}}
	for g := range st.Goals {
		name := st.Goals[g].Name
		if g == st.TrueGoal {
			name += "*"
		}
		t.Columns = append(t.Columns, terminal.Column{Head: name})
	}
	more := sampledColumns(cell)
	for _, c := range more {
		t.Columns = append(t.Columns, terminal.Column{Head: c.head})
	}
	for step := 0; step <= len(st.Plan); step++ {
		row := []string{fmt.Sprint(step), input.ActionText(st, step)}
		human := []string{"", people}
		answered := false
		for g := range st.Goals {
			row = append(row, at(cell.Posterior, step, func(p []float64) string { return words.Fixed(p[g], 2) }))
			mean, _ := input.Judged(st, step, g)
			if math.IsNaN(mean) {
				human = append(human, "")
				continue
			}
			answered = true
			human = append(human, words.Fixed(mean, 2))
		}
		for _, c := range more {
			row, human = append(row, c.at(step)), append(human, "")
		}
		t.Rows = append(t.Rows, row)
		if answered {
			t.Rows = append(t.Rows, human)
		}
	}
	return t
}

// sampledColumn is a column of a model that is not exact.
type sampledColumn struct {
	head string
	at   func(step int) string
}

// sampledColumns are none of an exact model.
func sampledColumns(cell *result.Cell) []sampledColumn {
	if cell.SE == nil {
		return nil
	}
	se := sampledColumn{"MC SE", func(step int) string {
		return at(cell.SE, step, func(se []float64) string {
			if _, known := cell.Error(step, 0); !known {
				return "-" // of a single run
			}
			return words.Error(slices.Max(se))
		})
	}}
	evidence := sampledColumn{"ln P", func(step int) string { return at(cell.Evidence, step, logText) }}
	if len(cell.ESS) > 0 {
		return []sampledColumn{
			se,
			{"ESS", func(step int) string {
				return at(cell.ESS, step, func(x float64) string { return words.Fixed(x, 0) })
			}},
			{"Alive", func(step int) string {
				return at(cell.Alive, step, func(x float64) string { return fmt.Sprintf("%.3g", x) })
			}},
			evidence,
		}
	}
	columns := []sampledColumn{se, evidence}
	if m := cell.Mistakes; m != nil {
		offPath, _ := m.OffPath.Get() // "-" if it is not known
		for _, kind := range []struct {
			head string
			of   []result.Estimate
		}{{"Confused", m.Confused}, {"Slip", m.Slip}, {"Off path", offPath}} {
			columns = append(columns, sampledColumn{kind.head, func(step int) string {
				if step == 0 {
					return ""
				}
				return at(kind.of, step-1, func(e result.Estimate) string { return words.Fixed(e.Probability, 2) })
			}})
		}
	}
	return columns
}

func logText(x float64) string {
	if x > -0.05 && x <= 0 {
		x = 0 // not -0
	}
	return words.Fixed(x, 1)
}

// at is what stands at a step, "-" where there is nothing.
func at[T any](values []T, step int, text func(T) string) string {
	if step >= len(values) {
		return "-"
	}
	return text(values[step])
}
