package domains_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"foible/core/ground"
	"foible/core/pddl"
	"foible/core/published"
	"foible/core/search"
	"foible/domains"
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
	s, found := domains.Load(os.DirFS(filepath.Join(published.Dir(b), "mistakes-2021", name)))
	if err := found.Err(); err != nil {
		b.Fatal(err)
	}
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
		expanded += f.searcher.Run(f.state, f.goal, f.heuristic, o, rng).Expanded
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
