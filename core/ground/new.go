package ground

import "foible.dev/foible/core/pddl"

// New grounds a problem, with goals over its objects; the problem's own goal has no
// part in it. The error is an *pddl.Error.
func New(p *pddl.Problem, goals []pddl.Formula) (*Task, error) {
	return newTask(p, goals, taskLimits)
}

func newTask(p *pddl.Problem, goals []pddl.Formula, l limits) (*Task, error) {
	t := &Task{Problem: p, Goals: goals, limits: l, loaded: -1, load: 1}
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

func (t *Task) addGoal(f pddl.Formula) {
	c := t.compile(f, nil)
	t.refuseUndefined(c)
	g, ok := guardOf(c)
	t.settle(true)
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
