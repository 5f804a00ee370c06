package inference_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/heuristic"
	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
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

func set(alpha float64, value string, unreachable float64) *model.ParameterSet {
	s := &model.ParameterSet{Model: "boltzmann"}
	s.Set("alpha", model.Setting{Number: alpha})
	s.Set("value", model.Setting{Word: value})
	s.Set("unreachable_value", model.Setting{Number: unreachable})
	return s
}

// The first action settles it: the other goal is out of reach then, worth -5.
// The second one leads to a state from which neither can be reached.
func TestInfer(t *testing.T) {
	s := inference.New(stimulus(t, "(switch red)\n(switch green)\n"), inference.Domain{})
	for _, value := range []string{"optimal", "on_policy"} {
		cell, err := s.Infer(context.Background(), set(0.5, value, -5), sweep.Procedure{}, 0)
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
	s := inference.New(stimulus(t, "(switch red)\n"), blind())
	seen := map[float64]string{}
	for _, p := range []*model.ParameterSet{set(0.5, "optimal", -5), set(1.5, "optimal", -5), set(0.5, "optimal", -7), set(0.5, "heuristic", -5)} {
		cell, err := s.Infer(context.Background(), p, sweep.Procedure{}, 0)
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
	cell, err := s.Infer(context.Background(), set(1, "optimal", -5), sweep.Procedure{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := &result.Undefined{Step: 2, Reason: "impossible at step 2, action (switch red)"}
	if !reflect.DeepEqual(cell.Undefined, want) || len(cell.Posterior) != 2 {
		t.Errorf("%+v, want %+v after 2 posteriors", cell, want)
	}
}

func TestRefusals(t *testing.T) {
	s := inference.New(stimulus(t, "(switch red)\n"), inference.Domain{})
	unknown := set(1, "optimal", -5)
	unknown.Model = "dull"
	for want, p := range map[string]*model.ParameterSet{
		`dull : no boundedly rational agent for model "dull"`:                                                        unknown,
		`boltzmann alpha=0 value=optimal unreachable_value=-5: alpha 0, unreachable value -5: not a Boltzmann agent`: set(0, "optimal", -5),
		`boltzmann alpha=1 value=heuristic unreachable_value=-5: the domain has no heuristic; use value: optimal`:    set(1, "heuristic", -5),
	} {
		if _, err := s.Infer(context.Background(), p, sweep.Procedure{}, 0); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	p := procedure()
	for want, change := range map[string]func(*model.ParameterSet, *sweep.Procedure){
		"0 runs of a model that is not exact":                               func(_ *model.ParameterSet, p *sweep.Procedure) { p.Runs = 0 },
		"particles_per_goal 0 is below 1":                                   func(_ *model.ParameterSet, p *sweep.Procedure) { p.ParticlesPerGoal = 0 },
		`unknown action_noise_kind "slips"`:                                 func(_ *model.ParameterSet, p *sweep.Procedure) { p.ActionNoiseKind = "slips" },
		`resample "often"; it can be ess, always, never`:                    func(_ *model.ParameterSet, p *sweep.Procedure) { p.Resample = "often" },
		`resample kind "fair"; it can be residual, systematic, multinomial`: func(_ *model.ParameterSet, p *sweep.Procedure) { p.ResampleKind = "fair" },
		"budget_r 0 is below 1":                                             func(s *model.ParameterSet, _ *sweep.Procedure) { s.Set("budget_r", model.Setting{}) },
		"budget_q 1 is not in [0, 1)":                                       func(s *model.ParameterSet, _ *sweep.Procedure) { s.Set("budget_q", model.Setting{Number: 1}) },
		"action_noise 2 is not a probability":                               func(s *model.ParameterSet, _ *sweep.Procedure) { s.Set("action_noise", model.Setting{Number: 2}) },
	} {
		set, p := bounded("full"), p
		change(set, &p)
		if _, err := inference.New(stimulus(t, "(switch red)\n"), blind()).Infer(context.Background(), set, p, 0); err == nil || err.Error() != set.String()+": "+want {
			t.Errorf("got %v, want %s: %s", err, set, want)
		}
	}
	if _, err := s.Infer(context.Background(), bounded("full"), p, 0); err == nil || !strings.HasSuffix(err.Error(), ": stimulus one: the domain has no heuristic") {
		t.Error(err)
	}
	none := stimulus(t, "")
	none.Goals = nil
	for _, m := range []*model.ParameterSet{set(1, "optimal", -5), bounded("full")} {
		if _, err := inference.New(none, blind()).Infer(context.Background(), m, p, 0); err == nil || err.Error() != m.String()+": stimulus one: no goals to infer" {
			t.Error(err)
		}
	}
	none.Problem = nil
	for _, m := range []*model.ParameterSet{set(1, "optimal", -5), bounded("full")} {
		if _, err := inference.New(none, blind()).Infer(context.Background(), m, p, 0); err == nil || err.Error() != m.String()+": stimulus one has no problem" {
			t.Error(err)
		}
	}
}

// blind is a domain whose heuristic says nothing.
func blind() inference.Domain {
	return inference.Domain{Heuristics: func(*ground.Task) (func(int) (*heuristic.Table, error), error) {
		return func(int) (*heuristic.Table, error) { return heuristic.Zero(), nil }, nil
	}}
}

// bounded is a parameter set of a boundedly rational agent.
func bounded(name string) *model.ParameterSet {
	s := &model.ParameterSet{Model: name}
	m, _ := model.ByName(name)
	for axis, x := range map[string]float64{"goal_noise": 0.1, "budget_r": 2, "budget_q": 0.9, "search_noise": 0.02, "action_noise": 0.2} {
		if m.Has(axis) {
			s.Set(axis, model.Setting{Number: x})
		}
	}
	return s
}

// A parameter set that cannot be used has an error in its place; those around it have the cells that they have alone,
// whichever method infers them, and however many could be inferred together.
func TestInferAllGoesOn(t *testing.T) {
	st := stimulus(t, "(switch red)\n")
	st.JudgementSteps = []int{0, 1}
	broken := bounded("full")
	broken.Set("action_noise", model.Setting{Number: 2})
	var sets []model.ParameterSet
	for _, noise := range []float64{0.1, 0.2, 0.3, 0.4} {
		one := bounded("full")
		one.Set("goal_noise", model.Setting{Number: noise})
		sets = append(sets, *one)
	}
	sets = slices.Insert(sets, 2, *broken)
	sets = append(sets, *set(0, "optimal", -5), *set(1, "optimal", -5), *broken)
	marginal := sweep.Procedure{StageName: sweep.FitStage, Stage: sweep.MarginalFit, Inference: sweep.MarginalInference, Detail: sweep.DetailJudged}
	for _, p := range []sweep.Procedure{procedure(), marginal} {
		ready := inference.New(st, blind())
		i := 0
		for cell, err := range ready.InferAll(t.Context(), sets, p, 1) {
			want, wrong := inference.New(st, blind()).Infer(t.Context(), &sets[i], p, 1)
			if (err == nil) != (wrong == nil) || !reflect.DeepEqual(cell, want) {
				t.Errorf("%s, %s: got %v, %v, want %v, %v", p.Method, &sets[i], cell, err, want, wrong)
			}
			if err != nil && sets[i].String()+": "+err.Error() != wrong.Error() {
				t.Errorf("%v, alone %v", err, wrong)
			}
			i++
		}
		if i != len(sets) {
			t.Errorf("%s: %d results for %d parameter sets", p.Method, i, len(sets))
		}
	}
}

func procedure() sweep.Procedure {
	return sweep.Procedure{StageName: sweep.FitStage, Stage: sweep.Stage{Runs: 4, ParticlesPerGoal: 30}, Inference: sweep.PaperInference}
}

// A cell with more runs than before, or fewer, is the same whether those are remembered or not.
func TestRunsAreRemembered(t *testing.T) {
	st := stimulus(t, "(switch red)\n")
	st.JudgementSteps = []int{0, 1}
	ready := inference.New(st, blind())
	ready.Remember(1 << 20)
	for _, runs := range []int{3, 6, 4, 12} {
		for _, model := range []string{"full", "plan-lesioned"} {
			for _, stage := range []string{sweep.FitStage, sweep.ReportStage} {
				p := procedure()
				p.StageName, p.Runs = stage, runs
				got, err := ready.Infer(context.Background(), bounded(model), p, 1)
				if err != nil {
					t.Fatal(err)
				}
				want, err := inference.New(st, blind()).Infer(context.Background(), bounded(model), p, 1)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s, %d runs of %s: %v, want %v, %v", model, runs, stage, got, want, err)
				}
			}
		}
	}
}

// A cell of a particle filter is the mean of its runs, with their spread at the
// judgement steps; it depends on seed and stage, and on nothing else.
func TestSampledCell(t *testing.T) {
	st := stimulus(t, "(switch red)\n")
	st.JudgementSteps = []int{0, 1}
	infer := func(model string, p sweep.Procedure, seed uint64) result.Cell {
		t.Helper()
		cell, err := inference.New(st, blind()).Infer(context.Background(), bounded(model), p, seed)
		if err != nil {
			t.Fatal(err)
		}
		return cell
	}
	for _, model := range []string{"full", "goal-lesioned", "plan-lesioned", "action-lesioned"} {
		p := procedure()
		cell := infer(model, p, 1)
		if len(cell.Posterior) != 2 || len(cell.SE) != 2 || cell.Runs.Len() != 4 || len(cell.ESS) != 2 || len(cell.Alive) != 2 || len(cell.Evidence) != 2 || cell.FailedRuns != 0 || cell.Undefined != nil {
			t.Fatalf("%s: %+v", model, cell)
		}
		for step := range cell.Posterior {
			for goal, x := range cell.Posterior[step] {
				var mean, squares float64
				for run := range 4 {
					mean += cell.Runs.At(run, step, goal) / 4
				}
				for run := range 4 {
					off := cell.Runs.At(run, step, goal) - mean
					squares += off * off
				}
				if se := math.Sqrt(squares / 3 / 4); math.Abs(x-mean) > 1e-12 || math.Abs(cell.SE[step][goal]-se) > 1e-12 {
					t.Errorf("%s, step %d, goal %d: %v ± %v, the runs have %v ± %v", model, step, goal, x, cell.SE[step][goal], mean, se)
				}
			}
		}
		if cell.Posterior[1][0] < 0.75 { // a slip of 0.2 among two actions is all that speaks for the other goal
			t.Errorf("%s: %v after the first action", model, cell.Posterior[1])
		}
		if again := infer(model, p, 1); !reflect.DeepEqual(again, cell) {
			t.Errorf("%s: another cell the second time", model)
		}
		report := p
		report.StageName = sweep.ReportStage
		if model != "action-lesioned" && (reflect.DeepEqual(infer(model, p, 2), cell) || reflect.DeepEqual(infer(model, report, 1), cell)) {
			t.Errorf("%s: another seed, or stage, gives the same cell", model)
		}
	}
}

// An action that no goal explains ends the cell with a reason, and what was
// before it stays.
func TestSampledCellIsUndefined(t *testing.T) {
	st := stimulus(t, "(switch red)\n(switch red)\n(switch green)\n")
	st.JudgementSteps = []int{0, 1, 3}
	p := procedure()
	cell, err := inference.New(st, blind()).Infer(context.Background(), bounded("full"), p, 1)
	if err != nil {
		t.Fatal(err)
	}
	if cell.Undefined == nil || cell.Undefined.Step != 2 || !strings.Contains(cell.Undefined.Reason, "step 2, action (switch red)") {
		t.Errorf("%+v", cell.Undefined)
	}
	if len(cell.Posterior) != 2 || len(cell.ESS) != 2 || cell.FailedRuns != 4 || cell.Runs.Len() != 4 || cell.Runs.Rows() != 2 {
		t.Errorf("%+v", cell)
	}
}
