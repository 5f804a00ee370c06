package study

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/words"
)

// CheckLimit is how many states of a stimulus Check looks at to find out
// whether its goals can be reached.
const CheckLimit = 200_000

// Check reports what a study's grounded tasks show (a plan that cannot be
// carried out; goals that are true at the start or cannot be reached from it),
// and counts stimuli and participants. It skips stimuli that Read could not
// read. The error is that of ctx, if it ends before.
func Check(ctx context.Context, s *Study) (Findings, error) {
	tasks, err := CheckTasks(ctx, s)
	var r report
	countCategories(&r, s)
	countParticipants(&r, s)
	return Merge(tasks, r.done()), err
}

// CheckTasks is the part of Check that is about plans and goals.
func CheckTasks(ctx context.Context, s *Study) (Findings, error) {
	var r report
	refused := map[string]bool{}
	for i := range s.Stimuli {
		if err := checkTask(ctx, &r, &s.Stimuli[i], refused); err != nil {
			return nil, err
		}
	}
	return r.done(), nil
}

// Locate is the place of an error in the PDDL of a stimulus, zero if it has none, and its
// message. What is wrong with a goal's meaning stands where the goal is named.
func (s *Stimulus) Locate(err error) (pddl.Pos, string) {
	pos, message := located(err)
	for _, g := range s.Goals {
		if pos.File == g.file() {
			return g.Pos, "goal " + quote(g.Name) + ": " + message
		}
	}
	return pos, message
}

// checkTask reports a construct that the grounder refuses once, also if
// several stimuli share it. The error is that of ctx, if it ends before.
func checkTask(ctx context.Context, r *report, s *Stimulus, refused map[string]bool) error {
	if s.Problem == nil || slices.ContainsFunc(s.Goals, func(g Goal) bool { return g.Formula == nil }) {
		return nil
	}
	task, err := ground.New(s.Problem, s.formulas())
	if err != nil {
		pos, message := s.Locate(err)
		if !refused[err.Error()] {
			r.errorf(pos, s.ID, "%s", message)
		}
		refused[err.Error()] = true
		return nil
	}
	checkNumbers(r, task, refused)
	_, _, err = task.Validate(s.Plan)
	if p := (*ground.PlanError)(nil); errors.As(err, &p) {
		r.errorf(p.Pos, s.ID, "%s", p.Message())
	}
	return checkGoals(ctx, r, s, task)
}

// checkNumbers reports numbers that only grow or shrink, once for all stimuli that share them.
func checkNumbers(r *report, task *ground.Task, refused map[string]bool) {
	for _, effect := range task.Unread() {
		key := "number " + effect.Pos.String()
		if refused[key] {
			continue
		}
		refused[key] = true
		if strings.EqualFold(effect.Fluent.Function.Name, "total-cost") {
			r.errorf(effect.Pos, "", "%s is a cost of the action, and every action costs 1: take the effect out, or every state is a new one", effect)
		} else {
			r.warnf(effect.Pos, "", "no condition and no goal reads %s, so that %s makes every state a new one: take the effect out", effect.Fluent, effect)
		}
	}
}

func checkGoals(ctx context.Context, r *report, s *Stimulus, task *ground.Task) error {
	complete, err := task.Enumerate(ctx, CheckLimit)
	if err != nil {
		return err
	}
	for g, goal := range s.Goals {
		if task.Satisfies(task.Initial(), g) {
			r.warnf(goal.Pos, s.ID, "goal %s is true at the start", quote(goal.Name))
			continue
		}
		switch {
		case reached(task, g):
		case complete:
			r.warnf(goal.Pos, s.ID, "goal %s cannot be reached from the start", quote(goal.Name))
		default:
			r.add(Finding{Severity: Note, Pos: goal.Pos, Stimulus: s.ID, Message: fmt.Sprintf(
				"goal %s is not reached in the first %s states: not checked further", quote(goal.Name), words.Thousands(CheckLimit))})
		}
	}
	return nil
}

// reached reports whether an interned state satisfies a goal.
func reached(task *ground.Task, goal int) bool {
	for s := range ground.StateID(task.Len()) {
		if task.Satisfies(s, goal) {
			return true
		}
	}
	return false
}
