package search_test

import (
	"context"
	"math"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/heuristic"
	"foible.dev/foible/core/internal/tiny"
	"foible.dev/foible/core/search"
	"foible.dev/foible/internal/chance"
)

// What Weigh adds up, on average over searches, is the probability of each meeting
// of a plan, for every budget: as enumerated, within [chance.Bound]; at the second draw there is nothing random.
func TestWeighIsUnbiased(t *testing.T) { chance.Repeat(t, weighIsUnbiased) }

func weighIsUnbiased(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 4000
	}
	blocks := tiny.Blocks(t, "abc", "abc", "cab")
	mazes := tiny.Maze(t)
	// A longer way to b looks better until a is drawn, and then b and what follows it are opened again.
	graph := tiny.Graph(t, "s", []string{"sa", "ab", "sp", "pq", "qb", "bc", "cd", "dg", "ds"}, "g")
	inconsistent := byNode(graph, map[string]float64{"s": 1, "a": 4, "p": 1, "q": 1})
	stray := func(to ground.StateID, length int) bool { return (int(to)+length)%3 == 0 }
	const most = 12                                                // draws
	f := &weighTest{n: n, bound: chance.Bound(5000, float64(n-1))} // more than there are comparisons
	for _, c := range []weighCase{
		{"blocks ff", blocks, 0, heuristics(t, blocks, 0)["ff"], []int{1, 1, 0}, stray, most},
		{"blocks zero", blocks, 1, heuristic.Zero(), []int{0, 2}, nil, 5},
		{"maze", mazes, 1, heuristic.NewTable(tiny.Manhattan(mazes, 1, 0)), []int{0, 1, 0}, stray, most},
		{"nothing observed", mazes, 0, heuristic.NewTable(tiny.Manhattan(mazes, 0, 0)), nil, stray, most},
		{"inconsistent", graph, 0, inconsistent, []int{0, 0, 0}, stray, most},
	} {
		for _, noise := range []float64{0, 0.3, 2} {
			f.check(t, &c, noise)
		}
	}
	t.Logf("%d probabilities, the largest z %.1f", f.quantities, f.worst)
	if f.quantities > 5000 {
		t.Errorf("%d probabilities: the bound is of fewer", f.quantities)
	}
	if f.reopened == 0 {
		t.Error("no node was opened again: nothing is tested of that")
	}
}

type weighCase struct {
	name  string
	task  *ground.Task
	goal  int
	h     search.Heuristic
	walk  []int // successors taken, of what is observed
	stray func(to ground.StateID, length int) bool
	draws int
}

// observed are the states of the walk.
func (c *weighCase) observed() (states []ground.StateID) {
	at := c.task.Initial()
	for _, i := range c.walk {
		next := c.task.Successors(at)
		at = next[i%len(next)].State
		states = append(states, at)
	}
	return states
}

// weighTest compares what n searches add up with what is enumerated.
type weighTest struct {
	n          int
	bound      float64
	worst      float64
	quantities int
	reopened   int // searches of the inconsistent heuristic that opened a node again
}

// check compares one case.
func (f *weighTest) check(t *testing.T, c *weighCase, noise float64) {
	t.Helper()
	observed := c.observed()
	q := &search.Query{From: c.task.Initial(), Goal: c.goal, Heuristic: c.h, Options: search.Options{Noise: noise, Budget: c.draws}}
	weighed := *q
	weighed.Trail = search.Trail{Observed: observed, OffPath: c.stray}
	searcher, rng := search.New(c.task), seeded(uint64(10*noise))
	tally := search.NewTally(c.draws, len(observed))
	sum, squares := map[[2]int]float64{}, map[[2]int]float64{} // by draw and meeting
	for range f.n {
		draw, last, _ := searcher.Weigh(context.Background(), &weighed, rng, func(int) float64 { return 1 }, tally)
		tally.Drain(func(draw int, m search.Meeting, p float64) {
			sum[[2]int{draw, int(m)}] += p
			squares[[2]int{draw, int(m)}] += p * p
		})
		for ; 0 < draw && draw <= c.draws; draw++ {
			sum[[2]int{draw, int(last)}]++
			squares[[2]int{draw, int(last)}]++
		}
		if r := must(searcher.Run(context.Background(), q, rng)); r.Reopened > 0 && c.name == "inconsistent" {
			f.reopened++
		}
	}
	for draw := 1; draw <= c.draws; draw++ {
		want := map[search.Meeting]float64{}
		all, err := search.Outcomes(c.task, q, fixed(draw))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			want[meeting(o.Path, observed, c.stray)] += o.Probability
		}
		total := 0.0
		for m := range search.Meeting(4 * (len(observed) + 1)) {
			k := [2]int{draw, int(m)}
			mean := sum[k] / float64(f.n)
			total += mean
			spread := max(0, squares[k]/float64(f.n)-mean*mean)/float64(f.n-1) + chance.RareVariance(want[m], float64(f.n))
			if draw == 2 && noise > 0 {
				if math.Abs(mean-want[m]) > 1e-9 {
					t.Errorf("%s, noise %v, second draw, meeting %d: %v, want %v", c.name, noise, m, mean, want[m])
				}
				continue
			}
			z := math.Abs(mean-want[m]) / math.Sqrt(spread+1e-16)
			f.quantities++
			if f.worst = max(f.worst, z); z > f.bound {
				t.Errorf("%s, noise %v, draw %d, meeting %d: %v, want %v (z %.1f)", c.name, noise, draw, m, mean, want[m], z)
			}
		}
		if math.Abs(total-1) > 1e-9 {
			t.Errorf("%s, noise %v, draw %d: all meetings have %v", c.name, noise, draw, total)
		}
	}
}

// meeting is how a path meets what was observed, as a search tells it.
func meeting(path []search.Step, observed []ground.StateID, stray func(to ground.StateID, length int) bool) search.Meeting {
	matched, ends := meets(path, observed)
	m := search.Meeting(4 * matched)
	if ends {
		m |= search.NoPlan
	}
	if n := len(path); n > 0 && stray != nil && stray(path[n-1].State, n) {
		m |= 2
	}
	return m
}
