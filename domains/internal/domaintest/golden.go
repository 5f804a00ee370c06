// Package domaintest has the tests that every domain must pass: posteriors of
// its heuristic on the published stimuli ([Gap]), its sample study ([Sample])
// and its pictures ([Pictures]).
package domaintest

import (
	"encoding/csv"
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

// Stimulus is one published stimulus, grounded for its candidate goals.
type Stimulus struct {
	ID    string
	Goals []string
	Task  *ground.Task
	Plan  []pddl.Step
}

// Read reads the stimuli of a study directory. domainPDDL nil means that the
// directory has its own.
func Read(t testing.TB, dir string, domainPDDL []byte, goal func(string, *pddl.Problem) (string, error)) []Stimulus {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) []byte {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, name))
		must(err)
		return b
	}
	if domainPDDL == nil {
		domainPDDL = read("domain.pddl")
	}
	d, err := pddl.ParseDomain("domain.pddl", domainPDDL)
	must(err)
	var stimuli []Stimulus
	for _, row := range table(t, filepath.Join(dir, "stimuli.csv")) {
		s := Stimulus{ID: row["stimulus"], Goals: strings.Fields(row["goals"])}
		p, err := pddl.ParseProblem(s.ID+".pddl", read("problems/"+s.ID+".pddl"), d)
		must(err)
		s.Plan, err = pddl.ParsePlan(s.ID+".plan", read("plans/"+s.ID+".plan"))
		must(err)
		var formulas []pddl.Formula
		for _, name := range s.Goals {
			text, err := goal(name, p)
			must(err)
			f, err := pddl.ParseGoal(name, []byte(text), p)
			must(err)
			formulas = append(formulas, f)
		}
		s.Task, err = ground.New(p, formulas)
		must(err)
		stimuli = append(stimuli, s)
	}
	return stimuli
}

// Key names one posterior of the Boltzmann observer.
type Key struct {
	Stimulus, Value string
	Alpha           float64
	Step            int
	Goal            string
}

// Boltzmann are the posteriors of a domain.
func Boltzmann(t testing.TB, domain string) map[Key]float64 {
	t.Helper()
	m := map[Key]float64{}
	for _, row := range table(t, filepath.Join(published.Dir(t), "golden", "boltzmann.csv")) {
		if row["domain"] != domain {
			continue
		}
		alpha, errA := strconv.ParseFloat(row["alpha"], 64)
		step, errS := strconv.Atoi(row["step"])
		probability, errP := strconv.ParseFloat(row["probability"], 64)
		if errA != nil || errS != nil || errP != nil {
			t.Fatalf("boltzmann.csv: %v", row)
		}
		m[Key{row["stimulus"], row["value"], alpha, step, row["goal"]}] = probability
	}
	return m
}

func table(t testing.TB, file string) []map[string]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, r := range records[1:] {
		row := map[string]string{}
		for i, column := range records[0] {
			row[column] = r[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// Gap is the largest difference between the golden posteriors of an agent that
// values states by -h only and those computed with h. It also returns how
// many posteriors were compared, and where the gap is.
func Gap(t testing.TB, domain string, stimuli []Stimulus, h policy.HeuristicFunc) (gap float64, n int, where Key) {
	t.Helper()
	golden := Boltzmann(t, domain)
	alphas := map[string][]float64{}
	for k := range golden {
		if k.Value == string(policy.Heuristic) && !slices.Contains(alphas[k.Stimulus], k.Alpha) {
			alphas[k.Stimulus] = append(alphas[k.Stimulus], k.Alpha)
		}
	}
	for _, s := range stimuli {
		if alphas[s.ID] == nil {
			continue
		}
		o, err := policy.NewObserver(s.Task, s.Plan, h)
		if err != nil {
			t.Fatal(err)
		}
		for _, alpha := range alphas[s.ID] {
			post, err := o.Posterior(t.Context(), policy.Parameters{Alpha: alpha, Value: policy.Heuristic, Unreachable: -1000})
			if err != nil {
				t.Fatal(err)
			}
			for step, ps := range post.Goals {
				for g, p := range ps {
					k := Key{s.ID, string(policy.Heuristic), alpha, step, s.Goals[g]}
					want, ok := golden[k]
					if !ok {
						continue
					}
					n++
					if d := math.Abs(p - want); d > gap {
						gap, where = d, k
					}
				}
			}
		}
	}
	return gap, n, where
}
