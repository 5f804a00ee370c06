package pddl

import (
	"fmt"
	"slices"

	"foible.dev/foible/core/words"
)

// ParseDomain reads "(define (domain ...) ...)". The error is an [Errors].
func ParseDomain(file string, src []byte) (d *Domain, err error) {
	defer recovered(&err)
	n := single(file, src, "domain")
	name, sections := definition(n, "domain")
	d = &Domain{
		Pos: n.pos, Name: name,
		root:       &Type{Name: "object"},
		types:      map[string]*Type{},
		constants:  map[string]*Object{},
		predicates: map[string]*Predicate{},
		functions:  map[string]*Function{},
		actions:    map[string]*Action{},
	}
	d.types["object"] = d.root
	p := &parser{domain: d, features: &features{have: map[string]bool{}}}
	p.domainSections(sections)
	d.Warnings = p.features.warnings
	return d, nil
}

// domainSections reads what sections refer to before the sections that refer to it.
func (p *parser) domainSections(sections []*node) {
	once := []struct {
		name string
		read func(*node)
	}{
		{":requirements", func(n *node) {
			refuseCosts(n, sections)
			p.domain.Requirements = p.features.require(n)
		}},
		{":types", p.typeSection},
		{":constants", p.constantSection},
		{":predicates", p.predicateSection},
		{":functions", p.functionSection},
	}
	found := map[string]*node{}
	var derived, actions []*node
	for _, section := range sections {
		switch name := key(section.head()); {
		case name == ":derived":
			derived = append(derived, section)
		case name == ":action":
			actions = append(actions, section)
		case found[name] != nil:
			p.try(func() { refuse(section.pos, "a second %s", section) })
		default:
			found[name] = section
		}
	}
	for _, section := range sections {
		name := key(section.head())
		known := name == ":derived" || name == ":action"
		for _, o := range once {
			known = known || o.name == name
		}
		if !known {
			p.try(func() { refuse(section.pos, "%s is not supported in a domain", section) })
		}
	}
	declarations := len(p.errors)
	for _, o := range once {
		if section := found[o.name]; section != nil {
			p.try(func() { o.read(section) })
		}
		if o.name == ":requirements" {
			declarations = len(p.errors) // nothing depends on what came before
		}
	}
	for _, section := range derived {
		p.try(func() { p.derivedHead(section) })
	}
	if len(p.errors) > declarations {
		p.settle()
	}
	for i, section := range derived {
		r := p.domain.Derived[i]
		p.try(func() {
			p.within(r.Parameters, func() { r.Body = p.condition(section.list[2]) })
		})
	}
	for _, section := range actions {
		p.try(func() { p.actionSection(section) })
	}
	p.settle()
}

// typeSection declares types, and then the supertypes that are not listed themselves. A
// type that is listed more than once has the supertypes of all the lists that it is in.
func (p *parser) typeSection(section *node) {
	d := p.domain
	p.features.use(typing, section.pos, section.String())
	list := p.typedList(section.list[1:])
	declare := func(n *node) *Type {
		t := &Type{Pos: n.pos, Name: nameOf(n, "a type")}
		d.types[key(t.Name)] = t
		d.Types = append(d.Types, t)
		return t
	}
	for _, t := range list {
		name := nameOf(t.node, "a type")
		if key(name) == "object" {
			if len(t.types) > 0 && key(t.types[0].text) != "object" {
				refuse(t.pos, "type %s has no supertype", t.node)
			}
			continue
		}
		if d.types[key(name)] == nil {
			declare(t.node)
		} else if len(t.types) == 0 {
			p.warn(t.pos, "type %s is listed twice", t.node)
		}
	}
	for _, t := range list {
		child := d.Type(t.text)
		if child == d.root {
			continue
		}
		for _, n := range t.types {
			parent := d.Type(nameOf(n, "a type"))
			if parent == nil {
				parent = declare(n)
			}
			if parent.Is(child) {
				refuse(n.pos, "type %s would be its own supertype", n)
			}
			if slices.Contains(child.Parents, parent) {
				p.warn(t.pos, "type %s is listed twice as a %s", t.node, n)
				continue
			}
			child.Parents = append(child.Parents, parent)
		}
	}
	for _, t := range d.Types {
		if len(t.Parents) == 0 {
			t.Parents = []*Type{d.root}
		}
	}
}

func (p *parser) constantSection(section *node) {
	p.domain.Constants = p.objects(section, p.domain.constants)
}

// objects reads a typed list of objects into names.
func (p *parser) objects(section *node, names map[string]*Object) []*Object {
	var os []*Object
	for _, t := range p.typedList(section.list[1:]) {
		name := nameOf(t.node, "an object")
		if names[key(name)] != nil || p.domain.constants[key(name)] != nil {
			refuse(t.pos, "object %s is declared twice", t.node)
		}
		if f := p.domain.Function(name); f != nil && len(f.Parameters) == 0 {
			refuse(t.pos, "%s is both an object and a function", t.node)
		}
		o := &Object{Pos: t.pos, Name: name, Type: p.domain.root}
		switch types := p.types(t); len(types) {
		case 0:
		case 1:
			o.Type = types[0]
		default:
			refuse(t.pos, `object %s has "(either": an object has one type`, t.node)
		}
		names[key(name)] = o
		os = append(os, o)
	}
	return os
}

// signature reads "(name ?x - t ...)", the declaration of a what, by the reader of its
// variables.
func (p *parser) signature(n *node, what string, variables func([]*node) []*Parameter) (string, []*Parameter) {
	if !n.form || len(n.list) == 0 {
		refuse(n.pos, "expected a %s in parentheses, found %s", what, n)
	}
	name := nameOf(n.list[0], "a "+what)
	if slices.Contains(reserved, key(name)) {
		refuse(n.list[0].pos, "%s is a reserved word", n.list[0])
	}
	return name, variables(n.list[1:])
}

func (p *parser) predicateSection(section *node) {
	d := p.domain
	for _, n := range section.list[1:] {
		p.try(func() {
			name, parameters := p.signature(n, "predicate", p.places)
			if d.predicates[key(name)] != nil {
				refuse(n.pos, "predicate %q is declared twice", name)
			}
			anyIfUntyped(parameters)
			predicate := &Predicate{Pos: n.pos, Name: name, Parameters: parameters}
			d.predicates[key(name)] = predicate
			d.Predicates = append(d.Predicates, predicate)
		})
	}
}

func anyIfUntyped(parameters []*Parameter) {
	for _, parameter := range parameters {
		parameter.Any = len(parameter.Types) == 0
	}
}

func (p *parser) functionSection(section *node) {
	d := p.domain
	p.features.use(numeric, section.pos, section.String())
	for _, t := range p.typedList(section.list[1:]) {
		name, parameters := p.signature(t.node, "function", p.places)
		for _, n := range t.types {
			if key(n.text) != "number" {
				refuse(n.pos, "function %q has values of type %s: only numbers are supported", name, n)
			}
		}
		if d.functions[key(name)] != nil {
			refuse(t.pos, "function %q is declared twice", name)
		}
		if o := d.constants[key(name)]; o != nil && len(parameters) == 0 {
			refuse(o.Pos, "%q is both an object and a function", o.Name)
		}
		f := &Function{Pos: t.pos, Name: name, Parameters: parameters}
		d.functions[key(name)] = f
		d.Functions = append(d.Functions, f)
	}
}

// derivedHead reads "(:derived (name ?x ...) ...)" without its body. Variables without
// a type take that of the predicate's declaration.
func (p *parser) derivedHead(section *node) {
	arity(section, 2)
	p.features.use(derivedRules, section.pos, section.String())
	n := section.list[1]
	name, parameters := p.signature(n, "predicate", p.parameters)
	predicate := p.domain.Predicate(name)
	if predicate == nil {
		refuse(n.list[0].pos, "unknown predicate %s", n.list[0])
	}
	if want := len(predicate.Parameters); len(parameters) != want {
		refuse(n.pos, "%s takes %s, not %d", n, words.Count(want, "argument"), len(parameters))
	}
	for i, parameter := range parameters {
		declared := predicate.Parameters[i]
		if len(parameter.Types) == 0 {
			parameter.Types, parameter.Any = declared.Types, declared.Any
		}
		for _, t := range parameter.Types {
			if !declared.Types.Admit(t) {
				refuse(parameter.Pos, "%q is %s, but %s takes %s", parameter.Name, describe(parameter.Types), n, describe(declared.Types))
			}
		}
	}
	predicate.Derived = true
	p.domain.Derived = append(p.domain.Derived, &Derived{Pos: section.pos, Predicate: predicate, Parameters: parameters})
}

func (p *parser) actionSection(section *node) {
	d := p.domain
	if len(section.list) < 2 {
		refuse(section.pos, "%s has no name", section)
	}
	n := section.list[1]
	a := &Action{Pos: section.pos, Name: nameOf(n, "an action"), Precondition: &And{Pos: section.pos}, Effect: &Both{Pos: section.pos}}
	if d.actions[key(a.Name)] != nil {
		refuse(n.pos, "action %s is declared twice, so that a plan could mean either", n)
	}
	values := map[string]*node{}
	for rest := section.list[2:]; len(rest) > 0; rest = rest[2:] {
		k := rest[0]
		switch key(k.text) {
		case ":parameters", ":precondition", ":effect":
		default:
			refuse(k.pos, `%s is not understood in "(:action %s"`, k, a.Name)
		}
		if values[key(k.text)] != nil {
			refuse(k.pos, `a second %s in "(:action %s"`, k, a.Name)
		}
		if len(rest) == 1 || rest[1].keyword() {
			refuse(k.pos, "%s has no value", k)
		}
		values[key(k.text)] = rest[1]
	}
	if v := values[":parameters"]; v != nil {
		a.Parameters = p.parameterList(v, fmt.Sprintf(`"(:action %s"`, a.Name))
	}
	p.within(a.Parameters, func() {
		if v := values[":precondition"]; v != nil {
			a.Precondition = p.condition(v)
		}
		if v := values[":effect"]; v != nil {
			a.Effect = p.effects(v)
		}
	})
	d.actions[key(a.Name)] = a
	d.Actions = append(d.Actions, a)
}
