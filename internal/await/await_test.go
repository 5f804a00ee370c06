package await

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// recorder is a test that goes on after it has failed, but for what comes after FailNow.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Helper() {}

func (r *recorder) Error(args ...any) { r.said += fmt.Sprint(args...) }

func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	r.FailNow()
}

func (r *recorder) FailNow() { panic(r) }

// failure is what a test says that fails in f, and how long it took.
func failure(f func(t testing.TB)) (said string, took time.Duration) {
	r := &recorder{}
	start := time.Now()
	defer func() {
		if p := recover(); p != nil && p != any(r) {
			panic(p)
		}
		said, took = r.said, time.Since(start)
	}()
	f(r)
	return
}

// Each wait that takes too long fails with what it waited for, the state, and the goroutines.
func TestTooLong(t *testing.T) {
	for name, wait := range map[string]func(testing.TB){
		"value": func(t testing.TB) { Value(t, make(chan int), "a number", "seen", func() string { return "late" }) },
		"try":   func(t testing.TB) { Try(t, make(chan int), "a number", "seen", func() any { return "late" }) },
		"send":  func(t testing.TB) { Send(t, make(chan int), 1, "a number", "seen late") },
		"group": func(t testing.TB) {
			var group sync.WaitGroup
			group.Add(1)
			defer group.Done()
			Group(t, &group, "a number", "seen late")
		},
		"until": func(t testing.TB) { Until(t, "a number", func() bool { return false }, "seen late") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				said, took := failure(wait)
				said = strings.ReplaceAll(said, "\n", " ")
				if !strings.HasPrefix(said, "waited 30m0s for a number seen late  goroutine ") || !strings.Contains(said, "TestTooLong") {
					t.Errorf("it said %.200q", said)
				}
				if took < 30*time.Minute || took > 31*time.Minute {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// What comes in time is returned, and nothing fails.
func TestInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		numbers := make(chan int)
		var group sync.WaitGroup
		start := time.Now()
		group.Go(func() {
			time.Sleep(29 * time.Minute)
			numbers <- 7
			numbers <- <-numbers + 1
		})
		if got := Value(t, numbers, "a number"); got != 7 {
			t.Error(got)
		}
		Send(t, numbers, 1, "the number to be taken")
		if got, ok := Try(t, numbers, "another"); got != 2 || !ok {
			t.Error(got, ok)
		}
		Group(t, &group, "the sender")
		Until(t, "the time", func() bool { return time.Since(start) > 58*time.Minute })
		d := Begin()
		for range 3 {
			time.Sleep(20 * time.Minute)
			d.Check(t, "progress")
			d.Extend()
		}
	})
}

func TestLimits(t *testing.T) {
	if Fake() || Limit() != Patience {
		t.Errorf("%v in real time", Limit())
	}
	if out, err := Output(t, exec.Command("go", "no-such-command")); err == nil || !strings.Contains(string(out), "unknown command") {
		t.Errorf("%s, %v", out, err)
	}
	if out, err := Output(t, exec.Command("go", "env", "GOOS")); err != nil || len(out) == 0 {
		t.Errorf("%s, %v", out, err)
	}
}
