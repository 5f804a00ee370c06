// Package await bounds the waits of tests. A wait that takes too long fails the test with a message that says what was
// waited for, the state that was seen, and what every goroutine does. Unless their comments say otherwise, functions fail
// the test by FailNow, so only the test's own goroutine may call them.
package await

import (
	"bytes"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// Patience is how long a wait may take in real time. It says nothing about how fast the thing should be: tests run on
	// machines that are busy with other things.
	Patience = 5 * time.Minute
	// fakePatience is the same in the fake time of testing/synctest, which passes as fast as the processor allows.
	fakePatience = 30 * time.Minute
	// pause is the time between two looks at a condition.
	pause = 20 * time.Millisecond
)

// Limit is how long a wait that begins now may take: Patience, or more of fake time.
func Limit() time.Duration {
	if Fake() {
		return fakePatience
	}
	return Patience
}

// Fake says whether the caller's time is that of testing/synctest, which begins in the year 2000.
func Fake() bool { return time.Now().Year() < 2010 }

// Value receives from a channel; of a closed one, the zero value. The states are printed if it fails: each may
// be a func() any or a func() string, which is called then, or any other value.
func Value[T any](t testing.TB, from <-chan T, what string, states ...any) T {
	t.Helper()
	v, ok := Try(t, from, what, states...)
	if !ok {
		t.FailNow()
	}
	return v
}

// Try is Value for any goroutine: the test fails but goes on, and ok is false.
func Try[T any](t testing.TB, from <-chan T, what string, states ...any) (v T, ok bool) {
	t.Helper()
	timeout := time.NewTimer(Limit())
	defer timeout.Stop()
	select {
	case v = <-from:
		return v, true
	case <-timeout.C:
		t.Error(message(Limit(), what, states))
		return v, false
	}
}

// Send sends to a channel.
func Send[T any](t testing.TB, to chan<- T, v T, what string, states ...any) {
	t.Helper()
	timeout := time.NewTimer(Limit())
	defer timeout.Stop()
	select {
	case to <- v:
	case <-timeout.C:
		t.Fatal(message(Limit(), what, states))
	}
}

// Group waits for all that a group counts. Any goroutine may call it: the test fails but goes on.
func Group(t testing.TB, group *sync.WaitGroup, what string, states ...any) {
	t.Helper()
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	Try(t, done, what, states...)
}

// Until waits for a condition to hold.
func Until(t testing.TB, what string, holds func() bool, states ...any) {
	t.Helper()
	for d := Begin(); !holds(); time.Sleep(pause) {
		d.Check(t, what, states...)
	}
}

// Deadline bounds a wait that a test makes step by step.
type Deadline struct {
	limit time.Duration
	end   time.Time
}

// Begin begins a wait.
func Begin() *Deadline {
	limit := Limit()
	return &Deadline{limit: limit, end: time.Now().Add(limit)}
}

// Extend begins it anew, because there was progress.
func (d *Deadline) Extend() { d.end = time.Now().Add(d.limit) }

// Check fails the test if the wait has taken too long.
func (d *Deadline) Check(t testing.TB, what string, states ...any) {
	t.Helper()
	if time.Now().After(d.end) {
		t.Fatal(message(d.limit, what, states))
	}
}

// Output runs a command that ends by itself and returns what it writes to both outputs. A command that takes too long
// is killed and fails the test; any other error is the caller's to judge.
func Output(t testing.TB, cmd *exec.Cmd) ([]byte, error) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second // for children that keep the outputs open
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	timeout := time.NewTimer(Limit())
	defer timeout.Stop()
	select {
	case err := <-ended:
		return out.Bytes(), err
	case <-timeout.C:
		_ = cmd.Process.Kill()
		<-ended
		t.Fatalf("waited %v for the end of %s; it wrote\n%s", Limit(), cmd, out.Bytes())
		return nil, nil
	}
}

// message says what did not come.
func message(limit time.Duration, what string, states []any) string {
	var seen strings.Builder
	for _, state := range states {
		switch s := state.(type) {
		case func() any:
			state = s()
		case func() string:
			state = s()
		}
		fmt.Fprintf(&seen, "\n%v", state)
	}
	return fmt.Sprintf("waited %v for %s%s\n\n%s", limit, what, seen.String(), Goroutines())
}

// Goroutines says what every goroutine does.
func Goroutines() string {
	for n := 1 << 20; ; n *= 2 {
		buf := make([]byte, n)
		if used := runtime.Stack(buf, true); used < n || n >= 64<<20 {
			return string(buf[:used])
		}
	}
}
