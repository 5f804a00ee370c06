package study

import (
	"regexp"
	"slices"
	"strings"

	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/words"
)

// DontKnow are the goals of a selection by which a participant says not to know: the
// answer is then equal probabilities. Case, spaces, "_" and "-" between words, the kind of
// apostrophe, a point at the end, and "I" or "I am" at the beginning make no difference. A
// goal of the stimulus that has such a name is that goal.
var DontKnow = []string{"don't know", "do not know", "dont know", "idk", "not sure", "unsure", "uncertain", "no idea", "can't tell", "cannot tell", "?"}

// NoAnswer are the goals of a selection, and the probabilities, that say that there is no
// answer, as a blank cell does. They are read as [DontKnow] is. Such rows are left out.
var NoAnswer = []string{"NA", "n/a", "nan", "null", "none", "n.a.", "missing", "no answer", "no response", "-", "."}

// plainAnswer is a text as it is compared with the words for no answer.
func plainAnswer(text string) string {
	plain := strings.ToLower(strings.ReplaceAll(text, "’", "'"))
	plain = strings.Join(strings.Fields(strings.NewReplacer("_", " ", "-", " ").Replace(plain)), " ")
	plain = strings.TrimRight(plain, ".! ")
	return firstPerson.ReplaceAllString(plain, "")
}

var firstPerson = regexp.MustCompile(`^(i am|i'm|im|i) `)

// dontKnow reports whether a text says that a participant does not know.
func dontKnow(text string) bool { return slices.Contains(DontKnow, plainAnswer(text)) }

// noAnswer reports whether a text says that there is no answer.
func noAnswer(text string) bool {
	plain := plainAnswer(text)
	return plain == "" || slices.ContainsFunc(NoAnswer, func(word string) bool { return plain != "" && plainAnswer(word) == plain })
}

// acceptedWords lists the words for no answer, for a message about another one.
func acceptedWords(selections bool) string {
	none := "no answer is written as a blank cell or one of " + strings.Join(NoAnswer, ", ")
	if !selections {
		return none
	}
	return "a participant who does not know is written as one of " + strings.Join(DontKnow, ", ") + "; " + none
}

// place is an answer that may be missing: of a participant, at a judgement step of a stimulus.
type place struct {
	stimulus    int
	participant string
	step        int // index into JudgementSteps
}

// absences are the rows of a file that say that there is no answer.
type absences struct {
	first map[place]cell // the first cell that says so
	rows  int
	texts []string // in order of first appearance
}

func (a *absences) add(at place, c cell) {
	if a.first == nil {
		a.first = map[place]cell{}
	}
	if _, ok := a.first[at]; !ok {
		a.first[at] = c
	}
	a.rows++
	if text := absentText(c); !slices.Contains(a.texts, text) {
		a.texts = append(a.texts, text)
	}
}

// note says how many rows are left out.
func (a *absences) note(r *report, file string) {
	if a.rows > 0 {
		r.notef(pddl.Pos{File: file}, "left out for want of an answer: %s (%s)", words.Count(a.rows, "row"), words.List(a.texts))
	}
}

// absentText is a cell without an answer, as messages show it.
func absentText(c cell) string {
	if c.text == "" {
		return "a blank cell"
	}
	return quote(c.text)
}
