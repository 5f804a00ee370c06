package sips

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/inference/internal/worlds"
	"foible.dev/foible/internal/chance"
)

// estimate is the mean and the squared standard error of numbers.
type estimate struct{ n, sum, squares float64 }

func (e *estimate) add(x float64) { e.n++; e.sum += x; e.squares += x * x }

func (e *estimate) mean() float64 { return e.sum / e.n }

func (e *estimate) variance() float64 {
	return max(0, e.squares/e.n-e.mean()*e.mean()) / (e.n - 1)
}

// agreement runs a filter many times. The evidence of all steps so far, as it is
// and times the posterior of a goal, are the quantities that a particle filter
// estimates without bias, in runs in which it is 0 too; a posterior by itself is a
// ratio of them and is not. z compares their means over runs with exact values, and
// its largest size over steps and goals is returned.
func agreement(t *testing.T, s *Filter, p agent.Parameters, o Options, exact *Run, runs int, seed uint64) (worst float64, at string) {
	t.Helper()
	rng := seeded(seed)
	steps, goals := len(exact.Posterior), len(exact.Posterior[0])
	joint := make([][]estimate, steps)
	for k := range joint {
		joint[k] = make([]estimate, goals+1)
	}
	for range runs {
		run, err := s.Run(context.Background(), p, o, rng)
		if err != nil {
			t.Fatal(err)
		}
		logZ := 0.0
		for k := range steps {
			z := 0.0
			if k < len(run.Posterior) {
				logZ += run.Evidence[k]
				z = math.Exp(logZ)
			}
			for g := range goals {
				if z == 0 {
					joint[k][g].add(0)
				} else {
					joint[k][g].add(z * run.Posterior[k][g])
				}
			}
			joint[k][goals].add(z)
		}
	}
	logZ := 0.0
	for k := 1; k < steps; k++ {
		logZ += exact.Evidence[k]
		for g := range joint[k] {
			want := math.Exp(logZ)
			if g < goals {
				if exact.Posterior[k][g] < 0.02 {
					continue // a few runs make up the mean: it has no standard error to speak of
				}
				want *= exact.Posterior[k][g]
			}
			e := &joint[k][g]
			// A quantity without spread, as at step 1 with one way to act, is exact.
			z := (e.mean() - want) / math.Sqrt(e.variance()+1e-24*want*want)
			if math.Abs(z) > math.Abs(worst) || math.IsNaN(z) {
				worst, at = z, fmt.Sprintf("step %d, goal %d: %v, want %v", k, g, e.mean(), want)
			}
		}
	}
	return worst, at
}

// TestFilterAgreesWithEnumeration covers every combination of options. In 200
// combinations 3 quantities are compared at 5 or 7 steps, within [chance.Bound].
func TestFilterAgreesWithEnumeration(t *testing.T) { chance.Repeat(t, filterAgreesWithEnumeration) }

func filterAgreesWithEnumeration(t *testing.T) {
	runs := 200
	if testing.Short() {
		runs = 60
	}
	combinations := 0
	bound := chance.Bound(200*3*7, float64(runs-1))
	var sum, n float64
	for _, w := range []world{of(worlds.ThreeBlocks(t)), of(worlds.Maze(t))} {
		p := worlds.Agents["full"]
		for _, exactly := range []bool{false, true} {
			o := w.o
			o.Exact = exactly
			exact, err := w.sips.Exact(p, o)
			if err != nil {
				t.Fatal(err)
			}
			o.ParticlesPerGoal = 24
			for _, o.PerGoal = range []bool{false, true} {
				for _, o.Resample = range []Occasion{ESS, Always, Never} {
					for _, o.Kind = range []Resampling{Residual, Systematic, Multinomial} {
						for _, o.Rejuvenate = range []Move{NoMove, Replan, ChangeGoal, Mixed} {
							if o.Resample == Never && (o.Kind != Residual || o.Rejuvenate != NoMove) {
								continue // play no part
							}
							o.Threshold = 0.5
							combinations++
							z, at := agreement(t, w.sips, p, o, exact, runs, uint64(combinations))
							sum, n = sum+z*z, n+1
							if !(math.Abs(z) < bound) {
								t.Errorf("%s, %+v: z %.1f at %s", w.name, o, z, at)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d combinations, root mean square of the largest z %.2f", combinations, math.Sqrt(sum/n))
}

// The same for every kind of agent, with the options of the paper and with moves.
func TestFilterAgreesForEveryAgent(t *testing.T) { chance.Repeat(t, filterAgreesForEveryAgent) }

func filterAgreesForEveryAgent(t *testing.T) {
	runs := 300
	if testing.Short() {
		runs = 100
	}
	seed := uint64(1000)
	bound := chance.Bound(40*3*7, float64(runs-1))
	for _, w := range []world{of(worlds.ThreeBlocks(t)), of(worlds.Maze(t))} {
		for _, name := range slices.Sorted(maps.Keys(worlds.Agents)) { // each with the same seeds always
			p := worlds.Agents[name]
			for _, exactly := range []bool{false, true} {
				o := DefaultOptions()
				o.Exact, o.PredicateNoise, o.FluentNoise = exactly, w.o.PredicateNoise, w.o.FluentNoise
				exact, err := w.sips.Exact(p, o)
				if err != nil {
					t.Fatal(err)
				}
				o.ParticlesPerGoal = 20
				for _, o.Rejuvenate = range []Move{NoMove, Mixed} {
					seed++
					if z, at := agreement(t, w.sips, p, o, exact, runs, seed); !(math.Abs(z) < bound) {
						t.Errorf("%s, %s, %+v: z %.1f at %s", w.name, name, o, z, at)
					}
				}
			}
		}
	}
}
