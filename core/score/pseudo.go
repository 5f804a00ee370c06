package score

import (
	"math"

	"foible.dev/foible/core/result"
	"foible.dev/foible/core/stats"
)

// PseudoValues of the overall r, one a run: n r - (n - 1) r_without_i, where run i
// is left out of every stimulus. Their mean is r but for its bias, their spread that
// of runs. Nil where the predictions have fewer than two runs, or r is not defined.
// A stimulus with fewer runs than others, but two, leaves out each of them in turn.
func (s *Scorer) PseudoValues(predictions []result.Prediction) []float64 {
	n, points := 0, 0
	for i := range predictions {
		n = max(n, predictions[i].Runs.Len())
		points += len(s.human.Stimuli[i].Mean)
	}
	if n < 2 {
		return nil
	}
	all := newPoints(points)
	at, ends := make([]int32, 0, points), make([]int, len(predictions)) // places in the stimulus; by stimulus
	for i := range predictions {
		human, k := s.human.Stimuli[i].Mean, 0
		for _, row := range predictions[i].Rows {
			for _, x := range row {
				if !math.IsNaN(x) && !math.IsNaN(human[k]) {
					all.model, all.human, at = append(all.model, x), append(all.human, human[k]), append(at, int32(k))
				}
				k++
			}
		}
		ends[i] = len(at)
	}
	if len(all.model) < 2 {
		return nil
	}
	whole := stats.Moments{X0: stats.Mean(all.model), Y0: stats.Mean(all.human)}
	whole.Add(all.model, all.human)
	r, ok := whole.Pearson()
	if !ok {
		return nil
	}
	ys := all.human
	for i := range ys {
		ys[i] -= whole.Y0
	}
	values := make([]float64, n)
	for k := range values {
		without := whole // of the people, all sums stay
		without.X, without.XX, without.XY = 0, 0, 0
		from := 0
		for i, to := range ends {
			predictions[i].Runs.AddLeft(&without, all.model[from:to], ys[from:to], at[from:to], k)
			from = to
		}
		rest, ok := without.Pearson()
		if !ok {
			return nil
		}
		values[k] = float64(float64(n)*r) - float64(float64(n-1)*rest)
	}
	return values
}
