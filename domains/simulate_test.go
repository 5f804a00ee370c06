package domains_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/random"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/domains"
	"foible.dev/foible/internal/chance"
)

// typical is a model's parameter set as the paper fitted it.
func typical(d *domains.Domain, m *model.Model) *model.ParameterSet {
	set := &model.ParameterSet{Model: m.Name}
	for _, name := range m.Axes {
		axis, _ := model.AxisByName(name)
		setting, _ := d.Fitted(m.Name, &axis)
		set.Set(name, setting)
	}
	return set
}

// samples are the sample studies of all domains.
func samples(t *testing.T) []*domains.Study {
	t.Helper()
	var all []*domains.Study
	for i := range domains.All {
		s, found := domains.Load(domains.All[i].Sample)
		if s == nil {
			t.Fatal(found.Err())
		}
		all = append(all, s)
	}
	return all
}

// Every agent's trajectories are plans that can be read and followed, they end at
// the goal where they say so, and what is marked is what happened.
func TestSimulatedPlans(t *testing.T) {
	for _, s := range samples(t) {
		for i := range s.Stimuli {
			st := &s.Stimuli[i]
			ready, err := s.Ready(st.ID)
			if err != nil {
				t.Fatal(err)
			}
			task, err := st.Task()
			if err != nil {
				t.Fatal(err)
			}
			for m := range model.Models {
				set := typical(s.Domain, &model.Models[m])
				for _, kind := range []string{"total", "per_action_odds"} {
					in := sweep.PaperInference
					in.ActionNoiseKind = kind
					goal := (i + m) % len(st.Goals)
					rng := random.RunStream(1, kind, set, st.ID, 0)
					trajectory, err := ready.Simulate(context.Background(), &inference.Simulation{Set: set, Inference: in, Goal: goal, Steps: 60}, rng)
					if err != nil {
						t.Fatal(err)
					}
					t.Run(fmt.Sprintf("%s/%s/%s/%s", s.Name, st.ID, set.Model, kind), func(t *testing.T) {
						if trajectory.Goal != st.Goals[goal].Name {
							t.Errorf("the goal is %s", trajectory.Goal)
						}
						checkPlan(t, task, goal, trajectory)
					})
				}
			}
		}
	}
}

func checkPlan(t *testing.T, task *ground.Task, goal int, trajectory *inference.Trajectory) {
	t.Helper()
	text := trajectory.Plan()
	plan, err := pddl.ParsePlan("simulated.plan", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	states, _, err := task.Validate(plan)
	if err != nil {
		t.Fatal(err)
	}
	if reached := task.Satisfies(states[len(states)-1], goal); reached != trajectory.Reached {
		t.Errorf("reached %v, its end %v", trajectory.Reached, reached)
	}
	for k, s := range states[:len(states)-1] {
		if task.Satisfies(s, goal) {
			t.Errorf("it goes on after the goal, at step %d", k)
		}
	}
	tally := trajectory.Tally()
	if tally.Actions != len(plan) || tally.Actions+tally.Stays != len(trajectory.Acts) {
		t.Errorf("%d actions, %d stays, %d acts; the plan has %d", tally.Actions, tally.Stays, len(trajectory.Acts), len(plan))
	}
	paths, known := tally.Paths.Get()
	if !known {
		t.Error("paths are not known")
	}
	for what, want := range map[string]int{
		"slip: meant": tally.Slips, "stayed put": tally.Stays, "goal taken for": confused(trajectory),
		"out of the way": paths.Detours, "into a dead end": paths.DeadEnds, "not the most probable": tally.Worse,
	} {
		if got := strings.Count(text, what); got != want {
			t.Errorf("%q is marked %d times, counted %d times\n%s", what, got, want, text)
		}
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, a := range trajectory.Acts {
		if a.Slip() && a.Goal != "" && a.Intended != "" && !strings.Contains(lines[i], "slip: meant "+a.Intended) {
			t.Errorf("line %d: %s; meant %s", i+1, lines[i], a.Intended)
		}
	}
}

// confused counts the steps at which another goal than before, and than the original, is pursued.
func confused(trajectory *inference.Trajectory) int {
	n := 0
	goal := trajectory.Goal
	for _, a := range trajectory.Acts {
		if a.Goal != "" && a.Goal != goal && a.Goal != trajectory.Goal {
			n++
		}
		goal = a.Goal
	}
	return n
}

// Slips are as frequent as action_noise says, confusions and their ends as
// goal_noise says: within [chance.Bound]. A lesioned agent makes none of the
// mistakes that it lacks.
func TestSimulatedMistakesAreAsFrequentAsTheParametersSay(t *testing.T) {
	chance.Repeat(t, simulatedMistakes)
}

func simulatedMistakes(t *testing.T) {
	for _, s := range samples(t) {
		ready, err := s.Ready(s.Stimuli[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		for m := range model.Models {
			named := &model.Models[m]
			if named.Exact {
				continue
			}
			set := typical(s.Domain, named)
			detours := 0
			var sum inference.Tally
			var steps, sane, returns, mad int
			for i := range 400 {
				trajectory, err := ready.Simulate(context.Background(), &inference.Simulation{Set: set, Inference: sweep.PaperInference, Steps: 60}, random.RunStream(chance.Seed(3), "simulate", set, "", i))
				if err != nil {
					t.Fatal(err)
				}
				n := trajectory.Tally()
				steps += len(trajectory.Acts)
				sum.Slips += n.Slips
				sum.Confusions += n.Confusions
				paths, _ := n.Paths.Get()
				detours += paths.Detours
				goal := trajectory.Goal
				for _, a := range trajectory.Acts {
					if goal == trajectory.Goal {
						sane++
					} else if mad++; a.Goal == trajectory.Goal {
						returns++
					}
					goal = a.Goal
				}
			}
			within(t, fmt.Sprintf("%s, %s: slips", s.Name, set), sum.Slips, steps, set.ActionNoise.Number)
			if s.Domain.Corruptions != nil {
				orders := float64(len(s.Domain.Corruptions(s.Stimuli[0].Goals[0].Name))) // one of them is no mistake
				within(t, fmt.Sprintf("%s, %s: confusions", s.Name, set), sum.Confusions, sane, set.GoalNoise.Number*(1-1/orders))
				within(t, fmt.Sprintf("%s, %s: returns", s.Name, set), returns, mad, set.GoalNoise.Number)
			}
			if named.Name == "plan-lesioned" && s.Domain.Name == "doors-keys-gems" && detours > 0 { // its heuristic is admissible
				t.Errorf("%s, %s: %d plans out of the way", s.Name, set, detours)
			}
			if none := !named.Has("goal_noise") || s.Domain.Corruptions == nil; none != (sum.Confusions == 0) {
				t.Errorf("%s, %s: %d confusions", s.Name, set, sum.Confusions)
			}
		}
	}
}

// within checks a share against a probability; there are less than 100 of them in a test.
func within(t *testing.T, what string, n, of int, p float64) {
	t.Helper()
	if of == 0 && p == 0 {
		return
	}
	se := math.Sqrt(p * (1 - p) / float64(of))
	if share := float64(n) / float64(of); !(math.Abs(share-p) <= chance.Bound(100, chance.Known)*se) {
		t.Errorf("%s: %d of %d, %.4f; want %.4f ± %.4f", what, n, of, share, p, se)
	}
}

// A trajectory depends on its own random stream alone.
func TestSimulationIsReproducible(t *testing.T) {
	for _, s := range samples(t) {
		for m := range model.Models {
			set := typical(s.Domain, &model.Models[m])
			simulate := func(from int) (all []*inference.Trajectory) {
				ready, err := s.Ready(s.Stimuli[0].ID)
				if err != nil {
					t.Fatal(err)
				}
				for i := from; i < 4; i++ {
					trajectory, err := ready.Simulate(context.Background(), &inference.Simulation{Set: set, Inference: sweep.PaperInference, Steps: 60}, random.RunStream(chance.Seed(3), "simulate", set, "", i))
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, trajectory)
				}
				return all
			}
			if all, last := simulate(0), simulate(3); !reflect.DeepEqual(all[3], last[0]) {
				t.Errorf("%s, %s: another trajectory after others than alone", s.Name, set)
			}
		}
	}
}

// The paper's fitted parameters are points of the domains' grids, and every axis has a setting.
func TestFitted(t *testing.T) {
	for i := range domains.All {
		d := &domains.All[i]
		for m := range model.Models {
			for _, name := range model.Models[m].Axes {
				axis, _ := model.AxisByName(name)
				setting, _ := d.Fitted(model.Models[m].Name, &axis)
				if err := axis.Check(setting); err != nil {
					t.Errorf("%s, %s: %v", d.Name, model.Models[m].Name, err)
				}
			}
		}
	}
}

func TestPicturesOfJudgementSteps(t *testing.T) {
	for _, s := range samples(t) {
		for i := range s.Stimuli {
			st := &s.Stimuli[i]
			pictures, err := s.Pictures(st, st.JudgementSteps)
			if err != nil || len(pictures) != len(st.JudgementSteps) {
				t.Errorf("%s: %d pictures of %d steps, %v", st.ID, len(pictures), len(st.JudgementSteps), err)
			}
		}
		st := s.Stimuli[0]
		st.Plan = append(st.Plan[:1:1], pddl.Step{Name: "fly"})
		if pictures, err := s.Pictures(&st, st.JudgementSteps); err != nil || len(pictures) != 1 {
			t.Errorf("of a plan that ends after 1 action: %d pictures, %v", len(pictures), err)
		}
	}
}
