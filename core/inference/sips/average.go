package sips

import (
	"math"

	"foible.dev/foible/core/result"
)

// Average is a cell: the mean of runs. A run that ends early, because all its weights
// vanished, is left out from there on; where all have ended, so has the cell.
func Average(runs []*Run, judgementSteps []int) result.Cell {
	var cell result.Cell
	longest := runs[0]
	for _, run := range runs {
		if len(run.Posterior) > len(longest.Posterior) {
			longest = run
		}
	}
	if u := longest.Undefined; u != nil {
		cell.Undefined = &result.Undefined{Step: u.Step, Reason: u.Reason}
	}
	steps := len(longest.Posterior)
	for _, run := range runs {
		if len(run.Posterior) < steps {
			cell.FailedRuns++
			continue
		}
		var judged [][]float64
		for _, step := range judgementSteps {
			if step < steps {
				judged = append(judged, run.Posterior[step])
			}
		}
		cell.Runs.Add(judged)
	}
	if cell.Undefined != nil {
		cell.FailedRuns = len(runs)
	}
	for step := range steps {
		addStep(&cell, runs, step)
	}
	return cell
}

// addStep adds the means of a step over the runs that reach it.
func addStep(cell *result.Cell, runs []*Run, step int) {
	var reach []*Run
	var evidence Weights
	for _, run := range runs {
		if step >= len(run.Posterior) {
			continue
		}
		reach = append(reach, run)
		var log float64
		for _, x := range run.Evidence[:step+1] {
			log += x
		}
		evidence = append(evidence, log)
	}
	n := len(reach)
	posterior := make([]float64, len(reach[0].Posterior[step]))
	se := make([]float64, len(posterior))
	for goal := range posterior {
		posterior[goal], se[goal] = meanAndError(n, func(i int) float64 { return reach[i].Posterior[step][goal] })
	}
	ess, _ := meanAndError(n, func(i int) float64 { return reach[i].ESS[step] })
	alive, _ := meanAndError(n, func(i int) float64 { return float64(reach[i].Alive[step]) })
	cell.Posterior = append(cell.Posterior, posterior)
	cell.SE = append(cell.SE, se)
	cell.ESS = append(cell.ESS, ess)
	cell.Alive = append(cell.Alive, alive)
	cell.Evidence = append(cell.Evidence, evidence.logSum()-math.Log(float64(len(runs)))) // a failed run counts as 0
}

// meanAndError is the mean of n numbers, and its standard error.
func meanAndError(n int, x func(i int) float64) (mean, se float64) {
	for i := range n {
		mean += x(i) / float64(n)
	}
	if n < 2 {
		return mean, 0
	}
	var squares float64
	for i := range n {
		d := x(i) - mean
		squares += float64(d * d)
	}
	return mean, math.Sqrt(squares / float64(n-1) / float64(n))
}
