package pddl

import (
	"fmt"
	"strings"
)

// Pos is a place in a source: line and column count from 1, columns in characters.
type Pos struct {
	File         string
	Line, Column int
}

// String is "file:line:column".
func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Position is p itself; nodes embed a Pos.
func (p Pos) Position() Pos { return p }

// IsZero reports whether p is no place at all.
func (p Pos) IsZero() bool { return p == Pos{} }

// Error is a source that is refused. Message names the offending term.
type Error struct {
	Pos     Pos
	Message string
}

// Error is "file:line:column: message".
func (e *Error) Error() string { return e.Pos.String() + ": " + e.Message }

// Errors is everything that was found wrong with a source, in its order; it is never empty.
type Errors []*Error

// Error is a line for each error.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap implements the interface of [errors.As].
func (es Errors) Unwrap() []error {
	all := make([]error, len(es))
	for i, e := range es {
		all[i] = e
	}
	return all
}

// Warning is something that is understood, and yet likely to be a mistake.
type Warning struct {
	Pos     Pos
	Message string
}

// String is "file:line:column: message".
func (w Warning) String() string { return w.Pos.String() + ": " + w.Message }

func errorf(pos Pos, format string, args ...any) *Error {
	return &Error{Pos: pos, Message: fmt.Sprintf(format, args...)}
}
