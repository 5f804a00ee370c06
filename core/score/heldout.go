package score

import (
	"math"

	"foible.dev/foible/core/stats"
)

// PearsonHeldOut is the r of predictions that have not seen the people that they
// predict: those of each stimulus are of the parameter set that has the highest r
// on all other stimuli, the first of equals, among those that predict the most points
// there. It falls where a model has many parameter sets, and some fit what is chance. model is [set][point], human
// [point], NaN where there is nothing; the points of stimulus i are [start[i],
// start[i+1]). Not ok where r is not defined, and where no set has one without
// some stimulus.
func PearsonHeldOut(model [][]float64, human []float64, start []int) (r float64, ok bool) {
	x0, y0 := centre(model), centre([][]float64{human})
	parts := make([]stats.Moments, len(start)-1) // of a set, by stimulus
	of := newLeftOut(len(parts))
	best := make([]stats.Moments, len(parts))
	for set, row := range model {
		for i := range parts {
			parts[i] = stats.Moments{X0: x0, Y0: y0}
			parts[i].Add(row[start[i]:start[i+1]], human[start[i]:start[i+1]])
		}
		of.add(set, parts, func(i int) { best[i] = parts[i] })
	}
	pooled := stats.Moments{X0: x0, Y0: y0}
	for i := range best {
		if of.index[i] < 0 {
			return 0, false
		}
		pooled.Merge(&best[i], 1)
	}
	return pooled.Pearson()
}

// centre is the mean of what is there; 0 of nothing.
func centre(rows [][]float64) float64 {
	sum, n := 0.0, 0.0
	for _, row := range rows {
		for _, x := range row {
			if !math.IsNaN(x) {
				sum += x
				n++
			}
		}
	}
	return sum / max(1, n)
}
