//go:build unix

// Package harness runs the program in tests of whole processes: commands, clusters of a
// coordinator and workers, networks between them, and a made-up Slurm.
package harness

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"foible.dev/foible/internal/await"
)

// Foible is the program, built once.
var Foible string

// Main builds the program, goes to the root of the module, where the files that tests read
// are, and runs the tests of a package.
func Main(m *testing.M) {
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(filepath.Dir(Foible))
	os.Exit(code)
}

func prepare() error {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	if err := os.Chdir(strings.TrimSpace(string(root))); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "foible-test-")
	if err != nil {
		return err
	}
	Foible = filepath.Join(dir, "foible")
	if out, err := exec.Command("go", "build", "-o", Foible, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// Call is a command that has ended.
type Call struct {
	Stdout, Stderr string
	Code           int
}

// Host is where commands run: a network namespace, or this machine's own.
type Host string

// Do runs a command to its end in a directory.
func (h Host) Do(t *testing.T, dir string, args ...string) Call {
	t.Helper()
	p := h.Start(t, dir, args...)
	code := p.Wait()
	return Call{Stdout: p.Stdout.String(), Stderr: p.Stderr.String(), Code: code}
}

func Do(t *testing.T, dir string, args ...string) Call {
	t.Helper()
	return Host("").Do(t, dir, args...)
}

// Succeed runs a command that must Succeed.
func (h Host) Succeed(t *testing.T, dir string, args ...string) Call {
	t.Helper()
	c := h.Do(t, dir, args...)
	if c.Code != 0 {
		t.Fatalf("foible %s: exit code %d\n%s", strings.Join(args, " "), c.Code, c.Stderr)
	}
	return c
}

func Succeed(t *testing.T, dir string, args ...string) Call {
	t.Helper()
	return Host("").Succeed(t, dir, args...)
}

// Process is a command that runs.
type Process struct {
	t              *testing.T
	Name           string
	Cmd            *exec.Cmd
	Stdout, Stderr Output
	Ended          chan struct{}
}

// Output may be read while a process writes to it.
type Output struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// Start starts a command, which does not outlive the test. Settings of the environment may come before its arguments.
func (h Host) Start(t *testing.T, dir string, args ...string) *Process {
	t.Helper()
	ours := func(setting string) bool { return strings.HasPrefix(setting, "FOIBLE_") }
	var env []string
	for len(args) > 0 && ours(args[0]) {
		env, args = append(env, args[0]), args[1:]
	}
	return StartCommand(t, dir, h.Command(Foible, args...), append(slices.DeleteFunc(os.Environ(), ours), env...))
}

// StartProgram starts any program in a directory.
func StartProgram(t *testing.T, dir, name string, args ...string) *Process {
	t.Helper()
	return StartCommand(t, dir, exec.Command(name, args...), os.Environ())
}

func StartCommand(t *testing.T, dir string, cmd *exec.Cmd, env []string) *Process {
	t.Helper()
	p := &Process{t: t, Name: filepath.Base(cmd.Path) + " " + strings.Join(cmd.Args[1:], " "), Cmd: cmd, Ended: make(chan struct{})}
	p.Cmd.Dir, p.Cmd.Stdout, p.Cmd.Stderr, p.Cmd.Env = dir, &p.Stdout, &p.Stderr, env
	if err := p.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.Cmd.Wait() // the exit code is in ProcessState
		close(p.Ended)
	}()
	t.Cleanup(func() { p.Signal(syscall.SIGKILL); await.Try(t, p.Ended, p.Name+" to end") })
	return p
}

func Start(t *testing.T, dir string, args ...string) *Process {
	t.Helper()
	return Host("").Start(t, dir, args...)
}

// Command is a program that becomes the process itself, so that signals reach it.
func (h Host) Command(name string, args ...string) *exec.Cmd {
	if h == "" {
		return exec.Command(name, args...)
	}
	return exec.Command("ip", append([]string{"netns", "exec", string(h), name}, args...)...)
}

func (p *Process) Signal(s os.Signal) {
	p.t.Helper()
	if err := p.Cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Errorf("%s: %v", p.Name, err)
	}
}

// Kill ends a process without notice.
func (p *Process) Kill() {
	p.t.Helper()
	p.Signal(syscall.SIGKILL)
	await.Value(p.t, p.Ended, p.Name+" to end")
	if p.Cmd.ProcessState.Exited() {
		p.t.Fatalf("%s had ended before it was killed:\n%s", p.Name, p.Stderr.String())
	}
}

// Wait returns the exit code.
func (p *Process) Wait() int {
	p.t.Helper()
	await.Value(p.t, p.Ended, p.Name+" to end", p.Stderr.String)
	return p.Cmd.ProcessState.ExitCode()
}

// Says waits until standard error matches a pattern.
func (p *Process) Says(pattern string) {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(await.Patience); !re.MatchString(p.Stderr.String()); {
		select {
		case <-p.Ended:
			if !re.MatchString(p.Stderr.String()) {
				p.t.Fatalf("%s has ended, and has not said %q:\n%s", p.Name, pattern, p.Stderr.String())
			}
			return
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("waited %v for %s to say %q:\n%s", await.Patience, p.Name, pattern, p.Stderr.String())
		}
	}
}

// MadeUpToken is what a token has of its own, of no coordinator.
var MadeUpToken = strings.Repeat("a", 32) + "-" + strings.Repeat("0", 64)
