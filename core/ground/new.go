package ground

import (
	"slices"

	"foible/core/pddl"
)

// maxOperators bounds the size of a task.
const maxOperators = 1 << 20

// New grounds a problem, with goals over its objects; the problem's own goal has no
// part in it. The error is an *pddl.Error.
func New(p *pddl.Problem, goals []pddl.Formula) (*Task, error) {
	t := &Task{Problem: p, Goals: goals, loaded: -1, load: 1}
	if err := t.build(); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Task) build() (err *pddl.Error) {
	defer refused(&err)
	t.vocabulary()
	t.findChanges()
	t.stratify()
	initial := t.initialFacts()
	t.operatorIDs = map[string]OperatorID{}
	for _, a := range t.Problem.Domain.Actions {
		t.operators(a)
	}
	for _, f := range t.Goals {
		t.addGoal(f)
	}
	t.freeze(initial)
	return nil
}

func (t *Task) vocabulary() {
	d := t.Problem.Domain
	t.objects = map[*pddl.Object]int{}
	for i, o := range t.Problem.AllObjects() {
		t.objects[o] = i
		t.objectNames = append(t.objectNames, o.Name)
		t.objectTypes = append(t.objectTypes, o.Type)
	}
	t.objectLists = map[*pddl.Parameter][]int{}
	t.predicates = map[*pddl.Predicate]int32{}
	for i, predicate := range d.Predicates {
		t.predicates[predicate] = int32(i)
	}
	t.functions = map[*pddl.Function]int32{}
	for i, f := range d.Functions {
		t.functions[f] = int32(i)
	}
	t.static, t.dynamic, t.numbers, t.constants = newTuples(), newTuples(), newTuples(), newTuples()
	t.instanceIDs = newTuples()
	t.derived = map[*pddl.Predicate]*rules{}
}

// objectsOf are the objects that a parameter may stand for.
func (t *Task) objectsOf(p *pddl.Parameter) []int {
	list, ok := t.objectLists[p]
	if !ok {
		for i, objectType := range t.objectTypes {
			if p.Types.Admit(objectType) {
				list = append(list, i)
			}
		}
		t.objectLists[p] = list
	}
	return list
}

// findChanges finds the predicates and functions that effects change.
func (t *Task) findChanges() {
	t.changed, t.assigned = map[*pddl.Predicate]bool{}, map[*pddl.Function]bool{}
	var visit func(pddl.Effect)
	visit = func(e pddl.Effect) {
		switch e := e.(type) {
		case *pddl.Literal:
			t.changed[e.Atom.Predicate] = true
		case *pddl.Assign:
			t.assigned[e.Fluent.Function] = true
		case *pddl.Both:
			for _, part := range e.Parts {
				visit(part)
			}
		case *pddl.When:
			visit(e.Then)
		case *pddl.Each:
			visit(e.Body)
		}
	}
	for _, a := range t.Problem.Domain.Actions {
		visit(a.Effect)
	}
}

// initialFacts interns the initial state, and returns the ids of its dynamic facts.
// Values of fluents are kept in constantValues until freeze.
func (t *Task) initialFacts() (ids []int32) {
	for _, a := range t.Problem.Init {
		terms, bad := t.compileTerms(a.Args, nil)
		if bad != nil {
			panic(bad)
		}
		args, _ := constants(terms)
		symbol := t.predicates[a.Predicate]
		if t.changed[a.Predicate] {
			ids = append(ids, t.dynamic.intern(symbol, args))
		} else {
			t.static.intern(symbol, args)
		}
	}
	for _, v := range t.Problem.Values {
		_, args := t.fluentName(v.Fluent, nil)
		symbol := t.functions[v.Fluent.Function]
		if t.assigned[v.Fluent.Function] {
			t.numbers.intern(symbol, args)
		} else {
			t.constants.intern(symbol, args)
			t.constantValues = append(t.constantValues, number(v.Value))
		}
	}
	return ids
}

// operators instantiates an action, testing its static conjuncts as soon as their
// parameters are bound.
func (t *Task) operators(a *pddl.Action) {
	choices, restricted := 1, false
	for _, p := range a.Parameters {
		choices = min(choices*len(t.objectsOf(p)), maxOperators+1)
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
	if choices > maxOperators && !restricted {
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
			bind(s.bind(p, constant(objectValue(object))), undecided)
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
	}, func(c *pddl.Call) {
		static = static && !t.assigned[c.Function]
	})
	return static
}

// lastParameter is the number of parameters that must be bound to compile f.
func lastParameter(f pddl.Formula, ps []*pddl.Parameter) int {
	last := 0
	variables(f, func(v *pddl.Variable) {
		last = max(last, slices.Index(ps, v.Parameter)+1)
	})
	return last
}

// variables visits the uses of variables in f.
func variables(f pddl.Formula, visit func(*pddl.Variable)) {
	var term func(pddl.Term)
	term = func(e pddl.Term) {
		switch e := e.(type) {
		case *pddl.Variable:
			visit(e)
		case *pddl.Call:
			for _, arg := range e.Args {
				term(arg)
			}
		case *pddl.Arithmetic:
			for _, arg := range e.Args {
				term(arg)
			}
		}
	}
	switch f := f.(type) {
	case *pddl.Atom:
		for _, arg := range f.Args {
			term(arg)
		}
	case *pddl.Compare:
		term(f.Left)
		term(f.Right)
	case *pddl.Not:
		variables(f.Body, visit)
	case *pddl.And:
		for _, part := range f.Parts {
			variables(part, visit)
		}
	case *pddl.Or:
		for _, part := range f.Parts {
			variables(part, visit)
		}
	case *pddl.Imply:
		variables(f.If, visit)
		variables(f.Then, visit)
	case *pddl.Quantified:
		variables(f.Body, visit)
	}
}

// operator adds an operator unless its precondition can never hold.
func (t *Task) operator(a *pddl.Action, s scope, parts []*condition) {
	c := join(conjunction, parts, a.Precondition)
	g, ok := guardOf(c)
	if !ok {
		return
	}
	t.refuseUndefined(c)
	op := Operator{Name: a.Name, action: a, guard: g}
	for _, b := range s {
		op.Args = append(op.Args, t.text(b.term.constant))
	}
	t.compileEffect(&op, a.Effect, s, validity)
	if len(t.Operators) == maxOperators {
		t.refuseSize(a)
	}
	t.operatorIDs[operatorKey(op.Name, op.Args)] = OperatorID(len(t.Operators))
	t.Operators = append(t.Operators, op)
}

func (t *Task) refuseSize(a *pddl.Action) {
	refuse(a.Pos, "action %q: the problem has more than %d ground actions", a.Name, maxOperators)
}

// refuseUndefined reports a reference to a fluent that has no value in any state.
func (t *Task) refuseUndefined(c *condition) {
	if part := c.undefinedPart(); part != nil {
		panic(part.reason)
	}
}

func (t *Task) addGoal(f pddl.Formula) {
	c := t.compile(f, nil)
	t.refuseUndefined(c)
	g, ok := guardOf(c)
	t.goals = append(t.goals, goal{guard: g, never: !ok})
}

// freeze lays out the states and interns the initial one.
func (t *Task) freeze(initial []int32) {
	t.frozen = true
	fluents := t.numbers.len()
	t.states = newStates(fluents, t.dynamic.len())
	t.current = make([]uint64, t.states.stride)
	t.next = make([]uint64, t.states.stride)
	t.fluents, t.facts = t.current[:fluents], t.current[fluents:]
	t.written = make([]writing, fluents)
	for i := range t.fluents {
		t.fluents[i] = uint64(undefined)
	}
	for _, v := range t.Problem.Values {
		if t.assigned[v.Fluent.Function] {
			_, args := t.fluentName(v.Fluent, nil)
			t.fluents[t.numbers.find(t.functions[v.Fluent.Function], args)] = uint64(number(v.Value))
		}
	}
	for _, id := range initial {
		t.facts[id>>6] |= 1 << (id & 63)
	}
	t.initial = t.states.intern(t.current)
	t.loaded = t.initial
}
