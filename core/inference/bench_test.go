package inference

import (
	"context"
	"fmt"
	"testing"

	"foible/core/sweep"
)

// BenchmarkTables is the sampling of tables, of the first level, for four batches.
func BenchmarkTables(b *testing.B) {
	for _, w := range []world{threeBlocks(b), maze3(b), fiveBlocks(b)} {
		for _, noise := range []float64{0, 0.4} {
			b.Run(fmt.Sprintf("%s/noise=%v/steps=%d", w.name, noise, len(w.sips.states)-1), func(b *testing.B) {
				m := marginalOf(w.sips)
				const batches = 4
				made := 0.0
				b.ReportAllocs()
				for seed := uint64(0); b.Loop(); seed++ {
					s := m.samplesFor(storeKey{seed: seed, noise: noise, draws: leastLong, batches: batches})
					for goal := range w.sips.goals.Heuristic {
						for tau := range m.steps {
							must(m.table(context.Background(), s, tau, goal, 0))
							made += m.cost(s, goal, 0)
						}
					}
				}
				b.ReportMetric(made/b.Elapsed().Seconds(), "searches/s")
			})
		}
	}
}

// BenchmarkRefine is inference from nothing until probabilities are as sure as asked for.
func BenchmarkRefine(b *testing.B) {
	for _, w := range []world{threeBlocks(b), maze3(b)} {
		for _, se := range []float64{0.02, 0.005} {
			b.Run(fmt.Sprintf("%s/se=%v/steps=%d", w.name, se, len(w.sips.states)-1), func(b *testing.B) {
				m := marginalOf(w.sips)
				judged := []int{1, 3, len(m.steps)}
				for seed := uint64(0); b.Loop(); seed++ {
					if _, err := m.convergeOne(agents["full"], asked(4, se, sweep.DetailMistakes), seed, judged); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
