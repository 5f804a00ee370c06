package pddl

import (
	"slices"

	"foible.dev/foible/core/words"
)

// reserved are the words that no predicate or function may be named by.
var reserved = []string{
	"and", "or", "not", "imply", "forall", "exists", "when", "either", "define", "preference",
	"assign", "increase", "decrease", "scale-up", "scale-down",
}

// condition reads a formula; "()" is true.
func (p *parser) condition(n *node) Formula {
	if n.form && len(n.list) == 0 {
		return &And{Pos: n.pos}
	}
	return p.formula(n)
}

func (p *parser) formula(n *node) Formula {
	if !n.form {
		refuse(n.pos, `expected a condition in parentheses, found %s`, n)
	}
	if len(n.list) == 0 || n.list[0].form {
		refuse(n.pos, "expected a predicate or a connective after %s", `"("`)
	}
	args := n.list[1:]
	switch key(n.head()) {
	case "and":
		return &And{n.pos, p.formulas(args)}
	case "or":
		p.features.use(disjunctive, n.pos, n.String())
		return &Or{n.pos, p.formulas(args)}
	case "not":
		arity(n, 1)
		p.features.use(negative, n.pos, n.String())
		return &Not{n.pos, p.formula(args[0])}
	case "imply":
		arity(n, 2)
		p.features.use(disjunctive, n.pos, n.String())
		return &Imply{n.pos, p.formula(args[0]), p.formula(args[1])}
	case "forall":
		p.features.use(universal, n.pos, n.String())
		return p.quantified(n, true)
	case "exists":
		p.features.use(existential, n.pos, n.String())
		return p.quantified(n, false)
	case "=", "<", "<=", ">", ">=":
		return p.compare(n)
	case "when", "assign", "increase", "decrease", "scale-up", "scale-down":
		refuse(n.pos, "%s is an effect, not a condition", n)
	case "preference":
		refuse(n.pos, "%s is not supported", n)
	}
	return p.atom(n)
}

func (p *parser) formulas(nodes []*node) []Formula {
	parts := make([]Formula, len(nodes))
	for i, n := range nodes {
		parts[i] = p.formula(n)
	}
	return parts
}

// arity refuses a form that has not just the number of arguments.
func arity(n *node, want int) {
	if got := len(n.list) - 1; got != want {
		refuse(n.pos, "%s takes %s, not %d", n, words.Count(want, "argument"), got)
	}
}

func (p *parser) quantified(n *node, all bool) Formula {
	arity(n, 2)
	q := &Quantified{Pos: n.pos, All: all, Parameters: p.parameterList(n.list[1], n.String())}
	p.within(q.Parameters, func() { q.Body = p.formula(n.list[2]) })
	return q
}

func (p *parser) compare(n *node) Formula {
	arity(n, 2)
	c := &Compare{n.pos, n.head(), p.term(n.list[1]), p.term(n.list[2])}
	left, right := kindOf(c.Left), kindOf(c.Right)
	switch {
	case c.Op != "=":
		p.numeric(c.Left, n)
		p.numeric(c.Right, n)
	case left == object && right == object:
		p.features.use(equality, n.pos, n.String())
	case left+right == object+numeral:
		refuse(n.pos, "%s compares an object with a number", c)
	}
	return c
}

// atom reads a predicate of terms.
func (p *parser) atom(n *node) *Atom {
	if !n.form || len(n.list) == 0 || n.list[0].form {
		refuse(n.pos, "expected a predicate in parentheses, found %s", n)
	}
	predicate := p.domain.Predicate(n.head())
	if predicate == nil {
		refuse(n.list[0].pos, "unknown predicate %s", n.list[0])
	}
	return &Atom{n.pos, predicate, p.arguments(n, predicate.Parameters)}
}

// arguments reads the terms of a form and checks them against parameters.
func (p *parser) arguments(n *node, parameters []*Parameter) []Term {
	arity(n, len(parameters))
	terms := make([]Term, len(parameters))
	for i, parameter := range parameters {
		terms[i] = p.term(n.list[i+1])
		p.check(terms[i], parameter, n)
	}
	return terms
}

// check refuses a term that is not of the parameter's type.
func (p *parser) check(t Term, parameter *Parameter, in *node) {
	if parameter.Any {
		return
	}
	switch kindOf(t) {
	case numeral:
		refuse(t.Position(), "%q is a number, but %s takes %s for %s", t, in, describe(parameter.Types), parameter.Name)
	case ambiguous:
		refuse(t.Position(), "%q may be a number, but %s takes %s for %s", t, in, describe(parameter.Types), parameter.Name)
	}
	types := p.typesOf(t)
	for _, u := range types {
		if !parameter.Types.Admit(u) {
			refuse(t.Position(), "%q is %s, but %s takes %s for %s", t, describe(types), in, describe(parameter.Types), parameter.Name)
		}
	}
}

// typesOf are the types of an object term.
func (p *parser) typesOf(t Term) Types {
	switch t := t.(type) {
	case *Constant:
		return Types{t.Object.Type}
	case *Variable:
		if len(t.Parameter.Types) > 0 {
			return t.Parameter.Types
		}
	}
	return Types{p.domain.root}
}

func describe(ts Types) string {
	if len(ts) == 0 {
		return `an "object"`
	}
	return `a "` + ts.String() + `"`
}

// kind says what a term may denote.
type kind int

const (
	object    kind = 1
	numeral   kind = 2
	ambiguous kind = 4 // an object or a number
)

func kindOf(t Term) kind {
	switch t := t.(type) {
	case *Constant:
		return object
	case *Variable:
		if t.Parameter.Any {
			return ambiguous
		}
		return object
	default:
		return numeral
	}
}

// numeric refuses a term that is an object.
func (p *parser) numeric(t Term, in *node) {
	if kindOf(t) == object {
		refuse(t.Position(), "%q is an object, but %s takes a number", t, in)
	}
}

// term reads an argument.
func (p *parser) term(n *node) Term {
	if n.form {
		return p.expression(n)
	}
	if n.text[0] == '?' {
		return p.variable(n)
	}
	if v, ok := number(n); ok {
		return &Number{n.pos, v}
	}
	if !isName(n.text) {
		refuse(n.pos, "expected an object, a variable or a number, found %s", n)
	}
	if o := p.object(n.text); o != nil {
		return &Constant{n.pos, o}
	}
	f := p.domain.Function(n.text)
	switch {
	case f == nil:
		refuse(n.pos, "unknown %s or function %s", p.nouns(), n)
	case len(f.Parameters) > 0:
		refuse(n.pos, "function %s takes %s, not 0", n, words.Count(len(f.Parameters), "argument"))
	}
	p.features.use(numeric, n.pos, n.String())
	return &Call{Pos: n.pos, Function: f, Bare: true}
}

func (p *parser) nouns() string {
	if p.problem == nil {
		return "constant"
	}
	return "object"
}

// object is the named object that may be used here.
func (p *parser) object(name string) *Object {
	if p.problem != nil {
		return p.problem.Object(name)
	}
	return p.domain.constants[key(name)]
}

func (p *parser) variable(n *node) Term {
	p.spaced(n)
	for _, parameter := range slices.Backward(p.scope) {
		if key(parameter.Name) == key(n.text) {
			return &Variable{n.pos, parameter}
		}
	}
	refuse(n.pos, "variable %s is not declared", n)
	return nil
}

// expression reads a fluent or arithmetic.
func (p *parser) expression(n *node) Term {
	p.features.use(numeric, n.pos, n.String())
	op := n.head()
	least, most := 2, len(n.list)
	switch op {
	case "+", "*":
	case "-":
		least, most = 1, 2
	case "/":
		most = 2
	default:
		return p.call(n)
	}
	if got := len(n.list) - 1; got < least || got > most {
		refuse(n.pos, "%s does not take %s", n, words.Count(got, "argument"))
	}
	a := &Arithmetic{Pos: n.pos, Op: op}
	for _, arg := range n.list[1:] {
		t := p.term(arg)
		p.numeric(t, n)
		a.Args = append(a.Args, t)
	}
	return a
}

// call reads a numeric fluent, with parentheses or, without parameters, bare.
func (p *parser) call(n *node) *Call {
	if !n.form {
		n = &node{pos: n.pos, form: true, list: []*node{n}}
	}
	if len(n.list) == 0 || n.list[0].form {
		refuse(n.pos, "expected a function, found %s", n)
	}
	p.features.use(numeric, n.pos, n.list[0].String())
	f := p.domain.Function(n.head())
	if f == nil {
		refuse(n.list[0].pos, "unknown function %s", n.list[0])
	}
	return &Call{Pos: n.pos, Function: f, Args: p.arguments(n, f.Parameters), Bare: n.pos == n.list[0].pos}
}
