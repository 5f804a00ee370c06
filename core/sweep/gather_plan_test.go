package sweep_test

import (
	"errors"
	"fmt"
	"testing"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/sweep"
)

// Outcomes of a plan that numbers its jobs otherwise are refused, whatever job they are first met in.
func TestGatherRefusesOtherPlans(t *testing.T) {
	const study = "study"
	config := sweep.Config{Seed: 7, Report: sweep.Stage{Runs: 1}}
	sets := make([]model.ParameterSet, 6)
	for i := range sets {
		sets[i].Model = "boltzmann"
		sets[i].Alpha.Number = float64(i + 1)
	}
	stimuli := []sweep.Shape{{Stimulus: "a", Goals: 2, Actions: 1, JudgementSteps: []int{0}}, {Stimulus: "b", Goals: 2, Actions: 1, JudgementSteps: []int{0}}}
	planned := func(cells int, stimuli []sweep.Shape) *sweep.Plan {
		p, err := (&sweep.Resolved{Config: config, Sets: sets}).Plan(stimuli, cells)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	recorded := func(p *sweep.Plan, number int) sweep.Outcome {
		o, job := outcome(p, number, false), p.Job(number)
		hasher := sweep.NewCellHash(study, stimuli[job.Stimulus].Stimulus, config.Seed, p.ProcedureOf(&config, job.Round))
		for i := range job.Sets {
			if job.Score {
				o.Sets = append(o.Sets, job.Sets[i])
			} else {
				o.Hashes = append(o.Hashes, hasher.Of(&job.Sets[i]))
			}
		}
		return o
	}
	for name, test := range map[string]struct {
		cells   int
		stimuli []sweep.Shape
		study   string
		change  func(number int, o *sweep.Outcome)
		refused bool
	}{
		"the same":                {cells: 2, stimuli: stimuli, study: study},
		"other chunks":            {cells: 3, stimuli: stimuli, study: study, refused: true},
		"stimuli in other order":  {cells: 2, stimuli: []sweep.Shape{stimuli[1], stimuli[0]}, study: study, refused: true},
		"another study":           {cells: 2, stimuli: stimuli, study: "other", refused: true},
		"no hashes":               {cells: 2, stimuli: stimuli, study: study, refused: true, change: func(_ int, o *sweep.Outcome) { o.Hashes = nil }},
		"fits of other sets":      {cells: 2, stimuli: stimuli, study: study, refused: true, change: func(_ int, o *sweep.Outcome) { clear(o.Sets) }},
		"in the report alone":     {cells: 2, stimuli: stimuli, study: study, refused: true, change: exchangeFrom(6)},
		"failures are of no cell": {cells: 2, stimuli: stimuli, study: study, change: func(n int, o *sweep.Outcome) { *o = sweep.Outcome{Failure: fmt.Sprint(n)} }},
	} {
		made, read := planned(2, stimuli), planned(test.cells, test.stimuli)
		g := sweep.NewGather(read, func(...*sweep.Gathered) error { return nil })
		g.Check(test.study, &config)
		standing := sweep.NewStanding(made.Points())
		var err error
		for chunk := range made.Chunks() {
			if err != nil {
				break
			}
			if !made.Known(made.RoundOf(chunk)) {
				made.Choose(standing)
			}
			for i := range stimuli {
				number := made.InferJob(chunk, i)
				o := recorded(made, number)
				if test.change != nil {
					test.change(number, &o)
				}
				err = errors.Join(err, g.Add(number, o))
			}
			number := made.ScoreJob(chunk)
			o, job := recorded(made, number), made.Job(number)
			standing.AddJob(&job, o.Fits)
			if test.change != nil {
				test.change(number, &o)
			}
			if number < read.Jobs() {
				err = errors.Join(err, g.Add(number, o))
			}
		}
		err = errors.Join(err, g.Close())
		if errors.Is(err, sweep.ErrOtherPlan) != test.refused || !test.refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// exchangeFrom changes a byte of the hashes of a job and of those after it.
func exchangeFrom(first int) func(int, *sweep.Outcome) {
	return func(number int, o *sweep.Outcome) {
		if number >= first {
			for _, hash := range o.Hashes {
				hash[0]++
			}
		}
	}
}
