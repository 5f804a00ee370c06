package doorskeysgems

import (
	"strings"
	"testing"

	"foible.dev/foible/core/pddl"
)

const room = `(define (problem room) (:domain doors-keys-gems)
  (:objects up down left right - direction key1 - key gem1 Gem2 ruby - gem)
  (:init (= (xdiff up) 0) (= (ydiff up) 1) (= (xdiff down) 0) (= (ydiff down) -1)
         (= (xdiff left) -1) (= (ydiff left) 0) (= (xdiff right) 1) (= (ydiff right) 0)
         (= (width) 5) (= (height) 3) (= (xpos) 1) (= (ypos) 1)
         (wall 3 1) (wall 3 2) (wall 5 2) (wall 4 1) (door 3 3)
         (at key1 1 3) (at gem1 4 3) (at Gem2 5 1) (at ruby 2 2)))`

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
	p := parse(t, room)
	for gem, want := range map[string]string{
		"gem1": "(has gem1)",
		"gem2": "(has Gem2)",
		"RUBY": "(has ruby)",
	} {
		got, err := Goal(gem, p)
		if err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", gem, got, err, want)
			continue
		}
		if _, err := pddl.ParseGoal(gem, []byte(got), p); err != nil {
			t.Errorf("%s: %v", gem, err)
		}
	}
}

func TestGoalRefuses(t *testing.T) {
	p := parse(t, room)
	for _, name := range []string{"", "gem3", "key1", "up", "(has gem1)", " gem1"} {
		got, err := Goal(name, p)
		if want := `: the gems are gem1, Gem2, ruby`; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want %s", name, got, err, want)
		}
	}
}

func TestColour(t *testing.T) {
	if Colour(0, "gem2") != Colour(1, "gem2") {
		t.Error("the colour of gem2 depends on where it stands among the goals")
	}
	if Colour(1, "ruby") != Colour(0, "gem2") || Colour(1, "gem0") != Colour(1, "ruby") {
		t.Error("a gem without a number is not coloured by its place")
	}
}
