package study

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/words"
)

// Severity of a finding.
type Severity int

const (
	// Error: the study cannot be used as it is.
	Error Severity = iota
	// Warning: usable, but probably not what was meant.
	Warning
	// Note: a fact about the data that a report should state.
	Note
)

func (s Severity) String() string {
	return [...]string{"error", "warning", "note"}[s]
}

// Finding is one thing to know about a study. Pos without a line is about the
// whole file, without a file about the whole study.
type Finding struct {
	Severity Severity
	Pos      pddl.Pos
	Stimulus string // id, or empty
	Message  string
	// Others is of how many other stimuli the same is true.
	Others int
}

// String is "file:line:column: severity: stimulus ID: message", without the
// parts that are not known, on one line.
func (f Finding) String() string {
	return f.place() + f.Severity.String() + ": " + f.text()
}

func (f Finding) place() string {
	switch {
	case f.Pos.File == "":
		return ""
	case f.Pos.Line == 0:
		return f.Pos.File + ": "
	}
	return fmt.Sprintf("%s:%d:%d: ", f.Pos.File, f.Pos.Line, f.Pos.Column)
}

func (f Finding) text() string {
	text := f.Message
	switch {
	case f.Stimulus != "" && f.Others > 0:
		text = fmt.Sprintf("stimulus %s and %d more: %s", f.Stimulus, f.Others, text)
	case f.Stimulus != "":
		text = "stimulus " + f.Stimulus + ": " + text
	}
	return words.Line(strings.ReplaceAll(text, "\n", " "))
}

// Findings are ordered by file, line and column; those of no file come last.
type Findings []Finding

// Err joins all errors, one a line; nil if there are none.
func (fs Findings) Err() error {
	var errs []error
	for _, f := range fs {
		if f.Severity == Error {
			errs = append(errs, errors.New(f.place()+f.text()))
		}
	}
	return errors.Join(errs...)
}

// Merge is all findings in order. What is found at one place for several stimuli is one finding.
func Merge(parts ...Findings) Findings {
	all := slices.Concat(parts...)
	all.sort()
	var merged Findings
	for _, f := range all {
		same := len(merged) - 1
		for same >= 0 && merged[same].Pos == f.Pos && (merged[same].Severity != f.Severity || merged[same].Message != f.Message) {
			same--
		}
		switch {
		case same < 0 || merged[same].Pos != f.Pos || f.Pos.File == "" && f.Stimulus != merged[same].Stimulus:
			merged = append(merged, f)
		case f.Stimulus != merged[same].Stimulus:
			merged[same].Others += 1 + f.Others
		}
	}
	return merged
}

func (fs Findings) sort() {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		if (a.Pos.File == "") != (b.Pos.File == "") {
			return cmp.Compare(b.Pos.File, a.Pos.File)
		}
		return cmp.Or(
			cmp.Compare(a.Pos.File, b.Pos.File),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
			cmp.Compare(a.Severity, b.Severity),
		)
	})
}
