package ground

import "foible.dev/foible/core/pddl"

// Unread lists the effects that increase, decrease or scale a function which no condition,
// rule or goal reads, nor the value of another function, in the order of the source. Such
// an effect makes of every state a new one, however often the rest of it was met before.
func (t *Task) Unread() []*pddl.Assign {
	read := map[*pddl.Function]bool{}
	note := func(term pddl.Term) {
		if c, ok := term.(*pddl.Call); ok {
			read[c.Function] = true
		}
	}
	formula := func(f pddl.Formula) { walk(f, true, func(*pddl.Atom, bool) {}, note) }
	for _, f := range t.Goals {
		formula(f)
	}
	for _, rule := range t.Problem.Domain.Derived {
		formula(rule.Body)
	}
	var assigns []*pddl.Assign
	for _, a := range t.Problem.Domain.Actions {
		formula(a.Precondition)
		walkEffects(a.Effect, formula, func(l *pddl.Literal) { walkTerms(l.Atom.Args, note) }, func(a *pddl.Assign) {
			assigns = append(assigns, a)
			walkTerms(a.Fluent.Args, note)
			walkTerms([]pddl.Term{a.Value}, func(term pddl.Term) {
				if c, ok := term.(*pddl.Call); !ok || c.Function != a.Fluent.Function {
					note(term)
				}
			})
		})
	}
	var unread []*pddl.Assign
	for _, a := range assigns {
		if a.Op != "assign" && !read[a.Fluent.Function] {
			unread = append(unread, a)
		}
	}
	return unread
}

// walkEffects visits the conditions, literals and assignments of an effect, in order.
func walkEffects(e pddl.Effect, condition func(pddl.Formula), literal func(*pddl.Literal), assign func(*pddl.Assign)) {
	switch e := e.(type) {
	case *pddl.Literal:
		literal(e)
	case *pddl.Assign:
		assign(e)
	case *pddl.Both:
		for _, part := range e.Parts {
			walkEffects(part, condition, literal, assign)
		}
	case *pddl.When:
		condition(e.If)
		walkEffects(e.Then, condition, literal, assign)
	case *pddl.Each:
		walkEffects(e.Body, condition, literal, assign)
	}
}
