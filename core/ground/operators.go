package ground

import (
	"slices"

	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/words"
)

// operators instantiates an action, testing its static conjuncts as soon as their
// parameters are bound.
func (t *Task) operators(a *pddl.Action) {
	choices, restricted := 1, false
	for _, p := range a.Parameters {
		choices = min(choices*len(t.objectsOf(p)), t.limits.operators+1)
	}
	var dynamic []pddl.Formula
	static := make([][]pddl.Formula, len(a.Parameters)+1) // by the number of parameters bound
	for _, f := range conjuncts(a.Precondition) {
		if t.isStatic(f) {
			n := lastParameter(f, a.Parameters)
			static[n] = append(static[n], f)
			restricted = true
		} else {
			dynamic = append(dynamic, f)
		}
	}
	if choices > t.limits.operators && !restricted {
		t.refuseSize(a)
	}
	var bind func(s scope, undecided []*condition)
	bind = func(s scope, undecided []*condition) {
		for _, f := range static[len(s)] {
			switch c := t.compile(f, s); c.kind {
			case always:
			case never:
				return
			default:
				undecided = append(undecided[:len(undecided):len(undecided)], c)
			}
		}
		if len(s) == len(a.Parameters) {
			t.operator(a, s, append(undecided[:len(undecided):len(undecided)], t.compileAll(dynamic, s, never)...))
			return
		}
		p := a.Parameters[len(s)]
		for _, object := range t.objectsOf(p) {
			t.step(a.Pos, 1)
			bind(s.bind(p, t.objectValues[object]), undecided)
		}
	}
	bind(nil, nil)
}

// conjuncts are the parts of a conjunction, in any depth.
func conjuncts(f pddl.Formula) []pddl.Formula {
	and, ok := f.(*pddl.And)
	if !ok {
		return []pddl.Formula{f}
	}
	var parts []pddl.Formula
	for _, part := range and.Parts {
		parts = append(parts, conjuncts(part)...)
	}
	return parts
}

// isStatic reports whether f has the same truth in all states.
func (t *Task) isStatic(f pddl.Formula) bool {
	static := true
	walk(f, true, func(a *pddl.Atom, _ bool) {
		if rs := t.derived[a.Predicate]; rs != nil {
			static = static && rs.static
		} else {
			static = static && !t.changed[a.Predicate]
		}
	}, func(term pddl.Term) {
		if c, ok := term.(*pddl.Call); ok {
			static = static && !t.assigned[c.Function]
		}
	})
	return static
}

// lastParameter is the number of parameters that must be bound to compile f.
func lastParameter(f pddl.Formula, ps []*pddl.Parameter) int {
	last := 0
	walk(f, true, func(*pddl.Atom, bool) {}, func(term pddl.Term) {
		if v, ok := term.(*pddl.Variable); ok {
			last = max(last, slices.Index(ps, v.Parameter)+1)
		}
	})
	return last
}

// operator adds an operator unless its precondition can never hold.
func (t *Task) operator(a *pddl.Action, s scope, parts []*condition) {
	c := join(conjunction, parts, a.Precondition)
	g, ok := guardOf(c)
	if !ok {
		t.settle(false)
		return
	}
	t.refuseUndefined(c)
	op := Operator{Name: a.Name, guard: g}
	for _, b := range s {
		op.Args = append(op.Args, t.text(b.term.constant))
	}
	t.compileEffect(&op, a.Effect, s, validity)
	t.settle(len(g.rest)+len(op.effects.groups) > 0)
	if len(t.Operators) == t.limits.operators {
		t.refuseSize(a)
	}
	t.operatorIDs[operatorKey(op.Name, op.Args)] = OperatorID(len(t.Operators))
	t.Operators = append(t.Operators, op)
}

func (t *Task) refuseSize(a *pddl.Action) {
	refuse(a.Pos, "action %q: the problem has more than %s ground actions", a.Name, words.Thousands(t.limits.operators))
}

// refuseUndefined reports a reference to a fluent that has no value in any state.
func (t *Task) refuseUndefined(c *condition) {
	if part := c.undefinedPart(); part != nil {
		panic(part.reason)
	}
}
