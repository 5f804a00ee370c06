package score

import (
	"math"
	"slices"

	"foible.dev/foible/core/result"
	"foible.dev/foible/core/stats"
)

// Difference is how much better one model agrees with people than another, over
// the points that both predict.
type Difference struct {
	N              int
	PearsonR, RMSE Change
}

// Change is a statistic of one model less that of another.
type Change struct {
	Value     float64
	Defined   bool              // both have it
	Intervals []result.Interval // both models being compared with the same resampled people; by unit
}

// Compare takes the difference of two models, the first less the second. Where
// one has no prediction, the point plays no part for the other either.
func (s *Scorer) Compare(one, other []result.Prediction) (Difference, error) {
	x, err := s.flat(one)
	if err != nil {
		return Difference{}, err
	}
	y, err := s.flat(other)
	if err != nil {
		return Difference{}, err
	}
	human, resamples := s.human, s.resampled
	if partial(x) || partial(y) {
		for i := range x {
			for k := range x[i] {
				if math.IsNaN(x[i][k]) || math.IsNaN(y[i][k]) {
					x[i][k], y[i][k] = math.NaN(), 0
				}
			}
		}
		human = mask(s.human, x)
		if resamples, err = s.resample(human); err != nil {
			return Difference{}, err
		}
	}
	var a, b points
	for i := range x {
		a.add(x[i], human.Stimuli[i].Mean)
		b.add(y[i], human.Stimuli[i].Mean)
	}
	with, without := a.correlation(""), b.correlation("")
	d := Difference{
		N:        with.N,
		PearsonR: Change{Value: with.PearsonR - without.PearsonR, Defined: with.Defined && without.Defined},
		RMSE:     Change{Value: with.RMSE - without.RMSE, Defined: with.N > 0},
	}
	for _, r := range resamples {
		d.PearsonR.bound(r.unit, r.b.Difference(x, y))
		errors, others := r.b.RMSE(x), r.b.RMSE(y)
		for k := range errors {
			errors[k] -= others[k]
		}
		d.RMSE.bound(r.unit, errors)
	}
	return d, nil
}

// Common is the number of points that people judged and all of some models predict; -1
// of predictions that are not of the study.
func (s *Scorer) Common(models [][]result.Prediction) int {
	n := 0
	for i := range s.human.Stimuli {
		steps := len(s.study.Stimuli[i].JudgementSteps)
		for _, predictions := range models {
			if len(predictions) != len(s.human.Stimuli) {
				return -1
			}
			steps = min(steps, len(predictions[i].Rows))
		}
		for _, x := range s.human.Stimuli[i].Mean[:steps*len(s.study.Stimuli[i].Goals)] {
			if !math.IsNaN(x) {
				n++
			}
		}
	}
	return n
}

// Points is the number of points that people judged.
func (s *Scorer) Points() int { return s.Common(nil) }

// bound adds the interval of resampled values.
func (c *Change) bound(unit string, values []float64) {
	if low, high, ok := stats.Interval(values, level); ok && c.Defined {
		c.Intervals = append(c.Intervals, result.Interval{Unit: unit, Low: low, High: high, Resamples: len(values)})
	}
}

// partial says whether a model lacks predictions.
func partial(model [][]float64) bool {
	return slices.ContainsFunc(model, func(row []float64) bool { return slices.ContainsFunc(row, math.IsNaN) })
}

// Scores are of the agreement of a model with the people's means, besides r and RMSE.
type Scores struct {
	N                     int // points
	Spearman, Concordance Score
	Judgements            int     // distributions over goals: stimuli x judgement steps
	TotalVariation        float64 // mean over judgements, see [stats.TotalVariation]; 0 without one, as the next
	JensenShannon         float64 // mean over judgements, see [stats.JensenShannon]
}

// Score is a number where it is defined.
type Score struct {
	Value   float64
	Defined bool
}

// Scores of what a parameter set predicts.
func (s *Scorer) Scores(predictions []result.Prediction) (Scores, error) {
	model, err := s.flat(predictions)
	if err != nil {
		return Scores{}, err
	}
	var all points
	var out Scores
	for i, p := range predictions {
		all.add(model[i], s.human.Stimuli[i].Mean)
		for j, row := range p.Rows {
			if mean := s.study.Stimuli[i].Human.Mean; j < len(mean) && mean[j] != nil {
				out.Judgements++
				out.TotalVariation += stats.TotalVariation(row, mean[j])
				out.JensenShannon += stats.JensenShannon(row, mean[j])
			}
		}
	}
	out.N = len(all.model)
	out.Spearman.Value, out.Spearman.Defined = stats.Spearman(all.model, all.human)
	out.Concordance.Value, out.Concordance.Defined = stats.Concordance(all.model, all.human)
	if out.Judgements > 0 {
		out.TotalVariation /= float64(out.Judgements)
		out.JensenShannon /= float64(out.Judgements)
	}
	return out, nil
}
