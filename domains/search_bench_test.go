package domains_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/inference/sips"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/search"
)

// BenchmarkSearch searches from every state of four published plans to every
// candidate goal, warm.
func BenchmarkSearch(b *testing.B) {
	for _, name := range []string{"block-words", "doors-keys-gems"} {
		for _, noise := range []float64{0.02, 0.5} {
			for _, budget := range []int{18, 76} {
				b.Run(fmt.Sprintf("%s/noise=%v/budget=%d", name, noise, budget), func(b *testing.B) { benchmarkSearch(b, name, search.Options{Noise: noise, Budget: budget}) })
			}
		}
	}
}

func benchmarkSearch(b *testing.B, name string, o search.Options) {
	s := loadPublished(b, name)
	type from struct {
		searcher  *search.Searcher
		state     ground.StateID
		goal      int
		heuristic search.Heuristic
	}
	var starts []from
	for _, i := range []int{0, 5, 10, 15} {
		stimulus := &s.Stimuli[i]
		var goals []pddl.Formula
		for _, g := range stimulus.Goals {
			goals = append(goals, g.Formula)
		}
		task, err := ground.New(stimulus.Problem, goals)
		if err != nil {
			b.Fatal(err)
		}
		states, _, err := task.Validate(stimulus.Plan)
		if err != nil {
			b.Fatal(err)
		}
		heuristics, err := s.Domain.Heuristics(task)
		if err != nil {
			b.Fatal(err)
		}
		searcher := search.New(task)
		for goal := range goals {
			h, err := heuristics(goal)
			if err != nil {
				b.Fatal(err)
			}
			for _, state := range states {
				starts = append(starts, from{searcher, state, goal, h})
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	i, expanded := 0, 0
	run := func() {
		f := &starts[i%len(starts)]
		expanded += must(f.searcher.Run(context.Background(), &search.Query{From: f.state, Goal: f.goal, Heuristic: f.heuristic, Options: o}, rng)).Expanded
		i++
	}
	for range 50 * len(starts) {
		run()
	}
	expanded = 0
	b.ReportAllocs()
	for b.Loop() {
		run()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(expanded), "ns/expansion")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "searches/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkStudy is all stimuli of a published study, 5 runs of 60 particles a goal
// each, at the paper's fitted parameters (Block Words full at q .95 too). An
// operation begins with nothing known in "cold", and in "warm" with the states and
// estimates of operations before.
func BenchmarkStudy(b *testing.B) {
	for _, c := range []struct {
		name, domain string
		p            agent.Parameters
	}{
		{"full", "block-words", agent.Parameters{GoalNoise: 0.2, BudgetR: 2, BudgetQ: 0.9, SearchNoise: 0.02, ActionNoise: 0.05, Kind: agent.PerActionOdds}},
		{"full-q.95", "block-words", agent.Parameters{GoalNoise: 0.2, BudgetR: 2, BudgetQ: 0.95, SearchNoise: 0.02, ActionNoise: 0.05, Kind: agent.PerActionOdds}},
		{"plan-lesioned", "block-words", agent.Parameters{GoalNoise: 0.2, Unlimited: true, ActionNoise: 0.2, Kind: agent.PerActionOdds}},
		{"full", "doors-keys-gems", agent.Parameters{BudgetR: 2, BudgetQ: 0.9, SearchNoise: 0.5, ActionNoise: 0.05, Kind: agent.PerActionOdds}},
		{"plan-lesioned", "doors-keys-gems", agent.Parameters{Unlimited: true, ActionNoise: 0.05, Kind: agent.PerActionOdds}},
	} {
		s := loadPublished(b, c.domain)
		ready := func() (all []*sips.Filter) {
			for i := range s.Stimuli {
				stimulus, err := s.Ready(s.Stimuli[i].ID)
				if err != nil {
					b.Fatal(err)
				}
				filter, err := stimulus.Filter(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				all = append(all, filter)
			}
			return all
		}
		o := sips.DefaultOptions()
		o.ParticlesPerGoal = 60
		o.PredicateNoise, o.FluentNoise = s.Observation.PredicateNoise, s.Observation.FluentNoise
		rng := rand.New(rand.NewPCG(1, 1))
		run := func(all []*sips.Filter) {
			for _, filter := range all {
				for range 5 {
					if _, err := filter.Run(context.Background(), c.p, o, rng); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
		b.Run(fmt.Sprintf("%s/%s/cold", c.domain, c.name), func(b *testing.B) {
			for b.Loop() {
				run(ready())
			}
		})
		b.Run(fmt.Sprintf("%s/%s/warm", c.domain, c.name), func(b *testing.B) {
			all := ready()
			for range 3 {
				run(all)
			}
			b.ReportAllocs()
			for b.Loop() {
				run(all)
			}
		})
	}
}
