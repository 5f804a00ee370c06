package score_test

import (
	"fmt"
	"testing"

	"foible.dev/foible/core/internal/madeup"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/sweep"
)

func BenchmarkScore(b *testing.B) {
	st, model := madeup.Published()
	for _, units := range [][]string{nil, {"participants"}, {"stimuli"}, {"both"}, sweep.DefaultBootstrap.Units} {
		resamples := 500
		if units == nil {
			resamples = 0
		}
		s, err := score.NewScorer(st, sweep.Bootstrap{Resamples: resamples, Units: units}, 1)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("points=545/runs=4/resamples=%d/units=%d %v", resamples, len(units), units), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Score(model); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A parameter set of the published size on its way into the cross-validation.
func BenchmarkCrossValidation(b *testing.B) {
	st, m := madeup.Published()
	var shapes []sweep.Shape
	g := &sweep.Gathered{Stage: sweep.FitStage, Set: model.ParameterSet{Model: "full"}}
	for i := range st.Stimuli {
		s := &st.Stimuli[i]
		shapes = append(shapes, sweep.Shape{Stimulus: s.ID, Goals: len(s.Goals), Actions: 9, JudgementSteps: s.JudgementSteps})
		g.Cells = append(g.Cells, &result.Cell{Judged: true, Posterior: m[i].Rows})
	}
	plan, err := sweep.NewPlan([]model.ParameterSet{g.Set}, shapes, 1, false)
	if err != nil {
		b.Fatal(err)
	}
	s, err := score.NewScorer(st, sweep.Bootstrap{}, 1)
	if err != nil {
		b.Fatal(err)
	}
	v := score.NewCrossValidator(s, plan)
	b.ReportAllocs()
	for b.Loop() {
		if err := v.Add(g); err != nil {
			b.Fatal(err)
		}
	}
}

// Two models of the published size against each other, by every unit.
func BenchmarkCompare(b *testing.B) {
	st, model := madeup.Published()
	s, err := score.NewScorer(st, sweep.DefaultBootstrap, 1)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Compare(model, model); err != nil {
			b.Fatal(err)
		}
	}
}
