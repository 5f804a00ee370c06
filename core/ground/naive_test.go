package ground_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"foible.dev/foible/core/pddl"
)

// naive interprets a problem straight from its syntax tree: states are maps, operators
// are all combinations of objects, derived predicates are proved afresh. It shares
// nothing with the package but pddl.
type naive struct {
	problem *pddl.Problem
	objects []*pddl.Object
}

// naiveState is the true facts and the values of fluents, by their text.
type naiveState struct {
	facts  map[string]bool
	values map[string]float64
}

// naiveValue is an object or a number.
type naiveValue struct {
	object *pddl.Object
	number float64
}

// The truths are 0 for false, 1 for undefined, 2 for true.
type naiveScope map[*pddl.Parameter]naiveValue

func newNaive(p *pddl.Problem) *naive { return &naive{p, p.AllObjects()} }

func (v naiveValue) String() string {
	if v.object != nil {
		return v.object.Name
	}
	return pddl.FormatNumber(v.number)
}

func naiveText(name string, args []naiveValue) string {
	text := name
	for _, arg := range args {
		text += " " + arg.String()
	}
	return text
}

func (s naiveState) clone() naiveState { return naiveState{maps.Clone(s.facts), maps.Clone(s.values)} }

// String is the same for equal states.
func (s naiveState) String() string {
	var lines []string
	for fact := range s.facts {
		lines = append(lines, fact)
	}
	for fluent, v := range s.values {
		lines = append(lines, fluent+" = "+pddl.FormatNumber(v))
	}
	slices.Sort(lines)
	return strings.Join(lines, "; ")
}

func (n *naive) initial() naiveState {
	s := naiveState{map[string]bool{}, map[string]float64{}}
	for _, a := range n.problem.Init {
		args, _ := n.terms(s, a.Args, nil)
		s.facts[naiveText(a.Predicate.Name, args)] = true
	}
	for _, v := range n.problem.Values {
		args, _ := n.terms(s, v.Fluent.Args, nil)
		s.values[naiveText(v.Fluent.Function.Name, args)] = v.Value
	}
	return s
}

// successors are the states by operator, "(name args)", in order of the operators.
func (n *naive) successors(s naiveState) (operators []string, states []naiveState) {
	for _, a := range n.problem.Domain.Actions {
		n.each(a.Parameters, naiveScope{}, func(scope naiveScope) {
			if n.holds(s, a.Precondition, scope, nil) != 2 {
				return
			}
			next, ok := n.apply(s, a.Effect, scope)
			if !ok {
				return
			}
			var args []naiveValue
			for _, p := range a.Parameters {
				args = append(args, scope[p])
			}
			operators = append(operators, "("+naiveText(a.Name, args)+")")
			states = append(states, next)
		})
	}
	return operators, states
}

// each visits every choice of objects for the parameters, the last varying fastest.
func (n *naive) each(ps []*pddl.Parameter, scope naiveScope, visit func(naiveScope)) {
	if len(ps) == 0 {
		visit(scope)
		return
	}
	for _, o := range n.objects {
		if ps[0].Types.Admit(o.Type) {
			inner := maps.Clone(scope)
			inner[ps[0]] = naiveValue{object: o}
			n.each(ps[1:], inner, visit)
		}
	}
}

// holds evaluates f; proving are the derived atoms that are being proved.
func (n *naive) holds(s naiveState, f pddl.Formula, scope naiveScope, proving []string) int {
	switch f := f.(type) {
	case *pddl.Atom:
		args, ok := n.terms(s, f.Args, scope)
		if !ok {
			return 1
		}
		text := naiveText(f.Predicate.Name, args)
		if !f.Predicate.Derived {
			return naiveTruth(s.facts[text])
		}
		return n.prove(s, f.Predicate, args, text, proving)
	case *pddl.Compare:
		args, ok := n.terms(s, []pddl.Term{f.Left, f.Right}, scope)
		if !ok {
			return 1
		}
		a, b := args[0], args[1]
		switch f.Op {
		case "=":
			return naiveTruth(a == b)
		case "<":
			return naiveTruth(a.number < b.number)
		case "<=":
			return naiveTruth(a.number <= b.number)
		case ">":
			return naiveTruth(a.number > b.number)
		}
		return naiveTruth(a.number >= b.number)
	case *pddl.Not:
		return 2 - n.holds(s, f.Body, scope, proving)
	case *pddl.And:
		least := 2
		for _, part := range f.Parts {
			least = min(least, n.holds(s, part, scope, proving))
		}
		return least
	case *pddl.Or:
		greatest := 0
		for _, part := range f.Parts {
			greatest = max(greatest, n.holds(s, part, scope, proving))
		}
		return greatest
	case *pddl.Imply:
		return max(2-n.holds(s, f.If, scope, proving), n.holds(s, f.Then, scope, proving))
	case *pddl.Quantified:
		least, greatest := 2, 0
		n.each(f.Parameters, scope, func(inner naiveScope) {
			truth := n.holds(s, f.Body, inner, proving)
			least, greatest = min(least, truth), max(greatest, truth)
		})
		if f.All {
			return least
		}
		return greatest
	}
	panic(fmt.Sprintf("formula %T", f))
}

func naiveTruth(b bool) int {
	if b {
		return 2
	}
	return 0
}

// prove looks for a proof that does not go round in a circle.
func (n *naive) prove(s naiveState, p *pddl.Predicate, args []naiveValue, text string, proving []string) int {
	if slices.Contains(proving, text) {
		return 0
	}
	proving = append(proving[:len(proving):len(proving)], text)
	greatest := 0
	for _, r := range n.problem.Domain.Derived {
		if r.Predicate != p {
			continue
		}
		scope, fits := naiveScope{}, true
		for i, parameter := range r.Parameters {
			fits = fits && (args[i].object == nil || parameter.Types.Admit(args[i].object.Type))
			scope[parameter] = args[i]
		}
		if fits {
			greatest = max(greatest, n.holds(s, r.Body, scope, proving))
		}
	}
	return greatest
}

// terms evaluates terms; not ok if one is undefined.
func (n *naive) terms(s naiveState, ts []pddl.Term, scope naiveScope) (values []naiveValue, ok bool) {
	ok = true
	for _, t := range ts {
		v, defined := n.term(s, t, scope)
		values, ok = append(values, v), ok && defined
	}
	return values, ok
}

func (n *naive) term(s naiveState, t pddl.Term, scope naiveScope) (naiveValue, bool) {
	switch t := t.(type) {
	case *pddl.Constant:
		return naiveValue{object: t.Object}, true
	case *pddl.Variable:
		return scope[t.Parameter], true
	case *pddl.Number:
		return naiveValue{number: t.Value}, true
	case *pddl.Call:
		args, ok := n.terms(s, t.Args, scope)
		v, found := s.values[naiveText(t.Function.Name, args)]
		return naiveValue{number: v}, ok && found
	case *pddl.Arithmetic:
		args, ok := n.terms(s, t.Args, scope)
		if !ok {
			return naiveValue{}, false
		}
		v := args[0].number
		if len(args) == 1 {
			v = -v
		}
		for _, arg := range args[1:] {
			v = naiveArithmetic(t.Op, v, arg.number)
		}
		return naiveValue{number: v + 0}, naiveFinite(v)
	}
	panic(fmt.Sprintf("term %T", t))
}

func naiveFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func naiveArithmetic(op string, a, b float64) float64 {
	switch op {
	case "+", "increase":
		return a + b
	case "-", "decrease":
		return a - b
	case "*", "scale-up":
		return a * b
	default:
		return a / b
	}
}

// naiveChange is a literal or an assignment that takes place.
type naiveChange struct {
	op     string // "add", "delete", or as in PDDL
	target string
	value  float64
}

// apply is the next state; not ok if an effect is undefined or in conflict.
func (n *naive) apply(s naiveState, e pddl.Effect, scope naiveScope) (next naiveState, ok bool) {
	changes, ok := n.changes(s, e, scope)
	if !ok {
		return naiveState{}, false
	}
	next = s.clone()
	for _, c := range changes {
		if c.op == "delete" {
			delete(next.facts, c.target)
		}
	}
	class := map[string]string{"increase": "sum", "decrease": "sum", "scale-up": "product", "scale-down": "product", "assign": "assign"}
	written := map[string]string{}
	for _, c := range changes {
		switch c.op {
		case "delete":
			continue
		case "add":
			next.facts[c.target] = true
			continue
		}
		if w := written[c.target]; w != "" && (w != class[c.op] || w == "assign") {
			return naiveState{}, false
		}
		written[c.target] = class[c.op]
		v := c.value
		if c.op != "assign" {
			old, found := next.values[c.target]
			v = naiveArithmetic(c.op, old, c.value)
			if !found || !naiveFinite(v) {
				return naiveState{}, false
			}
		}
		next.values[c.target] = v + 0
	}
	return next, true
}

func (n *naive) changes(s naiveState, e pddl.Effect, scope naiveScope) (changes []naiveChange, ok bool) {
	ok = true
	switch e := e.(type) {
	case *pddl.Both:
		for _, part := range e.Parts {
			more, fine := n.changes(s, part, scope)
			changes, ok = append(changes, more...), ok && fine
		}
	case *pddl.Each:
		n.each(e.Parameters, scope, func(inner naiveScope) {
			more, fine := n.changes(s, e.Body, inner)
			changes, ok = append(changes, more...), ok && fine
		})
	case *pddl.When:
		if n.holds(s, e.If, scope, nil) == 2 {
			return n.changes(s, e.Then, scope)
		}
	case *pddl.Literal:
		args, fine := n.terms(s, e.Atom.Args, scope)
		op := "add"
		if e.Delete {
			op = "delete"
		}
		return []naiveChange{{op: op, target: naiveText(e.Atom.Predicate.Name, args)}}, fine
	case *pddl.Assign:
		args, _ := n.terms(s, e.Fluent.Args, scope)
		v, fine := n.term(s, e.Value, scope)
		return []naiveChange{{e.Op, naiveText(e.Fluent.Function.Name, args), v.number}}, fine
	default:
		panic(fmt.Sprintf("effect %T", e))
	}
	return changes, ok
}
