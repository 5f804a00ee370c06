package ground_test

import (
	"slices"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
)

// Of the numbers, speed is read by a condition, fuel by a goal, distance by the value of speed, odometer by nothing but
// its own value; place is set and not counted.
func TestUnread(t *testing.T) {
	d, err := pddl.ParseDomain("d.pddl", []byte(`(define (domain d) (:requirements :adl :fluents)
(:predicates (moving)) (:functions (speed) (fuel) (distance) (odometer) (place))
(:action go :precondition (< (speed) 3) :effect (and (moving)
  (increase (speed) (distance)) (decrease (fuel) 1)
  (increase (distance) 1) (increase (odometer) (odometer))
  (assign (place) 2)))
(:action stop :effect (when (moving) (increase (odometer) 1))))`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := pddl.ParseProblem("p.pddl", []byte(`(define (problem p) (:domain d) (:init (= (speed) 0) (= (fuel) 5) (= (distance) 0) (= (odometer) 1) (= (place) 0)))`), d)
	if err != nil {
		t.Fatal(err)
	}
	goal, err := pddl.ParseGoal("goal", []byte("(= (fuel) 0)"), p)
	if err != nil {
		t.Fatal(err)
	}
	task, err := ground.New(p, []pddl.Formula{goal})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range task.Unread() {
		got = append(got, a.Pos.String()+" "+a.String())
	}
	if want := []string{"d.pddl:5:27 (increase (odometer) (odometer))", "d.pddl:7:38 (increase (odometer) 1)"}; !slices.Equal(got, want) {
		t.Errorf("unread %q, want %q", got, want)
	}
}
