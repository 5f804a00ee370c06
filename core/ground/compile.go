package ground

import (
	"fmt"

	"foible.dev/foible/core/pddl"
)

// binding is what a parameter stands for: an object, or the term that a derived
// predicate was given.
type binding struct {
	parameter *pddl.Parameter
	term      *expression
}

// scope is the bindings in force, innermost last.
type scope []binding

func (s scope) find(p *pddl.Parameter) *expression {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i].parameter == p {
			return s[i].term
		}
	}
	panic("ground: unbound parameter " + p.Name)
}

// refuse abandons grounding.
func refuse(pos pddl.Pos, format string, args ...any) {
	panic(&pddl.Error{Pos: pos, Message: fmt.Sprintf(format, args...)})
}

// refused turns the panic of refuse into its error.
func refused(err **pddl.Error) {
	switch e := recover().(type) {
	case nil:
	case *pddl.Error:
		*err = e
	default:
		panic(e)
	}
}

// attempt compiles what may be refused.
func (t *Task) attempt(compile func() *condition) (c *condition, err *pddl.Error) {
	defer func(depth int) { t.building = depth }(t.building)
	defer func(cost expense) { t.cost = cost }(t.cost)
	t.cost.steps, t.cost.made = 0, 0
	defer refused(&err)
	return compile(), nil
}

// compile binds the parameters of f, expands its quantifiers and folds what is static.
func (t *Task) compile(f pddl.Formula, s scope) *condition {
	switch f := f.(type) {
	case *pddl.Atom:
		return t.compileAtom(f, s)
	case *pddl.Compare:
		return t.compileCompare(f, s)
	case *pddl.Not:
		return negate(t.compile(f.Body, s), f)
	case *pddl.And:
		return join(conjunction, t.compileAll(f.Parts, s, never), f)
	case *pddl.Or:
		return join(disjunction, t.compileAll(f.Parts, s, always), f)
	case *pddl.Imply:
		antecedent := negate(t.compile(f.If, s), f.If)
		if antecedent.kind == always {
			return validity
		}
		return join(disjunction, []*condition{antecedent, t.compile(f.Then, s)}, f)
	case *pddl.Quantified:
		return t.compileQuantified(f, s)
	}
	panic(fmt.Sprintf("ground: formula %T", f))
}

// compileAll stops at the kind of part that decides the whole.
func (t *Task) compileAll(fs []pddl.Formula, s scope, decisive conditionKind) []*condition {
	parts := make([]*condition, 0, len(fs))
	for _, f := range fs {
		part := t.compile(f, s)
		parts = append(parts, part)
		if part.kind == decisive {
			break
		}
	}
	return parts
}

func (t *Task) compileQuantified(q *pddl.Quantified, s scope) *condition {
	kind, decisive := disjunction, always
	if q.All {
		kind, decisive = conjunction, never
	}
	neutral := never
	if q.All {
		neutral = always
	}
	t.checkChoices(q.Parameters, q.Pos)
	var parts []*condition
	t.bindings(q.Parameters, q.Pos, s, func(inner scope) bool {
		part := t.compile(q.Body, inner)
		if part.kind != neutral {
			parts = append(parts, part)
		}
		return part.kind != decisive
	})
	return join(kind, parts, q)
}

// bindings visits the scope with every choice of objects for the parameters, the last
// parameter varying fastest, until visit returns false. What they are parameters of stands at pos.
func (t *Task) bindings(ps []*pddl.Parameter, pos pddl.Pos, s scope, visit func(scope) bool) bool {
	if len(ps) == 0 {
		return visit(s)
	}
	for _, object := range t.objectsOf(ps[0]) {
		t.step(pos, 1)
		if !t.bindings(ps[1:], pos, s.bind(ps[0], t.objectValues[object]), visit) {
			return false
		}
	}
	return true
}

func (s scope) bind(p *pddl.Parameter, e *expression) scope {
	return append(s[:len(s):len(s)], binding{p, e})
}

func (t *Task) compileAtom(a *pddl.Atom, s scope) *condition {
	terms, bad := t.compileTerms(a.Args, s)
	if bad != nil {
		return &condition{kind: neverDefined, reason: bad, source: a}
	}
	if a.Predicate.Derived {
		return t.compileDerived(a, terms)
	}
	symbol := t.predicates[a.Predicate]
	static := !t.changed[a.Predicate]
	if args, ok := constants(terms); ok {
		switch {
		case static:
			return folded(truthOf(t.static.find(symbol, args) >= 0))
		case !t.frozen:
			t.make(a.Pos)
			return &condition{kind: fact, id: t.dynamic.intern(symbol, args), source: a}
		}
		t.make(a.Pos)
		if id := t.dynamic.find(symbol, args); id >= 0 {
			return &condition{kind: fact, id: id, source: a}
		}
	}
	t.make(a.Pos)
	return &condition{kind: lookup, id: symbol, static: static, terms: terms, source: a}
}

// constants are the values of terms, if all have one and it is constant.
func constants(terms []*expression) ([]value, bool) {
	values := make([]value, len(terms))
	for i, term := range terms {
		if term.kind != constantValue || term.constant == undefined {
			return nil, false
		}
		values[i] = term.constant
	}
	return values, true
}

func (t *Task) compileCompare(c *pddl.Compare, s scope) *condition {
	terms, bad := t.compileTerms([]pddl.Term{c.Left, c.Right}, s)
	if bad != nil {
		return &condition{kind: neverDefined, reason: bad, source: c}
	}
	if c.Op != "=" {
		t.numeric(c.Left, terms[0])
		t.numeric(c.Right, terms[1])
	}
	if args, ok := constants(terms); ok {
		return folded(compare(c.Op, args[0], args[1]))
	}
	t.make(c.Pos)
	return &condition{kind: comparison, op: c.Op, terms: terms, source: c}
}

// numeric refuses a variable that stands for an object where a number is needed.
func (t *Task) numeric(term pddl.Term, e *expression) {
	if e.kind == constantValue && e.constant.isObject() {
		refuse(term.Position(), "%q is the object %q here, not a number", term, t.text(e.constant))
	}
}

// compileTerms compiles terms; the error says which has no value in any state.
func (t *Task) compileTerms(terms []pddl.Term, s scope) ([]*expression, *pddl.Error) {
	es := make([]*expression, len(terms))
	for i, term := range terms {
		e, bad := t.compileTerm(term, s)
		if bad != nil {
			return nil, bad
		}
		es[i] = e
	}
	return es, nil
}

func (t *Task) compileTerm(term pddl.Term, s scope) (*expression, *pddl.Error) {
	switch term := term.(type) {
	case *pddl.Constant:
		return constant(objectValue(t.objects[term.Object])), nil
	case *pddl.Number:
		return constant(number(term.Value)), nil
	case *pddl.Variable:
		return s.find(term.Parameter), nil
	case *pddl.Call:
		return t.compileCall(term, s)
	case *pddl.Arithmetic:
		return t.compileArithmetic(term, s)
	}
	panic(fmt.Sprintf("ground: term %T", term))
}

func (t *Task) compileArithmetic(a *pddl.Arithmetic, s scope) (*expression, *pddl.Error) {
	es, bad := t.compileTerms(a.Args, s)
	if bad != nil {
		return nil, bad
	}
	for i, e := range es {
		t.numeric(a.Args[i], e)
	}
	e := es[0]
	if len(es) == 1 {
		e = operation(negated, e, nil)
	}
	for _, right := range es[1:] {
		e = operation(arithmetic[a.Op], e, right)
	}
	if e.kind == constantValue && e.constant == undefined {
		return nil, &pddl.Error{Pos: a.Pos, Message: fmt.Sprintf("%q has no finite value", a)}
	}
	return e, nil
}

// compileCall is a constant if no action changes the function.
func (t *Task) compileCall(c *pddl.Call, s scope) (*expression, *pddl.Error) {
	name, args := t.fluentName(c, s)
	symbol := t.functions[c.Function]
	if !t.assigned[c.Function] {
		if id := t.constants.find(symbol, args); id >= 0 {
			return constant(t.constantValues[id]), nil
		}
		return nil, &pddl.Error{Pos: c.Pos, Message: fmt.Sprintf("%q has no value: no (:init) and no action gives one", name)}
	}
	id := t.numbers.find(symbol, args)
	if id < 0 && t.frozen {
		return constant(undefined), nil
	}
	if id < 0 {
		id = t.numbers.intern(symbol, args)
	}
	return &expression{kind: fluentValue, fluent: id}, nil
}

// fluentName is a ground fluent: its text and the values of its arguments.
func (t *Task) fluentName(c *pddl.Call, s scope) (string, []value) {
	text, args := "("+c.Function.Name, make([]value, len(c.Args))
	for i, arg := range c.Args {
		e, bad := t.compileTerm(arg, s)
		if bad != nil {
			panic(bad)
		}
		args[i] = e.constant
		text += " " + t.text(e.constant)
	}
	return text + ")", args
}

// text is a value as PDDL.
func (t *Task) text(v value) string {
	if v.isObject() {
		return t.objectNames[v.object()]
	}
	return pddl.FormatNumber(v.float())
}
