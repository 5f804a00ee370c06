package pddl_test

import (
	"errors"
	"slices"
	"testing"

	"foible.dev/foible/core/pddl"
)

// Fast Downward reads all of these, and so do we; the first three are from domains of the
// planning competitions (storage 2006, logistics 2000, zenotravel 2002).
func TestAcceptedDomains(t *testing.T) {
	tests := []struct {
		name, src string
		warnings  []string
	}{
		{"a type in two lists", domain("(:requirements :typing) (:types area crate - thing\n area - place)"), nil},
		{"a parameter's name twice", domain("(:requirements :typing) (:types a b) (:predicates (in ?x - a ?x - b) (p ?x ?x))"), nil},
		{"a variable without a space before it", domain("(:predicates (on ?a ?b))\n(:action a :parameters (?x ?y) :precondition (on?x?y))"), []string{
			`x.pddl:3:49: a space is missing before "?x" in "on?x"`,
			`x.pddl:3:51: a space is missing before "?y" in "?x?y"`,
		}},
		{"a parameter's name twice of a function", domain("(:requirements :fluents) (:functions (f ?x ?x))"), nil},
		{"alternatives as supertypes", domain("(:requirements :typing) (:types a b - object c - (either a b))"), nil},
		{"a type listed twice", domain("(:requirements :typing) (:types a b a)"), []string{`x.pddl:2:37: type "a" is listed twice`}},
		{"a type in a list twice", domain("(:requirements :typing) (:types a - c b a - c)"), []string{`x.pddl:2:41: type "a" is listed twice as a "c"`}},
		{"a name that begins with a digit", "(define (domain 4x4-maze))", nil},
		{"the old name of negative preconditions", domain("(:requirements :negation) (:predicates (p))\n(:action a :precondition (not (p)))"), nil},
		{"sections in another order", domain("(:predicates (p ?x - t)) (:types t) (:requirements :typing)"), nil},
		{"an action of only a name", domain("(:action wait)"), nil},
		{"conditions and effects of nothing", domain("(:action wait :parameters () :precondition () :effect (and))"), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, err := pddl.ParseDomain("x.pddl", []byte(test.src))
			if err != nil {
				t.Fatal(err)
			}
			var warnings []string
			for _, w := range d.Warnings {
				warnings = append(warnings, w.String())
			}
			if !slices.Equal(warnings, test.warnings) {
				t.Errorf("warnings %q, want %q", warnings, test.warnings)
			}
		})
	}
}

// A type that is in two lists has both supertypes, in whatever order they come.
func TestTwoSupertypes(t *testing.T) {
	for _, src := range []string{
		"(:types area crate - surface place - object area - place)",
		"(:types area - place area crate - surface place - object)",
		"(:types crate - surface area - (either place surface) place - object)",
	} {
		d, err := pddl.ParseDomain("x.pddl", []byte(domain(src)))
		if err != nil {
			t.Fatal(err)
		}
		area := d.Type("area")
		for _, parent := range []string{"surface", "place", "object"} {
			if !area.Is(d.Type(parent)) {
				t.Errorf("%s: an area is no %s", src, parent)
			}
		}
		if area.Is(d.Type("crate")) || d.Type("place").Is(d.Type("surface")) {
			t.Errorf("%s: an area is a crate, or a place a surface", src)
		}
	}
}

func TestAcceptedProblems(t *testing.T) {
	for name, src := range map[string]string{
		"a name that begins with a digit": "(define (problem 4-2.pddl) (:domain small) (:init))",
		"a length":                        "(define (problem p) (:domain small) (:init) (:length (:serial 10)))",
		"a goal of nothing":               "(define (problem p) (:domain small) (:init) (:goal ()))",
	} {
		if _, err := pddl.ParseProblem("x.pddl", []byte(src), smallDomain(t)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	d, err := pddl.ParseDomain("x.pddl", []byte("(define (domain 4x4))"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pddl.ParseProblem("x.pddl", []byte("(define (problem p) (:domain 4X4) (:init))"), d); err != nil {
		t.Error(err)
	}
}

// A file is read on behind an error where nothing depends on what is wrong.
func TestEveryError(t *testing.T) {
	want := func(t *testing.T, err error, want ...string) {
		t.Helper()
		var got []string
		var all pddl.Errors
		if errors.As(err, &all) {
			for _, e := range all {
				got = append(got, e.Error())
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("errors %q, want %q", got, want)
		}
	}
	_, err := pddl.ParseDomain("x.pddl", []byte(domain("(:predicates (p))\n(:action a :effect (q))\n(:action b :effect (p))\n(:action c :precondition (r))")))
	want(t, err, `x.pddl:3:21: unknown predicate "q"`, `x.pddl:5:27: unknown predicate "r"`)
	// What depends on a declaration that is wrong is not read.
	_, err = pddl.ParseDomain("x.pddl", []byte(domain("(:predicates (p) (p) (2))\n(:action a :effect (q))")))
	want(t, err, `x.pddl:2:18: predicate "p" is declared twice`, `x.pddl:2:23: expected the name of a predicate, found "2"`)
	_, err = pddl.ParseDomain("x.pddl", []byte(domain("(:requirements :magic)\n(:action a :effect (q))")))
	want(t, err, `x.pddl:2:16: requirement ":magic" is not supported`, `x.pddl:3:21: unknown predicate "q"`)
	_, err = pddl.ParseProblem("x.pddl", []byte(problem("(clear a) (clear c)\n(on b d)", "(clear e)")), smallDomain(t))
	want(t, err, `x.pddl:3:25: unknown object or function "c"`, `x.pddl:4:7: unknown object or function "d"`, `x.pddl:5:15: unknown object or function "e"`)
	_, err = pddl.ParsePlan("x.plan", []byte("up\n(down)\n(left ?x)"))
	want(t, err, `x.plan:1:1: expected "(" to open an action, found "up"`, `x.plan:3:7: expected the name of an object, found "?x"`)
}
