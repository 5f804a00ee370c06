package ground

import "foible.dev/foible/core/pddl"

// rules is a derived predicate.
type rules struct {
	list      []*pddl.Derived
	reaches   map[*pddl.Predicate]bool // predicates that its rules refer to, in any depth
	static    bool                     // no action changes what it refers to
	recursive bool
}

// derivedInstance is a derived predicate of objects.
type derivedInstance struct {
	rules   *rules
	body    *condition
	truth   truth
	load    uint64 // the load of a state that truth is of
	forever bool   // truth is of every state
}

// stratify finds what derived predicates refer to, and refuses those that refer to
// their own negation or, recursively, to numbers.
func (t *Task) stratify() {
	d := t.Problem.Domain
	for _, r := range d.Derived {
		rs := t.derived[r.Predicate]
		if rs == nil {
			rs = &rules{reaches: map[*pddl.Predicate]bool{}}
			t.derived[r.Predicate] = rs
		}
		rs.list = append(rs.list, r)
	}
	for _, p := range d.Predicates {
		if rs := t.derived[p]; rs != nil {
			rs.static = true
			t.reach(rs, rs)
			rs.recursive = rs.reaches[p]
		}
	}
	for _, r := range d.Derived {
		walk(r.Body, true, func(a *pddl.Atom, positive bool) {
			inner := t.derived[a.Predicate]
			if inner == nil || !inner.reaches[r.Predicate] {
				return
			}
			if !positive {
				refuse(a.Pos, "derived predicate %q depends on its own negation, %q", r.Predicate.Name, a)
			}
			for _, arg := range a.Args {
				switch arg.(type) {
				case *pddl.Number, *pddl.Call, *pddl.Arithmetic:
					refuse(arg.Position(), "derived predicate %q refers to itself, and so may not take the number %q", r.Predicate.Name, arg)
				}
			}
		}, func(pddl.Term) {})
	}
}

// reach adds to rs what the rules of from refer to.
func (t *Task) reach(rs, from *rules) {
	for _, r := range from.list {
		walk(r.Body, true, func(a *pddl.Atom, _ bool) {
			if t.changed[a.Predicate] {
				rs.static = false
			}
			if inner := t.derived[a.Predicate]; inner != nil && !rs.reaches[a.Predicate] {
				rs.reaches[a.Predicate] = true
				t.reach(rs, inner)
			}
		}, func(term pddl.Term) {
			if c, ok := term.(*pddl.Call); ok && t.assigned[c.Function] {
				rs.static = false
			}
		})
	}
}

// compileDerived is an instance where the arguments are objects, else the rules with
// the terms put in.
func (t *Task) compileDerived(a *pddl.Atom, terms []*expression) *condition {
	rs := t.derived[a.Predicate]
	args, ok := constants(terms)
	if !ok || !allObjects(args) {
		if rs.recursive {
			refuse(a.Pos, "derived predicate %q refers to itself, and so may not take numbers, as in %q", a.Predicate.Name, a)
		}
		return apply(t.expand(rs, terms, a), terms, a)
	}
	symbol := t.predicates[a.Predicate]
	id := t.instanceIDs.find(symbol, args)
	if id < 0 {
		id = t.newInstance(rs, symbol, args, terms, a)
	}
	body := t.instances[id].body
	switch {
	case body.undefinedPart() != nil:
		return &condition{kind: neverDefined, reason: body.undefinedPart().reason, source: a}
	case t.building == 0 && rs.static:
		if truth := t.derive(id); truth != unknown {
			return folded(truth)
		}
	case !rs.recursive && (body.kind == fact || body.kind == always || body.kind == never):
		return body
	}
	return &condition{kind: instance, id: id, source: a}
}

// apply is the rules of a derived predicate with terms put in.
func apply(rules *condition, terms []*expression, a *pddl.Atom) *condition {
	if _, ok := constants(terms); ok {
		return rules
	}
	return &condition{kind: applied, parts: []*condition{rules}, terms: terms, source: a}
}

func allObjects(args []value) bool {
	for _, v := range args {
		if !v.isObject() {
			return false
		}
	}
	return true
}

func (t *Task) newInstance(rs *rules, symbol int32, args []value, terms []*expression, a *pddl.Atom) int32 {
	id := t.instanceIDs.intern(symbol, args)
	t.instances = append(t.instances, derivedInstance{rules: rs, body: falsity})
	t.building++
	made := t.cost.made
	body := t.expand(rs, terms, a)
	t.cost.made, t.cost.kept = made, t.cost.kept+t.cost.made-made // it stays, whatever becomes of what refers to it
	t.building--
	t.instances[id].body = body
	return id
}

// expand is the disjunction of the rules with terms for their parameters.
func (t *Task) expand(rs *rules, terms []*expression, a *pddl.Atom) *condition {
	var parts []*condition
	for _, r := range rs.list {
		if s, ok := t.match(r, terms); ok {
			parts = append(parts, t.compile(r.Body, s))
		}
	}
	return join(disjunction, parts, a)
}

// match binds the parameters of a rule; not ok if a term is not of the type.
func (t *Task) match(r *pddl.Derived, terms []*expression) (scope, bool) {
	var s scope
	for i, p := range r.Parameters {
		object := terms[i].kind == constantValue && terms[i].constant.isObject()
		if object && !p.Types.Admit(t.objectTypes[terms[i].constant.object()]) || !object && !p.Any {
			return nil, false
		}
		s = s.bind(p, terms[i])
	}
	return s, true
}

// derive is the truth of an instance in the loaded state.
func (t *Task) derive(id int32) truth {
	in := &t.instances[id]
	if in.forever || in.load == t.load {
		return in.truth
	}
	if in.rules.recursive {
		t.fixpoint(in.rules)
		return t.instances[id].truth
	}
	in.truth, in.load, in.forever = t.holds(in.body), t.load, in.rules.static
	return in.truth
}

// fixpoint derives the instances that rs and those it shares a recursion with have: the
// least truths that their rules agree with.
func (t *Task) fixpoint(rs *rules) {
	var group []int32
	for id := range t.instances {
		if other := t.instances[id].rules; other == rs || t.mutual(rs, other) {
			in := &t.instances[id]
			in.truth, in.load = no, t.load
			group = append(group, int32(id))
		}
	}
	for grown := true; grown; {
		grown = false
		for _, id := range group {
			in := &t.instances[id]
			if in.truth == yes {
				continue
			}
			if derived := t.holds(in.body); derived > in.truth {
				in.truth, grown = derived, true
			}
		}
	}
	for _, id := range group {
		t.instances[id].forever = rs.static
	}
}

func (t *Task) mutual(a, b *rules) bool {
	return a.reaches[b.list[0].Predicate] && b.reaches[a.list[0].Predicate]
}
