package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/cluster/slurm/scheduler"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/words"
)

// startCoordinator starts the coordinator: a process that outlives this command, or a job. It waits until the process
// answers; a job may have to wait for its turn. Stop ends it again.
func startCoordinator(ctx context.Context, term *terminal.Terminal, d sweepDir, r *sweepRecord) (stop func() error, err error) {
	if err := d.setState(stateRunning); err != nil {
		return nil, err
	}
	if r.AsJob {
		name, err := sbatch(ctx, d, r, submittedJob{Coordinator: true})
		if err != nil {
			return nil, err
		}
		return func() error { return cancelJobs(ctx, name) }, nil
	}

	logPath := d.path(logsDir, "coordinator.log")
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, d.mode(0o644))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	from, err := log.Seek(0, 2)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(d.path(programFile), "cluster", "slurm", "coordinator", "--dir", string(d))
	cmd.Dir, cmd.Stdout, cmd.Stderr = string(d), log, log
	scheduler.Detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	stop = func() error {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(leaveTime):
			_ = cmd.Process.Kill()
			<-ended
		}
		return nil
	}
	const patience = 2 * time.Minute
	for deadline := time.Now().Add(patience); ; {
		select {
		case err := <-ended:
			return nil, fmt.Errorf("the coordinator has ended at once (%w): %s", err, tail(logPath, from))
		case <-ctx.Done():
			return nil, errors.Join(cli.ErrInterrupted, stop())
		case <-time.After(100 * time.Millisecond):
		}
		_, err := d.follows(ctx, r.Sweep)
		if err == nil {
			return stop, nil
		}
		if time.Now().After(deadline) {
			return nil, errors.Join(fmt.Errorf("the coordinator has not begun within %v (%w): %s", patience, err, tail(logPath, from)), stop())
		}
	}
}

// tail is the end of what has been logged since an offset.
func tail(path string, from int64) string {
	text, err := os.ReadFile(path)
	if err != nil || int64(len(text)) <= from {
		return "it has said nothing"
	}
	lines := strings.Split(strings.TrimSpace(string(text[from:])), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], "; ")
}

// cancelJobs ends jobs that must not stay, also if ctx has ended.
func cancelJobs(ctx context.Context, names ...string) error {
	if err := commands.Cancel(context.WithoutCancel(ctx), names...); err != nil {
		return fmt.Errorf("jobs named %s may be left; %w: %w", strings.Join(names, ", "), errLeft, err)
	}
	return nil
}

// sbatch submits a job, and writes it down before and after. If that fails, it is cancelled.
func sbatch(ctx context.Context, d sweepDir, r *sweepRecord, j submittedJob, options ...string) (name string, err error) {
	script := d.path(workerScript)
	if j.Coordinator {
		script = d.path(coordinatorScript)
	}
	j.Name, j.Options = fmt.Sprintf("%s-%d", r.Name, len(r.Jobs)+1), sbatchOptions(r, d, j.Coordinator)
	r.Jobs = append(r.Jobs, j)
	if err := d.setRecord(r); err != nil {
		return "", err
	}
	id, err := commands.Submit(ctx, j.Name, script, slices.Concat(j.Options, options)...)
	if err == nil {
		r.Jobs[len(r.Jobs)-1].ID = id
		err = d.setRecord(r)
	}
	if err != nil {
		return "", errors.Join(err, cancelJobs(ctx, j.Name))
	}
	return j.Name, nil
}

// addWorkers submits n more workers, if n is more than 0, in arrays; or as many
// as the limits leave room for; none if the sweep has ended meanwhile. If one array is refused, the others are cancelled.
// The caller holds the lock: so either the state is seen here, or the coordinator, which sets it first and then takes
// the lock, sees what is submitted here.
func addWorkers(ctx context.Context, term *terminal.Terminal, d sweepDir, r *sweepRecord, n int) (_ int, err error) {
	if state, err := d.state(); n <= 0 || err == nil && state == stateEnded {
		return 0, d.setRecord(r)
	}
	limits, err := commands.Limits(ctx, r.Account)
	if err != nil {
		return 0, err
	}
	if room := limits.Submit - limits.Queued; limits.Submit > 0 && room < n {
		if room <= 0 {
			return 0, fmt.Errorf("the limit of your jobs in Slurm is %s (MaxSubmitJobs), and you have %s; wait until some have ended, or cancel some", words.Thousands(limits.Submit), words.Thousands(limits.Queued))
		}
		term.Say("Slurm lets you have %s (MaxSubmitJobs), and you have %s: %s of %s are submitted. With --cpus-per-worker each does more.", words.Count(limits.Submit, "job"), words.Thousands(limits.Queued), words.Thousands(room), words.Count(n, "worker"))
		n = room
	}
	var submitted []string
	defer func() {
		if err != nil {
			err = errors.Join(err, cancelJobs(ctx, submitted...))
		}
	}()
	var after []string
	if r.AsJob {
		for _, j := range r.Jobs {
			if j.Coordinator && j.ID != "" {
				after = []string{"--dependency=after:" + j.ID, "--kill-on-invalid-dep=yes"}
			}
		}
	}
	arrays := scheduler.Split(n, limits.Array)
	for i, tasks := range arrays {
		name, err := sbatch(ctx, d, r, submittedJob{Workers: tasks}, append([]string{fmt.Sprintf("--array=0-%d", tasks-1)}, after...)...)
		if err != nil {
			if len(arrays) > 1 {
				err = fmt.Errorf("array %d of %d, with %s: %w", i+1, len(arrays), words.Count(tasks, "worker"), err)
			}
			return 0, err
		}
		submitted = append(submitted, name)
	}
	return n, nil
}

// queuedWorkers lists the workers in the queue, running or not.
func queuedWorkers(ctx context.Context, r *sweepRecord) ([]scheduler.Task, error) {
	tasks, err := commands.Queue(ctx, r.names(true)...)
	return slices.DeleteFunc(tasks, func(t scheduler.Task) bool { return t.Ending() }), err
}
