package study_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"foible.dev/foible/core/study"
)

func TestCheck(t *testing.T) {
	files := swapped(lamps(), "plans/two.plan", "(switch red)", "(switch blue)")
	files = swapped(files, "stimuli.csv", "red green,red", "red green white broken,red")
	files = swapped(files, "plans/one.plan", "red", "purple")
	source := lampsSource()
	source.Responses, source.Simulated = "", "by a coin"
	s, findings := study.Read(folder(files), source)
	noErrors(t, findings)
	compare(t, "check", printed(must(study.Check(context.Background(), s))), []string{
		`plans/one.plan:1:1: error: stimulus one: step 1: (switch purple) is not applicable: unknown object "purple"`,
		`plans/two.plan:2:1: error: stimulus two: step 2: (switch blue) is not applicable: precondition (dark blue) does not hold`,
		`stimuli.csv:2:21: warning: stimulus one: goal "white" is true at the start`,
		`stimuli.csv:2:27: warning: stimulus one: goal "broken" cannot be reached from the start`,
		`note: stimuli: 2 (plain 1, odd 1)`,
		`note: no people: simulated, by a coin`,
	})
}

func TestCheckCountsParticipants(t *testing.T) {
	source := lampsSource()
	source.ParticipantsLinked = true
	s, findings := study.Read(folder(lamps()), source)
	noErrors(t, findings)
	compare(t, "check", printed(must(study.Check(context.Background(), s))), []string{
		`stimuli.csv:3:1: warning: stimulus two: only one participant at step 1: no standard error`,
		`note: stimuli: 2 (plain 1, odd 1)`,
		`note: participants per judgement: 1 to 2, median 2`,
		`note: participants that answered only some judgement steps of a stimulus: 1`,
	})
}

// 20 lamps have 2^20 states, more than CheckLimit.
func TestCheckStopsAtItsLimit(t *testing.T) {
	var objects, facts strings.Builder
	for i := range 20 {
		fmt.Fprintf(&objects, " lamp%d", i)
		fmt.Fprintf(&facts, " (dark lamp%d)", i)
	}
	files := swapped(lamps(), "problem.pddl", "(:objects", "(:objects"+objects.String())
	files = swapped(files, "problem.pddl", "(:init", "(:init"+facts.String())
	files = swapped(files, "stimuli.csv", "red green,", "red broken,")
	files["stimuli.csv"] = files["stimuli.csv"][:strings.Index(files["stimuli.csv"], "two")]
	source := lampsSource()
	source.Responses = ""
	s, findings := study.Read(folder(files), source)
	noErrors(t, findings)
	compare(t, "check", printed(must(study.Check(context.Background(), s))), []string{
		`stimuli.csv:2:15: note: stimulus one: goal "broken" is not reached in the first 200,000 states: not checked further`,
		`note: stimuli: 1 (plain 1)`,
	})
}

// Check goes over what could be read of a study with errors.
func TestCheckOfBrokenStudy(t *testing.T) {
	for name := range lamps() {
		files := lamps()
		files[name] = strings.Replace(files[name], "red", "(", 1)
		s, _ := study.Read(folder(files), lampsSource())
		if s != nil {
			must(study.Check(context.Background(), s))
		}
	}
}

// must returns what a call has found; no test here lets it fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A number that only grows makes every state a new one: it is reported once for all stimuli, as an error if it is what
// actions cost.
func TestCheckOfNumbersThatNothingReads(t *testing.T) {
	for name, want := range map[string]string{
		"total-cost": `domain.pddl:8:42: error: (increase (total-cost) 1) is a cost of the action, and every action costs 1: take the effect out, or every state is a new one`,
		"switched":   `domain.pddl:8:42: warning: no condition and no goal reads (switched), so that (increase (switched) 1) makes every state a new one: take the effect out`,
	} {
		files := swapped(lamps(), "domain.pddl", "(:types lamp)", "(:types lamp) (:functions ("+name+"))")
		files = swapped(files, "domain.pddl", "(not (dark ?l))", "(not (dark ?l)) (increase ("+name+") 1)")
		files = swapped(files, "domain.pddl", ":typing", ":typing :fluents")
		files = swapped(files, "problem.pddl", "(:init", "(:init (= ("+name+") 0)")
		s, findings := study.Read(folder(files), lampsSource())
		noErrors(t, findings)
		if got := printed(must(study.Check(t.Context(), s))); len(got) == 0 || got[0] != want || strings.Contains(strings.Join(got[1:], "\n"), "domain.pddl") {
			t.Errorf("%s: got %q\nwant first %q", name, got, want)
		}
	}
}

// What is wrong with a file that stimuli share is said once.
func TestSharedFiles(t *testing.T) {
	files := swapped(lamps(), "problem.pddl", "(lit white)", "(lit white) (lit grey) (dark grey)")
	files["plan"] = "switch red\n"
	source := lampsSource()
	source.Plans = "plan"
	source.Responses = ""
	_, findings := study.Read(folder(files), source)
	compare(t, "findings", printed(findings), []string{
		`plan:1:1: error: stimulus one: expected "(" to open an action, found "switch"`,
		`problem.pddl:4:63: error: stimulus one: unknown object or function "grey" (and in 1 more place)`,
		`study.yaml: warning: plans: plan has no {stimulus}: every stimulus shows the same plan`,
		`study.yaml: warning: neither responses nor means: models cannot be compared with people`,
	})
}
