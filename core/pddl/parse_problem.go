package pddl

// ParseProblem reads "(define (problem ...) ...)" of the domain. The error is an
// [Errors]. A fact of a predicate that the domain does not declare can have no effect: it
// is left out, with a warning.
func ParseProblem(file string, src []byte, d *Domain) (problem *Problem, err error) {
	defer recovered(&err)
	n := single(file, src, "problem")
	name, sections := definition(n, "problem")
	problem = &Problem{Pos: n.pos, Name: name, Domain: d, objects: map[string]*Object{}}
	p := &parser{domain: d, problem: problem, features: d.features()}
	p.problemSections(n, sections)
	p.settle()
	problem.Warnings = p.features.warnings
	return problem, nil
}

// ParseGoal reads one ground condition over the problem's objects, such as
// "(has gem1)". The error is an [Errors].
func ParseGoal(file string, src []byte, problem *Problem) (goal Formula, err error) {
	defer recovered(&err)
	p := &parser{domain: problem.Domain, problem: problem, features: problem.Domain.features()}
	return p.condition(single(file, src, "goal")), nil
}

// features are those that the domain may use without another warning.
func (d *Domain) features() *features {
	f := &features{have: map[string]bool{}}
	for _, r := range d.Requirements {
		for _, feature := range implied[key(r.Name)] {
			f.have[feature] = true
		}
	}
	return f
}

func (p *parser) problemSections(n *node, sections []*node) {
	once := map[string]*node{}
	for _, section := range sections {
		name := key(section.head())
		switch name {
		case ":domain", ":requirements", ":objects", ":init", ":goal":
		case ":length":
			p.warn(section.pos, "%s means nothing here: it is ignored", section)
		case ":metric":
			refuse(section.pos, "%s is not supported, because every action costs 1: take it out", section)
		default:
			refuse(section.pos, "%s is not supported in a problem", section)
		}
		if once[name] != nil {
			refuse(section.pos, "a second %s", section)
		}
		once[name] = section
	}
	p.domainName(n, once[":domain"])
	if s := once[":requirements"]; s != nil {
		p.problem.Requirements = p.features.require(s)
	}
	if s := once[":objects"]; s != nil {
		p.problem.Objects = p.objects(s, p.problem.objects)
	}
	p.settle()
	if s := once[":init"]; s != nil {
		p.initSection(s)
	} else {
		refuse(n.pos, `the problem has no "(:init"`)
	}
	if s := once[":goal"]; s != nil {
		p.try(func() {
			arity(s, 1)
			p.problem.Goal = p.condition(s.list[1])
		})
	}
}

func (p *parser) domainName(n, section *node) {
	if section == nil {
		refuse(n.pos, `the problem has no "(:domain"`)
	}
	arity(section, 1)
	if name := label(section.list[1], "the domain"); key(name) != key(p.domain.Name) {
		refuse(section.list[1].pos, "the problem is of domain %q, not %q", name, p.domain.Name)
	}
}

// initSection reads facts, negated facts and values.
func (p *parser) initSection(section *node) {
	facts, values, absent := map[string]*Atom{}, map[string]float64{}, map[string]Pos{}
	read := func(n *node) {
		if !n.form || len(n.list) == 0 || n.list[0].form {
			refuse(n.pos, "expected a fact in parentheses, found %s", n)
		}
		switch key(n.head()) {
		case "=":
			p.value(n, values)
		case "not":
			arity(n, 1)
			if a := p.fact(n.list[1]); a != nil {
				absent[key(a.String())] = n.pos
			}
		default:
			a := p.fact(n)
			if a == nil {
				return
			}
			k := key(a.String())
			if facts[k] != nil {
				p.warn(n.pos, "%s is stated twice", a)
				return
			}
			facts[k] = a
			p.problem.Init = append(p.problem.Init, a)
		}
	}
	for _, n := range section.list[1:] {
		p.try(func() { read(n) })
	}
	for _, a := range p.problem.Init {
		if pos, ok := absent[key(a.String())]; ok {
			p.try(func() { refuse(pos, "%s is stated both true and false", a) })
		}
	}
}

// fact reads a ground atom; nil if the domain does not declare its predicate.
func (p *parser) fact(n *node) *Atom {
	if n.form && isName(n.head()) && p.domain.Predicate(n.head()) == nil && flat(n) {
		for _, arg := range n.list[1:] {
			p.term(arg)
		}
		p.warn(n.list[0].pos, "the domain has no predicate %s: the fact is ignored", n.list[0])
		return nil
	}
	a := p.atom(n)
	if a.Predicate.Derived {
		refuse(n.pos, "%s is a derived predicate, not a fact", n)
	}
	for _, t := range a.Args {
		switch t.(type) {
		case *Constant, *Number:
		default:
			refuse(t.Position(), "expected an object or a number, found %q", t)
		}
	}
	return a
}

// flat reports whether a form holds only names and numbers.
func flat(n *node) bool {
	for _, arg := range n.list {
		if arg.form {
			return false
		}
	}
	return true
}

// value reads "(= fluent number)".
func (p *parser) value(n *node, values map[string]float64) {
	arity(n, 2)
	fluent := p.call(n.list[1])
	v, ok := 0.0, false
	if !n.list[2].form {
		v, ok = number(n.list[2])
	}
	if !ok {
		refuse(n.list[2].pos, "expected a number, found %s", n.list[2])
	}
	k := key(fluent.Function.Name)
	for _, arg := range fluent.Args {
		k += " " + key(arg.String())
	}
	old, again := values[k]
	switch {
	case again && old != v:
		refuse(n.pos, "%s has two values, %s and %s", fluent, FormatNumber(old), FormatNumber(v))
	case again:
		p.warn(n.pos, "%s is stated twice", fluent)
	default:
		values[k] = v
		p.problem.Values = append(p.problem.Values, Assignment{n.pos, fluent, v})
	}
}
