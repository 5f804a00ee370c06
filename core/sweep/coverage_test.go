package sweep_test

import (
	"math/rand/v2"
	"testing"

	"foible.dev/foible/core/sweep"
)

// Whatever is done, the cells counted by model and stimulus are those of the
// infer jobs that are done, and add up to the progress.
func TestCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		p := modelPlan(t, []int{1 + rng.IntN(15), 1 + rng.IntN(15), 1 + rng.IntN(3)}, 1+rng.IntN(6), 1+rng.IntN(10), rng.IntN(2) == 0)
		g := sweep.NewProgress(p)
		type key struct {
			model    string
			stimulus int
		}
		want := map[key]int{}
		for _, number := range rng.Perm(p.Jobs())[:rng.IntN(p.Jobs()+1)] {
			g.Add(number)
			job := p.Job(number)
			switch {
			case job.Score:
			case job.Stage == sweep.ReportStage:
				want[key{"", job.Stimulus}] = 3
			default:
				for _, set := range job.Sets {
					want[key{set.Model, job.Stimulus}]++
				}
			}
		}
		sum, cells := 0, 0
		for _, c := range g.Coverage() {
			cells += c.Sets * len(c.Done)
			for s, done := range c.Done {
				sum += done
				if done != want[key{c.Model, s}] || done > c.Sets {
					t.Fatalf("%q, stimulus %d: %d of %d cells, want %d", c.Model, s, done, c.Sets, want[key{c.Model, s}])
				}
			}
		}
		if sum != g.CellsDone() || cells != p.Cells() {
			t.Fatalf("%d of %d cells, want %d of %d", sum, cells, g.CellsDone(), p.Cells())
		}
	}
}
