package ground_test

import (
	"errors"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
)

const workshop = `(define (domain workshop) (:requirements :adl :fluents :derived-predicates)
 (:types block tool) (:constants a - block)
 (:predicates (clear ?x - block) (holding ?x - block) (fixed ?x - block) (at ?t - tool ?x ?y) (wall ?x ?y) (blocked ?x ?y))
 (:functions (xpos) (ypos) (fuel) (weight ?b - block) (heat))
 (:derived (blocked ?x ?y) (wall ?x ?y))
 (:action pick-up :parameters (?x - block)
  :precondition (and (clear ?x) (not (fixed ?x)))
  :effect (and (holding ?x) (not (clear ?x))))
 (:action stack :parameters (?x ?y - block)
  :precondition (and (and (holding ?x) (clear ?y)) (not (= ?x ?y)))
  :effect (and (not (holding ?x)) (clear ?x) (not (clear ?y))))
 (:action up
  :precondition (and (< (weight a) 9) (not (blocked xpos (+ ypos 1))) (>= (fuel) 1))
  :effect (and (increase ypos 1) (decrease fuel 1)))
 (:action take :parameters (?t - tool) :precondition (at ?t xpos ypos) :effect (not (at ?t xpos ypos)))
 (:action lift :parameters (?b - block) :precondition (imply (holding ?b) (> fuel (weight ?b))) :effect (decrease fuel (weight ?b)))
 (:action warm :parameters (?b - block) :effect (increase heat (/ (weight ?b) fuel)))
 (:action burn :precondition (> heat 1) :effect (assign heat 0))
 (:action clash :effect (forall (?b - block) (when (clear ?b) (assign fuel (weight ?b))))))`

const workshopProblem = `(define (problem p) (:domain workshop)
 (:objects b - block saw - tool)
 (:init (clear a) (clear b) (fixed b) (at saw 1 2) (wall 1 4) (= xpos 1) (= ypos 1) (= fuel 2) (= (weight a) 1) (= (weight b) 3)))`

func TestPlanErrors(t *testing.T) {
	tests := []struct {
		plan, want string
		before     int // states before the error
	}{
		{"(pick-up a)\n(stack a a)", "x.plan:2:1: step 2: (stack a a) is not applicable: precondition (clear a) does not hold", 2},
		{"(pick-up a)\n(stack a b)\n(stack a b)", "x.plan:3:1: step 3: (stack a b) is not applicable: precondition (holding a) does not hold", 3},
		{"(stack b b)", "x.plan:1:1: step 1: (stack b b) is not applicable: precondition (holding b) does not hold", 1},
		{"(Pick-Up B)", "x.plan:1:1: step 1: (Pick-Up B) is not applicable: precondition (not (fixed b)) does not hold", 1},
		{"(pick-up c)", `x.plan:1:1: step 1: (pick-up c) is not applicable: unknown object "c"`, 1},
		{"(pick-up saw)", `x.plan:1:1: step 1: (pick-up saw) is not applicable: "saw" is a "tool", but ?x is a "block"`, 1},
		{"(pickup a)", `x.plan:1:1: step 1: (pickup a) is not applicable: unknown action "pickup"`, 1},
		{"(up)\n  (up a)", `x.plan:2:3: step 2: (up a) is not applicable: "up" takes 0 arguments, not 1`, 2},
		{"(take)", `x.plan:1:1: step 1: (take) is not applicable: "take" takes 1 argument, not 0`, 1},
		{"(take saw)", "x.plan:1:1: step 1: (take saw) is not applicable: precondition (at saw xpos ypos) does not hold, with xpos = 1, ypos = 1", 1},
		{"(up) (up) (up)", "x.plan:1:11: step 3: (up) is not applicable: precondition (not (blocked xpos (+ ypos 1))) does not hold, with xpos = 1, ypos = 3", 3},
		{"(pick-up a) (lift a) (lift a)", "x.plan:1:22: step 3: (lift a) is not applicable: precondition (imply (holding a) (> fuel (weight a))) does not hold, with fuel = 1, (weight a) = 1", 3},
		{"(warm b)", "x.plan:1:1: step 1: (warm b) is not applicable: effect (increase heat (/ (weight b) fuel)) has no value", 1},
		{"(burn)", "x.plan:1:1: step 1: (burn) is not applicable: precondition (> heat 1) is undefined, with heat without a value", 1},
		{"(clash)", "x.plan:1:1: step 1: (clash) is not applicable: effect (assign fuel (weight ?b)) changes a fluent that another effect changes too", 1},
	}
	for _, test := range tests {
		task, err := textTask(t, workshop, workshopProblem)
		check(t, err)
		states, ops, err := task.Validate(steps(t, test.plan))
		var e *ground.PlanError
		if !errors.As(err, &e) {
			t.Fatalf("%s: error %v", test.plan, err)
		}
		if e.Error() != test.want {
			t.Errorf("got  %s\nwant %s", e, test.want)
		}
		if len(states) != test.before || len(ops) != test.before-1 || e.Step != test.before {
			t.Errorf("%s: %d states, %d operators", test.plan, len(states), len(ops))
		}
	}
}

func TestPlanErrorWithoutPosition(t *testing.T) {
	task, err := textTask(t, workshop, workshopProblem)
	check(t, err)
	_, _, err = task.Validate([]pddl.Step{{Name: "pick-up", Args: []string{"a"}}, {Name: "stack", Args: []string{"a", "a"}}})
	if want := "step 2: (stack a a) is not applicable: precondition (clear a) does not hold"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestApply(t *testing.T) {
	task, err := textTask(t, workshop, workshopProblem)
	check(t, err)
	op, ok := task.Operator(pddl.Step{Name: "PICK-UP", Args: []string{"A"}})
	if !ok || task.Operators[op].String() != "(pick-up a)" {
		t.Fatalf("operator %d, %v", op, ok)
	}
	s, ok := task.Apply(task.Initial(), op)
	if !ok || !task.Holds(s, "holding", "a") {
		t.Error("(pick-up a) does not apply")
	}
	if _, ok := task.Apply(s, op); ok {
		t.Error("(pick-up a) applies twice")
	}
	for _, step := range []pddl.Step{{Name: "stack", Args: []string{"a", "a"}}, {Name: "pick-up"}} {
		if _, ok := task.Operator(step); ok {
			t.Errorf("%s is an operator", step)
		}
	}
}
