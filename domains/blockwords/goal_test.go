package blockwords

import (
	"strings"
	"testing"

	"foible.dev/foible/core/pddl"
)

const letters = `(define (problem letters) (:domain block-words) (:objects p O w e r c - block)
  (:init (handempty) (clear p) (on p o) (ontable o) (ontable w) (clear w)))`

func parse(t testing.TB, problem string) *pddl.Problem {
	t.Helper()
	d, err := pddl.ParseDomain("domain.pddl", PDDL)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Warnings) > 0 {
		t.Errorf("domain.pddl: %v", d.Warnings)
	}
	p, err := pddl.ParseProblem("problem.pddl", []byte(problem), d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestGoal(t *testing.T) {
	p := parse(t, letters)
	for word, want := range map[string]string{
		"core": "(and (clear c) (on c O) (on O r) (on r e) (ontable e))",
		"CORE": "(and (clear c) (on c O) (on O r) (on r e) (ontable e))",
		"we":   "(and (clear w) (on w e) (ontable e))",
		"o":    "(and (clear O) (ontable O))",
	} {
		got, err := Goal(word, p)
		if err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", word, got, err, want)
			continue
		}
		if _, err := pddl.ParseGoal(word, []byte(got), p); err != nil {
			t.Errorf("%s: %v", word, err)
		}
	}
}

func TestGoalRefuses(t *testing.T) {
	p := parse(t, letters)
	for word, want := range map[string]string{
		"":       "a word needs at least one letter",
		"tower":  `word "tower" cannot be spelt: no block "t" among p, O, w, e, r, c`,
		"cocoo":  `word "cocoo" cannot be spelt: it needs "c" more than once and there is one block of it`,
		"pOo":    `word "pOo" cannot be spelt: it needs "o" more than once and there is one block of it`,
		"we re":  `no block " "`,
		"wé":     `no block "é"`,
		"(on p)": `no block "("`,
	} {
		got, err := Goal(word, p)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want %s", word, got, err, want)
		}
	}
}
