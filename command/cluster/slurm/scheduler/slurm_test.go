//go:build unix

package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"foible.dev/foible/command/cluster/slurm/scheduler"
)

var commands = scheduler.Commands{Timeout: 10 * time.Second}

// stub puts a program on PATH in place of a command of Slurm.
func stub(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestSubmit(t *testing.T) {
	for _, c := range []struct{ said, id string }{
		{"12", "12"},
		{"12;cluster-1", "12"},
		{"", ""},
		{"0", ""},
		{"-1", ""},
		{"12 ", ""},
		{"12;", ""},
		{"12\\n13", ""},
		{"Submitted batch job 12", ""},
		{"12_3", ""},
	} {
		stub(t, "sbatch", `printf '`+c.said+`\n'`)
		id, err := commands.Submit(t.Context(), "name", "script")
		var answer *scheduler.Error
		if id != c.id || (err == nil) != (c.id != "") || err != nil && !errors.As(err, &answer) {
			t.Errorf("%q: id %q, %v", c.said, id, err)
		}
	}
	stub(t, "sbatch", `[ "$*" = "--parsable --job-name=name --time=5 a script" ] && echo 1`)
	if _, err := commands.Submit(t.Context(), "name", "a script", "--time=5"); err != nil {
		t.Error(err)
	}
}

// A command that does not answer is given up, with what it has started.
func TestTimeout(t *testing.T) {
	for _, name := range []string{"sbatch", "squeue", "scancel", "scontrol"} {
		stub(t, name, "sleep 60 & sleep 60")
	}
	hasty := scheduler.Commands{Timeout: 100 * time.Millisecond}
	for name, call := range map[string]func(context.Context) error{
		"sbatch":   func(ctx context.Context) error { _, err := hasty.Submit(ctx, "name", "script"); return err },
		"squeue":   func(ctx context.Context) error { _, err := hasty.Queue(ctx, "name"); return err },
		"scancel":  func(ctx context.Context) error { return hasty.Cancel(ctx, "name") },
		"scontrol": func(ctx context.Context) error { return hasty.Requeue(ctx, "1_2") },
	} {
		err := call(t.Context())
		if want := name + ": no answer within 100ms; try again when `sinfo` answers"; err == nil || err.Error() != want {
			t.Errorf("%v, not %s", err, want)
		}
	}
	// An sbatch that tries again and again is given up long before that.
	stub(t, "sbatch", "echo 'sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying.' >&2; sleep 600")
	patient := scheduler.Commands{Timeout: 5 * time.Minute, Retries: 100 * time.Millisecond}
	var full *scheduler.Error
	_, err := patient.Submit(t.Context(), "name", "script")
	if !errors.Is(err, scheduler.ErrFull) || !errors.As(err, &full) || !strings.Contains(err.Error(), "MaxJobCount") || !strings.Contains(err.Error(), "--workers") {
		t.Errorf("a Slurm that is full: %v", err)
	}
	stub(t, "sbatch", "echo 'sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying.' >&2; echo 12")
	if id, err := patient.Submit(t.Context(), "name", "script"); err != nil || id != "12" {
		t.Errorf("a Slurm that was full for a moment: %q, %v", id, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := commands.Queue(ctx, "name"); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestQueue(t *testing.T) {
	stub(t, "squeue", "echo '12_3|a-1|RUNNING|None|n1'; echo '12_4|a-1|PENDING|Priority|'; echo '13|a-2|COMPLETING|None|n[1-2]'")
	got, err := commands.Queue(t.Context(), "a-1", "a-2")
	want := []scheduler.Task{
		{ID: "12_3", Name: "a-1", State: "RUNNING", Reason: "None", Node: "n1"},
		{ID: "12_4", Name: "a-1", State: "PENDING", Reason: "Priority"},
		{ID: "13", Name: "a-2", State: "COMPLETING", Reason: "None", Node: "n[1-2]"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, line := range []string{"slurm_load_jobs error", "x|a|RUNNING|None|n1", "12_3|a"} {
		stub(t, "squeue", "echo '"+line+"'")
		if tasks, err := commands.Queue(t.Context(), "a"); err == nil {
			t.Errorf("%s: %v", line, tasks)
		}
	}
}

func TestCancelTasks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "calls")
	stub(t, "scancel", "echo $# >>"+file)
	if err := commands.CancelTasks(t.Context(), make([]string, 1201)...); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(file); string(text) != "500\n500\n201\n" {
		t.Errorf("numbers of ids: %q", text)
	}
	stub(t, "scancel", `[ "$*" = "--state=PENDING 1_2 1_3" ]`)
	if err := commands.CancelPendingTasks(t.Context(), "1_2", "1_3"); err != nil {
		t.Error(err)
	}
}

func TestLimits(t *testing.T) {
	stub(t, "squeue", "echo 1_0; echo 1_1; echo 2")
	config := func(size string) {
		stub(t, "scontrol", "echo 'MaxArraySize            = "+size+"'; echo 'MaxArrayTasks = 7'")
	}
	config("1001")
	for _, c := range []struct {
		associations, account string
		want                  scheduler.Limits
	}{
		{"", "", scheduler.Limits{Array: 1001}},
		{"lab|lab|", "", scheduler.Limits{Array: 1001}},
		{"lab|lab|50", "", scheduler.Limits{Array: 1001, Submit: 50, Queued: 3}},
		{"lab|other|20\nlab|lab|50\nlab|lab|40", "", scheduler.Limits{Array: 1001, Submit: 40, Queued: 3}},
		{"lab|other|20\nlab|lab|50", "other", scheduler.Limits{Array: 1001, Submit: 20, Queued: 3}},
		{"what is this?", "", scheduler.Limits{Array: 1001}},
	} {
		stub(t, "sacctmgr", "cat <<END\n"+c.associations+"\nEND")
		if got, err := commands.Limits(t.Context(), c.account); err != nil || got != c.want {
			t.Errorf("%q, account %q: %+v, %v", c.associations, c.account, got, err)
		}
	}
	stub(t, "sacctmgr", "exit 1")
	if got, err := commands.Limits(t.Context(), ""); err != nil || got != (scheduler.Limits{Array: 1001}) {
		t.Errorf("without accounting: %+v, %v", got, err)
	}
	for _, size := range []string{"0", "", "many"} {
		config(size)
		if got, err := commands.Limits(t.Context(), ""); err == nil {
			t.Errorf("MaxArraySize %q: %+v", size, got)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		tasks, most int
		want        []int
	}{
		{0, 11, nil},
		{1, 11, []int{1}},
		{11, 11, []int{11}},
		{12, 11, []int{6, 6}},
		{25, 11, []int{9, 8, 8}},
		{3, 1, []int{1, 1, 1}},
	} {
		if got := scheduler.Split(c.tasks, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%d in %d: %v", c.tasks, c.most, got)
		}
	}
}

func TestParseTime(t *testing.T) {
	for _, c := range []struct {
		text string
		want time.Duration
	}{
		{"90", 90 * time.Minute},
		{"4:30", 4*time.Minute + 30*time.Second},
		{"2:00:05", 2*time.Hour + 5*time.Second},
		{"1-2", 26 * time.Hour},
		{"1-2:03", 26*time.Hour + 3*time.Minute},
		{"1-2:03:04", 26*time.Hour + 3*time.Minute + 4*time.Second},
		{"0", 0},
	} {
		if got, ok := scheduler.ParseTime(c.text); !ok || got != c.want {
			t.Errorf("%s: %v, %v", c.text, got, ok)
		}
	}
	for _, text := range []string{"", "soon", "INFINITE", "1:2:3:4", "-5", "1-", "1-2-3"} {
		if got, ok := scheduler.ParseTime(text); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestJob(t *testing.T) {
	for _, name := range []string{"SLURM_JOB_ID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_RESTART_COUNT"} {
		t.Setenv(name, "")
	}
	if got := scheduler.Job(); got != (scheduler.Self{}) {
		t.Errorf("outside: %+v", got)
	}
	t.Setenv("SLURM_JOB_ID", "12")
	if got := scheduler.Job(); got != (scheduler.Self{ID: "12"}) {
		t.Errorf("a job: %+v", got)
	}
	t.Setenv("SLURM_ARRAY_JOB_ID", "12")
	t.Setenv("SLURM_ARRAY_TASK_ID", "3")
	t.Setenv("SLURM_RESTART_COUNT", "2")
	if got := scheduler.Job(); got != (scheduler.Self{ID: "12_3", Restarts: 2}) {
		t.Errorf("a task: %+v", got)
	}
}

func TestCPUs(t *testing.T) {
	for value, want := range map[string]int{"": 3, "2": 2, "0": 3, "many": 3} {
		t.Setenv("SLURM_CPUS_PER_TASK", value)
		if got := scheduler.CPUs(3); got != want {
			t.Errorf("%q: %d, not %d", value, got, want)
		}
	}
}

// What Slurm says of an option that it does not take, with what to do about it.
func TestAdvice(t *testing.T) {
	for said, want := range map[string]string{
		"sbatch: error: Batch job submission failed: Invalid generic resource (gres) specification":       "--sbatch-option=--gres=",
		"sbatch: error: Batch job submission failed: Invalid feature specification":                       "--sbatch-option=--constraint=",
		"sbatch: error: Invalid --time specification":                                                     "4:00:00",
		"sbatch: error: Batch job submission failed: Invalid qos specification":                           "--sbatch-option=--qos=",
		"sbatch: error: Batch job submission failed: Invalid account or account/partition combination":    "--account",
		"sbatch: error: Batch job submission failed: Requested time limit is invalid":                     "--time",
		"sbatch: error: QOSMaxSubmitJobPerUserLimit":                                                      "--workers",
		"sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying.":                   "MaxJobCount",
		"sbatch: error: Batch job submission failed: Requested node configuration is not available":       "--cpus-per-worker",
		"sbatch: error: CPU count per node can not be satisfied; Requested node configuration is not ...": "--cpus-per-worker",
	} {
		if got := (&scheduler.Error{Command: "sbatch", Said: said, Err: errors.New("exit status 1")}).Error(); !strings.Contains(got, want) {
			t.Errorf("no word of %s: %s", want, got)
		}
	}
}

func ExampleError() {
	err := &scheduler.Error{Command: "sbatch", Said: "sbatch: error: Invalid account or account/partition combination specified", Err: errors.New("exit status 1")}
	fmt.Println(err)
	// Output: sbatch says "sbatch: error: Invalid account or account/partition combination specified"; `sacctmgr show associations user=$USER` lists your accounts, --account chooses one
}

// What scontrol says on a machine that has Slurm's programs, and no configuration.
func ExampleError_elsewhere() {
	err := &scheduler.Error{Command: "scontrol", Said: "scontrol: fatal: Could not establish a configuration source", Err: errors.New("exit status 1")}
	fmt.Println(err)
	// Output: scontrol says "scontrol: fatal: Could not establish a configuration source"; this machine is not set up as one of the cluster; call this where `sinfo` answers
}
