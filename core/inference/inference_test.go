package inference_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"foible/core/ground"
	"foible/core/inference"
	"foible/core/pddl"
	"foible/core/study"
	"foible/core/sweep"
)

// lamps: one switches lamps on, each once; there is no way back.
const lamps = `(define (domain lamps)
  (:requirements :strips :typing)
  (:types lamp)
  (:predicates (dark ?l - lamp) (lit ?l - lamp))
  (:action switch
   :parameters (?l - lamp)
   :precondition (dark ?l)
   :effect (and (lit ?l) (not (dark ?l)))))`

// stimulus has the goals to light one lamp alone.
func stimulus(t *testing.T, plan string) *study.Stimulus {
	t.Helper()
	d, err := pddl.ParseDomain("domain.pddl", []byte(lamps))
	if err != nil {
		t.Fatal(err)
	}
	s := &study.Stimulus{ID: "one"}
	if s.Problem, err = pddl.ParseProblem("problem.pddl", []byte(
		"(define (problem room) (:domain lamps) (:objects red green - lamp) (:init (dark red) (dark green)))"), d); err != nil {
		t.Fatal(err)
	}
	if s.Plan, err = pddl.ParsePlan("plan", []byte(plan)); err != nil {
		t.Fatal(err)
	}
	for i, other := range []string{"green", "red"} {
		name := []string{"red", "green"}[i]
		f, err := pddl.ParseGoal("goal", fmt.Appendf(nil, "(and (lit %s) (dark %s))", name, other), s.Problem)
		if err != nil {
			t.Fatal(err)
		}
		s.Goals = append(s.Goals, study.Goal{Name: name, Formula: f})
	}
	return s
}

func set(alpha float64, value string, unreachable float64) *sweep.ParameterSet {
	s := &sweep.ParameterSet{Model: "boltzmann"}
	s.Set("alpha", sweep.Setting{Number: alpha})
	s.Set("value", sweep.Setting{Word: value})
	s.Set("unreachable_value", sweep.Setting{Number: unreachable})
	return s
}

// The first action settles it: the other goal is out of reach then, worth -5.
// The second one leads to a state from which neither can be reached.
func TestInfer(t *testing.T) {
	s, err := inference.New(stimulus(t, "(switch red)\n(switch green)\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"optimal", "on_policy"} {
		cell, err := s.Infer(set(0.5, value, -5))
		if err != nil {
			t.Fatal(err)
		}
		p := 1 / (1 + math.Exp(-0.5*5))
		for k, want := range [][]float64{{0.5, 0.5}, {p, 1 - p}, {p, 1 - p}} {
			if math.Abs(cell.Posterior[k][0]-want[0]) > 1e-12 || math.Abs(cell.Posterior[k][1]-want[1]) > 1e-12 {
				t.Errorf("%s, step %d: %v, want %v", value, k, cell.Posterior[k], want)
			}
		}
		if want := []int{2, 1}; !reflect.DeepEqual(cell.UnreachableFrom, want) || cell.Undefined != nil || len(cell.Posterior) != 3 {
			t.Errorf("%s: %+v", value, cell)
		}
	}
}

// Every parameter reaches the model under its own name.
func TestParametersAreUsed(t *testing.T) {
	h := func(*ground.Task, int) (func(ground.StateID) float64, error) {
		return func(ground.StateID) float64 { return 0 }, nil
	}
	s, err := inference.New(stimulus(t, "(switch red)\n"), h)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[float64]string{}
	for _, p := range []*sweep.ParameterSet{set(0.5, "optimal", -5), set(1.5, "optimal", -5), set(0.5, "optimal", -7), set(0.5, "heuristic", -5)} {
		cell, err := s.Infer(p)
		if err != nil {
			t.Fatal(err)
		}
		belief := cell.Posterior[1][0]
		if other, ok := seen[belief]; ok {
			t.Errorf("%s and %s both believe %v", p, other, belief)
		}
		seen[belief] = p.String()
	}
}

func TestUndefined(t *testing.T) {
	s, err := inference.New(stimulus(t, "(switch red)\n(switch red)\n(switch green)\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	cell, err := s.Infer(set(1, "optimal", -5))
	if err != nil {
		t.Fatal(err)
	}
	want := &sweep.Undefined{Step: 2, Reason: "impossible at step 2, action (switch red)"}
	if !reflect.DeepEqual(cell.Undefined, want) || len(cell.Posterior) != 2 {
		t.Errorf("%+v, want %+v after 2 posteriors", cell, want)
	}
}

func TestRefusals(t *testing.T) {
	s, err := inference.New(stimulus(t, "(switch red)\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	unknown := set(1, "optimal", -5)
	unknown.Model = "dull"
	for want, p := range map[string]*sweep.ParameterSet{
		`no inference for model "dull"`: unknown,
		`boltzmann alpha=0 value=optimal unreachable_value=-5: alpha 0, unreachable value -5: not a Boltzmann agent`: set(0, "optimal", -5),
		`boltzmann alpha=1 value=heuristic unreachable_value=-5: the domain has no heuristic; use value: optimal`:    set(1, "heuristic", -5),
	} {
		if _, err := s.Infer(p); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	none := stimulus(t, "")
	none.Goals = nil
	if _, err := inference.New(none, nil); err == nil || !strings.Contains(err.Error(), "stimulus one: no goals to infer") {
		t.Error(err)
	}
	none.Problem = nil
	if _, err := inference.New(none, nil); err == nil || err.Error() != "stimulus one has no problem" {
		t.Error(err)
	}
}
