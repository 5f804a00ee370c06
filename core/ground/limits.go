package ground

import (
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/words"
)

// limits of a task. What a quantifier is expanded to, and what an action is instantiated to, can be exponential in the
// number of variables, so that a few lines of PDDL can ask for more than any machine has.
type limits struct {
	operators  int
	conditions int // that are kept: of preconditions, of effects and of derived predicates
	facts      int // that can change
	steps      int // choices of objects that are tried while grounding
}

// taskLimits keep grounding within about half a gigabyte and some ten seconds.
var taskLimits = limits{operators: 1 << 20, conditions: 2_000_000, facts: 1 << 20, steps: 20_000_000}

// expense is what grounding has cost so far.
type expense struct {
	steps int
	made  int // conditions and parts of effects of what is being compiled
	kept  int // those of what has been compiled
}

// step counts choices of objects that are tried for what stands at pos.
func (t *Task) step(pos pddl.Pos, n int) {
	if t.cost.steps += n; t.cost.steps > t.limits.steps {
		refuse(pos, "grounding the problem takes more than %s choices of objects, which is the limit, and is not done here; use fewer objects, types that admit fewer, or fewer variables", words.Thousands(t.limits.steps))
	}
}

// make counts a condition, or a part of an effect, that stands at pos.
func (t *Task) make(pos pddl.Pos) {
	if t.cost.made++; t.cost.made+t.cost.kept > t.limits.conditions {
		refuse(pos, "grounding the problem makes more than %s conditions and effects, which is the limit, and is not done here; use fewer objects, types that admit fewer, or fewer variables", words.Thousands(t.limits.conditions))
	}
	if t.dynamic.len() > t.limits.facts {
		refuse(pos, "the problem has more than %s facts that can change, which is the limit", words.Thousands(t.limits.facts))
	}
}

// settle ends the counting of what has been compiled, and nothing of it is kept unless the caller says so.
func (t *Task) settle(kept bool) {
	if kept {
		t.cost.kept += t.cost.made
	}
	t.cost.made = 0
}

// checkChoices refuses variables that have more choices of objects together than are tried.
func (t *Task) checkChoices(ps []*pddl.Parameter, pos pddl.Pos) {
	choices := 1.0
	for _, p := range ps {
		choices *= float64(len(t.objectsOf(p)))
	}
	if choices > float64(t.limits.steps) {
		refuse(pos, "the %s of this quantifier have %s choices of objects, and the limit is %s; use fewer objects, types that admit fewer, or fewer variables",
			words.Count(len(ps), "variable"), choicesText(choices), words.Thousands(t.limits.steps))
	}
}

// choicesText is a number of choices, exact as long as it can be counted.
func choicesText(n float64) string {
	if n < 1<<53 {
		return words.Thousands(int64(n))
	}
	return "more than " + words.Thousands(int64(1<<53))
}
