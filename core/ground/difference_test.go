package ground_test

import (
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/internal/tiny"
	"foible.dev/foible/core/pddl"
)

func TestDifference(t *testing.T) {
	task := tiny.Task(t, `(define (domain d) (:requirements :adl :fluents)
(:predicates (p) (q) (r) (fixed)) (:functions (x) (y) (z))
(:action set :parameters () :effect (and (p) (not (q)) (r)))
(:action move :parameters () :effect (and (increase x 3) (decrease y 4)))
(:action name :parameters () :effect (assign z 7)))`, "(define (problem p) (:domain d) (:init (q) (r) (fixed) (= (x) 1) (= (y) 1)))", "(p)")
	after := func(names ...string) ground.StateID {
		var plan []pddl.Step
		for _, n := range names {
			plan = append(plan, pddl.Step{Name: n})
		}
		states, _, err := task.Validate(plan)
		if err != nil {
			t.Fatal(err)
		}
		return states[len(states)-1]
	}
	start := after()
	for _, c := range []struct {
		name    string
		a, b    ground.StateID
		facts   int
		squares float64
	}{
		{"the same", start, start, 0, 0},
		{"one fact more, one less, one as before", start, after("set"), 2, 0},
		{"two fluents", start, after("move"), 0, 25},
		{"facts and fluents", after("set"), after("move", "move"), 2, 100},
		{"a fluent without a value counts as a fact", start, after("name"), 1, 0},
		{"all", start, after("set", "move", "name"), 3, 25},
	} {
		for _, pair := range [][2]ground.StateID{{c.a, c.b}, {c.b, c.a}} {
			if facts, squares := task.Difference(pair[0], pair[1]); facts != c.facts || squares != c.squares {
				t.Errorf("%s: %d facts, %v, want %d and %v", c.name, facts, squares, c.facts, c.squares)
			}
		}
	}
}
