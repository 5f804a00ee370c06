package marginal

import (
	"context"
	"math"
	"testing"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/inference/internal/kernel"
	"foible.dev/foible/core/inference/internal/samples"
	"foible.dev/foible/core/inference/internal/worlds"
)

// What is found by origin, for all goal noises at once, is the evidence that the recursion
// finds for each, at the steps that are named: to rounding, and 0 where that is 0.
func TestOriginsAreTheRecursion(t *testing.T) {
	const batches = kernel.Lanes + 2 // two groups of them
	positive, died := 0, 0
	for _, w := range append(worlds.All(t), worlds.Chains(t), worlds.FiveBlocks(t)) {
		for name, p := range worlds.EveryAgent() {
			m := marginalOf(w.Path)
			var ps []agent.Parameters
			for _, p.GoalNoise = range []float64{0.01, 0.3, 1, 0.7} {
				ps = append(ps, p)
			}
			s := m.samplesFor(samples.Key{Seed: 1, Noise: p.SearchNoise, Unlimited: p.Unlimited, Draws: samples.Draws(&p), Batches: batches})
			at := m.firstLevels(s)
			m.infer(context.Background(), m.results[:], &evidenceRequest{s, ps, at, nil})
			var want [kernel.Noises][][][]float64
			for i, r := range m.results {
				want[i] = scaled(r)
			}
			named := make([]bool, len(m.steps)+1)
			for _, every := range []int{1, 2} {
				for step := range named {
					named[step] = step%every == 0
				}
				m.infer(context.Background(), m.results[:], &evidenceRequest{s, ps, at, named})
				for i, r := range m.results {
					for step, goals := range scaled(r) {
						if !named[step] {
							continue
						}
						for goal, by := range goals {
							for b, got := range by {
								x := want[i][step][goal][b]
								if !(math.Abs(got-x) <= 1e-13*float64(step+1)*x) {
									t.Fatalf("%s, %s, goal noise %v, step %d, goal %d, batch %d: %v, want %v", w.Name, name, ps[i].GoalNoise, step, goal, b, got, x)
								}
								if x > 0 {
									positive++
								} else {
									died++
								}
							}
						}
					}
				}
			}
		}
	}
	if positive == 0 || died == 0 {
		t.Errorf("%d numbers are positive and %d are not: nothing is tested", positive, died)
	}
}

// scaled is the evidence of a result, [step][goal][batch].
func scaled(r *setResult) [][][]float64 {
	all := make([][][]float64, len(r.evidence))
	for step, goals := range r.evidence {
		for _, by := range goals {
			one := make([]float64, len(by))
			for b, x := range by {
				one[b] = x * math.Exp(r.shift[step])
			}
			all[step] = append(all[step], one)
		}
	}
	return all
}
