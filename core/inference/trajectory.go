package inference

import (
	"fmt"
	"strings"

	"foible.dev/foible/core/optional"
)

// Tally counts the mistakes of a trajectory.
type Tally struct {
	Actions    int // of the plan
	Stays      int // steps at which the agent stayed put
	Slips      int // steps at which it did other than it meant to
	Confusions int // times that it took its goal for another
	Plans      int // plans made, those to stay put not among them
	Paths      optional.Value[PathTally]
	Worse      int // of a Boltzmann agent: actions that were not the most probable
}

// PathTally counts plans by where they lead.
type PathTally struct {
	Detours  int // out of the way
	DeadEnds int // where the goal cannot be reached
}

// Tally counts. Paths is not known if that of some plan is not.
func (t *Trajectory) Tally() Tally {
	var n Tally
	var paths PathTally
	unknown := false
	goal := t.Goal
	for i := range t.Acts {
		a := &t.Acts[i]
		if a.Taken == "" {
			n.Stays++
		} else {
			n.Actions++
		}
		if a.Goal == "" {
			if a.worse() {
				n.Worse++
			}
			continue
		}
		if a.Slip() {
			n.Slips++
		}
		if a.Goal != goal && goal == t.Goal {
			n.Confusions++
		}
		goal = a.Goal
		if p := a.Plan; p != nil && p.Actions > 0 {
			n.Plans++
			path, known := p.Path.Get()
			unknown = unknown || !known
			if path.Detour > 0 {
				paths.Detours++
			}
			if path.DeadEnd {
				paths.DeadEnds++
			}
		}
	}
	if !unknown {
		n.Paths = optional.Known(paths)
	}
	return n
}

// worse reports whether a Boltzmann agent took an action that was not among the most probable.
func (a *Act) worse() bool { return a.Probability < a.Highest*(1-1e-9) }

// Plan is the trajectory as a plan, an action a line, with what went wrong as
// comments. A step at which the agent stayed put is only a comment.
func (t *Trajectory) Plan() string {
	var b strings.Builder
	goal := t.Goal
	for i := range t.Acts {
		a := &t.Acts[i]
		remarks := a.remarks(t.Goal, goal)
		if a.Goal != "" {
			goal = a.Goal
		}
		b.WriteString(a.Taken)
		if a.Taken != "" && len(remarks) > 0 {
			b.WriteString("  ")
		}
		if len(remarks) > 0 {
			b.WriteString("; " + strings.Join(remarks, "; "))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// remarks say what went wrong at a step; before is the goal pursued until then.
func (a *Act) remarks(original, before string) []string {
	var out []string
	if a.Goal == "" {
		if a.worse() {
			out = append(out, fmt.Sprintf("not the most probable: %.2g, %s %.2g", a.Probability, strings.Join(a.Best, " or "), a.Highest))
		}
		return out
	}
	switch {
	case a.Goal == before:
	case a.Goal == original:
		out = append(out, fmt.Sprintf("goal %q remembered", a.Goal))
	default:
		out = append(out, fmt.Sprintf("goal taken for %q", a.Goal))
	}
	if p := a.Plan; p != nil {
		path, _ := p.Path.Get()
		switch {
		case path.DeadEnd:
			out = append(out, fmt.Sprintf("plan of %s into a dead end", actions(p.Actions)))
		case path.Detour > 0:
			out = append(out, fmt.Sprintf("plan of %s, %d out of the way", actions(p.Actions), path.Detour))
		}
	}
	switch {
	case a.Taken == "" && a.Slip():
		out = append(out, fmt.Sprintf("stayed put; slip: meant %s", a.Intended))
	case a.Taken == "":
		out = append(out, "stayed put")
	case a.Slip() && a.Intended == "":
		out = append(out, "slip: meant to stay put")
	case a.Slip():
		out = append(out, "slip: meant "+a.Intended)
	}
	return out
}

func actions(n int) string {
	if n == 1 {
		return "1 action"
	}
	return fmt.Sprintf("%d actions", n)
}
