package domains_test

import (
	"context"
	"fmt"
	"testing"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/sweep"
)

// BenchmarkMarginal is marginal inference on a published stimulus: a parameter set
// by itself, all of whose samples are made and sized, and one of a sweep, for which
// they are there.
func BenchmarkMarginal(b *testing.B) {
	for _, name := range []string{"block-words", "doors-keys-gems"} {
		s := loadPublished(b, name)
		stimulus := &s.Stimuli[5]
		m, _ := model.ByName("full")
		set := typical(s.Domain, &m)
		q := marginalOf(4, 0.01, "per_action_odds")
		q.Detail = sweep.DetailJudged
		size := fmt.Sprintf("%s/%s/steps=%d/goals=%d", name, stimulus.ID, len(stimulus.Plan), len(stimulus.Goals))
		ready, err := s.Ready(stimulus.ID)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("refine/"+size, func(b *testing.B) {
			b.ReportAllocs()
			for seed := uint64(0); b.Loop(); seed++ {
				if _, err := ready.Infer(context.Background(), set, q, seed); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("recursion/"+size, func(b *testing.B) {
			// Goal noises in turn: nothing but the recursion is new.
			sets := []model.ParameterSet{*set, *set}
			sets[1].GoalNoise.Number /= 2
			for i := range sets {
				if _, err := ready.Infer(context.Background(), &sets[i], q, 0); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := ready.Infer(context.Background(), &sets[i%2], q, 0); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(stimulus.Plan)), "ns/set-step")
		})
		b.Run("abreast/"+size, func(b *testing.B) {
			// As in a dense scan: goal noises that are inferred together.
			sets := []model.ParameterSet{*set, *set, *set, *set}
			for i := range sets {
				sets[i].GoalNoise.Number = 0.1 + 0.02*float64(i)
			}
			for b.Loop() {
				for _, err := range ready.InferAll(context.Background(), sets, q, 0) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(sets))/float64(len(stimulus.Plan)), "ns/set-step")
		})
		b.Run("actions/"+size, func(b *testing.B) {
			// Action noises in turn: what plans do is joined with what is seen anew.
			sets := []model.ParameterSet{*set, *set}
			sets[1].ActionNoise.Number *= 2
			for i := 0; b.Loop(); i++ {
				if _, err := ready.Infer(context.Background(), &sets[i%2], q, 0); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(stimulus.Plan)), "ns/set-step")
		})
	}
}
