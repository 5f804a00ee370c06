package policy_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/policy"
	"foible.dev/foible/core/published"
)

func readCSV(t testing.TB, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

func readFile(t testing.TB, path ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// stimulus is a published stimulus, parsed.
type stimulus struct {
	domain, id string
	problem    *pddl.Problem
	plan       []pddl.Step
	names      []string // of the goals
	goals      []pddl.Formula
}

// stimuli are all that were published. Words are towers, gems are held.
func stimuli(t testing.TB) (all []stimulus) {
	t.Helper()
	for _, domain := range []string{"block-words", "doors-keys-gems"} {
		dir := filepath.Join(published.Dir(t), "mistakes-2021", domain)
		d, err := pddl.ParseDomain("domain.pddl", readFile(t, dir, "domain.pddl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range readCSV(t, filepath.Join(dir, "stimuli.csv")) {
			s := stimulus{domain: domain, id: row[0], names: strings.Fields(row[2])}
			if s.problem, err = pddl.ParseProblem("problem.pddl", readFile(t, dir, "problems", s.id+".pddl"), d); err != nil {
				t.Fatal(err)
			}
			if s.plan, err = pddl.ParsePlan("plan", readFile(t, dir, "plans", s.id+".plan")); err != nil {
				t.Fatal(err)
			}
			for _, name := range s.names {
				text := "(has " + name + ")"
				if domain == "block-words" {
					text = fmt.Sprintf("(and (clear %c)", name[0])
					for i := range len(name) - 1 {
						text += fmt.Sprintf(" (on %c %c)", name[i], name[i+1])
					}
					text += fmt.Sprintf(" (ontable %c))", name[len(name)-1])
				}
				goal, err := pddl.ParseGoal("goal", []byte(text), s.problem)
				if err != nil {
					t.Fatal(err)
				}
				s.goals = append(s.goals, goal)
			}
			all = append(all, s)
		}
	}
	return all
}

// observer grounds the stimulus and follows its plan.
func (s *stimulus) observer(t testing.TB) *policy.Observer {
	t.Helper()
	task, err := ground.New(s.problem, s.goals)
	if err != nil {
		t.Fatal(err)
	}
	o, err := policy.NewObserver(task, s.plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// The golden posteriors come from an independent implementation; its on-policy
// values are iterated to 1e-10.
func TestPublishedPosteriors(t *testing.T) {
	tolerance := map[string]float64{"optimal": 1e-9, "on_policy": 1e-7}
	worst := map[string]float64{}
	compared := map[string]int{}
	type key struct{ domain, stimulus string }
	observers := map[key]*policy.Observer{}
	names := map[key][]string{}
	for _, s := range stimuli(t) {
		k := key{s.domain, s.id}
		observers[k], names[k] = s.observer(t), s.names
	}
	type run struct {
		key
		value, alpha string
	}
	posteriors := map[run]*policy.Posterior{}
	for _, row := range readCSV(t, filepath.Join(published.Dir(t), "golden", "boltzmann.csv")) {
		k := key{row[0], row[1]}
		r := run{k, row[2], row[3]}
		limit, ok := tolerance[r.value]
		if !ok {
			continue
		}
		if posteriors[r] == nil {
			alpha, _ := strconv.ParseFloat(r.alpha, 64)
			p, err := observers[k].Posterior(context.Background(), policy.Parameters{Alpha: alpha, Value: policy.Value(r.value), Unreachable: -1000})
			if err != nil {
				t.Fatal(err)
			}
			posteriors[r] = p
		}
		step, _ := strconv.Atoi(row[4])
		want, _ := strconv.ParseFloat(row[6], 64)
		got := posteriors[r].Goals[step][slices.Index(names[k], row[5])]
		gap := math.Abs(got - want)
		worst[r.value] = max(worst[r.value], gap)
		compared[r.value]++
		if !(gap <= limit) {
			t.Errorf("%v step %d goal %s: %v, want %v", r, step, row[5], got, want)
		}
	}
	for value := range tolerance {
		if compared[value] < 3000 {
			t.Errorf("%s: only %d posteriors compared", value, compared[value])
		}
		t.Logf("%s: %d posteriors, largest difference %.1e", value, compared[value], worst[value])
	}
}
