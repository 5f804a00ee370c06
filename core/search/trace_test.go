package search_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/heuristic"
	"foible.dev/foible/core/internal/tiny"
	"foible.dev/foible/core/search"
)

// meets is how a path meets what was observed, by definition.
func meets(path []search.Step, observed []ground.StateID) (matched int, ends bool) {
	for matched < len(path) && matched < len(observed) && path[matched].State == observed[matched] {
		matched++
	}
	return matched, matched == len(path) || matched == len(observed)
}

// For every budget a trace tells what the search of that budget would have come
// to, had it drawn the same numbers; among others where nodes are opened again.
func TestTraceIsEveryBudgetAtOnce(t *testing.T) {
	blocks := tiny.Blocks(t, "abc", "abc", "cab")
	mazes := tiny.Maze(t)
	// A longer way to b looks better until a is drawn, and then what follows b is a step nearer.
	graph := tiny.Graph(t, "s", []string{"sa", "ab", "sp", "pq", "qb", "bc", "cd", "dg", "ds"}, "g")
	inconsistent := byNode(graph, map[string]float64{"s": 1, "a": 4, "p": 1, "q": 1})
	for _, c := range []struct {
		name string
		task *ground.Task
		goal int
		h    search.Heuristic
	}{
		{"blocks ff", blocks, 0, heuristics(t, blocks, 0)["ff"]},
		{"maze", mazes, 1, heuristic.NewTable(tiny.Manhattan(mazes, 1, 0))},
		{"nowhere", mazes, 2, heuristic.Zero()},
		{"inconsistent", graph, 0, inconsistent},
	} {
		searcher, rng := search.New(c.task), seeded(3)
		stray := func(to ground.StateID, length int) bool { return (int(to)+length)%3 == 0 }
		different, strays, reopened := 0, 0, 0
		for i := range 200 {
			observed := []ground.StateID{}
			at := c.task.Initial()
			for range i % 6 { // a random walk, or the plan of a search
				next := c.task.Successors(at)
				if len(next) == 0 {
					break
				}
				at = next[rng.IntN(len(next))].State
				observed = append(observed, at)
			}
			if i%2 == 0 {
				observed = observed[:0]
				for _, step := range must(searcher.Run(context.Background(), &search.Query{From: c.task.Initial(), Goal: c.goal, Heuristic: c.h, Options: search.Options{Noise: 0.3, Budget: search.Unlimited}}, rng)).Path {
					observed = append(observed, step.State)
				}
			}
			noise := []float64{0, 0.1, 1, 20}[i%4]
			const most = 60
			turns, _, _ := searcher.Trace(context.Background(), &search.Query{From: c.task.Initial(), Goal: c.goal, Heuristic: c.h, Options: search.Options{Noise: noise, Budget: most}, Trail: search.Trail{Observed: observed, OffPath: stray}}, seeded(uint64(i)), nil)
			at2 := 0
			for budget := 1; budget <= most; budget++ {
				r := must(searcher.Run(context.Background(), &search.Query{From: c.task.Initial(), Goal: c.goal, Heuristic: c.h, Options: search.Options{Noise: noise, Budget: budget}}, seeded(uint64(i))))
				reopened += r.Reopened
				for at2+1 < len(turns) && int(turns[at2+1].Draw) <= budget {
					at2++
				}
				got := turns[at2].Meeting
				matched, ends := meets(r.Path, observed)
				off := len(r.Path) > 0 && stray(r.Path[len(r.Path)-1].State, len(r.Path))
				if got.Matched() != matched || got.Ends() != ends || got.OffPath() != off {
					t.Fatalf("%s, noise %v, budget %d: %d matched, ends %v, stray %v, want %d, %v, %v", c.name, noise, budget,
						got.Matched(), got.Ends(), got.OffPath(), matched, ends, off)
				}
				if matched > 0 {
					different++
				}
				if off {
					strays++
				}
			}
		}
		if different == 0 || strays == 0 || c.name == "inconsistent" && reopened == 0 {
			t.Errorf("%s: %d plans that agree with anything, %d that stray, %d nodes reopened: nothing is tested", c.name, different, strays, reopened)
		}
	}
}

// A trace that is to be sure gives up exactly where an enumeration finds more ways
// than one; otherwise it says what every search does.
func TestSureTracesGoInOneWay(t *testing.T) {
	line := []string{"sa", "ab", "bc", "cg"}
	tasks := map[string]*ground.Task{
		"line":      tiny.Graph(t, "s", line, "g"),
		"fork":      tiny.Graph(t, "s", append([]string{"ad"}, line...), "g"),
		"two ways":  tiny.Graph(t, "s", append([]string{"sd", "db"}, line...), "g"),
		"nowhere":   tiny.Graph(t, "s", []string{"sa", "ab", "gs"}, "g"),
		"at once":   tiny.Graph(t, "s", line, "s"),
		"short cut": tiny.Graph(t, "s", append([]string{"sc"}, line...), "g"),
	}
	sure, unsure := 0, 0
	for name, task := range tasks {
		for hName, h := range map[string]search.Heuristic{"zero": heuristic.Zero(), "ff": heuristics(t, task, 0)["ff"]} {
			for _, noise := range []float64{0, 0.001, 0.5} {
				for _, budget := range []int{1, 3, search.Unlimited} {
					atLeast := func(n int) float64 { return map[bool]float64{true: 1}[n <= budget] }
					found, err := search.Outcomes(task, &search.Query{From: task.Initial(), Heuristic: h, Options: search.Options{Noise: noise}}, atLeast)
					if err != nil {
						t.Fatal(err)
					}
					var observed []ground.StateID
					for _, step := range found[0].Path {
						observed = append(observed, step.State)
					}
					o := search.Options{Noise: noise, Budget: budget, Sure: true}
					turns, ended, _ := search.New(task).Trace(context.Background(), &search.Query{From: task.Initial(), Goal: 0, Heuristic: h, Options: o, Trail: search.Trail{Observed: observed}}, seeded(1), nil)
					if ended < 0 {
						unsure++
						if name == "line" || name == "at once" || name == "nowhere" {
							t.Errorf("%s, %s, noise %v, budget %d: not sure", name, hName, noise, budget)
						}
						continue
					}
					sure++
					last := turns[len(turns)-1].Meeting
					if len(found) != 1 || last.Matched() != len(observed) || !last.Ends() {
						t.Errorf("%s, %s, noise %v, budget %d: sure of %v, want all of %v", name, hName, noise, budget, turns, found)
					}
				}
			}
		}
	}
	if sure < 30 || unsure < 20 {
		t.Errorf("%d sure and %d not: not much is tested", sure, unsure)
	}
}

func BenchmarkTrace(b *testing.B) {
	task := tiny.Blocks(b, "abcdef", "abcd", "dab", "c")
	h := heuristics(b, task, 0)["ff"]
	searcher, rng := search.New(task), seeded(1)
	var observed []ground.StateID
	for _, step := range must(searcher.Run(context.Background(), &search.Query{From: task.Initial(), Goal: 0, Heuristic: h, Options: search.Options{Budget: search.Unlimited}}, rng)).Path {
		observed = append(observed, step.State)
	}
	for _, noise := range []float64{0, 0.02, 0.5} {
		for _, budget := range []int{24, 96} {
			b.Run(fmt.Sprintf("noise=%v/budget=%d", noise, budget), func(b *testing.B) {
				var room []search.Turn
				turns := 0
				b.ReportAllocs()
				for b.Loop() {
					room, _, _ = searcher.Trace(context.Background(), &search.Query{From: task.Initial(), Goal: 0, Heuristic: h, Options: search.Options{Noise: noise, Budget: budget}, Trail: search.Trail{Observed: observed}}, rng, room)
					turns += len(room)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "searches/s")
				b.ReportMetric(math.Round(float64(turns)/float64(b.N)*10)/10, "turns/search")
			})
		}
	}
}
