package ground

import (
	"fmt"

	"foible.dev/foible/core/pddl"
)

// effects is a compiled effect: facts known in advance, by words of the state, and
// groups for the rest.
type effects struct {
	del, add []factWord
	groups   []group
	repeats  bool // a fluent is assigned more than once
}

type factWord struct {
	word int32
	bits uint64
}

// group is what takes place together.
type group struct {
	when     *condition
	literals []literal
	assigns  []assign
}

type literal struct {
	delete bool
	id     int32 // of the fact; without terms only
	symbol int32
	terms  []*expression
	source *pddl.Literal
}

type assign struct {
	op     writing
	negate bool // decrease, scale-down
	fluent int32
	value  *expression
	source *pddl.Assign
}

// writing is a way to change a fluent; only the last two may be repeated.
type writing uint8

const (
	setting writing = iota + 1
	adding
	scaling
)

// failure says why an effect cannot take place in a state.
type failure struct {
	effect pddl.Effect
	reason string
}

var (
	noValue  = "has no value"
	conflict = "changes a fluent that another effect changes too"
)

// compileEffect adds e, which takes place under when, to the effects of op.
func (t *Task) compileEffect(op *Operator, e pddl.Effect, s scope, when *condition) {
	switch e := e.(type) {
	case *pddl.Both:
		for _, part := range e.Parts {
			t.compileEffect(op, part, s, when)
		}
	case *pddl.Each:
		t.checkChoices(e.Parameters, e.Pos)
		t.bindings(e.Parameters, e.Pos, s, func(inner scope) bool {
			t.compileEffect(op, e.Body, inner, when)
			return true
		})
	case *pddl.When:
		t.step(e.Pos, len(when.parts))
		t.cost.made += len(when.parts) / 16 // of a conjunction, the parts are copied
		c := join(conjunction, []*condition{when, t.compile(e.If, s)}, e.If)
		t.refuseUndefined(c)
		if c.kind != never {
			t.compileEffect(op, e.Then, s, c)
		}
	case *pddl.Literal:
		t.compileLiteral(op, e, s, when)
	case *pddl.Assign:
		t.compileAssign(op, e, s, when)
	default:
		panic(fmt.Sprintf("ground: effect %T", e))
	}
}

func (t *Task) compileLiteral(op *Operator, e *pddl.Literal, s scope, when *condition) {
	terms, bad := t.compileTerms(e.Atom.Args, s)
	if bad != nil {
		panic(bad)
	}
	t.make(e.Atom.Pos)
	l := literal{delete: e.Delete, symbol: t.predicates[e.Atom.Predicate], terms: terms, source: e}
	if args, ok := constants(terms); ok {
		l.id, l.terms = t.dynamic.intern(l.symbol, args), nil
		if when.kind == always {
			op.effects.fact(l)
			return
		}
	}
	g := op.effects.group(when)
	g.literals = append(g.literals, l)
}

// fact sets or clears a bit in any case.
func (es *effects) fact(l literal) {
	words := &es.add
	if l.delete {
		words = &es.del
	}
	word, bits := l.id>>6, uint64(1)<<(l.id&63)
	for i := len(*words) - 1; i >= 0; i-- { // facts that are new follow each other
		if (*words)[i].word == word {
			(*words)[i].bits |= bits
			return
		}
	}
	*words = append(*words, factWord{word, bits})
}

// group is the last group if it has the condition, else a new one.
func (es *effects) group(when *condition) *group {
	if n := len(es.groups); n == 0 || es.groups[n-1].when != when {
		es.groups = append(es.groups, group{when: when})
	}
	return &es.groups[len(es.groups)-1]
}

func (t *Task) compileAssign(op *Operator, e *pddl.Assign, s scope, when *condition) {
	fluent, bad := t.compileCall(e.Fluent, s)
	if bad != nil {
		panic(bad)
	}
	v, bad := t.compileTerm(e.Value, s)
	if bad != nil {
		panic(bad)
	}
	t.numeric(e.Value, v)
	a := assign{fluent: fluent.fluent, value: v, source: e}
	switch e.Op {
	case "assign":
		a.op = setting
	case "increase", "decrease":
		a.op, a.negate = adding, e.Op == "decrease"
	case "scale-up", "scale-down":
		a.op, a.negate = scaling, e.Op == "scale-down"
	}
	t.make(e.Pos)
	for _, g := range op.effects.groups {
		t.step(e.Pos, len(g.assigns))
		for _, b := range g.assigns {
			if b.fluent != a.fluent {
				continue
			}
			op.effects.repeats = true
			if (a.op != b.op || a.op == setting) && when.kind == always && g.when.kind == always {
				refuse(e.Pos, "in %s, %q changes a fluent that %q changes too", op, e, b.source)
			}
		}
	}
	g := op.effects.group(when)
	g.assigns = append(g.assigns, a)
}

// apply computes t.next, the successor of the loaded state.
func (t *Task) apply(es *effects) (ok bool, why failure) {
	copy(t.next, t.current)
	next := t.next[t.states.fluents:]
	if len(es.groups) == 0 {
		for _, w := range es.del {
			next[w.word] &^= w.bits
		}
		for _, w := range es.add {
			next[w.word] |= w.bits
		}
		return true, failure{}
	}
	t.fired = t.fired[:0]
	for i := range es.groups {
		if t.holds(es.groups[i].when) == yes {
			t.fired = append(t.fired, &es.groups[i])
		}
	}
	for _, w := range es.del {
		next[w.word] &^= w.bits
	}
	if ok, why := t.literals(true); !ok {
		return false, why
	}
	next = t.next[t.states.fluents:]
	for _, w := range es.add {
		next[w.word] |= w.bits
	}
	if ok, why := t.literals(false); !ok {
		return false, why
	}
	return t.assign(es.repeats)
}

// literals deletes or adds the facts of the groups that fired.
func (t *Task) literals(deletes bool) (ok bool, why failure) {
	for _, g := range t.fired {
		for i := range g.literals {
			l := &g.literals[i]
			if l.delete != deletes {
				continue
			}
			id := l.id
			if l.terms != nil {
				args, ok := t.evaluate(l.terms)
				if !ok {
					return false, failure{l.source, noValue}
				}
				if deletes {
					id = t.dynamic.find(l.symbol, args)
				} else {
					id = t.internFact(l.symbol, args)
				}
			}
			next := t.next[t.states.fluents:]
			switch {
			case id < 0:
			case deletes:
				next[id>>6] &^= 1 << (id & 63)
			default:
				next[id>>6] |= 1 << (id & 63)
			}
		}
	}
	return true, failure{}
}

// assign changes the fluents of the groups that fired.
func (t *Task) assign(repeats bool) (ok bool, why failure) {
	if repeats {
		clear(t.written)
	}
	for _, g := range t.fired {
		for i := range g.assigns {
			a := &g.assigns[i]
			if repeats {
				if w := t.written[a.fluent]; w != 0 && (w != a.op || w == setting) {
					return false, failure{a.source, conflict}
				}
				t.written[a.fluent] = a.op
			}
			v := a.update(value(t.next[a.fluent]), a.value.value(t.fluents))
			if v == undefined {
				return false, failure{a.source, noValue}
			}
			t.next[a.fluent] = uint64(v)
		}
	}
	return true, failure{}
}

// update is the new value of a fluent.
func (a *assign) update(old, by value) value {
	switch {
	case a.op == setting:
		return by
	case a.op == adding && a.negate:
		return calculate(difference, old, by)
	case a.op == adding:
		return calculate(sum, old, by)
	case a.negate:
		return calculate(quotient, old, by)
	default:
		return calculate(product, old, by)
	}
}
