// Package command is what each command of foible does; main.go is the table of
// them. Results go to standard output; progress and messages to standard error.
package command

import (
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/go-hclog"
)

// Env is what commands share.
type Env struct {
	Out, Err io.Writer
	Version  string
	Logger   hclog.Logger
}

// ErrReported ends a command whose errors have been printed.
var ErrReported = errors.New("errors have been reported")

// UsageError is a command called wrongly.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

func usagef(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

func (e *Env) say(format string, args ...any) {
	fmt.Fprintf(e.Err, format+"\n", args...)
}
