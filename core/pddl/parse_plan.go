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
// resolved. The error is an *Error.
func ParsePlan(file string, src []byte) (plan []Step, err error) {
	defer recovered(&err)
	for _, n := range forms(file, src, true) {
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
		plan = append(plan, step)
	}
	return plan, nil
}
