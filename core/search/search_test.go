package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"foible/core/ground"
	"foible/core/heuristic"
	"foible/core/pddl"
)

// table is a heuristic given by state; what it lacks is 0.
type table []float64

func (t table) Value(s ground.StateID) float64 {
	if int(s) < len(t) {
		return t[s]
	}
	return 0
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

const graphDomain = `(define (domain graph) (:requirements :strips)
(:predicates (edge ?a ?b) (at ?a))
(:action go :parameters (?a ?b) :precondition (and (edge ?a ?b) (at ?a)) :effect (and (at ?b) (not (at ?a)))))`

// graph is a task whose states are the nodes of a directed graph, known by their
// number: each edge is an action. The last node is the goal.
func graph(t testing.TB, nodes int, edges [][2]int) *ground.Task {
	t.Helper()
	var objects, init strings.Builder
	for i := range nodes {
		fmt.Fprintf(&objects, " n%d", i)
	}
	for _, e := range edges {
		fmt.Fprintf(&init, " (edge n%d n%d)", e[0], e[1])
	}
	return newTask(t, graphDomain, fmt.Sprintf("(define (problem p) (:domain graph) (:objects%s) (:init (at n0)%s))", objects.String(), init.String()),
		fmt.Sprintf("(at n%d)", nodes-1))
}

// random has a cycle through all nodes, and some more edges.
func random(t testing.TB, nodes, edges int, rng *rand.Rand) *ground.Task {
	t.Helper()
	seen := map[[2]int]bool{}
	var all [][2]int
	add := func(a, b int) {
		if e := [2]int{a, b}; a != b && !seen[e] {
			seen[e] = true
			all = append(all, e)
		}
	}
	for i := range nodes {
		add(i, (i+1)%nodes)
	}
	for range edges {
		add(rng.IntN(nodes), rng.IntN(nodes))
	}
	task := graph(t, nodes, all)
	task.Enumerate(0)
	return task
}

// distances to a goal are those of a backward breadth-first search; +Inf where there is no way.
func distances(task *ground.Task, goal int) table {
	task.Enumerate(0)
	before := make([][]ground.StateID, task.Len())
	d := make(table, task.Len())
	var queue []ground.StateID
	for s := range ground.StateID(task.Len()) {
		d[s] = math.Inf(1)
		if task.Satisfies(s, goal) {
			d[s] = 0
			queue = append(queue, s)
		}
		for _, next := range task.Successors(s) {
			before[next.State] = append(before[next.State], s)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, b := range before[s] {
			if math.IsInf(d[b], 1) {
				d[b] = d[s] + 1
				queue = append(queue, b)
			}
		}
	}
	return d
}

// follow checks that a path can be followed by the task's own validation.
func follow(t *testing.T, task *ground.Task, from ground.StateID, path []Step) ground.StateID {
	t.Helper()
	at := from
	for i, step := range path {
		next, ok := task.Apply(at, step.Operator)
		if !ok || next != step.State {
			t.Fatalf("step %d, %v, leads to %d, %v; want %d", i, task.Operators[step.Operator], next, ok, step.State)
		}
		at = next
	}
	if from == task.Initial() {
		var plan []pddl.Step
		for _, step := range path {
			op := task.Operators[step.Operator]
			plan = append(plan, pddl.Step{Name: op.Name, Args: op.Args})
		}
		states, _, err := task.Validate(plan)
		if err != nil || states[len(states)-1] != at {
			t.Fatalf("Validate: %v; ends at %v, want %d", err, states, at)
		}
	}
	return at
}

// When a node's parent is reached by a shorter path, the node's own g follows
// only when the parent is expanded again: until then its path is shorter than g.
func TestPathMayBeShorterThanG(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	shorter := 0
	for range 300 {
		task := random(t, 12, 20, rng)
		h := make(table, task.Len())
		for i := range h {
			h[i] = float64(rng.IntN(10)) // neither admissible nor consistent
		}
		s := New(task)
		for _, noise := range []float64{0, 1, 1000} {
			for budget := 1; budget < 25; budget++ {
				r := s.Run(task.Initial(), 0, h, Options{Noise: noise, Budget: budget}, rng)
				at := follow(t, task, task.Initial(), r.Path)
				g := int(s.nodes[at].g)
				if len(r.Path) > g {
					t.Fatalf("a path of %d steps, g is %d", len(r.Path), g)
				}
				if len(r.Path) < g {
					shorter++
				}
			}
		}
	}
	if shorter < 10 {
		t.Errorf("only %d paths were shorter than g: the test tests nothing", shorter)
	}
}

const blocks = `(define (domain blocks) (:requirements :strips :equality :negative-preconditions)
(:predicates (ontable ?x) (on ?x ?y) (clear ?x) (holding ?x) (handempty))
(:action pick-up :parameters (?x) :precondition (and (clear ?x) (ontable ?x) (handempty))
 :effect (and (holding ?x) (not (ontable ?x)) (not (clear ?x)) (not (handempty))))
(:action put-down :parameters (?x) :precondition (holding ?x)
 :effect (and (ontable ?x) (clear ?x) (handempty) (not (holding ?x))))
(:action stack :parameters (?x ?y) :precondition (and (holding ?x) (clear ?y) (not (= ?x ?y)))
 :effect (and (on ?x ?y) (clear ?x) (handempty) (not (holding ?x)) (not (clear ?y))))
(:action unstack :parameters (?x ?y) :precondition (and (on ?x ?y) (clear ?x) (handempty) (not (= ?x ?y)))
 :effect (and (holding ?x) (clear ?y) (not (on ?x ?y)) (not (clear ?x)) (not (handempty)))))`

func fourBlocks(t testing.TB) *ground.Task {
	return newTask(t, blocks, `(define (problem p) (:domain blocks) (:objects a b c d)
	(:init (handempty) (ontable a) (on b a) (clear b) (ontable c) (on d c) (clear d)))`,
		"(and (on a b) (on b c) (on c d) (ontable d))", "(and (on d a) (ontable a))", "(and (on a b) (on b a))")
}

// Every heuristic and search gives a valid plan that ends where it says; A* with
// a heuristic that never overestimates an optimal one; what cannot be reached
// exhausts the open list.
func TestPlans(t *testing.T) {
	task := fourBlocks(t)
	p, err := task.Propositional()
	if err != nil {
		t.Fatal(err)
	}
	relaxation := heuristic.NewRelaxation(p)
	s := New(task)
	for goal := range 3 {
		d := distances(task, goal)
		for name, h := range map[string]struct {
			Heuristic
			admissible bool
		}{
			"zero":      {heuristic.Zero(), true},
			"hmax":      {relaxation.Max(goal), true},
			"distance":  {d, true},
			"hadd":      {relaxation.Add(goal), false},
			"ff":        {relaxation.FF(goal), false},
			"goalcount": {relaxation.GoalCount(goal), false},
		} {
			for _, noise := range []float64{0, 0.001, 0.5, 1000} {
				rng := rand.New(rand.NewPCG(uint64(goal), 3))
				for range 20 {
					from := ground.StateID(rng.IntN(task.Len()))
					r := s.Run(from, goal, h, Options{Noise: noise, Budget: Unlimited}, rng)
					at := follow(t, task, from, r.Path)
					switch {
					case goal == 2:
						if r.Status != Exhausted || r.Path != nil {
							t.Fatalf("%s, noise %v: %v to a goal that cannot be reached", name, noise, r.Status)
						}
					case r.Status != Solved || !task.Satisfies(at, goal):
						t.Fatalf("%s, noise %v: %v, ends at %d", name, noise, r.Status, at)
					case noise == 0 && h.admissible && len(r.Path) != int(d[from]):
						t.Fatalf("%s: %d steps, the shortest plan has %v", name, len(r.Path), d[from])
					}
				}
			}
		}
	}
}

// The n-th node drawn, the start being the first, ends a search whose budget is
// n; a goal ends it before.
func TestBudget(t *testing.T) {
	// a line of 6 nodes: the goal is the 6th node drawn.
	task := graph(t, 6, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}})
	s := New(task)
	rng := rand.New(rand.NewPCG(1, 1))
	for budget := -1; budget < 9; budget++ {
		r := s.Run(task.Initial(), 0, heuristic.Zero(), Options{Noise: 0.3, Budget: budget}, rng)
		drawn := min(max(budget, 0), 6)
		want := Result{Path: r.Path, Status: Spent, Drawn: drawn, Expanded: max(drawn-1, 0), Generated: max(drawn-1, 0)}
		if budget >= 6 {
			want.Status = Solved
		}
		if len(r.Path) != max(drawn-1, 0) || fmt.Sprint(r) != fmt.Sprint(want) {
			t.Errorf("budget %d: %+v, want %+v", budget, r, want)
		}
	}
	end := task.Successors(4)[0].State
	if r := s.Run(end, 0, heuristic.Zero(), Options{Budget: 1}, rng); r.Status != Solved || len(r.Path) != 0 {
		t.Errorf("from a goal: %+v", r)
	}
	if r := s.Run(end, 0, heuristic.Zero(), Options{Budget: 0}, rng); r.Status != Spent || r.Drawn != 0 {
		t.Errorf("from a goal, without a budget: %+v", r)
	}
}

// A dead end is never opened, even if it is on the only way.
func TestDeadEnd(t *testing.T) {
	task := graph(t, 3, [][2]int{{0, 1}, {1, 2}})
	task.Enumerate(0)
	r := New(task).Run(0, 0, table{0, math.Inf(1), 0}, Options{Budget: Unlimited}, rand.New(rand.NewPCG(1, 1)))
	if r.Status != Exhausted || r.Drawn != 1 || r.Path != nil {
		t.Errorf("%+v", r)
	}
}

// The long way to node 3 looks better, so that node 3 is expanded before the
// short way is found: it is opened again, and the plan is the shortest.
func TestReopening(t *testing.T) {
	task := graph(t, 6, [][2]int{{0, 1}, {1, 2}, {2, 3}, {0, 4}, {4, 3}, {3, 5}})
	task.Enumerate(0)
	h := make(table, 6)
	for s := range ground.StateID(6) {
		for _, node := range []struct {
			name string
			h    float64
		}{{"n4", 3}, {"n5", 10}} {
			if task.Holds(s, "at", node.name) {
				h[s] = node.h
			}
		}
	}
	s := New(task)
	r := s.Run(0, 0, h, Options{Budget: Unlimited}, rand.New(rand.NewPCG(1, 1)))
	if r.Status != Solved || r.Reopened != 1 || len(r.Path) != 3 || r.Drawn != 7 {
		t.Errorf("%+v", r)
	}
}

func TestSearchAllocatesOnlyThePath(t *testing.T) {
	task := fourBlocks(t)
	task.Enumerate(0)
	var d Heuristic = distances(task, 0)
	s := New(task)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, o := range []Options{{Noise: 0, Budget: Unlimited}, {Noise: 0.5, Budget: 30}, {Noise: 100, Budget: 30}} {
		run := func() { s.Run(task.Initial(), 0, d, o, rng) }
		for range 200 { // every bucket has had its room
			run()
		}
		if n := testing.AllocsPerRun(200, run); n > 1 {
			t.Errorf("%+v: %v allocations a search", o, n)
		}
	}
}
