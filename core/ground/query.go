package ground

import (
	"cmp"
	"slices"
	"strconv"

	"foible.dev/foible/core/pddl"
)

// Fact is a predicate of objects and numbers, as text.
type Fact struct {
	Predicate string
	Args      []string
}

// Holds reports whether a fact is true in s, be it static, derived or neither. Arguments
// are names of objects or decimal numbers. A fact that the problem has no names for is
// false.
func (t *Task) Holds(s StateID, predicate string, args ...string) bool {
	p := t.Problem.Domain.Predicate(predicate)
	if p == nil || len(args) != len(p.Parameters) {
		return false
	}
	values := make([]value, len(args))
	for i, arg := range args {
		if values[i] = t.parse(arg); values[i] == undefined {
			return false
		}
	}
	symbol := t.predicates[p]
	switch {
	case p.Derived:
		return t.holdsDerived(s, p, values)
	case t.changed[p]:
		id := t.dynamic.find(symbol, values)
		return id >= 0 && hasBit(t.states.record(s)[t.states.fluents:], id)
	}
	return t.static.find(symbol, values) >= 0
}

// parse is the value of an argument, undefined if it is none.
func (t *Task) parse(arg string) value {
	if o := t.Problem.Object(arg); o != nil {
		return objectValue(t.objects[o])
	}
	v, err := strconv.ParseFloat(arg, 64)
	if err != nil {
		return undefined
	}
	return number(v)
}

func (t *Task) holdsDerived(s StateID, p *pddl.Predicate, args []value) bool {
	terms := make([]*expression, len(args))
	for i, v := range args {
		terms[i] = constant(v)
	}
	c, err := t.attempt(func() *condition { return t.compileDerived(&pddl.Atom{Predicate: p}, terms) })
	if err != nil {
		return false
	}
	t.loadState(s)
	return t.holds(c) == yes
}

// Value is the value of a fluent of objects in s; not ok if it has none.
func (t *Task) Value(s StateID, function string, args ...string) (v float64, ok bool) {
	f := t.Problem.Domain.Function(function)
	if f == nil || len(args) != len(f.Parameters) {
		return 0, false
	}
	values := make([]value, len(args))
	for i, arg := range args {
		o := t.Problem.Object(arg)
		if o == nil {
			return 0, false
		}
		values[i] = objectValue(t.objects[o])
	}
	found := undefined
	if t.assigned[f] {
		if id := t.numbers.find(t.functions[f], values); id >= 0 {
			found = value(t.states.record(s)[id])
		}
	} else if id := t.constants.find(t.functions[f], values); id >= 0 {
		found = t.constantValues[id]
	}
	if found == undefined {
		return 0, false
	}
	return found.float(), true
}

// True is the facts that are true in s, static ones too, derived ones not: by predicate
// in order of declaration, then by arguments, objects in order of declaration and
// numbers ascending.
func (t *Task) True(s StateID) []Fact {
	type entry struct {
		symbol int32
		args   []value
	}
	var entries []entry
	for id := range int32(t.static.len()) {
		entries = append(entries, entry{t.static.symbols[id], t.static.args(id)})
	}
	facts := t.states.record(s)[t.states.fluents:]
	for id := range int32(t.dynamic.len()) {
		if hasBit(facts, id) {
			entries = append(entries, entry{t.dynamic.symbols[id], t.dynamic.args(id)})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.symbol, b.symbol), slices.CompareFunc(a.args, b.args, compareValues))
	})
	list := make([]Fact, len(entries))
	for i, e := range entries {
		list[i].Predicate = t.Problem.Domain.Predicates[e.symbol].Name
		for _, v := range e.args {
			list[i].Args = append(list[i].Args, t.text(v))
		}
	}
	return list
}

// compareValues puts objects before numbers.
func compareValues(a, b value) int {
	switch {
	case a.isObject() && b.isObject():
		return cmp.Compare(a, b)
	case a.isObject():
		return -1
	case b.isObject():
		return 1
	}
	return cmp.Compare(a.float(), b.float())
}

// Objects are the names of the objects of a type, in order of declaration.
func (t *Task) Objects(typ string) []string {
	u := t.Problem.Domain.Type(typ)
	if u == nil {
		return nil
	}
	var names []string
	for i, objectType := range t.objectTypes {
		if objectType.Is(u) {
			names = append(names, t.objectNames[i])
		}
	}
	return names
}
