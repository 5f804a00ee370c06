package study

import (
	"fmt"

	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/words"
)

// mostOfAKind is how many findings of one kind a file may show.
const mostOfAKind = 20

// report gathers findings. One mistake repeated in thousands of rows stays
// readable: rows with the same offending value are one finding with a count,
// and beyond mostOfAKind a kind of finding is counted only.
type report struct {
	findings Findings
	repeated map[rowKey]*repeats
	kinds    map[rowKey]*kind
}

type rowKey struct{ file, kind, value string }

type repeats struct {
	finding, more int
	noun          string // what repeats it
}

type kind struct {
	shown int
	rest  int // index of the finding that counts the others; -1 before
	more  int
}

func (r *report) add(f Finding) { r.findings = append(r.findings, f) }

func (r *report) errorf(pos pddl.Pos, stimulus, format string, args ...any) {
	r.add(Finding{Severity: Error, Pos: pos, Stimulus: stimulus, Message: fmt.Sprintf(format, args...)})
}

func (r *report) warnf(pos pddl.Pos, stimulus, format string, args ...any) {
	r.add(Finding{Severity: Warning, Pos: pos, Stimulus: stimulus, Message: fmt.Sprintf(format, args...)})
}

func (r *report) notef(pos pddl.Pos, format string, args ...any) {
	r.add(Finding{Severity: Note, Pos: pos, Message: fmt.Sprintf(format, args...)})
}

// row adds a finding that other rows may repeat: what names its kind in the
// plural, value is what the rows have in common.
func (r *report) row(what, value string, f Finding) { r.repeat("row", what, value, f) }

// repeat adds a finding as row does, of parts of a file with another name.
func (r *report) repeat(noun, what, value string, f Finding) {
	if r.repeated == nil {
		r.repeated = map[rowKey]*repeats{}
		r.kinds = map[rowKey]*kind{}
	}
	key := rowKey{f.Pos.File, what, f.Stimulus + "\x00" + value}
	if seen := r.repeated[key]; seen != nil {
		seen.more++
		return
	}
	k := r.kinds[rowKey{f.Pos.File, what, ""}]
	if k == nil {
		k = &kind{rest: -1}
		r.kinds[rowKey{f.Pos.File, what, ""}] = k
	}
	switch {
	case k.shown < mostOfAKind:
		k.shown++
		r.repeated[key] = &repeats{finding: len(r.findings), noun: noun}
		r.add(f)
	case k.rest < 0:
		k.rest, k.more = len(r.findings), 1
		r.add(Finding{Severity: f.Severity, Pos: f.Pos, Message: what})
	default:
		k.more++
	}
}

// done is every finding, in order.
func (r *report) done() Findings {
	for _, seen := range r.repeated {
		if seen.more > 0 {
			r.findings[seen.finding].Message += fmt.Sprintf(" (and in %s)", words.Count(seen.more, "more "+seen.noun))
		}
	}
	for key, k := range r.kinds {
		if k.rest >= 0 {
			r.findings[k.rest].Message = fmt.Sprintf("%s more: %s", words.Thousands(k.more), key.kind)
		}
	}
	r.findings.sort()
	return r.findings
}

// failed reports whether a file has errors.
func (r *report) failed(file string) bool {
	for _, f := range r.findings {
		if f.Severity == Error && f.Pos.File == file {
			return true
		}
	}
	return false
}
