package heuristic

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
)

// dumbFF is FF as the definition says it, for comparison: layer by layer over
// all operators in order, then fact by fact from the last layer back.
func dumbFF(p *ground.Propositional, s ground.StateID, goal []int32) (ff, layers float64) {
	level, achiever := map[int32]int{}, map[int32]int{}
	for _, f := range p.True(s, nil) {
		level[f] = 0
	}
	reached := func(facts []int32) bool {
		return !slices.ContainsFunc(facts, func(f int32) bool { _, ok := level[f]; return !ok })
	}
	last := 0
	for before := -1; !reached(goal); {
		if len(level) == before {
			return math.Inf(1), math.Inf(1)
		}
		before = len(level)
		last++
		fresh := map[int32]int{}
		for i, op := range p.Operators {
			if !reached(op.Precondition) {
				continue
			}
			for _, f := range op.Add {
				if _, old := level[f]; old {
					continue
				}
				if _, twice := fresh[f]; !twice {
					fresh[f] = i
				}
			}
		}
		for f, op := range fresh {
			level[f], achiever[f] = last, op
		}
	}
	wanted := map[int32]bool{}
	for _, f := range goal {
		wanted[f] = true
	}
	plan := map[string]bool{}
	for l := last; l > 0; l-- {
		for f := range int32(p.Facts) {
			if wanted[f] && level[f] == l {
				plan[fmt.Sprint(l, achiever[f])] = true
				for _, g := range p.Operators[achiever[f]].Precondition {
					wanted[g] = true
				}
			}
		}
	}
	return float64(len(plan)), float64(last)
}

// randomTask is a task of n facts, a few of them true, and operators that need
// up to 3 facts, one of them perhaps none, and make one true and one false.
func randomTask(t testing.TB, rng *rand.Rand, n int) *ground.Task {
	t.Helper()
	facts := func(least, most int) string {
		var b strings.Builder
		for range least + rng.IntN(most-least+1) {
			fmt.Fprintf(&b, " (f%d)", rng.IntN(n))
		}
		return b.String()
	}
	var d strings.Builder
	d.WriteString("(define (domain random) (:requirements :strips) (:predicates")
	for i := range n {
		fmt.Fprintf(&d, " (f%d)", i)
	}
	d.WriteString(")\n")
	for i := range 2 * n {
		fmt.Fprintf(&d, "(:action a%d :parameters () :precondition (and%s) :effect (and%s (not (f%d))))\n",
			i, facts(min(i, 1), 3), facts(1, 1), rng.IntN(n))
	}
	d.WriteString(")")
	var goals []string
	for range 3 {
		goals = append(goals, "(and"+facts(0, 4)+")")
	}
	return newTask(t, d.String(), "(define (problem p) (:domain random) (:init"+facts(0, 2)+"))", goals...)
}

func newTask(t testing.TB, domain, problem string, goals ...string) *ground.Task {
	t.Helper()
	d, err := pddl.ParseDomain("domain.pddl", []byte(domain))
	if err != nil {
		t.Fatal(err)
	}
	p, err := pddl.ParseProblem("problem.pddl", []byte(problem), d)
	if err != nil {
		t.Fatal(err)
	}
	var formulas []pddl.Formula
	for _, g := range goals {
		f, err := pddl.ParseGoal("goal", []byte(g), p)
		if err != nil {
			t.Fatal(err)
		}
		formulas = append(formulas, f)
	}
	task, err := ground.New(p, formulas)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

func propositional(t testing.TB, task *ground.Task) *ground.Propositional {
	t.Helper()
	p, err := task.Propositional()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// distances are shortest plans from every enumerated state, +Inf where there is none.
func distances(task *ground.Task, goal int) []float64 {
	d := slices.Repeat([]float64{math.Inf(1)}, task.Len())
	for s := range d {
		if task.Satisfies(ground.StateID(s), goal) {
			d[s] = 0
		}
	}
	for changed := true; changed; {
		changed = false
		for s := range d {
			for _, next := range task.Successors(ground.StateID(s)) {
				if d[next.State]+1 < d[s] {
					d[s], changed = d[next.State]+1, true
				}
			}
		}
	}
	return d
}

func TestRelaxedHeuristicsOnRandomTasks(t *testing.T) {
	states, deadEnds, long, better := 0, 0, 0, 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		task := randomTask(t, rng, 6+rng.IntN(5))
		must(task.Enumerate(context.Background(), 0))
		p := propositional(t, task)
		r := NewRelaxation(p)
		for goal := range task.Goals {
			ff, hmax, hadd, count, cut := r.FF(goal), r.Max(goal), r.Add(goal), r.GoalCount(goal), r.Cut(goal)
			exact := distances(task, goal)
			for s := range ground.StateID(task.Len()) {
				states++
				wantFF, wantMax := dumbFF(p, s, p.Goals[goal])
				if got := ff.Value(s); got != wantFF {
					t.Fatalf("seed %d, state %d, goal %d: FF %v, want %v", seed, s, goal, got, wantFF)
				}
				if got := hmax.Value(s); got != wantMax {
					t.Fatalf("seed %d, state %d, goal %d: hmax %v, want %v", seed, s, goal, got, wantMax)
				}
				if a := hadd.Value(s); a < wantMax || math.IsInf(a, 1) != math.IsInf(wantMax, 1) {
					t.Fatalf("seed %d, state %d, goal %d: hadd %v, hmax %v", seed, s, goal, a, wantMax)
				}
				if wantMax > exact[s] {
					t.Fatalf("seed %d, state %d, goal %d: hmax %v overestimates %v", seed, s, goal, wantMax, exact[s])
				}
				if n := cut.Value(s); n < wantMax || n > exact[s] || math.IsInf(n, 1) != math.IsInf(wantMax, 1) {
					t.Fatalf("seed %d, state %d, goal %d: LM-cut %v, hmax %v, distance %v", seed, s, goal, n, wantMax, exact[s])
				} else if n > wantMax {
					better++
				}
				if n := count.Value(s); (n == 0) != task.Satisfies(s, goal) || n > float64(len(p.Goals[goal])) {
					t.Fatalf("seed %d, state %d, goal %d: goal count %v", seed, s, goal, n)
				}
				if math.IsInf(wantFF, 1) {
					deadEnds++
				} else if wantFF > 3 {
					long++
				}
			}
		}
	}
	t.Logf("%d states, %d dead ends, %d relaxed plans longer than 3", states, deadEnds, long)
	if deadEnds < 100 || long < 100 || better < 100 {
		t.Error("the tasks are too plain to test anything")
	}
}

func TestTable(t *testing.T) {
	calls := 0
	h := NewTable(func(s ground.StateID) float64 {
		calls++
		if s == 2 {
			return math.Inf(1)
		}
		return float64(s)
	})
	for range 2 {
		for _, s := range []ground.StateID{7, 0, 2} {
			want := float64(s)
			if s == 2 {
				want = math.Inf(1)
			}
			if got := h.Value(s); got != want {
				t.Errorf("state %d: %v", s, got)
			}
		}
	}
	if calls != 3 {
		t.Errorf("evaluated %d times, want once a state", calls)
	}
	if v := Zero().Value(3); v != 0 {
		t.Errorf("zero is %v", v)
	}
	defer func() {
		if recover() == nil {
			t.Error("NaN was kept")
		}
	}()
	NewTable(func(ground.StateID) float64 { return math.NaN() }).Value(0)
}

// must returns what a call has found; no test here lets it fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
