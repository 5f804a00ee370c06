package ground_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
)

// generator writes random domains and problems over a fixed vocabulary: what is static
// depends on the effects that are drawn.
type generator struct {
	rng     *rand.Rand
	derived bool // atoms may be derived
	scope   []variable
}

type variable struct{ name, typ string } // typ "any" is an object or a number

const vocabulary = `(define (domain random)
 (:requirements :adl :fluents :derived-predicates)
 (:types u - t t v)
 (:constants u1 - u v1 - v)
 (:predicates (z) (p ?x - t) (q ?x - t ?y - v) (s ?x ?y - t) (cell ?x ?y) (mark ?o - u ?n)
  (d ?x - t) (e ?x ?y) (r ?x ?y - t) (even ?x - t) (odd ?x - t))
 (:functions (n) (m) (k) (w ?x - t))
`

// predicates are those of the vocabulary that effects may change, with the types of
// their parameters; derivedPredicates are the others.
var predicates = []signature{
	{"z", nil},
	{"p", []string{"t"}},
	{"q", []string{"t", "v"}},
	{"s", []string{"t", "t"}},
	{"cell", []string{"any", "any"}},
	{"mark", []string{"u", "any"}},
}

var derivedPredicates = []signature{
	{"d", []string{"t"}},
	{"e", []string{"any", "any"}},
	{"r", []string{"t", "t"}},
	{"even", []string{"t"}},
}

type signature struct {
	name  string
	types []string
}

func (g *generator) pick(options ...string) string { return options[g.rng.IntN(len(options))] }

// objects are terms of a type.
func (g *generator) object(typ string) string {
	options := map[string][]string{"t": {"u1"}, "u": {"u1"}, "v": {"v1"}}[typ]
	for _, v := range g.scope {
		if v.typ == typ || v.typ == "u" && typ == "t" {
			options = append(options, v.name, v.name)
		}
	}
	return g.pick(options...)
}

func (g *generator) number(depth int) string {
	options := []string{"0", "1", "2", "n", "m", "(k)", "(n)", "w"}
	if depth > 0 {
		options = append(options, "+", "-", "*", "/", "negate")
	}
	for _, v := range g.scope {
		if v.typ == "number" {
			options = append(options, v.name)
		}
	}
	switch op := g.pick(options...); op {
	case "w":
		return "(w " + g.object("t") + ")"
	case "negate":
		return "(- " + g.number(depth-1) + ")"
	case "+", "-", "*", "/":
		return "(" + op + " " + g.number(depth-1) + " " + g.number(depth-1) + ")"
	default:
		return op
	}
}

func (g *generator) atom(s signature) string {
	text := "(" + s.name
	for _, typ := range s.types {
		if typ == "any" {
			text += " " + g.any()
		} else {
			text += " " + g.object(typ)
		}
	}
	return text + ")"
}

func (g *generator) any() string {
	if g.rng.IntN(4) == 0 {
		return g.object("t")
	}
	return g.number(1)
}

func (g *generator) formula(depth int) string {
	kinds := []string{"atom", "atom", "compare", "equal"}
	if depth > 0 {
		kinds = append(kinds, "not", "and", "or", "imply", "forall", "exists", "not", "and", "or")
	}
	switch kind := g.pick(kinds...); kind {
	case "atom":
		all := predicates
		if g.derived {
			all = slices.Concat(predicates, derivedPredicates)
		}
		return g.atom(all[g.rng.IntN(len(all))])
	case "compare":
		return "(" + g.pick("<", "<=", ">", ">=", "=") + " " + g.number(1) + " " + g.number(1) + ")"
	case "equal":
		return "(= " + g.object("t") + " " + g.object(g.pick("t", "v")) + ")"
	case "not":
		return "(not " + g.formula(depth-1) + ")"
	case "imply":
		return "(imply " + g.formula(depth-1) + " " + g.formula(depth-1) + ")"
	case "and", "or":
		return "(" + kind + g.several(func() string { return g.formula(depth - 1) }) + ")"
	default:
		return "(" + kind + " " + g.quantified(func() string { return g.formula(depth - 1) }) + ")"
	}
}

func (g *generator) several(one func() string) string {
	text := ""
	for range g.rng.IntN(4) {
		text += " " + one()
	}
	return text
}

// quantified is "(?a - t) body".
func (g *generator) quantified(body func() string) string {
	v := variable{fmt.Sprintf("?%c", 'a'+rune(len(g.scope))), g.pick("t", "u", "v")}
	g.scope = append(g.scope, v)
	text := "(" + v.name + " - " + v.typ + ") " + body()
	g.scope = g.scope[:len(g.scope)-1]
	return text
}

func (g *generator) effect(depth int) string {
	kinds := []string{"add", "delete", "add", "delete", "change"}
	if depth > 0 {
		kinds = append(kinds, "and", "and", "when", "forall")
	}
	switch kind := g.pick(kinds...); kind {
	case "add":
		return g.atom(predicates[g.rng.IntN(len(predicates))])
	case "delete":
		return "(not " + g.atom(predicates[g.rng.IntN(len(predicates))]) + ")"
	case "change":
		op := g.pick("increase", "decrease", "increase", "assign", "scale-up", "scale-down")
		return "(" + op + " " + g.pick("n", "(m)", "(w "+g.object("t")+")") + " " + g.number(1) + ")"
	case "and":
		return "(and" + g.several(func() string { return g.effect(depth - 1) }) + ")"
	case "when":
		return "(when " + g.formula(1) + " " + g.effect(depth-1) + ")"
	default:
		return "(forall " + g.quantified(func() string { return g.effect(depth - 1) }) + ")"
	}
}

func (g *generator) within(scope []variable, text func() string) string {
	g.scope = scope
	defer func() { g.scope = nil }()
	return text()
}

func (g *generator) domain() string {
	x, y := variable{"?x", "t"}, variable{"?y", "t"}
	body := func() string { return g.formula(2) }
	text := vocabulary
	g.derived = false
	text += " (:derived (e ?x ?y) (or (cell ?x ?y) (cell ?y ?x) (= ?x ?y) " + body() + "))\n"
	text += " (:derived (r ?x ?y) " + g.within([]variable{x, y}, body) + ")\n"
	text += " (:derived (r ?x ?y) (exists (?z - u) (and (r ?x ?z) (s ?z ?y))))\n"
	text += " (:derived (even ?x) (or (p ?x) (exists (?y - t) (and (odd ?y) (s ?y ?x)))))\n"
	text += " (:derived (odd ?x) (exists (?y - t) (and (even ?y) (s ?y ?x) " + g.within([]variable{x, y}, body) + ")))\n"
	g.derived = true
	text += " (:derived (d ?x - u) " + strings.ReplaceAll(g.within([]variable{{"?x", "u"}}, body), "(d ", "(p ") + ")\n"
	for i := range 4 {
		var scope []variable
		for j := range g.rng.IntN(3) {
			scope = append(scope, variable{fmt.Sprintf("?%c", 'x'+rune(j)), g.pick("t", "u", "v")})
		}
		text += fmt.Sprintf(" (:action a%d :parameters (", i)
		for _, v := range scope {
			text += " " + v.name + " - " + v.typ
		}
		text += ")\n  :precondition " + g.within(scope, body)
		text += "\n  :effect " + g.within(scope, func() string { return g.effect(3) }) + ")\n"
	}
	return text + ")"
}

func (g *generator) problem() string {
	text := "(define (problem random) (:domain random) (:objects t1 - t u2 - u)\n (:init (= k 2)"
	for _, value := range []string{"(= n 1)", "(= m 0)", "(= (w t1) 0) (= (w u1) 1) (= (w u2) 2)"} {
		if g.rng.IntN(3) > 0 {
			text += " " + value
		}
	}
	g.scope = []variable{{"t1", "t"}, {"u2", "u"}}
	seen := map[string]bool{}
	for range 12 {
		s := predicates[g.rng.IntN(len(predicates))]
		atom := "(" + s.name
		for _, typ := range s.types {
			if typ == "any" {
				atom += " " + g.pick("0", "1", "2", "u1", "t1")
			} else {
				atom += " " + g.object(typ)
			}
		}
		if atom += ")"; !seen[atom] {
			seen[atom] = true
			text += " " + atom
		}
	}
	g.derived = true
	return text + ")\n (:goal " + g.formula(2) + "))"
}

// described is a state as the naive interpreter prints it.
func described(t *ground.Task, s ground.StateID) string {
	state := naiveState{map[string]bool{}, map[string]float64{}}
	for _, f := range t.True(s) {
		state.facts[strings.Join(append([]string{f.Predicate}, f.Args...), " ")] = true
	}
	for _, f := range t.Problem.Domain.Functions {
		choices := [][]string{{}}
		for _, p := range f.Parameters {
			var longer [][]string
			for _, args := range choices {
				for _, o := range t.Problem.AllObjects() {
					if p.Types.Admit(o.Type) {
						longer = append(longer, append(args[:len(args):len(args)], o.Name))
					}
				}
			}
			choices = longer
		}
		for _, args := range choices {
			if v, ok := t.Value(s, f.Name, args...); ok {
				state.values[strings.Join(append([]string{f.Name}, args...), " ")] = v
			}
		}
	}
	return state.String()
}

// compare follows a random walk in the task and in the naive interpreter.
func compare(t *testing.T, task *ground.Task, rng *rand.Rand, steps int) {
	t.Helper()
	reference := newNaive(task.Problem)
	s, want := task.Initial(), reference.initial()
	for step := range steps {
		if got := described(task, s); got != want.String() {
			t.Fatalf("step %d: state\n%s\nwant\n%s", step, got, want)
		}
		for i, goal := range task.Goals {
			if got, want := task.Satisfies(s, i), reference.holds(want, goal, naiveScope{}, nil) == 2; got != want {
				t.Fatalf("step %d: goal %s is %v, want %v in\n%s", step, goal, got, want, described(task, s))
			}
		}
		operators, states := reference.successors(want)
		successors := task.Successors(s)
		var got []string
		for _, next := range successors {
			got = append(got, task.Operators[next.Operator].String())
		}
		if !slices.Equal(got, operators) {
			t.Fatalf("step %d: operators %v\nwant %v in\n%s", step, got, operators, want)
		}
		for i, next := range successors {
			if got := described(task, next.State); got != states[i].String() {
				t.Fatalf("step %d: %s leads from\n%s\nto\n%s\nwant\n%s", step, operators[i], want, got, states[i])
			}
		}
		if len(successors) == 0 {
			return
		}
		i := rng.IntN(len(successors))
		s, want = successors[i].State, states[i]
	}
}

func TestRandomTasksEqualNaive(t *testing.T) {
	tasks, refused := 0, 0
	for seed := uint64(0); tasks < 300; seed++ {
		g := &generator{rng: rand.New(rand.NewPCG(1, seed))}
		domainText, problemText := g.domain(), g.problem()
		d, err := pddl.ParseDomain("domain", []byte(domainText))
		if err != nil {
			t.Fatalf("%v\n%s", err, domainText)
		}
		p, err := pddl.ParseProblem("problem", []byte(problemText), d)
		if err != nil {
			t.Fatalf("%v\n%s", err, problemText)
		}
		task, err := ground.New(p, []pddl.Formula{p.Goal})
		if err != nil {
			// A fluent without a value, or two assignments of one: drawn now and then.
			if !strings.Contains(err.Error(), "has no") && !strings.Contains(err.Error(), "changes a fluent") {
				t.Fatalf("%v\n%s\n%s", err, domainText, problemText)
			}
			refused++
			continue
		}
		tasks++
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) { compare(t, task, g.rng, 12) }) {
			t.Fatalf("%s\n%s", domainText, problemText)
		}
	}
	t.Logf("%d tasks, %d refused", tasks, refused)
}
