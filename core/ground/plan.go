package ground

import (
	"fmt"
	"strings"

	"foible.dev/foible/core/pddl"
)

// PlanError is a plan that cannot be carried out.
type PlanError struct {
	Step   int // from 1
	Pos    pddl.Pos
	Action string // as written, "(stack a b)"
	Reason string // "precondition (clear b) does not hold"
}

// Error is Message, after the position if there is one.
func (e *PlanError) Error() string {
	if e.Pos.IsZero() {
		return e.Message()
	}
	return e.Pos.String() + ": " + e.Message()
}

// Message is "step 3: (stack a b) is not applicable: ...".
func (e *PlanError) Message() string {
	return fmt.Sprintf("step %d: %s is not applicable: %s", e.Step, e.Action, e.Reason)
}

// Validate carries out a plan from the initial state: states[k] is the state after k
// steps. The error is a *PlanError; the states and operators before it are returned
// too.
func (t *Task) Validate(plan []pddl.Step) (states []StateID, ops []OperatorID, err error) {
	s := t.initial
	states = append(states, s)
	for i, step := range plan {
		op, known := t.Operator(step)
		next, ok := s, false
		if known {
			next, ok = t.Apply(s, op)
		}
		if !ok {
			return states, ops, &PlanError{Step: i + 1, Pos: step.Pos, Action: step.String(), Reason: t.whyNot(s, step)}
		}
		s = next
		states, ops = append(states, s), append(ops, op)
	}
	return states, ops, nil
}

// whyNot says why a step is not applicable in s.
func (t *Task) whyNot(s StateID, step pddl.Step) string {
	a := t.Problem.Domain.Action(step.Name)
	if a == nil {
		return fmt.Sprintf("unknown action %q", step.Name)
	}
	if len(step.Args) != len(a.Parameters) {
		return fmt.Sprintf("%q takes %s, not %d", a.Name, arguments(len(a.Parameters)), len(step.Args))
	}
	var objects []*pddl.Object
	var bound scope
	for i, arg := range step.Args {
		o, p := t.Problem.Object(arg), a.Parameters[i]
		if o == nil {
			return fmt.Sprintf("unknown object %q", arg)
		}
		if !p.Types.Admit(o.Type) {
			return fmt.Sprintf("%q is a %q, but %s is a %q", arg, o.Type.Name, p.Name, p.Types)
		}
		objects = append(objects, o)
		bound = bound.bind(p, constant(objectValue(t.objects[o])))
	}
	t.loadState(s)
	for _, f := range conjuncts(a.Precondition) {
		if reason := t.whyNotHolds(f, bound, pddl.Bind(f, a.Parameters, objects)); reason != "" {
			return "precondition " + reason
		}
	}
	op, _ := t.Operator(step)
	_, why := t.apply(&t.Operators[op].effects)
	return fmt.Sprintf("effect %s %s", pddl.BindEffect(why.effect, a.Parameters, objects), why.reason)
}

// whyNotHolds says why f does not hold in the loaded state, "" if it does.
func (t *Task) whyNotHolds(f pddl.Formula, s scope, ground pddl.Formula) string {
	c, err := t.attempt(func() *condition { return t.compile(f, s) })
	switch {
	case err != nil:
		return fmt.Sprintf("%s is undefined: %s", ground, err.Message)
	case c.kind == neverDefined:
		return fmt.Sprintf("%s is undefined: %s", ground, c.reason.Message)
	}
	switch t.holds(c) {
	case no:
		return fmt.Sprintf("%s does not hold%s", ground, t.fluentsIn(ground))
	case unknown:
		return fmt.Sprintf("%s is undefined%s", ground, t.fluentsIn(ground))
	}
	return ""
}

// fluentsIn is the values of the fluents in a ground formula: ", with xpos = 3".
func (t *Task) fluentsIn(f pddl.Formula) string {
	var parts []string
	seen := map[string]bool{}
	walk(f, true, func(*pddl.Atom, bool) {}, func(term pddl.Term) {
		c, ok := term.(*pddl.Call)
		if !ok || seen[c.String()] {
			return
		}
		seen[c.String()] = true
		var args []string
		for _, arg := range c.Args {
			args = append(args, arg.String())
		}
		if v, ok := t.Value(t.loaded, c.Function.Name, args...); ok {
			parts = append(parts, fmt.Sprintf("%s = %s", c, pddl.FormatNumber(v)))
		} else {
			parts = append(parts, fmt.Sprintf("%s without a value", c))
		}
	})
	if len(parts) == 0 {
		return ""
	}
	return ", with " + strings.Join(parts, ", ")
}

func arguments(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}
