package search_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/heuristic"
	"foible.dev/foible/core/internal/tiny"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/search"
	"foible.dev/foible/internal/chance"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(chance.Seed(seed), 1)) }

// byNode is a heuristic of a graph, by name of the node; 0 for others.
func byNode(task *ground.Task, values map[string]float64) *heuristic.Table {
	return heuristic.NewTable(func(s ground.StateID) float64 { return values[tiny.Node(task, s)] })
}

func heuristics(t testing.TB, task *ground.Task, goal int) map[string]search.Heuristic {
	t.Helper()
	p, err := task.Propositional()
	if err != nil {
		t.Fatal(err)
	}
	r := heuristic.NewRelaxation(p)
	return map[string]search.Heuristic{
		"ff": r.FF(goal), "hadd": r.Add(goal), "hmax": r.Max(goal), "goal_count": r.GoalCount(goal), "zero": heuristic.Zero(),
	}
}

// validate checks that a path leads from a state to where the search says, by steps of the task's.
func validate(t *testing.T, task *ground.Task, from ground.StateID, goal int, r search.Result) {
	t.Helper()
	at := from
	for i, step := range r.Path {
		to, ok := task.Apply(at, step.Operator)
		if !ok || to != step.State {
			t.Fatalf("step %d of %v does not lead from %d to %d", i, r.Path, at, step.State)
		}
		at = to
	}
	if (r.Status == search.Solved) != (r.Status != search.Exhausted && task.Satisfies(at, goal)) {
		t.Fatalf("%v, but the goal holds: %v", r.Status, task.Satisfies(at, goal))
	}
}

// shortest is the length of a shortest plan, -1 if there is none.
func shortest(task *ground.Task, from ground.StateID, goal int) int {
	distance := map[ground.StateID]int{from: 0}
	queue := []ground.StateID{from}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if task.Satisfies(s, goal) {
			return distance[s]
		}
		for _, next := range task.Successors(s) {
			if _, seen := distance[next.State]; !seen {
				distance[next.State] = distance[s] + 1
				queue = append(queue, next.State)
			}
		}
	}
	return -1
}

// The plan of a solved search is checked with the task's own validation too, by names.
func TestEveryHeuristicAndNoiseGivesAValidPlan(t *testing.T) {
	task := tiny.Blocks(t, "abcd", "abcd", "dab", "c")
	searcher, rng := search.New(task), seeded(1)
	for goal := range task.Goals {
		for name, h := range heuristics(t, task, goal) {
			for _, noise := range []float64{0, 0.001, 0.02, 0.5, 5, 1e3, 1e6} {
				for range 20 {
					r := must(searcher.Run(context.Background(), &search.Query{From: task.Initial(), Goal: goal, Heuristic: h, Options: search.Options{Noise: noise, Budget: search.Unlimited}}, rng))
					if r.Status != search.Solved {
						t.Fatalf("%s, noise %v: %v", name, noise, r.Status)
					}
					validate(t, task, task.Initial(), goal, r)
					var plan []pddl.Step
					for _, s := range r.Path {
						plan = append(plan, pddl.Step{Name: task.Operators[s.Operator].Name, Args: task.Operators[s.Operator].Args})
					}
					if states, _, err := task.Validate(plan); err != nil || !task.Satisfies(states[len(states)-1], goal) {
						t.Fatalf("%s, noise %v: %v: %v", name, noise, plan, err)
					}
				}
			}
		}
	}
}

// Zero and hmax never overestimate, and are consistent, so A* finds shortest plans.
func TestAStarIsOptimal(t *testing.T) {
	task := tiny.Blocks(t, "abcd", "abcd", "dab", "c")
	must(task.Enumerate(context.Background(), 0))
	searcher, rng := search.New(task), seeded(2)
	for goal := range task.Goals {
		all := heuristics(t, task, goal)
		for from := range ground.StateID(task.Len()) {
			want := shortest(task, from, goal)
			for _, name := range []string{"zero", "hmax"} {
				r := must(searcher.Run(context.Background(), &search.Query{From: from, Goal: goal, Heuristic: all[name], Options: search.Options{Budget: search.Unlimited}}, rng))
				validate(t, task, from, goal, r)
				if len(r.Path) != want || r.Reopened > 0 {
					t.Fatalf("%s: plan of %d steps from state %d, %d reopened; a shortest one has %d", name, len(r.Path), from, r.Reopened, want)
				}
			}
		}
	}
}

// With an admissible but inconsistent heuristic A* must reopen to be optimal.
func TestReopening(t *testing.T) {
	// s-a-b-c-d-g, and a longer way to b that looks better until a is drawn.
	task := tiny.Graph(t, "s", []string{"sa", "ab", "sp", "pq", "qb", "bc", "cd", "dg"}, "g")
	h := byNode(task, map[string]float64{"s": 1, "a": 4, "p": 1, "q": 1})
	r := must(search.New(task).Run(context.Background(), &search.Query{From: task.Initial(), Goal: 0, Heuristic: h, Options: search.Options{Budget: search.Unlimited}}, seeded(1)))
	validate(t, task, task.Initial(), 0, r)
	if len(r.Path) != 5 || r.Reopened == 0 {
		t.Errorf("%d steps, want 5; %d reopened", len(r.Path), r.Reopened)
	}
}

// On random graphs with random estimates, whatever is drawn has a path, even where
// a shorter one to a state on it was found and not yet followed.
func TestInconsistentEstimates(t *testing.T) {
	reopened := 0
	for seed := range uint64(300) {
		rng := seeded(seed)
		var edges []string
		for range 40 {
			edges = append(edges, fmt.Sprintf("%c%c", 'a'+rng.IntN(16), 'a'+rng.IntN(16)))
		}
		slices.Sort(edges)
		task := tiny.Graph(t, "a", slices.Compact(edges), "p")
		h := heuristic.NewTable(func(s ground.StateID) float64 {
			switch {
			case task.Satisfies(s, 0):
				return 0
			case rng.IntN(10) == 0:
				return math.Inf(1)
			}
			return float64(rng.IntN(8))
		})
		searcher := search.New(task)
		for range 20 {
			o := search.Options{Noise: []float64{0, 0.1, 1, 100}[rng.IntN(4)], Budget: 1 + rng.IntN(30)}
			r := must(searcher.Run(context.Background(), &search.Query{From: task.Initial(), Goal: 0, Heuristic: h, Options: o}, rng))
			validate(t, task, task.Initial(), 0, r)
			reopened += r.Reopened
			if r.Drawn > o.Budget {
				t.Fatalf("%d drawn of %d", r.Drawn, o.Budget)
			}
		}
	}
	if reopened < 100 {
		t.Errorf("only %d reopened", reopened)
	}
}

func TestBudget(t *testing.T) {
	// A chain: the n-th node drawn is the n-th of the chain.
	task := tiny.Graph(t, "a", []string{"ab", "bc", "cd", "de"}, "d", "a", "z")
	searcher, rng := search.New(task), seeded(1)
	for _, c := range []struct {
		budget, goal, length int
		status               search.Status
		drawn                int
	}{
		{-1, 0, 0, search.Spent, 0},
		{0, 0, 0, search.Spent, 0},
		{1, 0, 0, search.Spent, 1},
		{2, 0, 1, search.Spent, 2},
		{3, 0, 2, search.Spent, 3},
		{4, 0, 3, search.Solved, 4}, // the goal is looked at before the budget
		{5, 0, 3, search.Solved, 4},
		{search.Unlimited, 0, 3, search.Solved, 4},
		{1, 1, 0, search.Solved, 1}, // the start satisfies the goal
		{5, 2, 4, search.Spent, 5},
		{6, 2, 0, search.Exhausted, 5}, // the 6th is not there
	} {
		r := must(searcher.Run(context.Background(), &search.Query{From: task.Initial(), Goal: c.goal, Heuristic: heuristic.Zero(), Options: search.Options{Budget: c.budget}}, rng))
		if len(r.Path) != c.length || r.Status != c.status || r.Drawn != c.drawn {
			t.Errorf("budget %d: %d steps, %v, %d drawn; want %d, %v, %d", c.budget, len(r.Path), r.Status, r.Drawn, c.length, c.status, c.drawn)
		}
		if c.budget > 0 && c.status != search.Exhausted && r.Expanded != r.Drawn-1 {
			t.Errorf("budget %d: %d expanded of %d drawn", c.budget, r.Expanded, r.Drawn)
		}
	}
}

func TestDeadEndsAreNotOpened(t *testing.T) {
	task := tiny.Graph(t, "s", []string{"sa", "sb", "ba", "ag"}, "g")
	h := byNode(task, map[string]float64{"a": math.Inf(1)})
	for _, noise := range []float64{0, 1, 1e3} {
		r := must(search.New(task).Run(context.Background(), &search.Query{From: task.Initial(), Goal: 0, Heuristic: h, Options: search.Options{Noise: noise, Budget: search.Unlimited}}, seeded(1)))
		if r.Status != search.Exhausted || r.Path != nil || r.Drawn != 2 || r.Reopened != 0 {
			t.Errorf("noise %v: %+v", noise, r)
		}
	}
	// A start that is a dead end is drawn all the same.
	h = byNode(task, map[string]float64{"s": math.Inf(1)})
	if r := must(search.New(task).Run(context.Background(), &search.Query{From: task.Initial(), Goal: 0, Heuristic: h, Options: search.Options{Budget: 2}}, seeded(1))); r.Status != search.Spent || len(r.Path) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestSearchDoesNotAllocate(t *testing.T) {
	task := tiny.Blocks(t, "abcd", "abcd")
	h := heuristics(t, task, 0)["ff"]
	searcher, rng := search.New(task), seeded(1)
	search := func() {
		for range 100 {
			must(searcher.Run(context.Background(), &search.Query{From: task.Initial(), Goal: 0, Heuristic: h, Options: search.Options{Noise: 0.5, Budget: 30}}, rng))
		}
	}
	for range 20 {
		search()
	}
	// Paths are cut from blocks of 4,096 steps, about one in 400 searches.
	if n := testing.AllocsPerRun(20, search); n > 1 {
		t.Errorf("%v allocations for 100 searches", n)
	}
}

// Paths stay as they are when the searcher goes on.
func TestPathsAreTheCallers(t *testing.T) {
	task := tiny.Blocks(t, "abcd", "abcd", "dab")
	h := heuristics(t, task, 0)["ff"]
	searcher, rng := search.New(task), seeded(1)
	o := search.Options{Noise: 0.5, Budget: 30}
	var kept, copies [][]search.Step
	for range 3000 {
		r := must(searcher.Run(context.Background(), &search.Query{From: task.Initial(), Goal: 0, Heuristic: h, Options: o}, rng))
		kept, copies = append(kept, r.Path), append(copies, slices.Clone(r.Path))
		_ = append(r.Path, search.Step{}) // must not touch the next one
	}
	for i := range kept {
		if !slices.Equal(kept[i], copies[i]) {
			t.Fatalf("path %d changed", i)
		}
	}
}

func BenchmarkBlocks(b *testing.B) {
	task := tiny.Blocks(b, "abcdef", "abcdef")
	h := heuristics(b, task, 0)["ff"]
	for _, budget := range []int{18, 76} {
		b.Run(fmt.Sprintf("blocks=6/budget=%d", budget), func(b *testing.B) {
			searcher, rng, expanded := search.New(task), seeded(1), 0
			b.ReportAllocs()
			for b.Loop() {
				expanded += must(searcher.Run(context.Background(), &search.Query{From: task.Initial(), Goal: 0, Heuristic: h, Options: search.Options{Noise: 0.5, Budget: budget}}, rng)).Expanded
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(expanded), "ns/expansion")
		})
	}
}

// must returns what a call has found; no test here lets it fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
