package ground_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
)

// exampleTask grounds a domain and problem of pddl's test data for the problem's goal.
func exampleTask(t testing.TB, name string) *ground.Task {
	t.Helper()
	const dir = "../pddl/testdata"
	d, err := pddl.ParseDomain(name+"-domain.pddl", readFile(t, dir, name+"-domain.pddl"))
	check(t, err)
	p, err := pddl.ParseProblem(name+"-problem.pddl", readFile(t, dir, name+"-problem.pddl"), d)
	check(t, err)
	task, err := ground.New(p, []pddl.Formula{p.Goal})
	check(t, err)
	return task
}

// textTask grounds a domain and a problem given as text, for the problem's goal.
func textTask(t testing.TB, domain, problem string) (*ground.Task, error) {
	t.Helper()
	d, err := pddl.ParseDomain("d.pddl", []byte(domain))
	check(t, err)
	p, err := pddl.ParseProblem("p.pddl", []byte(problem), d)
	check(t, err)
	var goals []pddl.Formula
	if p.Goal != nil {
		goals = append(goals, p.Goal)
	}
	return ground.New(p, goals)
}

func steps(t testing.TB, text string) []pddl.Step {
	t.Helper()
	plan, err := pddl.ParsePlan("x.plan", []byte(text))
	check(t, err)
	return plan
}

// Each example has one requirement at its heart. The plans reach the goal with their
// last step only; the states are counted by the naive interpreter, too.
func TestExamples(t *testing.T) {
	tests := []struct {
		name   string
		states int // 0: more than 300
		plan   string
	}{
		{"strips", 3, "(plug) (switch-on)"},
		{"typing", 144, "(pay Mini) (drive-on mini QUAY) (sail quay island) (land mini island) (board rex island) (sail island quay) (land rex quay)"},
		{"equality", 9, "(meet ann cem) (meet bob ann)"},
		{"negative-preconditions", 4, "(flip-off left) (flip-on right)"},
		{"disjunctive-preconditions", 4, "(learn) (hush) (enter)"},
		{"existential-preconditions", 16, "(secure hall) (go ida hall attic) (secure attic)"},
		{"universal-preconditions", 5, "(enter a) (enter c) (close)"},
		{"conditional-effects", 4, "(swap l1 l2) (swap l2 l3)"},
		{"numeric-fluents", 0, "(fill big) (pour-some big small) (empty small) (pour-all big small) (fill big) (pour-some big small)"},
		{"fluents", 15, "(climb) (crawl right) (crawl right) (eat mint) (drop mint)"},
		{"derived-predicates", 0, "(close a b)"},
		{"adl", 20, "(put-in cheque home) (move home bank) (take-out cheque)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			task := exampleTask(t, test.name)
			states, _, err := task.Validate(steps(t, test.plan))
			check(t, err)
			for k, s := range states {
				if last := k == len(states)-1; task.Satisfies(s, 0) != last {
					t.Errorf("after %d steps the goal is %v", k, !last)
				}
			}
			for seed := range uint64(5) {
				compare(t, task, rand.New(rand.NewPCG(2, seed)), 30)
			}
			const limit = 300
			complete := must(task.Enumerate(context.Background(), limit))
			if complete != (test.states > 0) || complete && task.Len() != test.states {
				t.Errorf("%d states, complete %v, want %d", task.Len(), complete, test.states)
			}
			if got, all := reachable(task.Problem, limit); complete != all || all && got != task.Len() {
				t.Errorf("%d states, complete %v; naive %d, %v", task.Len(), complete, got, all)
			}
		})
	}
}

// reachable counts states by the naive interpreter, until there are more than limit.
func reachable(p *pddl.Problem, limit int) (count int, all bool) {
	n := newNaive(p)
	queue := []naiveState{n.initial()}
	seen := map[string]bool{queue[0].String(): true}
	for len(queue) > 0 && len(seen) <= limit {
		_, states := n.successors(queue[0])
		queue = queue[1:]
		for _, s := range states {
			if text := s.String(); !seen[text] {
				seen[text] = true
				queue = append(queue, s)
			}
		}
	}
	return len(seen), len(seen) <= limit
}

// A walker marks every cell that it leaves, so that facts appear that no one stated:
// records must grow.
func TestFactsAppear(t *testing.T) {
	task, err := textTask(t, `(define (domain d) (:requirements :fluents)
 (:predicates (seen ?x ?y) (met ?n)) (:functions (x) (y))
 (:action east :precondition (< x 20) :effect (and (seen x y) (met (+ (* 20 y) x)) (increase x 1)))
 (:action north :precondition (< y 20) :effect (and (seen x y) (assign x 0) (increase y 1))))`,
		"(define (problem p) (:domain d) (:init (= x 0) (= y 0)))")
	check(t, err)
	rng := rand.New(rand.NewPCG(3, 3))
	compare(t, task, rng, 60)
	s := task.Initial()
	for range 420 {
		successors := task.Successors(s)
		if len(successors) == 0 {
			break
		}
		s = successors[0].State
	}
	if n := len(task.True(s)); n != 820 {
		t.Errorf("%d facts, want 820", n)
	}
	if !task.Holds(s, "seen", "7", "19.0") || !task.Holds(s, "SEEN", "0", "0") || task.Holds(s, "seen", "7", "21") {
		t.Error("facts with numbers are not found")
	}
	compare(t, task, rng, 60)
	if task.Initial() != 0 || len(task.True(task.Initial())) != 0 {
		t.Error("the initial state has changed")
	}
}

func TestUndefinedFluents(t *testing.T) {
	task, err := textTask(t, `(define (domain d) (:requirements :adl :fluents :derived-predicates)
 (:predicates (p) (q) (r) (cell ?n) (odd) (any ?n) (reach ?x) (link ?x ?y))
 (:functions (f) (g))
 (:derived (odd) (> f 1))
 (:derived (any ?n) (p))
 (:derived (reach ?x) (exists (?y) (and (reach ?y) (link ?y ?x))))
 (:derived (reach ?x) (and (link ?x ?x) (> f 1)))
 (:action none :precondition (< f 1) :effect (q))
 (:action neither :precondition (not (< f 1)) :effect (q))
 (:action either :precondition (or (p) (< f 1)) :effect (q))
 (:action neither-both :precondition (not (and (< f 1) (q))) :effect (r))
 (:action unreached :precondition (exists (?x) (not (reach ?x))) :effect (r))
 (:action lookup :precondition (not (cell f)) :effect (q))
 (:action derived :precondition (not (odd)) :effect (q))
 (:action passed :precondition (any f) :effect (q))
 (:action divide :precondition (> (/ 1 g) 0) :effect (q))
 (:action quietly :effect (and (r) (when (not (< f 1)) (q))))
 (:action raise :effect (increase f 1))
 (:action store :effect (cell f))
 (:action forget :effect (not (cell f)))
 (:action set :effect (and (assign f 5) (assign g 2))))`,
		"(define (problem p) (:domain d) (:objects a b) (:init (p) (= g 0) (link a a) (link a b)) (:goal (or (q) (= f 5))))")
	check(t, err)
	var names []string
	for _, next := range task.Successors(task.Initial()) {
		names = append(names, task.Operators[next.Operator].Name)
	}
	if got := strings.Join(names, " "); got != "either neither-both quietly set" {
		t.Errorf("applicable: %s", got)
	}
	compare(t, task, rand.New(rand.NewPCG(4, 4)), 20)
	if _, ok := task.Value(task.Initial(), "f"); ok {
		t.Error("f has a value")
	}
}

// Effects that meet on one fluent add up or conflict, by what fires.
func TestRepeatedAssignments(t *testing.T) {
	task, err := textTask(t, `(define (domain d) (:requirements :adl :fluents)
 (:types o) (:constants a b - o) (:predicates (on ?x - o)) (:functions (n))
 (:action turn :parameters (?x - o) :precondition (not (on ?x)) :effect (on ?x))
 (:action count :effect (and (increase n 1) (forall (?x - o) (when (on ?x) (decrease n 3)))))
 (:action scale :effect (forall (?x - o) (scale-up n 2)))
 (:action clash :effect (forall (?x - o) (when (on ?x) (assign n 7)))))`,
		"(define (problem p) (:domain d) (:init (= n 1)))")
	check(t, err)
	for seed := range uint64(10) {
		compare(t, task, rand.New(rand.NewPCG(5, seed)), 10)
	}
	states, _, err := task.Validate(steps(t, "(scale) (turn a) (count) (turn b) (count)"))
	check(t, err)
	if v, _ := task.Value(states[5], "n"); v != -3 {
		t.Errorf("n = %v, want 4 - 2 - 5", v)
	}
}
