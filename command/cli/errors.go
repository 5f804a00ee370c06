// Package cli has what all commands share of the command line: errors and
// exit codes, checks of arguments, common flags, limits of files that a user
// names, and the version. Read [UsageError] first.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"foible.dev/foible/core/words"
)

var (
	// ErrReported ends a command whose errors have been printed.
	ErrReported = errors.New("errors have been reported")
	// ErrInterrupted ends a command that the user has stopped.
	ErrInterrupted = errors.New("interrupted")
)

// UsageError is a command called wrongly.
type UsageError struct{ Err error }

// Error implements error.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef returns a [UsageError].
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

// Interrupted is ErrInterrupted in place of an error that comes of the user's stopping the command.
func Interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ErrInterrupted
	}
	return err
}

// Cause is an error of a file without operation and path, which the message around it has.
func Cause(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// CannotWrite says of an error with a file that a directory given by a flag is
// no place to write to; other errors stay as they are.
func CannotWrite(dir, flag string, err error) error {
	if p := (*fs.PathError)(nil); !errors.As(err, &p) {
		return err
	}
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk of the directory %s is full; make room there, or name another with %s", words.Quoted(dir), flag)
	}
	return fmt.Errorf("cannot write to the directory %s: %w; name another with %s", words.Quoted(dir), Cause(err), flag)
}

// EndedError says that a sweep which was watched did not succeed.
type EndedError struct {
	Cancelled bool // else some of it failed
	Message   string
}

// Error implements error.
func (e *EndedError) Error() string { return e.Message }

// Exit codes of foible.
const (
	ExitError       = 1
	ExitUsage       = 2
	ExitFailures    = 3 // of watch: some jobs failed
	ExitCancelled   = 4 // of watch
	ExitInterrupted = 130
)
