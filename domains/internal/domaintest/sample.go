package domaintest

import (
	"io/fs"
	"slices"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/study"
)

// Sample reads a sample study and checks what its files and figures rely on:
// nothing to complain of, 2 or more stimuli in each of these categories,
// valid plans with 3 to 5 judgement steps, small state spaces, goals that can
// all be reached at first and are not true yet. The first category is
// optimal; in the failing one the true goal is out of reach at the end, in the
// others the plan is longer than the shortest and ends at the true goal.
func Sample(t *testing.T, files fs.FS, src study.Source, categories []string, failing string) *study.Study {
	t.Helper()
	src.Stimuli, src.Responses = "stimuli.csv", "responses.csv"
	src.Problems, src.Plans = "problems/{stimulus}.pddl", "plans/{stimulus}.plan"
	st, findings := study.Read(files, src)
	if st == nil {
		t.Fatal(findings.Err())
	}
	checked, err := study.Check(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(findings, checked...) {
		if f.Severity != study.Note {
			t.Errorf("%v", f)
		}
	}
	count := map[string]int{}
	for i := range st.Stimuli {
		s := &st.Stimuli[i]
		count[s.Category]++
		if n := len(s.JudgementSteps); n < 3 || n > 5 {
			t.Errorf("%s: %d judgement steps", s.ID, n)
		}
		for j, n := range s.Human.N {
			if n != 20 || len(s.Human.Mean[j]) != len(s.Goals) {
				t.Errorf("%s, step %d: %d participants", s.ID, s.JudgementSteps[j], n)
			}
		}
		checkPlan(t, s, s.Category == categories[0], s.Category == failing)
	}
	for _, c := range categories {
		if count[c] < 2 {
			t.Errorf("%d stimuli in category %s", count[c], c)
		}
		delete(count, c)
	}
	if len(count) > 0 {
		t.Errorf("other categories: %v", count)
	}
	return st
}

func checkPlan(t *testing.T, s *study.Stimulus, optimal, fails bool) {
	t.Helper()
	task := Ground(t, s)
	states, _, err := task.Validate(s.Plan)
	if err != nil {
		t.Errorf("%s: %v", s.ID, err)
		return
	}
	last := states[len(states)-1]
	for g, goal := range s.Goals {
		if n := Distance(task, states[0], g); n < 1 {
			t.Errorf("%s: %s is %d actions away at first", s.ID, goal.Name, n)
		}
		if g != s.TrueGoal {
			continue
		}
		shortest, left := Distance(task, states[0], g), Distance(task, last, g)
		switch {
		case fails && left != -1:
			t.Errorf("%s: %s can still be reached at the end", s.ID, goal.Name)
		case !fails && left != 0:
			t.Errorf("%s: %s is not reached", s.ID, goal.Name)
		case !fails && optimal != (len(s.Plan) == shortest):
			t.Errorf("%s: %d actions, the shortest plan has %d, category %s", s.ID, len(s.Plan), shortest, s.Category)
		}
	}
	if _, err := task.Enumerate(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if n := task.Len(); n < 200 || n > 10_000 {
		t.Errorf("%s: %d states", s.ID, n)
	}
}

// Ground is the task of a stimulus.
func Ground(t testing.TB, s *study.Stimulus) *ground.Task {
	t.Helper()
	task, err := s.Task()
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// Distance is the length of the shortest plan from a state to a goal, -1 if there is none.
func Distance(task *ground.Task, from ground.StateID, goal int) int {
	seen := map[ground.StateID]bool{from: true}
	frontier := []ground.StateID{from}
	for n := 0; len(frontier) > 0; n++ {
		if slices.ContainsFunc(frontier, func(s ground.StateID) bool { return task.Satisfies(s, goal) }) {
			return n
		}
		var next []ground.StateID
		for _, s := range frontier {
			for _, succ := range task.Successors(s) {
				if !seen[succ.State] {
					seen[succ.State] = true
					next = append(next, succ.State)
				}
			}
		}
		frontier = next
	}
	return -1
}

// Source is what a study of a domain with its built-in PDDL is read by.
func Source(name string, domain []byte, goal func(string, *pddl.Problem) (string, error)) study.Source {
	return study.Source{Name: name + "-sample", Domain: name, BuiltinPDDL: domain, Goal: goal}
}
