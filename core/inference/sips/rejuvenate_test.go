package sips

import (
	"context"
	"fmt"
	"math"
	"testing"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/inference/internal/worlds"
	"foible.dev/foible/internal/chance"
)

// TestMovesKeepThePosterior applies a move again and again to one particle that
// has come to the end of the plan. How often it has an original goal, a goal and a
// plan of some length then is their posterior probability. The error is that of 40
// batches of the chain.
func TestMovesKeepThePosterior(t *testing.T) { chance.Repeat(t, movesKeepThePosterior) }

func movesKeepThePosterior(t *testing.T) {
	const batches = 40
	each := 1500
	if testing.Short() {
		each = 300
	}
	for _, w := range []world{of(worlds.ThreeBlocks(t)), of(worlds.Maze(t))} {
		p := worlds.Agents["full"]
		a, err := agent.New(w.sips.Task, &w.sips.Goals, w.sips.Search, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			move    Move
			perGoal bool
		}{{Replan, true}, {ChangeGoal, true}, {ChangeGoal, false}, {Mixed, false}} {
			o := DefaultOptions()
			o.Exact, o.Rejuvenate, o.PerGoal = true, c.move, c.perGoal
			f := begin(w.sips, a, o, seeded(1))
			population := &f.populations[len(f.populations)-1]
			k := len(w.sips.States) - 1
			want := posteriorMinds(t, w.sips, p, population)

			var q *particle // the first that comes to the end
			for q == nil {
				try := particle{Mind: agent.Begin(population.first + f.rng.IntN(population.goals)), at: w.sips.States[0]}
				alive := true
				for i := 1; i <= k && alive; i++ {
					must(f.agent.Think(context.Background(), &try.Mind, try.at, f.rng))
					f.remember(&try)
					alive = !math.IsInf(f.act(&try, w.sips.States[i]), -1)
				}
				if alive {
					q = &try
				}
			}
			for range each {
				f.rejuvenate(context.Background(), population, q, k)
			}
			seen := map[string]*estimate{}
			for range batches {
				count := map[string]int{}
				for range each {
					f.rejuvenate(context.Background(), population, q, k)
					for _, key := range features(&q.Mind) {
						count[key]++
					}
				}
				for key := range want {
					if seen[key] == nil {
						seen[key] = &estimate{}
					}
					seen[key].add(float64(count[key]) / float64(each))
				}
			}
			for key, want := range want {
				e := seen[key]
				if z := (e.mean() - want) / math.Sqrt(e.variance()+1e-9); !(math.Abs(z) < chance.Bound(200, float64(batches-1))) {
					t.Errorf("%s, %s, per goal %v: %s: %v, want %v (z %.1f)", w.name, c.move, c.perGoal, key, e.mean(), want, z)
				}
			}
		}
	}
}

func features(m *agent.Mind) []string {
	return []string{fmt.Sprint("original ", m.Original), fmt.Sprint("goal ", m.Goal), fmt.Sprint("plan of ", len(m.Plan))}
}

// posteriorMinds is the posterior of the features of the agent's mind when it acted last.
func posteriorMinds(t *testing.T, s *Filter, p agent.Parameters, of *population) map[string]float64 {
	t.Helper()
	a, err := agent.New(s.Task, &s.Goals, s.Search, p)
	if err != nil {
		t.Fatal(err)
	}
	e := newExact(s, a, Options{Exact: true})
	now := hypotheses{}
	for goal := of.first; goal < of.first+of.goals; goal++ {
		now.add(agent.Begin(goal), s.States[0], 1)
	}
	for _, state := range s.States[1:] {
		if now, err = e.think(now); err != nil {
			t.Fatal(err)
		}
		now = e.act(now, state)
		now.normalize()
	}
	posterior := map[string]float64{}
	for _, h := range now.all {
		for _, key := range features(&h.Mind) {
			posterior[key] += h.p
		}
	}
	return posterior
}
