package ground_test

import (
	"context"
	"errors"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
)

// What only grounding can refuse.
func TestNewErrors(t *testing.T) {
	const head = "(define (domain d) (:requirements :adl :fluents :derived-predicates)\n(:predicates (p ?x) (q ?x) (r ?x ?y) (edge ?x ?y))\n(:functions (f ?x) (g ?x) (n))\n"
	const problem = "(define (problem p) (:domain d) (:objects a b)\n(:init (edge a b) (= (g a) 1))\n(:goal "
	tests := []struct{ name, domain, goal, want string }{
		{
			"static fluent without a value",
			"(:action act :parameters (?x)\n:precondition (> (g ?x) 0) :effect (p ?x))", "(and)",
			`d.pddl:5:18: "(g b)" has no value: no (:init) and no action gives one`,
		},
		{
			"in an effect",
			"(:action act :parameters (?x)\n:effect (p (+ 1 (g ?x))))", "(and)",
			`d.pddl:5:17: "(g b)" has no value: no (:init) and no action gives one`,
		},
		{
			"in the condition of an effect",
			"(:action act :parameters (?x)\n:effect (when (> 1 (g ?x)) (p ?x)))", "(and)",
			`d.pddl:5:20: "(g b)" has no value: no (:init) and no action gives one`,
		},
		{
			"in a rule",
			"(:derived (q ?x - object)\n(> (n) 2))\n(:action act :parameters (?x) :precondition (q ?x))", "(and)",
			`d.pddl:5:4: "(n)" has no value: no (:init) and no action gives one`,
		},
		{"in the goal", "", "(< n 3)", `p.pddl:3:11: "(n)" has no value: no (:init) and no action gives one`},
		{"division by zero", "", "(or (p a) (p (/ 1 0)))", `p.pddl:3:21: "(/ 1 0)" has no finite value`},
		{
			"object as a number",
			"(:derived (r ?x ?y) (< ?x ?y))\n(:action act :precondition (and)\n:effect (when (exists (?x) (r 3 ?x)) (p 1)))", "(and)",
			`d.pddl:4:27: "?y" is the object "a" here, not a number`,
		},
		{
			"negation through recursion",
			"(:derived (p ?x) (exists (?y) (and (edge ?x ?y) (not (q ?y)))))\n(:derived (q ?x) (imply\n(p ?x) (edge ?x ?x)))", "(and)",
			`d.pddl:4:54: derived predicate "p" depends on its own negation, "(q ?y)"`,
		},
		{
			"negation of itself",
			"(:derived (p ?x)\n(imply (p ?x) (edge ?x ?x)))", "(and)",
			`d.pddl:5:8: derived predicate "p" depends on its own negation, "(p ?x)"`,
		},
		{
			"recursion over numbers",
			"(:derived (p ?x)\n(or (edge ?x ?x) (p (+ ?x 1))))", "(and)",
			`d.pddl:5:21: derived predicate "p" refers to itself, and so may not take the number "(+ ?x 1)"`,
		},
		{
			"number in recursion",
			"(:derived (r ?x ?y)\n(exists (?z) (and (edge ?x ?z) (r ?z ?y))))", "(r a 3)",
			`p.pddl:3:8: derived predicate "r" refers to itself, and so may not take numbers, as in "(r a 3)"`,
		},
		{
			"two assignments",
			"(:action act :parameters (?x)\n:effect (and (assign (f ?x) 1)\n(assign (f ?x) 2)))", "(and)",
			`d.pddl:6:1: in (act a), "(assign (f ?x) 2)" changes a fluent that "(assign (f ?x) 1)" changes too`,
		},
		{
			"too many operators",
			"(:action act :parameters (?a ?b ?c ?d ?e ?f ?g ?h ?i ?j ?k ?l ?m ?n ?o ?p ?q ?r ?s ?t ?u ?v ?w))", "(and)",
			`d.pddl:4:1: action "act": the problem has more than 1,048,576 ground actions`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := textTask(t, head+test.domain+")", problem+test.goal+"))")
			var e *pddl.Error
			if !errors.As(err, &e) || e.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// A static guard keeps a fluent without a value from mattering.
func TestGuardedFluents(t *testing.T) {
	task, err := textTask(t, `(define (domain d) (:requirements :adl :fluents :derived-predicates)
 (:predicates (edge ?x ?y) (at ?x) (cheap ?x ?y - object)) (:functions (cost ?x ?y) (spent))
 (:derived (cheap ?x ?y) (< (cost ?x ?y) 5))
 (:action go :parameters (?x ?y)
  :precondition (and (cheap ?x ?y) (at ?x) (edge ?x ?y))
  :effect (and (at ?y) (increase spent (cost ?x ?y)))))`,
		`(define (problem p) (:domain d) (:objects a b c)
 (:init (edge a b) (edge b c) (= (cost a b) 2) (= (cost b c) 9) (= spent 0) (at a)))`)
	check(t, err)
	if len(task.Operators) != 1 || task.Operators[0].String() != "(go a b)" {
		t.Errorf("operators %v", task.Operators)
	}
	_, _, err = task.Validate(steps(t, "(go a c)"))
	if want := `x.plan:1:1: step 1: (go a c) is not applicable: precondition (cheap a c) is undefined: "(cost a c)" has no value: no (:init) and no action gives one`; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestOperatorOrder(t *testing.T) {
	task := exampleTask(t, "equality")
	var got string
	for i := range task.Operators {
		got += task.Operators[i].String()
	}
	if want := "(meet ann bob)(meet ann cem)(meet bob ann)(meet bob cem)(meet cem ann)(meet cem bob)"; got != want {
		t.Errorf("operators %s", got)
	}
}

// Count finds as many states as Enumerate, and keeps no successors.
func TestCount(t *testing.T) {
	for _, limit := range []int{0, 3} {
		counted, enumerated := switches(t), switches(t)
		all, err := counted.Count(t.Context(), limit)
		if err != nil {
			t.Fatal(err)
		}
		also, err := enumerated.Enumerate(t.Context(), limit)
		if err != nil {
			t.Fatal(err)
		}
		if all != also || counted.Len() != enumerated.Len() {
			t.Errorf("limit %d: counted %d (%v), enumerated %d (%v)", limit, counted.Len(), all, enumerated.Len(), also)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := switches(t).Count(ended, 0); err != context.Canceled {
		t.Errorf("error %v, want that of the context", err)
	}
}

// switches has three switches, and eight states.
func switches(t *testing.T) *ground.Task {
	t.Helper()
	d, err := pddl.ParseDomain("d.pddl", []byte("(define (domain d) (:requirements :negative-preconditions) (:predicates (on ?x)) (:action flip :parameters (?x) :precondition (not (on ?x)) :effect (on ?x)) (:action drop :parameters (?x) :precondition (on ?x) :effect (not (on ?x))))"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := pddl.ParseProblem("p.pddl", []byte("(define (problem p) (:domain d) (:objects a b c) (:init))"), d)
	if err != nil {
		t.Fatal(err)
	}
	task, err := ground.New(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return task
}
