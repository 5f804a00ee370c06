package search_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/heuristic"
	"foible.dev/foible/core/internal/tiny"
	"foible.dev/foible/core/search"
	"foible.dev/foible/internal/chance"
)

func fixed(budget int) func(n int) float64 {
	return func(n int) float64 {
		if n <= budget {
			return 1
		}
		return 0
	}
}

func outcomes(t testing.TB, task *ground.Task, from ground.StateID, goal int, h search.Heuristic, noise float64, atLeast func(int) float64) map[string]float64 {
	t.Helper()
	all, err := search.Outcomes(task, &search.Query{From: from, Goal: goal, Heuristic: h, Options: search.Options{Noise: noise}}, atLeast)
	if err != nil {
		t.Fatal(err)
	}
	p := map[string]float64{}
	var sum float64
	for _, o := range all {
		p[fmt.Sprint(o.Path)] += o.Probability
		sum += o.Probability
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Fatalf("%d outcomes of probability %v", len(all), sum)
	}
	return p
}

// along is a path of a graph as text.
func along(t testing.TB, task *ground.Task, nodes string) string {
	t.Helper()
	path, at := []search.Step{}, task.Initial()
next:
	for _, n := range nodes {
		for _, s := range task.Successors(at) {
			if tiny.Node(task, s.State) == string(n) {
				path, at = append(path, search.Step{Operator: s.Operator, State: s.State}), s.State
				continue next
			}
		}
		t.Fatalf("no edge to %c", n)
	}
	return fmt.Sprint(path)
}

// Probabilities that can be worked out by hand.
func TestOutcomesByHand(t *testing.T) {
	task := tiny.Graph(t, "s", []string{"sa", "sb", "sc", "ag", "bg", "cd"}, "g")
	h := byNode(task, map[string]float64{"b": 1, "c": 2, "d": 1, "a": 1})
	// f: a 2, b 2, c 3; g 2 once a or b was drawn; d 3.
	e := math.Exp(-1 / 0.5)
	for _, c := range []struct {
		noise  float64
		budget int
		want   map[string]float64
	}{
		{0, 1, map[string]float64{"": 1}},
		{0, 2, map[string]float64{"a": 0.5, "b": 0.5}},
		// After the first of a and b, g has any place between them by priority: it
		// comes before the second in two of three cases.
		{0, 3, map[string]float64{"a": 1. / 6, "b": 1. / 6, "ag": 1. / 3, "bg": 1. / 3}},
		{0, search.Unlimited, map[string]float64{"ag": 0.5, "bg": 0.5}},
		{0.5, 2, map[string]float64{"a": 1 / (2 + e), "b": 1 / (2 + e), "c": e / (2 + e)}},
		{0.5, 3, map[string]float64{
			"ag": 1 / (2 + e) / (2 + e), "bg": 1 / (2 + e) / (2 + e),
			"a":  1/(2+e)/(2+e) + e/(2+e)/(2+e),
			"b":  1/(2+e)/(2+e) + e/(2+e)/(2+e),
			"c":  2 / (2 + e) * e / (2 + e),
			"cd": e / (2 + e) * e / (2 + e),
		}},
	} {
		got := outcomes(t, task, task.Initial(), 0, h, c.noise, fixed(c.budget))
		if len(got) != len(c.want) {
			t.Errorf("noise %v, budget %d: %v, want %v", c.noise, c.budget, got, c.want)
		}
		for nodes, want := range c.want {
			if p := got[along(t, task, nodes)]; math.Abs(p-want) > 1e-12 {
				t.Errorf("noise %v, budget %d: %q has %v, want %v", c.noise, c.budget, nodes, p, want)
			}
		}
	}
}

// TestSearchDrawsAsEnumerated compares the frequencies of the paths that searches
// return with their probabilities, by chi-square: five standard deviations above
// the mean of it, in a fixed stream.
func TestSearchDrawsAsEnumerated(t *testing.T) { chance.Repeat(t, searchDrawsAsEnumerated) }

func searchDrawsAsEnumerated(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 2000
	}
	blocks := tiny.Blocks(t, "abc", "abc", "cab")
	mazes := tiny.Maze(t)
	graph := tiny.Graph(t, "s", []string{"sa", "ab", "sb", "bc", "ac", "cb", "cd", "dg", "bg", "sd", "ds", "ca"}, "g")
	inconsistent := byNode(graph, map[string]float64{"a": 3, "b": 0, "c": 1, "d": 4, "g": 0})
	die := func(n int) float64 { return max(0, min(1, float64(7-n)/6)) }
	for _, c := range []struct {
		name  string
		task  *ground.Task
		goal  int
		h     search.Heuristic
		least int // paths
	}{
		{"blocks ff", blocks, 0, heuristics(t, blocks, 0)["ff"], 4},
		{"blocks zero", blocks, 1, heuristic.Zero(), 4},
		{"maze", mazes, 1, heuristic.NewTable(tiny.Manhattan(mazes, 1, 0)), 4},
		{"inconsistent", graph, 0, inconsistent, 2},
	} {
		searcher, rng := search.New(c.task), seeded(7)
		for _, noise := range []float64{0, 0.001, 0.1, 0.5, 2, 1e3} {
			for _, b := range []struct {
				name    string
				atLeast func(int) float64
				draw    func() int
			}{
				{"5", fixed(5), func() int { return 5 }},
				{"die", die, func() int { return 1 + rng.IntN(6) }},
			} {
				name := fmt.Sprintf("%s, noise %v, budget %s", c.name, noise, b.name)
				p := outcomes(t, c.task, c.task.Initial(), c.goal, c.h, noise, b.atLeast)
				if noise > 0.1 && len(p) < c.least {
					t.Errorf("%s: only %d paths", name, len(p))
				}
				seen := map[string]int{}
				for range n {
					r := must(searcher.Run(context.Background(), &search.Query{From: c.task.Initial(), Goal: c.goal, Heuristic: c.h, Options: search.Options{Noise: noise, Budget: b.draw()}}, rng))
					seen[fmt.Sprint(r.Path)]++
				}
				chi, cells := chiSquare(t, name, p, seen, n)
				if limit := chance.ChiSquare(100, cells); chi > limit { // there are 48 of them
					t.Errorf("%s: chi-square %.1f of %d paths, the limit is %.1f", name, chi, cells, limit)
				}
			}
		}
	}
}

// chiSquare puts paths expected less than 5 times together.
func chiSquare(t *testing.T, name string, p map[string]float64, seen map[string]int, n int) (chi float64, cells int) {
	t.Helper()
	var rare, rareSeen float64
	for path, count := range seen {
		if p[path] == 0 {
			t.Errorf("%s: %s was found %d times, it has probability 0", name, path, count)
		}
	}
	for path, probability := range p {
		expected := probability * float64(n)
		if expected < 5 {
			rare, rareSeen = rare+expected, rareSeen+float64(seen[path])
			continue
		}
		cells++
		chi += math.Pow(float64(seen[path])-expected, 2) / expected
	}
	if rare > 0 {
		chi += math.Pow(rareSeen-rare, 2) / max(rare, 1)
		cells++
	}
	return chi, cells
}

// Ten nodes of one f: each is drawn first equally often, in any order that they were opened.
func TestTiesAreBrokenUniformly(t *testing.T) {
	edges := []string{}
	for i := range 10 {
		edges = append(edges, fmt.Sprintf("s%c", 'a'+i))
	}
	task := tiny.Graph(t, "s", edges, "j")
	searcher, rng := search.New(task), rand.New(rand.NewPCG(3, 3))
	for _, noise := range []float64{0, 0.001, 1} {
		seen := map[ground.StateID]int{}
		const n = 100_000
		for range n {
			seen[must(searcher.Run(context.Background(), &search.Query{From: task.Initial(), Goal: 0, Heuristic: heuristic.Zero(), Options: search.Options{Noise: noise, Budget: 2}}, rng)).Path[0].State]++
		}
		var chi float64
		for _, count := range seen {
			chi += math.Pow(float64(count)-n/10, 2) / (n / 10)
		}
		if len(seen) != 10 || chi > 34 { // 9 degrees of freedom: p < 1e-4
			t.Errorf("noise %v: %v, chi-square %.1f", noise, seen, chi)
		}
	}
}
