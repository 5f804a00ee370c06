package sips

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/heuristic"
	"foible.dev/foible/core/inference/internal/observed"
	"foible.dev/foible/core/inference/internal/worlds"
	"foible.dev/foible/core/internal/tiny"
	"foible.dev/foible/core/search"
	"foible.dev/foible/internal/chance"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(chance.Seed(seed), 3)) }

// world is one of worlds, with a filter and options of the observation.
type world struct {
	name string
	sips *Filter
	o    Options
}

func of(w worlds.World) world {
	return world{w.Name, New(w.Path), Options{PredicateNoise: w.PredicateNoise, FluentNoise: w.FluentNoise}}
}

func all(t testing.TB) (every []world) {
	for _, w := range worlds.All(t) {
		every = append(every, of(w))
	}
	return every
}

// The forward recursion sums over what agents do; agents that do it are counted here.
// They agree at every step within [chance.Bound].
func TestExactIsWhatAgentsDo(t *testing.T) { chance.Repeat(t, exactIsWhatAgentsDo) }

func exactIsWhatAgentsDo(t *testing.T) {
	n := 40_000
	if testing.Short() {
		n = 4000
	}
	for _, w := range []world{of(worlds.ThreeBlocks(t)), of(worlds.Maze(t))} {
		for name, p := range worlds.Agents {
			a, err := agent.New(w.sips.Task, &w.sips.Goals, w.sips.Search, p)
			if err != nil {
				t.Fatal(err)
			}
			exact, err := w.sips.Exact(p, Options{Exact: true})
			if err != nil {
				t.Fatal(err)
			}
			rng := seeded(1)
			followed := make([][]int, len(w.sips.States)) // [step][goal]
			for k := range followed {
				followed[k] = make([]int, 2)
			}
			for i := range n {
				goal := i % 2
				m, at := agent.Begin(goal), w.sips.States[0]
				for k := 1; k < len(w.sips.States) && at == w.sips.States[k-1]; k++ {
					must(a.Think(context.Background(), &m, at, rng))
					if _, at = a.Act(&m, at, rng); at == w.sips.States[k] {
						followed[k][goal]++
					}
				}
			}
			logP := 0.0
			for k := 1; k < len(followed); k++ {
				logP += exact.Evidence[k]
				for goal := range 2 {
					want := min(math.Exp(logP)*exact.Posterior[k][goal]*2, 1)
					got := float64(followed[k][goal]) / float64(n/2)
					if z := (got - want) / math.Sqrt(want*(1-want)/float64(n/2)); !(math.Abs(z) < chance.Bound(200, chance.Known)) && got != want {
						t.Errorf("%s, %s, goal %d: %v of the agents come to step %d, want %v (z %.1f)", w.name, name, goal, got, k, want, z)
					}
				}
			}
		}
	}
}

// What can be worked out by hand: one state, one way.
func TestExactByHand(t *testing.T) {
	// From a to b; goal c is never reached from there, goal a holds.
	task := tiny.Graph(t, "a", []string{"ab", "ba"}, "b", "a")
	goals := agent.Goals{Corrupt: make([][]int, 2), Heuristic: []search.Heuristic{heuristic.Zero(), heuristic.Zero()}}
	s := New(observed.Follow(task, goals, 2, worlds.Plan(t, "(go a b)", "(go b a)")))
	run, err := s.Exact(agent.Parameters{Unlimited: true, ActionNoise: 0.1, Kind: agent.PerActionOdds}, Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	// One action and staying put: .9 for what is intended, .1 for the other. Goal
	// b goes and then stays; goal a stays, and comes back when it has slipped.
	want := [][]float64{{0.5, 0.5}, {0.9, 0.1}, {0.5, 0.5}}
	evidence := []float64{0, math.Log(0.5), math.Log(0.9*0.1 + 0.1*0.9)}
	for k := range want {
		for g := range want[k] {
			if math.Abs(run.Posterior[k][g]-want[k][g]) > 1e-12 || math.Abs(run.Evidence[k]-evidence[k]) > 1e-12 {
				t.Errorf("step %d: %v %v, want %v %v", k, run.Posterior[k], run.Evidence[k], want[k], evidence[k])
			}
		}
	}
}
