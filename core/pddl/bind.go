package pddl

import "slices"

// Bind is f with objects for the uses of parameters. Nodes keep their positions.
func Bind(f Formula, parameters []*Parameter, objects []*Object) Formula {
	b := binder{parameters, objects}
	return b.formula(f)
}

// BindEffect is e with objects for the uses of parameters.
func BindEffect(e Effect, parameters []*Parameter, objects []*Object) Effect {
	b := binder{parameters, objects}
	return b.effect(e)
}

type binder struct {
	parameters []*Parameter
	objects    []*Object
}

func (b binder) formula(f Formula) Formula {
	switch f := f.(type) {
	case *Atom:
		return b.atom(f)
	case *Compare:
		return &Compare{f.Pos, f.Op, b.term(f.Left), b.term(f.Right)}
	case *Not:
		return &Not{f.Pos, b.formula(f.Body)}
	case *And:
		return &And{f.Pos, b.formulas(f.Parts)}
	case *Or:
		return &Or{f.Pos, b.formulas(f.Parts)}
	case *Imply:
		return &Imply{f.Pos, b.formula(f.If), b.formula(f.Then)}
	case *Quantified:
		return &Quantified{f.Pos, f.All, f.Parameters, b.formula(f.Body)}
	}
	return f
}

func (b binder) atom(a *Atom) *Atom { return &Atom{a.Pos, a.Predicate, b.terms(a.Args)} }

func (b binder) call(c *Call) *Call { return &Call{c.Pos, c.Function, b.terms(c.Args), c.Bare} }

func (b binder) effect(e Effect) Effect {
	switch e := e.(type) {
	case *Literal:
		return &Literal{e.Pos, e.Delete, b.atom(e.Atom)}
	case *Assign:
		return &Assign{e.Pos, e.Op, b.call(e.Fluent), b.term(e.Value)}
	case *Both:
		both := &Both{Pos: e.Pos}
		for _, part := range e.Parts {
			both.Parts = append(both.Parts, b.effect(part))
		}
		return both
	case *When:
		return &When{e.Pos, b.formula(e.If), b.effect(e.Then)}
	case *Each:
		return &Each{e.Pos, e.Parameters, b.effect(e.Body)}
	}
	return e
}

func (b binder) formulas(fs []Formula) []Formula {
	bound := make([]Formula, len(fs))
	for i, f := range fs {
		bound[i] = b.formula(f)
	}
	return bound
}

func (b binder) terms(ts []Term) []Term {
	bound := make([]Term, len(ts))
	for i, t := range ts {
		bound[i] = b.term(t)
	}
	return bound
}

func (b binder) term(t Term) Term {
	switch t := t.(type) {
	case *Variable:
		if i := slices.Index(b.parameters, t.Parameter); i >= 0 {
			return &Constant{t.Pos, b.objects[i]}
		}
	case *Call:
		return b.call(t)
	case *Arithmetic:
		return &Arithmetic{t.Pos, t.Op, b.terms(t.Args)}
	}
	return t
}
