package marginal

import (
	"context"
	"fmt"
	"testing"

	"foible.dev/foible/core/inference/internal/samples"
	"foible.dev/foible/core/inference/internal/worlds"
	"foible.dev/foible/core/sweep"
)

// BenchmarkTables is the sampling of tables, of the first level, for four batches.
func BenchmarkTables(b *testing.B) {
	for _, w := range []worlds.World{worlds.ThreeBlocks(b), worlds.Maze(b), worlds.FiveBlocks(b)} {
		for _, noise := range []float64{0, 0.4} {
			b.Run(fmt.Sprintf("%s/noise=%v/steps=%d", w.Name, noise, len(w.Path.States)-1), func(b *testing.B) {
				m := marginalOf(w.Path)
				const batches = 4
				made := 0.0
				b.ReportAllocs()
				for seed := uint64(0); b.Loop(); seed++ {
					s := m.samplesFor(samples.Key{Seed: seed, Noise: noise, Draws: minDraws, Batches: batches})
					for goal := range w.Path.Goals.Heuristic {
						for tau := range m.steps {
							must(s.Table(context.Background(), goal, tau, 0))
							made += s.Searches(goal, 0)
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
	for _, w := range []worlds.World{worlds.ThreeBlocks(b), worlds.Maze(b)} {
		for _, se := range []float64{0.02, 0.005} {
			b.Run(fmt.Sprintf("%s/se=%v/steps=%d", w.Name, se, len(w.Path.States)-1), func(b *testing.B) {
				m := marginalOf(w.Path)
				judged := []int{1, 3, len(m.steps)}
				for seed := uint64(0); b.Loop(); seed++ {
					if _, err := m.convergeOne(worlds.Agents["full"], asked(4, se, sweep.DetailMistakes), seed, judged); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
