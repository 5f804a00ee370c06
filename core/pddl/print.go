package pddl

import (
	"strconv"
	"strings"
)

// FormatNumber is the decimal text of a number, without exponent.
func FormatNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// form prints "(head part part)".
func form[T interface{ String() string }](head string, parts []T) string {
	var b strings.Builder
	b.WriteString("(")
	b.WriteString(head)
	for _, part := range parts {
		b.WriteString(" ")
		b.WriteString(part.String())
	}
	b.WriteString(")")
	return b.String()
}

func (t *Type) String() string { return t.Name }

// String is "block" or "(either a b)".
func (ts Types) String() string {
	if len(ts) == 1 {
		return ts[0].Name
	}
	return form("either", ts)
}

func (a *Atom) String() string    { return form(a.Predicate.Name, a.Args) }
func (c *Compare) String() string { return form(c.Op, []Term{c.Left, c.Right}) }
func (n *Not) String() string     { return "(not " + n.Body.String() + ")" }
func (a *And) String() string     { return form("and", a.Parts) }
func (o *Or) String() string      { return form("or", o.Parts) }
func (i *Imply) String() string   { return form("imply", []Formula{i.If, i.Then}) }

func (q *Quantified) String() string {
	head := "exists"
	if q.All {
		head = "forall"
	}
	return "(" + head + " (" + parameters(q.Parameters) + ") " + q.Body.String() + ")"
}

func (v *Variable) String() string   { return v.Parameter.Name }
func (c *Constant) String() string   { return c.Object.Name }
func (n *Number) String() string     { return FormatNumber(n.Value) }
func (a *Arithmetic) String() string { return form(a.Op, a.Args) }

func (c *Call) String() string {
	if c.Bare {
		return c.Function.Name
	}
	return form(c.Function.Name, c.Args)
}

func (l *Literal) String() string {
	if l.Delete {
		return "(not " + l.Atom.String() + ")"
	}
	return l.Atom.String()
}

func (a *Assign) String() string { return form(a.Op, []Term{a.Fluent, a.Value}) }
func (b *Both) String() string   { return form("and", b.Parts) }
func (w *When) String() string   { return "(when " + w.If.String() + " " + w.Then.String() + ")" }

func (e *Each) String() string {
	return "(forall (" + parameters(e.Parameters) + ") " + e.Body.String() + ")"
}

// parameters prints a typed list: "?x ?y - block ?z".
func parameters(ps []*Parameter) string {
	var b strings.Builder
	for i, p := range ps {
		if i > 0 {
			b.WriteString(" ")
		}
		b.WriteString(p.Name)
		if len(p.Types) > 0 && (i+1 == len(ps) || ps[i+1].Types.String() != p.Types.String()) {
			b.WriteString(" - " + p.Types.String())
		}
	}
	return b.String()
}

// signature prints "(name ?x ?y - block)".
func signature(name string, ps []*Parameter) string {
	if len(ps) == 0 {
		return "(" + name + ")"
	}
	return "(" + name + " " + parameters(ps) + ")"
}

// String prints the domain as PDDL.
func (d *Domain) String() string {
	var b strings.Builder
	b.WriteString("(define (domain " + d.Name + ")")
	requirements(&b, d.Requirements)
	if len(d.Types) > 0 {
		b.WriteString("\n  (:types")
		for _, t := range d.Types {
			b.WriteString("\n    " + t.Name + " - " + Types(t.Parents).String())
		}
		b.WriteString(")")
	}
	objects(&b, "constants", d.Constants)
	if len(d.Predicates) > 0 {
		b.WriteString("\n  (:predicates")
		for _, p := range d.Predicates {
			b.WriteString("\n    " + signature(p.Name, p.Parameters))
		}
		b.WriteString(")")
	}
	if len(d.Functions) > 0 {
		b.WriteString("\n  (:functions")
		for _, f := range d.Functions {
			b.WriteString("\n    " + signature(f.Name, f.Parameters))
		}
		b.WriteString(")")
	}
	for _, r := range d.Derived {
		b.WriteString("\n  (:derived " + signature(r.Predicate.Name, r.Parameters) + "\n    " + r.Body.String() + ")")
	}
	for _, a := range d.Actions {
		b.WriteString("\n  (:action " + a.Name)
		b.WriteString("\n    :parameters (" + parameters(a.Parameters) + ")")
		b.WriteString("\n    :precondition " + a.Precondition.String())
		b.WriteString("\n    :effect " + a.Effect.String() + ")")
	}
	b.WriteString(")\n")
	return b.String()
}

// String prints the problem as PDDL.
func (p *Problem) String() string {
	var b strings.Builder
	b.WriteString("(define (problem " + p.Name + ")\n  (:domain " + p.Domain.Name + ")")
	requirements(&b, p.Requirements)
	objects(&b, "objects", p.Objects)
	b.WriteString("\n  (:init")
	for _, v := range p.Values {
		b.WriteString("\n    (= " + v.Fluent.String() + " " + FormatNumber(v.Value) + ")")
	}
	for _, a := range p.Init {
		b.WriteString("\n    " + a.String())
	}
	b.WriteString(")")
	if p.Goal != nil {
		b.WriteString("\n  (:goal " + p.Goal.String() + ")")
	}
	b.WriteString(")\n")
	return b.String()
}

func requirements(b *strings.Builder, rs []Requirement) {
	if len(rs) == 0 {
		return
	}
	b.WriteString("\n  (:requirements")
	for _, r := range rs {
		b.WriteString(" " + r.Name)
	}
	b.WriteString(")")
}

func objects(b *strings.Builder, section string, os []*Object) {
	if len(os) == 0 {
		return
	}
	b.WriteString("\n  (:" + section)
	for _, o := range os {
		b.WriteString("\n    " + o.Name + " - " + o.Type.Name)
	}
	b.WriteString(")")
}
