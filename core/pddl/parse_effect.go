package pddl

// effects reads an effect; "()" is none.
func (p *parser) effects(n *node) Effect {
	if n.form && len(n.list) == 0 {
		return &Both{Pos: n.pos}
	}
	return p.effect(n)
}

func (p *parser) effect(n *node) Effect {
	if !n.form {
		refuse(n.pos, "expected an effect in parentheses, found %s", n)
	}
	if len(n.list) == 0 || n.list[0].form {
		refuse(n.pos, "expected a predicate or an operator after %s", `"("`)
	}
	args := n.list[1:]
	switch key(n.head()) {
	case "and":
		both := &Both{Pos: n.pos}
		for _, arg := range args {
			both.Parts = append(both.Parts, p.effect(arg))
		}
		return both
	case "not":
		arity(n, 1)
		return p.literal(n.pos, args[0], true)
	case "when":
		arity(n, 2)
		p.features.use(conditional, n.pos, n.String())
		return &When{n.pos, p.condition(args[0]), p.effect(args[1])}
	case "forall":
		arity(n, 2)
		p.features.use(conditional, n.pos, n.String())
		each := &Each{Pos: n.pos, Parameters: p.parameterList(args[0], n.String())}
		p.within(each.Parameters, func() { each.Body = p.effect(args[1]) })
		return each
	case "assign", "increase", "decrease", "scale-up", "scale-down":
		arity(n, 2)
		a := &Assign{n.pos, key(n.head()), p.call(args[0]), p.term(args[1])}
		p.numeric(a.Value, n)
		return a
	case "or", "imply", "exists", "=", "<", "<=", ">", ">=":
		refuse(n.pos, "%s is a condition, not an effect", n)
	case "preference":
		refuse(n.pos, "%s is not supported", n)
	}
	return p.literal(n.pos, n, false)
}

func (p *parser) literal(pos Pos, n *node, del bool) Effect {
	a := p.atom(n)
	if a.Predicate.Derived {
		refuse(n.pos, "%s is a derived predicate, not an effect", n)
	}
	return &Literal{pos, del, a}
}
