package inference_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"foible/core/ground"
	"foible/core/heuristic"
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
	s := &study.Stimulus{ID: "one", JudgementSteps: []int{1}}
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
	s := inference.New(stimulus(t, "(switch red)\n(switch green)\n"), inference.Domain{})
	for _, value := range []string{"optimal", "on_policy"} {
		cell, err := s.Infer(set(0.5, value, -5), procedure, 1)
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
	s := inference.New(stimulus(t, "(switch red)\n"), inference.Domain{Heuristics: blind})
	seen := map[float64]string{}
	for _, p := range []*sweep.ParameterSet{set(0.5, "optimal", -5), set(1.5, "optimal", -5), set(0.5, "optimal", -7), set(0.5, "heuristic", -5)} {
		cell, err := s.Infer(p, procedure, 1)
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
	s := inference.New(stimulus(t, "(switch red)\n(switch red)\n(switch green)\n"), inference.Domain{})
	cell, err := s.Infer(set(1, "optimal", -5), procedure, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := &sweep.Undefined{Step: 2, Reason: "impossible at step 2, action (switch red)"}
	if !reflect.DeepEqual(cell.Undefined, want) || len(cell.Posterior) != 2 {
		t.Errorf("%+v, want %+v after 2 posteriors", cell, want)
	}
}

func TestRefusals(t *testing.T) {
	unknown, full := set(1, "optimal", -5), fullSet(0)
	unknown.Model = "dull"
	odd := procedure
	odd.ActionNoiseKind = "odd"
	bare := stimulus(t, "(switch red)\n")
	none := stimulus(t, "")
	none.Goals = nil
	empty := stimulus(t, "")
	empty.Problem = nil
	with := inference.Domain{Heuristics: blind}
	confusing := with
	confusing.Corruptions = func(goal string) []string { return []string{goal, "blue"} }
	confusing.Goal = func(string, *pddl.Problem) (string, error) { return "(lit blue)", nil }
	for _, c := range []struct {
		stimulus *study.Stimulus
		domain   inference.Domain
		set      *sweep.ParameterSet
		p        sweep.Procedure
		want     string
	}{
		{bare, with, unknown, procedure, `dull : no boundedly rational agent for model "dull"`},
		{bare, with, set(0, "optimal", -5), procedure, "boltzmann alpha=0 value=optimal unreachable_value=-5: alpha 0, unreachable value -5: not a Boltzmann agent"},
		{bare, inference.Domain{}, set(1, "heuristic", -5), procedure, "boltzmann alpha=1 value=heuristic unreachable_value=-5: the domain has no heuristic; use value: optimal"},
		{none, with, set(1, "optimal", -5), procedure, "stimulus one: no goals to infer"},
		{empty, with, set(1, "optimal", -5), procedure, "stimulus one has no problem"},
		{none, with, full, procedure, "stimulus one: no goals to infer"},
		{empty, with, full, procedure, "stimulus one has no problem"},
		{bare, inference.Domain{}, full, procedure, "stimulus one: the domain has no heuristic to plan with"},
		{bare, with, full, odd, `unknown action_noise_kind "odd"`},
		{bare, with, fullSet(2), procedure, "action_noise 2 is not a probability"},
		{bare, with, full, sweep.Procedure{Inference: sweep.DefaultInference, Stage: sweep.Stage{Runs: 1}}, "particles_per_goal 0 is below 1"},
		{bare, confusing, full, procedure, `goal "red" may be taken for "blue": blue:1:6: unknown object or function "blue"`},
	} {
		if _, err := inference.New(c.stimulus, c.domain).Infer(c.set, c.p, 1); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// What runs find is averaged: the posterior is near the exact one, the evidence
// too, and the runs are there one by one. The tolerance is 4.5 standard errors.
func TestInferByFilter(t *testing.T) {
	s := inference.New(stimulus(t, "(switch red)\n"), inference.Domain{Heuristics: blind})
	p := procedure
	p.ParticlesPerGoal, p.Runs = 2000, 20
	cell, err := s.Infer(fullSet(0.2), p, 1)
	if err != nil {
		t.Fatal(err)
	}
	parameters, err := inference.Agent(fullSet(0.2), p.Inference)
	if err != nil {
		t.Fatal(err)
	}
	sips, err := s.SIPS()
	if err != nil {
		t.Fatal(err)
	}
	exact, err := sips.Exact(parameters, inference.Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	for k := range exact.Posterior {
		for g, want := range exact.Posterior[k] {
			if math.Abs(cell.Posterior[k][g]-want) > 4.5*cell.SE[k][g]+1e-12 {
				t.Errorf("step %d: %v +- %v, want %v", k, cell.Posterior[k], cell.SE[k], want)
			}
		}
	}
	if math.Abs(cell.Evidence[1]-exact.Evidence[1]) > 0.02 {
		t.Errorf("evidence %v, want %v", cell.Evidence, exact.Evidence)
	}
	if len(cell.Runs) != 20 || cell.FailedRuns != 0 || cell.Alive[1] != 2 || !(cell.ESS[1] > 100) || cell.Undefined != nil {
		t.Errorf("%+v", cell)
	}
	again, err := s.Infer(fullSet(0.2), p, 1)
	if err != nil || !reflect.DeepEqual(cell, again) {
		t.Error("the same seed, another cell")
	}
}

// Without slips and bounds an agent switches one lamp and then rests: the second
// action has probability 0, in every run.
func TestInferWhereAllWeightsVanish(t *testing.T) {
	s := inference.New(stimulus(t, "(switch red)\n(switch green)\n"), inference.Domain{Heuristics: blind})
	lesioned := &sweep.ParameterSet{Model: "plan-lesioned"}
	lesioned.Set("goal_noise", sweep.Setting{Number: 0.2})
	lesioned.Set("action_noise", sweep.Setting{Number: 0})
	cell, err := s.Infer(lesioned, procedure, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := &sweep.Undefined{Step: 2, Reason: "zero probability at step 2, action (switch green)"}
	if !reflect.DeepEqual(cell.Undefined, want) || len(cell.Posterior) != 2 || cell.FailedRuns != 3 {
		t.Errorf("%+v, %+v", cell, cell.Undefined)
	}
}

var procedure = func() sweep.Procedure {
	p := sweep.Procedure{StageName: sweep.FitStage, Stage: sweep.Stage{Runs: 3, ParticlesPerGoal: 20}, Inference: sweep.DefaultInference}
	p.Observe = "exact"
	return p
}()

func blind(*ground.Task) (func(goal int) (*heuristic.Table, error), error) {
	return func(int) (*heuristic.Table, error) { return heuristic.Zero(), nil }, nil
}

func fullSet(actionNoise float64) *sweep.ParameterSet {
	s := &sweep.ParameterSet{Model: "full"}
	for axis, value := range map[string]float64{"goal_noise": 0.2, "budget_r": 2, "budget_q": 0.6, "search_noise": 0.1, "action_noise": actionNoise} {
		s.Set(axis, sweep.Setting{Number: value})
	}
	return s
}
