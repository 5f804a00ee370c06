//go:build linux

package commands_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"foible.dev/foible/core/published"
	"foible.dev/foible/e2e/harness"
)

// peak is the most memory that a process has had resident so far, in bytes. The process must not have been waited for.
func peak(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		return 0 // it has ended
	}
	kib, _ := strconv.ParseInt(string(m[1]), 10, 64) // digits
	return kib << 10
}

// controlGroup makes a group of processes that may use so much memory together, and returns the file that takes
// their numbers. It needs to be root; where groups cannot be made the test is skipped, but in CI it fails.
func controlGroup(t *testing.T, bytes int64) string {
	t.Helper()
	name := fmt.Sprintf("foible-test-%d", os.Getpid())
	dir, limit := filepath.Join("/sys/fs/cgroup/memory", name), "memory.limit_in_bytes"
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		dir, limit = filepath.Join("/sys/fs/cgroup", name), "memory.max"
	}
	err := os.Mkdir(dir, 0o755)
	if err == nil {
		t.Cleanup(func() { _ = os.Remove(dir) })
		err = os.WriteFile(filepath.Join(dir, limit), []byte(strconv.FormatInt(bytes, 10)), 0o644)
	}
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("cannot limit memory by a control group: %v", err)
		}
		t.Skipf("cannot limit memory by a control group: %v", err)
	}
	return filepath.Join(dir, "cgroup.procs")
}

// In a control group a fit keeps within four fifths of its memory by itself, and gives the same results. Without a
// limit it takes more than a gigabyte; a process that outgrows its group is killed.
func TestMemoryOfControlGroup(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("two fits of 10 s of CPU time each")
	}
	study := filepath.Join(published.Dir(t), "mistakes-2021", "block-words")
	dir := t.TempDir()
	fit := []string{"fit", study, "--models", "full", "--set", "search_noise=0.5", "--set", "budget_r=2", "--set", "budget_q=0.95", "--workers", "4"}
	group := controlGroup(t, 320<<20)
	shell := filepath.Join(dir, "limited.sh")
	script := fmt.Sprintf("echo $$ > %s && exec %s \"$@\"\n", group, harness.Foible)
	if err := os.WriteFile(shell, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	limited := harness.StartProgram(t, dir, "sh", append([]string{shell}, append(fit, "--out", "limited")...)...)
	if code := limited.Wait(); code != 0 {
		t.Fatalf("exit code %d with 320 MiB:\n%s", code, limited.Stderr.String())
	}
	free := harness.Start(t, dir, append(fit, "--out", "free", "--memory", "4GiB")...)
	if code := free.Wait(); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, free.Stderr.String())
	}
	for _, name := range []string{"fits.csv", "posteriors.csv", "mistakes.csv"} {
		a, errA := os.ReadFile(filepath.Join(dir, "limited", name))
		b, errB := os.ReadFile(filepath.Join(dir, "free", name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is not the same with little memory: %v, %v", name, errA, errB)
		}
	}
}

// A job that does not fit is a failure with its reason; it takes neither the machine's memory nor other jobs with it.
func TestMemoryOfOneJob(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const steps = 2000
	for name, content := range map[string]string{
		"study.yaml":  "name: long\ndomain: doors-keys-gems\nstimuli: stimuli.csv\nproblems: problems/{stimulus}.pddl\nplans: plans/{stimulus}.plan\nmeans: means.csv\n",
		"stimuli.csv": "stimulus,goals,judgement_steps\ns,gem1 gem2 gem3,0 1 2000\n",
		"means.csv":   "stimulus,step,goal,probability\n" + means(0, ".3", ".3", ".4") + means(1, ".2", ".5", ".3") + means(steps, ".1", ".7", ".2"),
		"problems/s.pddl": `(define (problem corridor) (:domain doors-keys-gems)
  (:objects up down left right - direction gem1 gem2 gem3 - gem)
  (:init (= (width) 5) (= (height) 2) (= (xpos) 3) (= (ypos) 1) (at gem1 1 1) (at gem2 3 2) (at gem3 5 1)
    (= (xdiff up) 0) (= (ydiff up) 1) (= (xdiff down) 0) (= (ydiff down) -1)
    (= (xdiff left) -1) (= (ydiff left) 0) (= (xdiff right) 1) (= (ydiff right) 0)))
`,
		"plans/s.plan": strings.Repeat("(left)\n(right)\n", steps/2),
	} {
		path := filepath.Join(dir, "long", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// 10,000 runs of 2,000 steps are about 2 GB.
	fit := harness.Start(t, dir, "fit", "long", "--models", "boltzmann,full", "--method", "sips", "--runs", "10000", "--particles", "2", "--set", "goal_noise=0",
		"--set", "budget_r=2", "--set", "budget_q=0.9", "--set", "search_noise=0.1", "--set", "action_noise=0.1", "--memory", "128MiB", "--out", "fitted")
	var most int64
	for running := true; running; {
		select {
		case <-fit.Ended:
			running = false
		case <-time.After(20 * time.Millisecond):
			most = max(most, peak(t, fit.Cmd.Process.Pid))
		}
	}
	if code := fit.Wait(); code != 1 {
		t.Errorf("exit code %d:\n%s", code, fit.Stderr.String())
	}
	if most > 256<<20 {
		t.Errorf("%d MiB were resident, of 128 MiB that it may use", most>>20)
	}
	t.Logf("at most %d MiB were resident", most>>20)
	failures, err := os.ReadFile(filepath.Join(dir, "fitted", "failures.csv"))
	if err != nil || !strings.Contains(string(failures), "the job needs more than the 128 MiB of memory that this worker may use") {
		t.Errorf("%v\n%s", err, failures)
	}
	fits, err := os.ReadFile(filepath.Join(dir, "fitted", "fits.csv"))
	if err != nil || !strings.Contains(string(fits), "boltzmann") {
		t.Errorf("the other model has no fits: %v\n%s", err, fits)
	}
}

// means are rows of three goals at a step.
func means(step int, probabilities ...string) string {
	var rows strings.Builder
	for i, p := range probabilities {
		fmt.Fprintf(&rows, "s,%d,gem%d,%s\n", step, i+1, p)
	}
	return rows.String()
}

func TestMemoryFlag(t *testing.T) {
	dir := t.TempDir()
	for flag, says := range map[string]string{
		"much":  `--memory: "much" is no size; write it as in 64MiB or 2GiB`,
		"64MiB": "--memory 64MiB: must be at least 128 MiB",
	} {
		for _, command := range [][]string{{"fit"}, {"worker"}, {"recover"}} {
			if got := harness.Do(t, dir, append(command, "--memory", flag)...); got.Code != 2 || !strings.Contains(got.Stderr, says) {
				t.Errorf("%v --memory %s: exit code %d\n%s", command, flag, got.Code, got.Stderr)
			}
		}
	}
}
