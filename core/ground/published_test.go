package ground_test

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"foible/core/ground"
	"foible/core/pddl"
	"foible/core/published"
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

func TestPublished(t *testing.T) {
	for _, s := range publishedStimuli(t) {
		task := s.task(t)
		states, _, err := task.Validate(s.plan)
		if err != nil {
			t.Errorf("%s %s: %v", s.domain, s.id, err)
			continue
		}
		reached := -1
		for k, state := range states {
			if task.Satisfies(state, s.trueGoal) {
				reached = k
			}
		}
		if !task.Enumerate(0) {
			t.Errorf("%s %s: not enumerated", s.domain, s.id)
		}
		t.Logf("%s %s: %d operators, %d states, plan %d, true goal at %d", s.domain, s.id, len(task.Operators), task.Len(), len(s.plan), reached)
	}
}

func BenchmarkEnumeratePublished(b *testing.B) {
	stimuli := publishedStimuli(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range stimuli {
			s.task(b).Enumerate(0)
		}
	}
}
