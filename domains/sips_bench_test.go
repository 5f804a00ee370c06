package domains_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/inference/sips"
)

// BenchmarkSIPS is one run of the filter on a published stimulus, warm: 60
// particles a goal, as the paper's grids are fitted, at a short and a long budget.
func BenchmarkSIPS(b *testing.B) {
	for _, name := range []string{"block-words", "doors-keys-gems"} {
		s := loadPublished(b, name)
		stimulus := &s.Stimuli[5]
		ready, err := s.Ready(stimulus.ID)
		if err != nil {
			b.Fatal(err)
		}
		filter, err := ready.Filter(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		o := sips.DefaultOptions()
		o.ParticlesPerGoal, o.PredicateNoise, o.FluentNoise = 60, s.Observation.PredicateNoise, s.Observation.FluentNoise
		for _, budget := range []struct {
			r    int
			q    float64
			mean int
		}{{2, 0.9, 18}, {4, 0.95, 76}} {
			p := agent.Parameters{BudgetR: budget.r, BudgetQ: budget.q, SearchNoise: 0.5, ActionNoise: 0.2, Kind: agent.PerActionOdds}
			if s.Domain.Corruptions != nil {
				p.GoalNoise = 0.2
			}
			b.Run(fmt.Sprintf("%s/%s/steps=%d/budget=%d", name, stimulus.ID, len(stimulus.Plan), budget.mean), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 1))
				run := func() {
					if _, err := filter.Run(context.Background(), p, o, rng); err != nil {
						b.Fatal(err)
					}
				}
				for range 20 {
					run()
				}
				b.ReportAllocs()
				for b.Loop() {
					run()
				}
				particles := o.ParticlesPerGoal * len(stimulus.Goals) * len(stimulus.Plan)
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(particles), "ns/particle-step")
			})
		}
	}
}
