package score

import (
	"math"

	"foible.dev/foible/core/result"
	"foible.dev/foible/core/stats"
)

// Rise is how r grows with the runs that are averaged: noise of runs is variance of the
// model that no judgement shares, and so lowers r.
type Rise struct {
	Runs  int     // of the stimulus with the most
	Half  float64 // mean r of either half of the runs
	R     float64 // of all
	Limit float64 // of ever more, by the spread of the runs
	SE    float64 // of Limit - R
}

// Rises is what r would gain by ever more runs. With V the variance of the predictions over
// points and v that of the mean of runs, averaged over points, r is lowered by
// sqrt(1 - v / V) (Spearman's attenuation); the noise at the goals of a step sums to 0, so
// that V has all of v. Its error is that of the variances of runs, taken as normal and, at
// the points of a stimulus, as one. Not ok where no stimulus has two runs or r is not defined.
// A stimulus with a single run left is taken as without noise.
func (s *Scorer) Rises(predictions []result.Prediction) (rise Rise, ok bool) {
	points := 0
	for i := range predictions {
		rise.Runs = max(rise.Runs, predictions[i].Runs.Len())
		points += len(s.human.Stimuli[i].Mean)
	}
	if rise.Runs < 2 {
		return rise, false
	}
	all, first, second := newPoints(points), newPoints(points), newPoints(points)
	var noise, squared float64 // sums over points and stimuli
	for i := range predictions {
		p, st := &predictions[i], &s.study.Stimuli[i]
		human := s.human.Stimuli[i].Mean
		rows := flatten(p.Rows, len(st.JudgementSteps), len(st.Goals))
		all.add(rows, human)
		n := p.Runs.Len()
		if n < 2 {
			first.add(rows, human)
			second.add(rows, human)
			continue
		}
		runs := make([][]float64, n)
		for k := range runs {
			runs[k] = p.Runs.AppendRun(nil, k)
		}
		a, b := make([]float64, len(rows)), make([]float64, len(rows))
		values := make([]float64, n)
		var of float64
		for j, x := range rows {
			if math.IsNaN(x) {
				a[j], b[j] = x, x
				continue
			}
			for k := range runs {
				values[k] = runs[k][j]
			}
			a[j], b[j] = stats.Mean(values[:n/2]), stats.Mean(values[n/2:])
			if !math.IsNaN(human[j]) {
				of += stats.SumOfSquares(values) / float64(n*(n-1))
			}
		}
		first.add(a, human)
		second.add(b, human)
		noise += of
		squared += float64(of*of) * 2 / float64(n-1)
	}
	var defined bool
	c := all.correlation("")
	if rise.R, defined = c.PearsonR, c.Defined; !defined || c.N < 2 {
		return rise, false
	}
	low, high := first.correlation(""), second.correlation("")
	rise.Half = (low.PearsonR + high.PearsonR) / 2
	variance := stats.SumOfSquares(all.model)
	left := max(1-noise/variance, rise.R*rise.R) // r is at most 1
	if !low.Defined || !high.Defined || !(left > 0) {
		return rise, false
	}
	rise.Limit = rise.R / math.Sqrt(left)
	if noise > 0 {
		rise.SE = (rise.Limit - rise.R) * math.Sqrt(squared) / noise
	}
	return rise, true
}

// MostRise is a gain of r by more runs that is not worth them.
const MostRise = 0.005

// Matters says whether more runs are worth it: r would rise by more than 0.005, and by more
// than two standard errors of that.
func (r *Rise) Matters() bool {
	gain := r.Limit - r.R
	return gain > MostRise && gain > 2*r.SE
}
