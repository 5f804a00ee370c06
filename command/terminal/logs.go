package terminal

import (
	"io"
	"strings"
	"sync"
)

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

// Redirect gives each message to a function until back is called.
func (l *Logs) Redirect(line func(string)) (back func()) {
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
