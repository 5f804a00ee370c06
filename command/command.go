// Package command is what each command of foible does; main.go is the table of
// them. Results go to standard output; progress and messages to standard error.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"syscall"

	"github.com/hashicorp/go-hclog"

	"foible.dev/foible/core/words"
)

// Terminal is where a command writes: results to Out, messages to Err, and log lines by Logger.
type Terminal struct {
	Out, Err io.Writer
	Logger   hclog.Logger
	Logs     *Logs // where the logger writes; nil: where that is does not matter

	Columns int // width to fit; 0: that of the terminal
}

// Logs takes what a logger writes: to a file, or, while something is drawn there, to what draws. Safe for concurrent use.
type Logs struct {
	out io.Writer

	mu   sync.Mutex // guards line
	line func(string)
}

// NewLogs writes to a file.
func NewLogs(out io.Writer) *Logs { return &Logs{out: out} }

// Write implements [io.Writer].
func (l *Logs) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.line == nil {
		return l.out.Write(b)
	}
	l.line(strings.TrimRight(string(b), "\n"))
	return len(b), nil
}

// redirect gives each message to a function until back is called.
func (l *Logs) redirect(line func(string)) (back func()) {
	if l == nil {
		return func() {}
	}
	l.mu.Lock()
	l.line = line
	l.mu.Unlock()
	return func() {
		l.mu.Lock()
		l.line = nil
		l.mu.Unlock()
	}
}

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

// say writes lines to the standard error, wrapped if it is a terminal.
func (term *Terminal) say(format string, args ...any) {
	fmt.Fprintln(term.Err, wrapped(fmt.Sprintf(format, args...), term.width(term.Err), hanging))
}

// PrintError writes why a command has failed to the standard error.
func (term *Terminal) PrintError(err error) { term.say("foible: %v", err) }

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
