// Package scheduler is what Foible asks of Slurm: its commands, each with a time
// limit and with an answer that is read strictly. Read [Commands] first.
package scheduler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Commands are those of Slurm, found on PATH.
type Commands struct {
	// Timeout is how long one of them may take.
	Timeout time.Duration
	// Retries is how long sbatch may try again when Slurm takes no job for the moment.
	Retries time.Duration
}

// DefaultTimeout is as long as Slurm's own patience with a controller that does not answer.
const DefaultTimeout = 60 * time.Second

// DefaultRetries is enough for a controller that is busy for a moment. When it has as many jobs as it may have, sbatch
// tries again, without an end in sight, for two minutes.
const DefaultRetries = 5 * time.Second

// ErrFull says that Slurm took no job for as long as it was tried.
var ErrFull = errors.New("it takes no job now")

// retrying is what sbatch writes to standard error before it tries again.
const retrying = "retrying"

// Error is a command of Slurm that failed.
type Error struct {
	Command string // its name
	Said    string // on standard error, or else on standard output; may be empty
	Err     error
}

// Error implements error.
func (e *Error) Error() string {
	text := e.Command + ": " + e.Err.Error()
	if e.Said != "" {
		text = fmt.Sprintf("%s says %q", e.Command, e.Said)
	}
	if advice := e.advice(); advice != "" {
		text += "; " + advice
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// advice says what to do about what Slurm says.
func (e *Error) advice() string {
	if errors.Is(e.Err, exec.ErrNotFound) {
		return "call this where Slurm's commands are on PATH"
	}
	for _, known := range []struct{ said, advice string }{
		{retrying, "Slurm has as many jobs as its site allows (`scontrol show config` says MaxJobCount), or is very busy: ask for fewer with --workers, of more cores each with --cpus-per-worker, or try again later"},
		{"generic resource", "`sinfo --format='%P %G'` lists what nodes have, --sbatch-option=--gres=... asks for it"},
		{"feature", "`sinfo --format='%P %f'` lists the features of nodes, --sbatch-option=--constraint=... asks for one"},
		{"--time specification", "write --time as minutes (240), hours:minutes:seconds (4:00:00) or days-hours (1-12)"},
		{"invalid qos", "`sacctmgr show associations user=$USER format=account,qos` lists yours, --sbatch-option=--qos=... chooses one"},
		{"account", "`sacctmgr show associations user=$USER` lists your accounts, --account chooses one"},
		{"partition", "`sinfo` lists the partitions, --partition chooses one"},
		{"time limit", "ask for less with --time"},
		{"submit limit", "ask for fewer with --workers, or wait until jobs of yours have ended"},
		{"submitjob", "ask for fewer with --workers, or wait until jobs of yours have ended"},
		{"node configuration", "ask for less with --cpus-per-worker or --mem"},
		{"memory", "ask for another amount with --mem"},
		{"configuration source", "this machine is not set up as one of the cluster; call this where `sinfo` answers"},
		{"unable to contact", "try again when `sinfo` answers"},
	} {
		if strings.Contains(strings.ToLower(e.Said), known.said) {
			return known.advice
		}
	}
	return ""
}

// run returns what a command writes to standard output.
func (c Commands) run(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second // should it leave children that hold its output
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var stdout bytes.Buffer
	stderr := listener{word: retrying, heard: func() { time.AfterFunc(c.Retries, func() { giveUp(ErrFull) }) }}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case err == nil:
		return stdout.String(), nil
	case errors.Is(context.Cause(ctx), ErrFull):
		return "", &Error{Command: name, Said: oneLine(stderr.text.String()), Err: ErrFull}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", &Error{Command: name, Err: fmt.Errorf("no answer within %v; try again when `sinfo` answers", c.Timeout)}
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	said := oneLine(stderr.text.String())
	if said == "" {
		said = oneLine(stdout.String())
	}
	return "", &Error{Command: name, Said: said, Err: err}
}

// listener is a buffer that calls heard when a word first comes in.
type listener struct {
	text  bytes.Buffer
	word  string
	heard func() // nil once it has been called
}

// Write implements [io.Writer].
func (l *listener) Write(b []byte) (int, error) {
	n, err := l.text.Write(b)
	if l.heard != nil && bytes.Contains(l.text.Bytes(), []byte(l.word)) {
		l.heard()
		l.heard = nil
	}
	return n, err
}

// oneLine is a text of several lines in one, not too long.
func oneLine(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	const most = 500
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// jobID is a number, and the cluster's name where there are several.
var jobID = regexp.MustCompile(`^([1-9][0-9]*)(;[A-Za-z0-9_.-]+)?$`)

// Submit gives a script to sbatch and returns the job's id. After an error
// the job may exist all the same: cancel it by its name.
func (c Commands) Submit(ctx context.Context, name, script string, options ...string) (id string, err error) {
	args := append([]string{"--parsable", "--job-name=" + name}, options...)
	out, err := c.run(ctx, "sbatch", append(args, script)...)
	if err != nil {
		return "", err
	}
	m := jobID.FindStringSubmatch(strings.TrimSuffix(out, "\n"))
	if m == nil {
		return "", &Error{Command: "sbatch", Err: fmt.Errorf("its answer, %q, is no job id; try `sbatch --parsable %s` by hand", oneLine(out), script)}
	}
	return m[1], nil
}

// Check asks sbatch whether it would take a script with these options; nothing is submitted.
func (c Commands) Check(ctx context.Context, script string, options ...string) error {
	_, err := c.run(ctx, "sbatch", append(append([]string{"--test-only"}, options...), script)...)
	return err
}

// Task is a job in the queue, or a task of an array.
type Task struct {
	ID     string // 12, or 12_3 of an array
	Name   string // of its job
	State  string // PENDING, RUNNING, ...
	Reason string // why it is pending
	Node   string // where it runs
}

// Ending says whether it is about to leave the queue.
func (t *Task) Ending() bool { return t.State == "COMPLETING" }

// Pending says whether it has not begun.
func (t *Task) Pending() bool { return t.State == "PENDING" }

var taskID = regexp.MustCompile(`^[1-9][0-9]*(_[0-9]+)?$`)

// Queue lists the jobs of these names that have not ended.
func (c Commands) Queue(ctx context.Context, names ...string) ([]Task, error) {
	if len(names) == 0 {
		return nil, nil
	}
	out, err := c.run(ctx, "squeue", "--noheader", "--array", "--name="+strings.Join(names, ","), "--format=%i|%j|%T|%r|%N")
	if err != nil {
		return nil, err
	}
	var tasks []Task
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 5 || !taskID.MatchString(f[0]) {
			return nil, &Error{Command: "squeue", Err: fmt.Errorf("its answer has the line %q, which is no job", oneLine(line))}
		}
		tasks = append(tasks, Task{ID: f[0], Name: f[1], State: f[2], Reason: f[3], Node: f[4]})
	}
	return tasks, nil
}

// Cancel ends the jobs of these names; those that have ended are no error.
func (c Commands) Cancel(ctx context.Context, names ...string) error {
	for _, name := range names {
		if _, err := c.run(ctx, "scancel", "--name="+name); err != nil {
			return err
		}
	}
	return nil
}

// CancelPending ends the jobs of these names that have not begun.
func (c Commands) CancelPending(ctx context.Context, names ...string) error {
	for _, name := range names {
		if _, err := c.run(ctx, "scancel", "--state=PENDING", "--name="+name); err != nil {
			return err
		}
	}
	return nil
}

// idsAtOnce bounds a command line.
const idsAtOnce = 500

// CancelTasks ends jobs by their ids.
func (c Commands) CancelTasks(ctx context.Context, ids ...string) error {
	return c.cancelTasks(ctx, nil, ids)
}

// CancelPendingTasks ends those of these jobs that have not begun.
func (c Commands) CancelPendingTasks(ctx context.Context, ids ...string) error {
	return c.cancelTasks(ctx, []string{"--state=PENDING"}, ids)
}

func (c Commands) cancelTasks(ctx context.Context, flags, ids []string) error {
	for some := range slices.Chunk(ids, idsAtOnce) {
		if _, err := c.run(ctx, "scancel", slices.Concat(flags, some)...); err != nil {
			return err
		}
	}
	return nil
}

// Requeue ends a running job and puts it back into the queue.
func (c Commands) Requeue(ctx context.Context, id string) error {
	_, err := c.run(ctx, "scontrol", "requeue", id)
	return err
}

// Limits are a site's.
type Limits struct {
	Array  int // tasks of an array
	Submit int // jobs of the user, tasks of arrays included; 0: no limit is known
	Queued int // jobs of the user now; 0 if no limit is known
}

var maxArraySize = regexp.MustCompile(`(?m)^MaxArraySize\s*=\s*([0-9]+)\s*$`)

// Limits asks for the limits of the site, and of the user in an account, or in the default account if it is "".
func (c Commands) Limits(ctx context.Context, account string) (Limits, error) {
	out, err := c.run(ctx, "scontrol", "show", "config")
	if err != nil {
		return Limits{}, err
	}
	m := maxArraySize.FindStringSubmatch(out)
	if m == nil {
		return Limits{}, &Error{Command: "scontrol", Err: errors.New("`scontrol show config` does not say MaxArraySize")}
	}
	// The largest index is one less, and the first is 0.
	limits := Limits{}
	if limits.Array, err = strconv.Atoi(m[1]); err != nil || limits.Array < 1 {
		return Limits{}, &Error{Command: "scontrol", Err: fmt.Errorf("MaxArraySize is %s: job arrays are turned off here; ask who runs this cluster to allow them", m[1])}
	}
	me, err := user.Current()
	if err != nil {
		return limits, nil
	}
	if limits.Submit = c.maxSubmit(ctx, me.Username, account); limits.Submit == 0 {
		return limits, ctx.Err()
	}
	out, err = c.run(ctx, "squeue", "--noheader", "--array", "--user="+me.Username, "--format=%i")
	limits.Queued = strings.Count(out, "\n")
	return limits, err
}

// maxSubmit is 0 where there is no accounting, or no limit.
func (c Commands) maxSubmit(ctx context.Context, name, account string) int {
	out, err := c.run(ctx, "sacctmgr", "--noheader", "--parsable2", "show", "user", "name="+name, "withassoc", "format=DefaultAccount,Account,MaxSubmitJobs")
	if err != nil {
		return 0
	}
	least := 0
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 3 || f[1] != account && (account != "" || f[1] != f[0]) {
			continue
		}
		if n, err := strconv.Atoi(f[2]); err == nil && n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// Split makes arrays of at most that many tasks, as equal as possible.
func Split(tasks, most int) []int {
	var arrays []int
	for left := (tasks + most - 1) / most; left > 0; left-- {
		n := (tasks + left - 1) / left
		arrays = append(arrays, n)
		tasks -= n
	}
	return arrays
}

var timeLimit = regexp.MustCompile(`^(?:(\d+)-(\d+)(?::(\d+))?(?::(\d+))?|(?:(\d+):)?(\d+):(\d+)|(\d+))$`)

// ParseTime reads a time limit in the forms of sbatch: minutes, minutes:seconds, hours:minutes:seconds,
// days-hours, days-hours:minutes and days-hours:minutes:seconds.
func ParseTime(s string) (limit time.Duration, ok bool) {
	m := timeLimit.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	units := []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second, time.Hour, time.Minute, time.Second, time.Minute}
	for i, unit := range units {
		n, _ := strconv.Atoi(m[i+1])
		limit += time.Duration(min(n, 1_000_000)) * unit
	}
	return min(limit, 100*365*24*time.Hour), true
}

// Self is the job that this process runs in.
type Self struct {
	ID       string // as Requeue takes it; "": it runs in none
	Restarts int    // how often the job has been requeued
}

// Job finds out from the environment.
func Job() Self {
	s := Self{ID: os.Getenv("SLURM_JOB_ID")}
	// The id of one task of an array is that of the whole array too.
	if array, task := os.Getenv("SLURM_ARRAY_JOB_ID"), os.Getenv("SLURM_ARRAY_TASK_ID"); array != "" && task != "" {
		s.ID = array + "_" + task
	}
	s.Restarts, _ = strconv.Atoi(os.Getenv("SLURM_RESTART_COUNT"))
	return s
}

// CPUs is how many cores the job that this process runs in has got for a task, or else a number.
func CPUs(otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv("SLURM_CPUS_PER_TASK")); err == nil && n > 0 {
		return n
	}
	return otherwise
}
