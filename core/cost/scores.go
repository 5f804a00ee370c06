package cost

import (
	"foible.dev/foible/core/random"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/sweep"
)

// scores is what all comparisons with people take, in seconds: resampling the
// people, once a process, and a parameter set.
func (r *run) scores() (float64, error) {
	var total float64
	stages := map[string]int{sweep.FitStage: len(r.Plan.Sets)}
	if r.Plan.Report {
		stages[sweep.ReportStage] = len(r.Plan.Models())
	}
	// Any numbers will do.
	rng := random.WarningStream(r.Config.Seed, "pilot", "")
	draw := func(steps, goals int) [][]float64 {
		rows := make([][]float64, steps)
		for j := range rows {
			for range goals {
				rows[j] = append(rows[j], rng.Float64())
			}
		}
		return rows
	}
	predictions := make([]result.Prediction, len(r.of))
	for i := range predictions {
		s := &r.Plan.Stimuli[i]
		predictions[i].Rows = draw(len(s.JudgementSteps), s.Goals)
		for range r.Config.Fit.Runs {
			predictions[i].Runs.Add(draw(len(s.JudgementSteps), s.Goals))
		}
	}
	made := map[int]*score.Scorer{} // by resamples: a worker keeps them
	for _, stage := range []string{sweep.FitStage, sweep.ReportStage} {
		n := stages[stage]
		if n == 0 {
			continue
		}
		b := r.Plan.BootstrapOf(r.Config, stage)
		scorer := made[b.Resamples]
		if scorer == nil {
			seconds, err := r.timed(func() (err error) {
				scorer, err = score.NewScorer(r.Study, b, r.Config.Seed)
				return err
			})
			if err != nil {
				return 0, err
			}
			made[b.Resamples] = scorer
			total += seconds
		}
		const times = 3
		for range times {
			seconds, err := r.timed(func() error {
				_, err := scorer.Score(predictions)
				return err
			})
			if err != nil {
				return 0, err
			}
			total += seconds / times * float64(n)
		}
	}
	return total, nil
}
