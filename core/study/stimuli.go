package study

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/words"
)

var stimuliColumns = columns{
	required: []string{"stimulus", "goals", "judgement_steps"},
	optional: []string{"category", "true_goal"},
}

func (r *reader) readStimuli() []*draft {
	t := r.table("stimuli", r.src.Stimuli, stimuliColumns)
	if t == nil {
		return nil
	}
	r.ignored(t)
	for _, row := range t.bad {
		r.doubted[row.cell("stimulus").text] = true
	}
	if len(t.rows) == 0 && len(t.bad) == 0 {
		r.errorf(pddl.Pos{File: t.file}, "", "no stimuli")
	}
	if n := len(t.rows); n > r.limits.stimuli {
		r.errorf(t.rows[r.limits.stimuli].pos(), "", "%s stimuli, and the limit is %s", words.Thousands(n), words.Thousands(r.limits.stimuli))
		return nil
	}
	var all []*draft
	lines := map[string]int{}
	for _, row := range t.rows {
		id := row.cell("stimulus")
		if line, twice := lines[id.text]; twice {
			r.errorf(id.pos, "", "stimulus %s is there twice: also in line %d", quote(id.text), line)
			continue
		}
		lines[id.text] = id.pos.Line
		d := &draft{Stimulus: Stimulus{ID: id.text, Category: row.cell("category").text, Pos: id.pos, TrueGoal: -1}}
		r.readGoals(d, row.cell("goals"))
		r.readTrueGoal(d, row.cell("true_goal"))
		r.readSteps(d, row.cell("judgement_steps"))
		all = append(all, d)
	}
	return all
}

// table reads the CSV file that a field names.
func (r *reader) table(field, name string, known columns) *table {
	if name == "" {
		r.errorf(r.src.where(field), "", "%s names no file", field)
		return nil
	}
	name = path.Clean(name)
	src, ok := r.file(field, name, r.limits.tableBytes, r.src.where(field), "")
	if !ok {
		return nil
	}
	return readTable(&r.report, name, src, known, r.limits)
}

func (r *reader) ignored(t *table) {
	if len(t.other) > 0 {
		r.notef(t.head, "not used: column %s", strings.Join(t.other, ", "))
	}
}

func (r *reader) readGoals(d *draft, c cell) {
	named := listed(c.text)
	if n := len(named); n > r.limits.goals {
		r.errorf(c.pos, d.ID, "%s goals, and the limit is %s", words.Thousands(n), words.Thousands(r.limits.goals))
		d.goalsDoubtful = true
		return
	}
	for _, w := range named {
		if g := d.goal(w.text); g >= 0 {
			r.errorf(c.at(w.at), d.ID, "goal %s is there twice", quote(w.text))
			d.goalsDoubtful = true
			continue
		}
		d.Goals = append(d.Goals, Goal{Name: w.text, Pos: c.at(w.at)})
	}
	switch len(d.Goals) {
	case 0:
		r.errorf(c.pos, d.ID, "no goals in %s", quote(c.text))
		d.goalsDoubtful = true
	case 1:
		r.warnf(c.pos, d.ID, "only one goal: there is nothing to infer")
	}
}

// goal is the index of the goal of that name, in any case, or -1.
func (s *Stimulus) goal(name string) int {
	return slices.IndexFunc(s.Goals, func(g Goal) bool { return strings.EqualFold(g.Name, name) })
}

func (s *Stimulus) goalNames() []string {
	names := make([]string, len(s.Goals))
	for i, g := range s.Goals {
		names[i] = g.Name
	}
	return names
}

// unknownGoal says that a name is none of the stimulus's goals.
func (s *Stimulus) unknownGoal(what, name string) string {
	return fmt.Sprintf("%s %s is none of its goals (%s)%s",
		what, quote(name), strings.Join(s.goalNames(), " "), words.DidYouMean(name, s.goalNames()))
}

func (r *reader) readTrueGoal(d *draft, c cell) {
	if c.text == "" {
		return
	}
	if d.TrueGoal = d.goal(c.text); d.TrueGoal < 0 && !d.goalsDoubtful {
		r.errorf(c.pos, d.ID, "%s", d.unknownGoal("the true goal", c.text))
	}
}

func (r *reader) readSteps(d *draft, c cell) {
	d.stepsPos = c.pos
	named := listed(c.text)
	if n := len(named); n > r.limits.steps {
		r.errorf(c.pos, d.ID, "%s judgement steps, and the limit is %s", words.Thousands(n), words.Thousands(r.limits.steps))
		d.stepsDoubtful = true
		return
	}
	for _, w := range named {
		pos := c.at(w.at)
		k, err := step(w.text)
		n := len(d.JudgementSteps)
		switch {
		case err != nil:
			r.errorf(pos, d.ID, "judgement %v", err)
		case n > 0 && k == d.JudgementSteps[n-1]:
			r.errorf(pos, d.ID, "judgement step %d is there twice", k)
		case n > 0 && k < d.JudgementSteps[n-1]:
			r.errorf(pos, d.ID, "judgement steps do not ascend: %d after %d", k, d.JudgementSteps[n-1])
		default:
			d.JudgementSteps = append(d.JudgementSteps, k)
			d.steps = append(d.steps, pos)
			continue
		}
		d.stepsDoubtful = true
	}
	if len(d.JudgementSteps) == 0 && !d.stepsDoubtful {
		r.errorf(c.pos, d.ID, "no judgement steps in %s", quote(c.text))
		d.stepsDoubtful = true
	}
}
