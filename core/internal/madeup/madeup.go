// Package madeup makes studies and cells for tests.
package madeup

import (
	"fmt"
	"math/rand/v2"

	"foible.dev/foible/core/result"
	"foible.dev/foible/core/study"
)

// Published has the size of the published Block Words study: 16 stimuli of 5
// goals, 544 points, 17 participants each who answer everywhere; and what a
// model says of it, in 4 runs.
func Published() (*study.Study, []result.Prediction) {
	rng := rand.New(rand.NewPCG(1, 1))
	draw := func() []float64 {
		row, sum := make([]float64, 5), 0.0
		for g := range row {
			row[g] = rng.ExpFloat64()
			sum += row[g]
		}
		for g := range row {
			row[g] /= sum
		}
		return row
	}
	st := &study.Study{Name: "published"}
	var model []result.Prediction
	for i := range 16 {
		steps := []int{0, 2, 4, 5, 6, 8, 9}
		if i%5 == 0 {
			steps = steps[:6]
		}
		s := study.Stimulus{ID: fmt.Sprint(i), Category: fmt.Sprint(i % 4), JudgementSteps: steps, Goals: make([]study.Goal, 5)}
		h := &s.Human
		h.Mean = make([][]float64, len(steps))
		for j := range steps {
			h.Mean[j] = make([]float64, 5)
		}
		for p := range 17 {
			h.Participants = append(h.Participants, fmt.Sprint("p", p))
			answers := make([][]float64, len(steps))
			for j := range answers {
				answers[j] = draw()
				for g, x := range answers[j] {
					h.Mean[j][g] += x / 17
				}
			}
			h.Responses = append(h.Responses, answers)
		}
		st.Stimuli = append(st.Stimuli, s)
		p := result.Prediction{}
		for range steps {
			p.Rows = append(p.Rows, draw())
		}
		model = append(model, p)
	}
	Sampled(model, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4)
	return st, model
}

// People is the study of the published size, with a direction for each point in
// which models are off.
func People() (*study.Study, []result.Prediction) {
	st, off := Published()
	for i := range st.Stimuli {
		for j, row := range st.Stimuli[i].Human.Mean {
			for goal := range row {
				off[i].Rows[j][goal] -= 0.2
			}
		}
	}
	return st, off
}

// Sampler makes cells of 5 runs that are the people and something else besides, by
// how much a parameter set has of it, give or take what a run is off.
func Sampler(st *study.Study, off []result.Prediction, rng *rand.Rand, ofRun float64) func(by float64, stimulus int) *result.Cell {
	return func(by float64, stimulus int) *result.Cell {
		const runs = 5
		human := st.Stimuli[stimulus].Human.Mean
		c := &result.Cell{Judged: true, Filter: result.Filter{ESS: make([]float64, len(human))}}
		for j := range human {
			c.Posterior = append(c.Posterior, make([]float64, len(human[j])))
		}
		for range runs {
			x := by + ofRun*rng.NormFloat64()
			var run [][]float64
			for j, row := range human {
				one := make([]float64, len(row))
				for goal, h := range row {
					one[goal] = h + x*off[stimulus].Rows[j][goal]
					c.Posterior[j][goal] += one[goal] / runs
				}
				run = append(run, one)
			}
			c.Runs.Add(run)
		}
		return c
	}
}

// Sampled gives some stimuli of a model runs whose mean is what it predicts.
func Sampled(model []result.Prediction, runs ...int) {
	rng := rand.New(rand.NewPCG(21, 0))
	for i, n := range runs {
		p := &model[i]
		if n == 0 {
			continue
		}
		for range n {
			var rows [][]float64
			for _, row := range p.Rows {
				drawn := make([]float64, len(row))
				var sum float64
				for g := range drawn {
					drawn[g] = rng.ExpFloat64()
					sum += drawn[g]
				}
				for g := range drawn {
					drawn[g] /= sum
				}
				rows = append(rows, drawn)
			}
			p.Runs.Add(rows)
		}
		p.Rows = MeanOf(p.Runs, -1)
	}
}

// MeanOf is the mean of runs without one of them.
func MeanOf(runs result.Runs, without int) [][]float64 {
	mean := make([][]float64, runs.Rows())
	n := float64(runs.Len())
	if without >= 0 {
		n--
	}
	for j := range mean {
		goals := len(runs.AppendRun(nil, 0)) / runs.Rows()
		mean[j] = make([]float64, goals)
		for k := range runs.Len() {
			for g := range goals {
				if k != without {
					mean[j][g] += runs.At(k, j, g) / n
				}
			}
		}
	}
	return mean
}

// GoalLesioned are the r of the published goal-lesioned grid in Block Words, by an
// independent implementation of marginal inference: budget_q, budget_r, action_noise
// and, fastest, search_noise.
var GoalLesioned = []float64{
	.8616, .8718, .8767, .8822, .8786, .8818, .8543, .8631, .8676, .8743, .8676, .8725,
	.8540, .8660, .8678, .8764, .8691, .8749, .8043, .8422, .8247, .8525, .8407, .8540,
}
