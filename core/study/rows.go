package study

import (
	"fmt"
	"slices"
	"strings"

	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/words"
)

var (
	meansColumns = columns{required: []string{"stimulus", "step", "goal", "probability"}, blank: []string{"probability"}}

	responsesColumns = columns{
		required: []string{"stimulus", "participant", "step", "goal"},
		optional: []string{"probability", "exclude"},
		blank:    []string{"goal"},
	}
)

// answers are the rows about one stimulus.
type answers struct {
	participants []string       // in order of first appearance; means have one, ""
	index        map[string]int // of participants
	vectors      [][]vector     // [participant][j]
}

// vector is the answer of one participant at one judgement step.
type vector struct {
	pos    pddl.Pos   // of its first row; zero = not answered
	rows   []pddl.Pos // [g], zero = no row
	raw    []float64  // [g], as written; 1 for a selected goal
	unsure pddl.Pos   // of a don't know; zero = none
	broken bool       // an error in it is reported
	values []float64  // [g], sums to 1; nil until normalized, and if broken
}

// rowReader sorts the rows of one file into answers.
type rowReader struct {
	*reader
	stimuli    []*draft
	byID       map[string]int
	file       string
	selections bool
	answers    []answers // as stimuli
	decimals   int       // the most that a probability is written with
	excluded   exclusions
	absent     absences
	people     map[[2]string]string // (scope, canonical id): id
	room       int                  // for answers
	suggested  int                  // names that were looked for, for the sake of those that are unknown
}

// maxSuggestions bounds the names that are looked for: one unknown name in each row would take hours.
const maxSuggestions = 200

// suggests says whether another name is looked for.
func (q *rowReader) suggests() bool {
	q.suggested++
	return q.suggested <= maxSuggestions
}

// readRows reads the rows of a table with or without participants.
func (r *reader) readRows(t *table, stimuli []*draft) *rowReader {
	q := &rowReader{
		reader: r, stimuli: stimuli, file: t.file,
		byID:       map[string]int{},
		selections: !t.has("probability"),
		answers:    make([]answers, len(stimuli)),
		people:     map[[2]string]string{},
		room:       r.limits.answers,
	}
	for i, d := range stimuli {
		q.byID[d.ID] = i
	}
	for _, row := range t.rows {
		if q.read(row); q.room < 0 {
			r.errorf(row.pos(), "", "participants with more than %s answers, as many as stimuli have judgement steps for each, which is the limit", words.Thousands(r.limits.answers))
			break
		}
	}
	for _, row := range t.bad {
		q.doubt(row)
	}
	q.absent.note(&r.report, q.file)
	if note := q.excluded.String(); note != "" {
		r.notef(pddl.Pos{File: q.file}, "excluded %s of %s: %s", words.Thousands(q.excluded.rows), words.Count(len(t.rows), "row"), note)
	}
	return q
}

func (q *rowReader) read(row row) {
	if out, err := q.excluded.add(row.cell("exclude").text); err != nil {
		q.bad("exclusions", row.cell("exclude"), "", err.Error())
	} else if out {
		return
	}
	k, err := step(row.cell("step").text)
	if err != nil {
		q.bad("steps that are not whole numbers", row.cell("step"), "", err.Error())
	}
	value, valueErr := 1.0, error(nil)
	at := row.cell("goal")
	if !q.selections {
		at = row.cell("probability")
	}
	absent := noAnswer(at.text)
	if !q.selections && !absent {
		if value, valueErr = probability(at.text); valueErr != nil {
			q.bad("probabilities that are none", at, "", valueErr.Error())
		}
		q.decimals = max(q.decimals, decimals(at.text))
	}
	i, ok := q.stimulus(row.cell("stimulus"))
	if !ok || err != nil {
		return
	}
	d := q.stimuli[i]
	j, ok := slices.BinarySearch(d.JudgementSteps, k)
	if !ok {
		if !d.stepsDoubtful {
			q.bad("steps that are no judgement steps", row.cell("step"), d.ID,
				fmt.Sprintf("step %d is not one of its judgement steps (%s)", k, list(d.JudgementSteps)))
		}
		return
	}
	g, unsure := d.goal(row.cell("goal").text), false
	if absent && (g < 0 || !q.selections) { // a goal may have the name
		if g < 0 && !noAnswer(row.cell("goal").text) {
			q.goal(d, row.cell("goal"))
		}
		q.absent.add(place{i, row.cell("participant").text, j}, at)
		return
	}
	v := q.vector(i, j, row)
	if v.pos.IsZero() {
		v.pos = at.pos
	}
	if g < 0 {
		g, unsure = q.goal(d, row.cell("goal"))
	}
	switch {
	case unsure && v.unsure.IsZero():
		v.unsure = row.cell("goal").pos
	case unsure:
		q.twice(row, d, v, v.unsure)
	case g < 0 || valueErr != nil:
		v.broken = true
		if g >= 0 {
			v.rows[g] = at.pos
		}
	case !v.rows[g].IsZero():
		q.twice(row, d, v, v.rows[g])
	default:
		v.rows[g], v.raw[g] = at.pos, value
	}
}

// doubt marks the answer that an unusable row belongs to, if it has others.
func (q *rowReader) doubt(row row) {
	i, known := q.byID[row.cell("stimulus").text]
	k, err := step(row.cell("step").text)
	if !known || err != nil {
		return
	}
	j, ok := slices.BinarySearch(q.stimuli[i].JudgementSteps, k)
	p, known := q.answers[i].index[row.cell("participant").text]
	if ok && known {
		q.answers[i].vectors[p][j].broken = true
	}
}

// bad reports a cell whose text other rows may share.
func (q *rowReader) bad(kind string, c cell, stimulus, message string) {
	q.row(kind, c.text, Finding{Severity: Error, Pos: c.pos, Stimulus: stimulus, Message: message})
}

func (q *rowReader) twice(row row, d *draft, v *vector, first pddl.Pos) {
	v.broken = true
	c := row.cell("goal")
	q.row("goals that are there twice", c.pos.String(), Finding{
		Severity: Error, Pos: c.pos, Stimulus: d.ID,
		Message: fmt.Sprintf("%s: goal %s is there twice: also in line %d",
			who(row.cell("participant").text, row.cell("step").text), quote(c.text), first.Line),
	})
}

// who names a vector.
func who(participant string, step any) string {
	if participant == "" {
		return fmt.Sprintf("step %v", step)
	}
	return fmt.Sprintf("participant %s, step %v", participant, step)
}

func (q *rowReader) stimulus(c cell) (int, bool) {
	i, ok := q.byID[c.text]
	if ok || len(q.stimuli) == 0 || q.doubted[c.text] {
		return i, ok
	}
	var ids []string
	if q.suggests() {
		for _, d := range q.stimuli {
			ids = append(ids, d.ID)
		}
	}
	message := "no stimulus " + quote(c.text) + " in " + q.stimuli[0].Pos.File
	switch meant := words.Nearest(c.text, ids); {
	case meant != "" && words.Canonical(meant) == words.Canonical(c.text):
		message += fmt.Sprintf(", which has %s: ids are text, and have to be written alike", quote(meant))
	case meant != "":
		message += "; did you mean " + quote(meant) + "?"
	case spreadsheetDate.MatchString(c.text):
		message += ": a spreadsheet may have made a date of an id such as 1-1"
	}
	q.bad("unknown stimuli", c, "", message)
	return 0, false
}

// goal is -1, for a cell that names no goal: unsure for a selection's don't know,
// and an error otherwise.
func (q *rowReader) goal(d *draft, c cell) (g int, unsure bool) {
	if q.selections && dontKnow(c.text) {
		return -1, true
	}
	if !d.goalsDoubtful {
		message := "goal " + quote(c.text) + " is none of its goals"
		if q.suggests() {
			message = d.unknownGoal("goal", c.text)
		}
		if q.selections && !d.resembles(c.text) {
			message += "; " + acceptedWords(true)
		}
		if c.text == "" {
			message = `no value in column "goal"`
		}
		q.bad("unknown goals", c, d.ID, message)
	}
	return -1, false
}

// resembles reports whether a name was probably meant for a goal.
func (s *Stimulus) resembles(name string) bool {
	return words.Nearest(name, s.goalNames()) != "" || slices.ContainsFunc(s.goalNames(), func(goal string) bool {
		return words.WithoutDigits(goal) == words.WithoutDigits(name)
	})
}

// vector is the vector that a row belongs to.
func (q *rowReader) vector(i, j int, row row) *vector {
	a, d := &q.answers[i], q.stimuli[i]
	id := row.cell("participant")
	p, known := a.index[id.text]
	if !known {
		q.alike(id, d)
		q.room -= len(d.JudgementSteps)
		p = len(a.participants)
		if a.index == nil {
			a.index = map[string]int{}
		}
		a.index[id.text] = p
		a.participants = append(a.participants, id.text)
		a.vectors = append(a.vectors, make([]vector, len(d.JudgementSteps)))
	}
	v := &a.vectors[p][j]
	if v.rows == nil {
		v.rows = make([]pddl.Pos, len(d.Goals))
		v.raw = make([]float64, len(d.Goals))
	}
	return v
}

// alike warns of two ids that probably are one person.
func (q *rowReader) alike(id cell, d *draft) {
	scope := d.ID
	if q.src.ParticipantsLinked {
		scope = ""
	}
	key := [2]string{scope, words.Canonical(id.text)}
	first, ok := q.people[key]
	if !ok {
		q.people[key] = id.text
	} else if first != id.text {
		q.row("participants that may be one", id.text, Finding{
			Severity: Warning, Pos: id.pos, Stimulus: d.ID,
			Message: fmt.Sprintf("participants %s and %s are taken as two: ids are text", quote(first), quote(id.text)),
		})
	}
}

func list(steps []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(steps), "[]"), " ", ", ")
}
