package ground

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"foible.dev/foible/core/pddl"
)

// largest is the heap that a function has had beyond what there was, whether or not it was let go.
func largest(f func()) uint64 {
	debug.FreeOSMemory()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	held := after.HeapSys - after.HeapReleased
	return held - min(held, before.HeapInuse)
}

// many is a problem of n objects in a domain with an action.
func many(t *testing.T, n int, derived, action string) *pddl.Problem {
	t.Helper()
	domain, err := pddl.ParseDomain("domain.pddl", []byte(`(define (domain many)
(:requirements :adl :typing :derived-predicates :fluents)
(:constants c0)
(:predicates (p ?a ?b ?c ?d ?e) (q ?a) (next ?a ?b) (far ?a))
(:functions (f ?a ?b ?c) (g))
`+derived+`
(:action act `+action+`))`))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("(define (problem many) (:domain many) (:objects")
	for i := range n {
		fmt.Fprintf(&b, " o%d", i)
	}
	b.WriteString(") (:init (q o0) (next o0 o1) (= (g) 0)) (:goal (q o0)))")
	p, err := pddl.ParseProblem("problem.pddl", []byte(b.String()), domain)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// small are limits that are reached soon.
var small = limits{operators: 2_000_000, conditions: 100_000, facts: 60_000, steps: 1_000_000}

// What a few lines ask for is refused where they stand, with the number and the limit, before it takes up memory or time.
func TestLimits(t *testing.T) {
	const five = "(?a ?b ?c ?d ?e)"
	for _, c := range []struct {
		name            string
		n               int
		derived, action string
		place, want     string
	}{
		{"forall in a condition", 100, "", ":parameters () :precondition (forall " + five + " (not (p ?a ?b ?c ?d ?e))) :effect (p c0 c0 c0 c0 c0)", "7:", "the 5 variables of this quantifier have 10,510,100,501 choices of objects, and the limit is 1,000,000"},
		{"exists in a condition", 100, "", ":parameters () :precondition (exists " + five + " (p ?a ?b ?c ?d ?e)) :effect (p c0 c0 c0 c0 c0)", "7:", "10,510,100,501 choices"},
		{"forall in an effect", 100, "", ":parameters () :effect (forall " + five + " (p ?a ?b ?c ?d ?e))", "7:", "10,510,100,501 choices"},
		{"nested", 100, "", ":parameters () :precondition (exists (?a) (exists (?b) (exists (?c) (exists (?d) (exists (?e) (p ?a ?b ?c ?d ?e)))))) :effect (p c0 c0 c0 c0 c0)", "7:", "the limit"},
		{"nested in effects", 100, "", ":parameters () :effect (forall (?a) (forall (?b) (forall (?c) (forall (?d) (forall (?e) (when (q ?a) (p ?a ?b ?c ?d ?e)))))))", "7:", "the limit"},
		{"of static facts", 90, "", ":parameters () :precondition (forall (?a ?b) (forall (?c ?d ?e) (not (and (q ?a) (q ?b) (q ?c) (q ?d) (next ?d ?e))))) :effect (far c0)", "7:", "1,000,000 choices of objects"},
		{"in a derived predicate", 100, "(:derived (far ?x) (exists (?a ?b ?c ?d) (p ?a ?b ?c ?d ?x)))", ":parameters (?x) :precondition (far ?x) :effect (p ?x ?x ?x ?x ?x)", "6:", "104,060,401 choices"},
		{"many derived", 1000, "(:derived (far ?x) (exists (?a ?b) (p ?a ?b ?x ?x ?x)))", ":parameters (?x) :precondition (far ?x) :effect (p ?x ?x ?x ?x ?x)", "6:", "the limit"},
		{"numbers", 100, "", ":parameters () :effect (forall (?a ?b ?c) (assign (f ?a ?b ?c) 1))", "7:", "the limit"},
		{"conditions under conditions", 300, "", ":parameters () :effect (when (forall (?a ?b) (p ?a ?b c0 c0 c0)) (forall (?a ?b) (when (q ?a) (p ?a ?b ?b ?b ?b))))", "7:", "the limit"},
		{"operators", 300, "", ":parameters (?a ?b ?c) :precondition (p ?a ?b ?c ?c ?c) :effect (p ?a ?a ?a ?b ?c)", "7:1", "more than 2,000,000 ground actions"},
		{"operators of static facts", 1_100, "", ":parameters (?a ?b) :precondition (and (next ?a ?b)) :effect (p ?a ?a ?a ?b ?b)", "7:1", "1,000,000 choices of objects"},
		{"operators with conditions", 1000, "", ":parameters (?a ?b) :precondition (or (p ?a ?b ?b ?b ?b) (p ?b ?b ?b ?b ?a)) :effect (p ?a ?a ?a ?b ?b)", "7:", "the limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := many(t, c.n, c.derived, c.action)
			var err error
			if used := largest(func() { _, err = newTask(p, []pddl.Formula{p.Goal}, small) }); used > 100<<20 {
				t.Errorf("%d MB were taken up", used>>20)
			}
			if err == nil || !strings.HasPrefix(err.Error(), "domain.pddl:"+c.place) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s with %q", err, c.place, c.want)
			}
		})
	}
}

// The limits that studies are held to keep what is worst within half a gigabyte.
func TestTaskLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes ten seconds, and this is a short run")
	}
	for name, action := range map[string]string{
		"facts":      ":parameters () :effect (and (q c0) (forall (?a) (forall (?b) (forall (?c) (when (q ?a) (p ?a ?b ?c ?c ?c))))))",
		"conditions": ":parameters () :precondition (forall (?a) (forall (?b) (forall (?c) (or (p ?a ?b ?c ?c ?c) (p ?a ?a ?a ?b ?b) (p ?b ?b ?b ?a ?a))))) :effect (p c0 c0 c0 c0 c0)",
	} {
		p := many(t, 250, "", action)
		var err error
		used := largest(func() { _, err = New(p, []pddl.Formula{p.Goal}) })
		if err == nil || !strings.Contains(err.Error(), "the limit") {
			t.Errorf("%s: %v", name, err)
		}
		if t.Logf("%s: %d MB", name, used>>20); used > 700<<20 {
			t.Errorf("%s: %d MB were taken up", name, used>>20)
		}
	}
}

// A hundred thousand objects are no trouble where nothing multiplies them, and so are large quantifiers that are decided.
func TestWithinLimits(t *testing.T) {
	for name, c := range map[string]struct {
		n      int
		action string
	}{
		"one variable":           {100_000, ":parameters (?a) :precondition (not (q ?a)) :effect (q ?a)"},
		"a quantifier":           {100_000, ":parameters () :precondition (exists (?a) (q ?a)) :effect (forall (?a) (q ?a))"},
		"a hundred by a hundred": {100, ":parameters (?a ?b) :precondition (and (q ?a) (forall (?c) (not (p ?a ?b ?c ?c ?c)))) :effect (and (not (q ?a)) (p ?a ?b ?b ?b ?b))"},
	} {
		p := many(t, c.n, "", c.action)
		if _, err := New(p, []pddl.Formula{p.Goal}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
