package command

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

func (e *UsageError) Error() string { return e.Err.Error() }

func (e *UsageError) Unwrap() error { return e.Err }

func usagef(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

// interrupted is ErrInterrupted in place of an error that comes of the user's stopping the command.
func interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ErrInterrupted
	}
	return err
}

// cause is an error of a file without operation and path, which the message around it has.
func cause(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// cannotWrite says of an error with a file that a directory given by a flag is
// no place to write to; other errors stay as they are.
func cannotWrite(dir, flag string, err error) error {
	if p := (*fs.PathError)(nil); !errors.As(err, &p) {
		return err
	}
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk of the directory %s is full; make room there, or name another with %s", words.Quoted(dir), flag)
	}
	return fmt.Errorf("cannot write to the directory %s: %w; name another with %s", words.Quoted(dir), cause(err), flag)
}

// EndedError says that a sweep which was watched did not succeed.
type EndedError struct {
	Cancelled bool // else some of it failed
	Message   string
}

func (e *EndedError) Error() string { return e.Message }

// Exit codes of foible.
const (
	ExitError       = 1
	ExitUsage       = 2
	ExitFailures    = 3 // of watch: some jobs failed
	ExitCancelled   = 4 // of watch
	ExitInterrupted = 130
)
