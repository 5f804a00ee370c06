package pddl

import "strings"

// Step is a ground action of a plan, as written.
type Step struct {
	Pos  Pos
	Name string
	Args []string
}

// String is "(pickup key1)".
func (s Step) String() string {
	return "(" + strings.Join(append([]string{s.Name}, s.Args...), " ") + ")"
}

// ParsePlan reads ground actions, one a line; ";" begins a comment. Names are not
// resolved. The error is an [Errors].
func ParsePlan(file string, src []byte) (plan []Step, err error) {
	defer recovered(&err)
	p := &parser{}
	for _, n := range forms(file, src, true) {
		if last := len(p.errors) - 1; last >= 0 && p.errors[last].Pos.Line == n.pos.Line {
			continue // the line is wrong, and is said to be
		}
		p.try(func() { plan = append(plan, planStep(n)) })
	}
	p.settle()
	return plan, nil
}

func planStep(n *node) Step {
	if !n.form {
		refuse(n.pos, `expected "(" to open an action, found %s`, n)
	}
	if len(n.list) == 0 {
		refuse(n.pos, `expected the name of an action after "("`)
	}
	step := Step{Pos: n.pos, Name: nameOf(n.list[0], "an action")}
	for _, arg := range n.list[1:] {
		step.Args = append(step.Args, nameOf(arg, "an object"))
	}
	return step
}
