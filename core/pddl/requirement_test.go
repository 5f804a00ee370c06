package pddl_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/pddl"
)

// examples are the names of the domains in testdata.
func examples(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*-domain.pddl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for i, path := range paths {
		paths[i] = strings.TrimSuffix(filepath.Base(path), "-domain.pddl")
	}
	return paths
}

func example(t testing.TB, name string) string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("testdata", name+".pddl"))
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// Every example needs just the requirements that it lists: without one of them there is
// one warning, which names it.
func TestMissingRequirement(t *testing.T) {
	names := map[string]string{":fluents": ":numeric-fluents"}
	for _, name := range examples(t) {
		t.Run(name, func(t *testing.T) {
			src := example(t, name+"-domain")
			d, err := pddl.ParseDomain("d.pddl", []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Warnings) > 0 {
				t.Errorf("warnings %v", d.Warnings)
			}
			if p, err := pddl.ParseProblem("p.pddl", []byte(example(t, name+"-problem")), d); err != nil {
				t.Error(err)
			} else if len(p.Warnings) > 0 {
				t.Errorf("problem: warnings %v", p.Warnings)
			}
			for _, r := range d.Requirements {
				if r.Name == ":strips" || r.Name == ":adl" {
					continue
				}
				without, err := pddl.ParseDomain("d.pddl", []byte(strings.Replace(src, r.Name, "", 1)))
				if err != nil {
					t.Fatal(err)
				}
				want := r.Name
				if n := names[want]; n != "" {
					want = n
				}
				if len(without.Warnings) != 1 || !strings.Contains(without.Warnings[0].Message, `"`+want+`"`) {
					t.Errorf("without %s: warnings %v", r.Name, without.Warnings)
				}
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	tests := []struct {
		name, domain, problem string
		want                  []string
	}{
		{
			"every requirement",
			`(define (domain d)
 (:constants a - object) (:predicates (p ?x) (q ?x)) (:functions (f))
 (:derived (q ?x) (or (p ?x) (forall (?y) (exists (?z) (not (= ?y ?z))))))
 (:action e :effect (when (p a) (increase f 1))))`,
			"",
			[]string{
				`d.pddl:2:16: "-" needs ":typing", which (:requirements) does not list`,
				`d.pddl:2:54: "(:functions" needs ":numeric-fluents", which (:requirements) does not list`,
				`d.pddl:3:2: "(:derived" needs ":derived-predicates", which (:requirements) does not list`,
				`d.pddl:3:19: "(or" needs ":disjunctive-preconditions", which (:requirements) does not list`,
				`d.pddl:3:30: "(forall" needs ":universal-preconditions", which (:requirements) does not list`,
				`d.pddl:3:43: "(exists" needs ":existential-preconditions", which (:requirements) does not list`,
				`d.pddl:3:56: "(not" needs ":negative-preconditions", which (:requirements) does not list`,
				`d.pddl:3:61: "(=" needs ":equality", which (:requirements) does not list`,
				`d.pddl:4:21: "(when" needs ":conditional-effects", which (:requirements) does not list`,
			},
		},
		{
			"problem",
			`(define (domain d) (:requirements :fluents) (:predicates (at ?x ?y)) (:functions (f)))`,
			`(define (problem p) (:domain d) (:objects a)
 (:init (at A 1) (loc 2 a) (at a 1.0) (= f 1) (= (f) 1))
 (:goal (not (at a 1))))`,
			[]string{
				`p.pddl:2:19: the domain has no predicate "loc": the fact is ignored`,
				`p.pddl:2:28: (at a 1) is stated twice`,
				`p.pddl:2:47: (f) is stated twice`,
				`p.pddl:3:9: "(not" needs ":negative-preconditions", which (:requirements) does not list`,
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, err := pddl.ParseDomain("d.pddl", []byte(test.domain))
			if err != nil {
				t.Fatal(err)
			}
			warnings := d.Warnings
			if test.problem != "" {
				p, err := pddl.ParseProblem("p.pddl", []byte(test.problem), d)
				if err != nil {
					t.Fatal(err)
				}
				warnings = append(warnings, p.Warnings...)
			}
			var got []string
			for _, w := range warnings {
				got = append(got, w.String())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}
