package ground_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/published"
)

// stimulus is a published stimulus, parsed.
type stimulus struct {
	domain, id string
	problem    *pddl.Problem
	goals      []pddl.Formula
	trueGoal   int
	plan       []pddl.Step
}

func (s stimulus) task(t testing.TB) *ground.Task {
	t.Helper()
	task, err := ground.New(s.problem, s.goals)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

func publishedStimuli(t testing.TB) []stimulus {
	t.Helper()
	var stimuli []stimulus
	for _, domain := range []string{"block-words", "doors-keys-gems"} {
		dir := filepath.Join(published.Dir(t), "mistakes-2021", domain)
		d, err := pddl.ParseDomain("domain.pddl", readFile(t, dir, "domain.pddl"))
		check(t, err)
		rows, err := csv.NewReader(bytes.NewReader(readFile(t, dir, "stimuli.csv"))).ReadAll()
		check(t, err)
		for _, row := range rows[1:] {
			s := stimulus{domain: domain, id: row[0]}
			s.problem, err = pddl.ParseProblem(s.id+".pddl", readFile(t, dir, "problems", s.id+".pddl"), d)
			check(t, err)
			s.plan, err = pddl.ParsePlan(s.id+".plan", readFile(t, dir, "plans", s.id+".plan"))
			check(t, err)
			for i, name := range strings.Fields(row[2]) {
				f, err := pddl.ParseGoal(name, []byte(goalText(domain, name)), s.problem)
				check(t, err)
				s.goals = append(s.goals, f)
				if name == row[3] {
					s.trueGoal = i
				}
			}
			stimuli = append(stimuli, s)
		}
	}
	return stimuli
}

// goalText is a gem to have, or a word as a tower read from the top.
func goalText(domain, name string) string {
	if domain == "doors-keys-gems" {
		return "(has " + name + ")"
	}
	text := "(and (clear " + name[:1] + ")"
	for i := range len(name) - 1 {
		text += " (on " + name[i:i+1] + " " + name[i+1:i+2] + ")"
	}
	return text + " (ontable " + name[len(name)-1:] + "))"
}

func readFile(t testing.TB, path ...string) []byte {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(path...))
	check(t, err)
	return src
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The counts are those of an independent implementation. In the last four Doors, Keys & Gems stimuli the agent
// locks itself out and stops.
func TestPublished(t *testing.T) {
	fewest, most := 1<<30, 0
	for _, s := range publishedStimuli(t) {
		t.Run(s.domain+" "+s.id, func(t *testing.T) {
			task := s.task(t)
			states, ops, err := task.Validate(s.plan)
			check(t, err)
			if len(states) != len(s.plan)+1 || len(ops) != len(s.plan) || states[0] != task.Initial() {
				t.Fatalf("%d states and %d operators for %d steps", len(states), len(ops), len(s.plan))
			}
			fails := s.domain == "doors-keys-gems" && s.id[0] == '4'
			for k, state := range states {
				want := k == len(states)-1 && !fails
				if task.Satisfies(state, s.trueGoal) != want {
					t.Errorf("after %d of %d steps the true goal is %v", k, len(s.plan), !want)
				}
			}
			if !must(task.Enumerate(context.Background(), 0)) || !must(task.Enumerate(context.Background(), task.Len())) || must(task.Enumerate(context.Background(), task.Len()-1)) {
				t.Error("Enumerate does not know that it is complete")
			}
			if s.domain == "block-words" {
				if task.Len() != 7057 {
					t.Errorf("%d states, want 7057", task.Len())
				}
				return
			}
			fewest, most = min(fewest, task.Len()), max(most, task.Len())
		})
	}
	if fewest != 851 || most != 1760 {
		t.Errorf("%d to %d states in Doors, Keys & Gems, want 851 to 1760", fewest, most)
	}
}

func TestPublishedEqualNaive(t *testing.T) {
	for i, s := range publishedStimuli(t) {
		if i%5 == 0 {
			t.Run(s.domain+" "+s.id, func(t *testing.T) {
				compare(t, s.task(t), rand.New(rand.NewPCG(6, uint64(i))), 15)
			})
		}
	}
}

func TestSuccessorsAreCached(t *testing.T) {
	task := publishedStimuli(t)[0].task(t)
	s := task.Initial()
	first := task.Successors(s)
	if n := testing.AllocsPerRun(100, func() { task.Successors(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if again := task.Successors(s); &again[0] != &first[0] || cap(again) != len(again) {
		t.Error("successors are not the same slice")
	}
}

// All 32 stimuli.
func BenchmarkEnumeratePublished(b *testing.B) {
	stimuli := publishedStimuli(b)
	b.ReportAllocs()
	states := 0
	for b.Loop() {
		states = 0
		for _, s := range stimuli {
			task := s.task(b)
			must(task.Enumerate(context.Background(), 0))
			states += task.Len()
		}
	}
	b.ReportMetric(float64(states), "states")
}

func BenchmarkNewPublished(b *testing.B) {
	stimuli := publishedStimuli(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range stimuli {
			s.task(b)
		}
	}
}

func BenchmarkSuccessorsCached(b *testing.B) {
	task := publishedStimuli(b)[0].task(b)
	must(task.Enumerate(context.Background(), 0))
	s := ground.StateID(0)
	for b.Loop() {
		if s++; int(s) == task.Len() {
			s = 0
		}
		task.Successors(s)
	}
}
