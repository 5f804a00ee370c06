package command

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"foible/command/slurm"
	"foible/coordinator/access"
	"foible/coordinator/engine"
	"foible/core/words"
	"foible/domains"
	"foible/proto/codec"
	foiblev1 "foible/proto/foible/v1"
)

// SlurmOptions say what to run under Slurm, and how.
type SlurmOptions struct {
	Study   string
	Sweep   SweepChoice
	Dir     string // shared by all nodes; "": named after the study
	Data    string // of the coordinator; "": in Dir
	Listen  string // of the coordinator
	AsJob   bool   // the coordinator is a job of Slurm
	Workers int
	CPUs    int // of a worker, each a slot

	Time, Partition, Account, Memory string   // as sbatch takes them
	Options                          []string // more options of sbatch
}

// SlurmListen is where a coordinator listens unless told otherwise: all addresses, a free port.
const SlurmListen = ":0"

// ours are the options of sbatch that may not be passed through, since coordinator and workers rest on them.
var ours = []string{
	"--job-name", "-J", "--array", "-a", "--output", "-o", "--error", "-e", "--signal", "--requeue", "--no-requeue", "--open-mode",
	"--parsable", "--wrap", "--wait", "-W", "--ntasks", "-n", "--cpus-per-task", "-c", "--chdir", "-D", "--dependency", "-d", "--test-only",
	"--clusters", "-M", "--kill-on-invalid-dep", "--nodes", "-N",
}

func (o *SlurmOptions) validate() error {
	if _, err := slots("--cpus-per-worker", o.CPUs); err != nil || o.CPUs == 0 {
		return usagef("--cpus-per-worker %d: must be 1 to %d", o.CPUs, maxSlots)
	}
	if err := slurmWorkersFlag("--workers", o.Workers, 1); err != nil {
		return err
	}
	if err := hostPort("--listen", o.Listen, false); err != nil {
		return err
	}
	if limit, ok := slurm.ParseTime(o.Time); ok && limit > 0 && limit < slurmLeastTime {
		return usagef("--time %s: a worker needs at least %d minutes, of which it works until %v before the end", o.Time, int(slurmLeastTime.Minutes()), slurmNotice)
	}
	for _, option := range o.Options {
		name, _, _ := strings.Cut(option, "=")
		if len(name) > 2 && name[0] == '-' && name[1] != '-' {
			name = name[:2] // -J and its value in one
		}
		switch {
		case !strings.HasPrefix(option, "-"):
			return usagef("--sbatch-option %q: write it as sbatch takes it, e.g. --sbatch-option=--qos=long", option)
		case slices.Contains(ours, name):
			return usagef("--sbatch-option %q: Foible sets %s itself; leave it out", option, name)
		}
	}
	return nil
}

func slurmWorkersFlag(flag string, n, least int) error {
	const most = 100_000
	if n < least || n > most {
		return usagef("%s %d: must be %d to %d", flag, n, least, most)
	}
	return nil
}

// slurmOptions are the options of sbatch for a worker or the coordinator.
func slurmOptions(r *slurmRecord, d slurmDir, coordinator bool) []string {
	options := []string{
		"--ntasks=1", "--requeue", "--open-mode=append", "--chdir=" + string(d),
		// The program is the batch script's process, hence B; SIGTERM is left to preemption and scancel.
		fmt.Sprintf("--signal=B:USR1@%d", int(slurmNotice.Seconds())),
	}
	if coordinator {
		options = append(options, "--cpus-per-task=1", "--output="+d.path(slurmLogs, "coordinator.log"))
		return append(options, r.CoordinatorOptions...)
	}
	options = append(options, fmt.Sprintf("--cpus-per-task=%d", r.CPUs), "--output="+d.path(slurmLogs, "worker-%A_%a.log"))
	return append(options, r.Options...)
}

// options are those that the user has chosen.
func (o *SlurmOptions) options() []string {
	var options []string
	for _, f := range []struct{ name, value string }{{"--time", o.Time}, {"--partition", o.Partition}, {"--account", o.Account}, {"--mem", o.Memory}} {
		if f.value != "" {
			options = append(options, f.name+"="+f.value)
		}
	}
	return append(options, o.Options...)
}

// SlurmSubmit starts a coordinator, gives it the sweep, and submits workers.
// If one of these fails, nothing is left of the others.
func (e *Env) SlurmSubmit(ctx context.Context, o SlurmOptions) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	s, config, err := e.prepare(ctx, o.Study, o.Sweep)
	if err != nil {
		return err
	}
	id, err := sweepID(s, config)
	if err != nil {
		return err
	}
	if o.Dir == "" {
		o.Dir = slurmPrefix + s.Name
	}
	path, err := filepath.Abs(o.Dir)
	if err != nil {
		return err
	}
	if strings.ContainsAny(path, "\n\"'\\%") {
		return usagef("--dir %q: Slurm gives a meaning of its own to quotes, backslash and %%; name another", path)
	}
	d := slurmDir(path)
	if _, err := slurmCommands.Limits(ctx, o.Account); err != nil { // first of all: is there a Slurm?
		return err
	}
	r := &slurmRecord{
		Sweep: id, Study: s.Name, Version: Version(), Name: "foible-" + s.Name + "-" + strings.ToLower(rand.Text()[:6]),
		Data: d.path(slurmData), Listen: o.Listen, AsJob: o.AsJob, Workers: o.Workers, CPUs: o.CPUs, Options: o.options(),
	}
	if o.Data != "" {
		if r.Data, err = filepath.Abs(o.Data); err != nil {
			return err
		}
	}
	if o.AsJob {
		r.CoordinatorOptions = (&SlurmOptions{Time: o.Time, Partition: o.Partition, Account: o.Account, Options: o.Options}).options()
	}
	if known, err := d.record(); err == nil {
		if known.Sweep != id {
			return fmt.Errorf("%s is of another sweep, %s of version %s; name another directory with --dir", words.Quoted(o.Dir), known.Sweep, known.Version)
		}
		return e.slurmAgain(ctx, d, known, o.Workers)
	}
	release, err := d.claim(r.Data)
	if err != nil {
		return cannotWrite(o.Dir, "--dir", err)
	}
	defer func() {
		if failed := release(err == nil); err != nil {
			err = undone(ctx, err, failed)
		}
	}()
	if kind := engine.NetworkFileSystem(r.Data); kind != "" {
		e.say("The coordinator is to keep its data in %s, which is on %s: slow, and perhaps without locks. A local disk is better, if it is always this machine that runs the coordinator: --data /var/tmp/%s.", words.Quoted(r.Data), kind, r.Name)
	}
	if err := d.fill(s, config, r); err != nil {
		return cannotWrite(o.Dir, "--dir", err)
	}
	stop, err := e.slurmStart(ctx, d, r)
	if err != nil {
		return err
	}
	n, err := e.slurmAdd(ctx, d, r, o.Workers)
	if err != nil {
		return errors.Join(err, stop())
	}
	e.slurmSay(d, r, n)
	return nil
}

// errLeft is of jobs that could not be cancelled.
var errLeft = errors.New("end them with scancel")

// undone is an error after which nothing is left, unless that failed too.
func undone(ctx context.Context, err, failed error) error {
	switch {
	case failed != nil:
		return errors.Join(err, fmt.Errorf("what was begun could not be removed: %w", failed))
	case errors.Is(err, errLeft):
		return err
	case ctx.Err() != nil:
		return ErrInterrupted
	}
	return fmt.Errorf("%w (what was begun has been ended again)", err)
}

// sweepID is the id that the coordinator will give.
func sweepID(s *domains.Study, config *foiblev1.SweepConfig) (string, error) {
	c, err := codec.Config(config)
	if err != nil {
		return "", err
	}
	sets, err := c.ParameterSets()
	if err != nil {
		return "", err
	}
	return s.Name + "-" + c.ID(s.Hash, Version(), sets), nil
}

// slurmSay says what can be done now.
func (e *Env) slurmSay(d slurmDir, r *slurmRecord, n int) {
	fmt.Fprintln(e.Out, r.Sweep)
	dir := " --dir " + words.Quoted(string(d))
	done := "Submitted " + words.Count(n, "worker") + " to Slurm."
	if n == 0 {
		done = "The coordinator is there; no worker was missing."
	}
	e.say("%s When the sweep has ended, its tables and figures will be in %s.", done, words.Quoted(d.path(slurmResults)))
	e.say("  how far it is:         foible cluster slurm status%s", dir)
	e.say("  to its end:            foible watch%s %s", d.target().flags(access.User), r.Sweep)
	e.say("  more workers or fewer: foible cluster slurm scale%s N", dir)
	e.say("  no more of it:         foible cluster slurm stop%s", dir)
}

// slurmAgain goes on with a sweep that was submitted before.
func (e *Env) slurmAgain(ctx context.Context, d slurmDir, r *slurmRecord, workers int) error {
	if state, err := d.state(); err == nil && state == slurmEnded && d.hasResults() {
		e.say("This sweep has ended; its tables and figures are in %s.", words.Quoted(d.path(slurmResults)))
		return nil
	}
	return e.slurmRestart(ctx, d, r, workers)
}

func (d slurmDir) hasResults() bool {
	_, err := os.Stat(d.path(slurmResults, "manifest.json"))
	return err == nil
}

// SlurmRestart starts a coordinator again that is no more, and workers for those that have left.
func (e *Env) SlurmRestart(ctx context.Context, dir string) error {
	d, r, err := findSlurmDir(dir)
	if err != nil {
		return err
	}
	return e.slurmRestart(ctx, d, r, r.Workers)
}

// slurmRestart starts what is missing of a coordinator and so many workers. If that fails, all is as before.
func (e *Env) slurmRestart(ctx context.Context, d slurmDir, r *slurmRecord, workers int) (result error) {
	unlock, err := d.lock(r)
	if err != nil {
		return err
	}
	defer unlock()
	tasks, err := slurmWorkers(ctx, r) // is there a Slurm?
	if err != nil {
		return err
	}
	before, _ := d.state()
	r.Workers = workers
	_, absent := d.follows(ctx, r.Sweep)
	if absent == nil && before == slurmRunning {
		if missing := workers - len(tasks); missing <= 0 {
			e.say("The sweep is running, with %s; `foible cluster slurm scale N` changes their number.", words.Count(len(tasks), "worker"))
			return nil
		}
	} else {
		if absent == nil {
			return fmt.Errorf("the coordinator at %s is about to end; try again in a minute", d.target().where())
		}
		if r.AsJob {
			queued, err := slurmCommands.Queue(ctx, r.names(false)...)
			if err != nil {
				return err
			}
			for i := range queued {
				if r.isCoordinator(queued[i].Name) {
					return fmt.Errorf("the coordinator's job %s is %s (%s); wait for it, or `scancel %[1]s` and try again", queued[i].ID, strings.ToLower(queued[i].State), queued[i].Reason)
				}
			}
		}
		before := cmp.Or(before, slurmStopped)
		stop, err := e.slurmStart(ctx, d, r)
		if err != nil {
			return undone(ctx, err, d.setState(before))
		}
		defer func() {
			if result != nil {
				result = undone(ctx, errors.Join(result, stop()), d.setState(before))
			}
		}()
		if before == slurmEnded {
			e.say("The sweep had ended; its results are being written again to %s.", words.Quoted(d.path(slurmResults)))
			return nil
		}
	}
	n, err := e.slurmAdd(ctx, d, r, workers-len(tasks))
	if err != nil {
		return err
	}
	e.slurmSay(d, r, n)
	return nil
}

func (r *slurmRecord) isCoordinator(name string) bool {
	return slices.ContainsFunc(r.Jobs, func(j slurmJob) bool { return j.Coordinator && j.Name == name })
}

// slurmStart starts the coordinator: a process that outlives this command, or a job. It waits until the process
// answers; a job may have to wait for its turn. Stop ends it again.
func (e *Env) slurmStart(ctx context.Context, d slurmDir, r *slurmRecord) (stop func() error, err error) {
	if err := d.setState(slurmRunning); err != nil {
		return nil, err
	}
	if r.AsJob {
		name, err := e.sbatch(ctx, d, r, slurmJob{Coordinator: true}, d.path(slurmCoordSh))
		if err != nil {
			return nil, err
		}
		return func() error { return slurmCancel(ctx, name) }, nil
	}

	logPath := d.path(slurmLogs, "coordinator.log")
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	from, err := log.Seek(0, 2)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(d.path(slurmProgram), "cluster", "slurm", "coordinator", "--dir", string(d))
	cmd.Dir, cmd.Stdout, cmd.Stderr = string(d), log, log
	slurm.Detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	stop = func() error {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(slurmLeave):
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
			return nil, errors.Join(ErrInterrupted, stop())
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

// slurmCancel ends jobs that must not stay, also if ctx has ended.
func slurmCancel(ctx context.Context, names ...string) error {
	if err := slurmCommands.Cancel(context.WithoutCancel(ctx), names...); err != nil {
		return fmt.Errorf("jobs named %s may be left; %w: %w", strings.Join(names, ", "), errLeft, err)
	}
	return nil
}

// sbatch submits a job, and writes it down before and after. If that fails, it is cancelled.
func (e *Env) sbatch(ctx context.Context, d slurmDir, r *slurmRecord, j slurmJob, script string, options ...string) (name string, err error) {
	j.Name = fmt.Sprintf("%s-%d", r.Name, len(r.Jobs)+1)
	r.Jobs = append(r.Jobs, j)
	if err := d.setRecord(r); err != nil {
		return "", err
	}
	id, err := slurmCommands.Submit(ctx, j.Name, script, append(slurmOptions(r, d, j.Coordinator), options...)...)
	if err == nil {
		r.Jobs[len(r.Jobs)-1].ID = id
		err = d.setRecord(r)
	}
	if err != nil {
		return "", errors.Join(err, slurmCancel(ctx, j.Name))
	}
	return j.Name, nil
}

// slurmAdd submits n more workers, if n is more than 0, in arrays; or as many
// as the limits leave room for. If one array is refused, the others are cancelled.
func (e *Env) slurmAdd(ctx context.Context, d slurmDir, r *slurmRecord, n int) (_ int, err error) {
	if n <= 0 {
		return 0, d.setRecord(r)
	}
	account := ""
	for _, option := range r.Options {
		if name, value, _ := strings.Cut(option, "="); name == "--account" {
			account = value
		}
	}
	limits, err := slurmCommands.Limits(ctx, account)
	if err != nil {
		return 0, err
	}
	if room := limits.Submit - limits.Queued; limits.Submit > 0 && room < n {
		if room <= 0 {
			return 0, fmt.Errorf("the limit of your jobs in Slurm is %d (MaxSubmitJobs), and you have %d; wait until some have ended, or cancel some", limits.Submit, limits.Queued)
		}
		e.say("Slurm lets you have %d jobs (MaxSubmitJobs), and you have %d: %d of %s are submitted. With --cpus-per-worker each does more.", limits.Submit, limits.Queued, room, words.Count(n, "worker"))
		n = room
	}
	var submitted []string
	defer func() {
		if err != nil {
			err = errors.Join(err, slurmCancel(ctx, submitted...))
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
	arrays := slurm.Split(n, limits.Array)
	for i, tasks := range arrays {
		name, err := e.sbatch(ctx, d, r, slurmJob{Workers: tasks}, d.path(slurmWorkerSh), append([]string{fmt.Sprintf("--array=0-%d", tasks-1)}, after...)...)
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

// slurmWorkers lists the workers in the queue, running or not.
func slurmWorkers(ctx context.Context, r *slurmRecord) ([]slurm.Task, error) {
	tasks, err := slurmCommands.Queue(ctx, r.names(true)...)
	return slices.DeleteFunc(tasks, func(t slurm.Task) bool { return t.Ending() }), err
}

// SlurmScale asks for n workers in all.
func (e *Env) SlurmScale(ctx context.Context, dir string, n int) error {
	if err := slurmWorkersFlag("N", n, 0); err != nil {
		return err
	}
	d, r, err := findSlurmDir(dir)
	if err != nil {
		return err
	}
	switch state, err := d.state(); {
	case err != nil:
		return err
	case state == slurmStopped:
		return fmt.Errorf("the sweep has been stopped; `foible cluster slurm restart --dir %s` goes on with it", words.Quoted(string(d)))
	case state == slurmEnded:
		e.say("This sweep has ended and needs no workers.")
		return nil
	}
	unlock, err := d.lock(r)
	if err != nil {
		return err
	}
	defer unlock()
	tasks, err := slurmWorkers(ctx, r)
	if err != nil {
		return err
	}
	r.Workers = n
	if n >= len(tasks) {
		added, err := e.slurmAdd(ctx, d, r, n-len(tasks))
		if err != nil {
			return err
		}
		e.say("%s submitted; there are %d.", words.Count(added, "worker"), len(tasks)+added)
		return nil
	}
	// Those that have not begun go first.
	slices.SortStableFunc(tasks, func(a, b slurm.Task) int { return waiting(&b) - waiting(&a) })
	var ids []string
	for _, t := range tasks[:len(tasks)-n] {
		ids = append(ids, t.ID)
	}
	if err := slurmCommands.CancelTasks(ctx, ids...); err != nil {
		return err
	}
	e.say("%s told to leave; %d are left.", words.Count(len(ids), "worker"), n)
	return d.setRecord(r)
}

func waiting(t *slurm.Task) int {
	if t.State == "PENDING" {
		return 1
	}
	return 0
}

// SlurmStop ends workers and coordinator. What is recorded stays.
func (e *Env) SlurmStop(ctx context.Context, dir string) error {
	d, r, err := findSlurmDir(dir)
	if err != nil {
		return err
	}
	unlock, err := d.lock(r)
	if err != nil {
		return err
	}
	defer unlock()
	state, err := d.state()
	if err != nil {
		return err
	}
	if state == slurmRunning { // before anything else, so that nobody comes back
		if err := d.setState(slurmStopped); err != nil {
			return err
		}
	}
	if err := slurmCommands.Cancel(ctx, r.names(true)...); err != nil {
		return err
	}
	if err := errors.Join(e.slurmGone(ctx, d), slurmCommands.Cancel(ctx, r.names(false)...)); err != nil {
		return err
	}
	if state == slurmEnded {
		e.say("The sweep had ended; its tables and figures are in %s.", words.Quoted(d.path(slurmResults)))
		return nil
	}
	e.say("Stopped; what is recorded stays in %s. `foible cluster slurm restart --dir %s` goes on from there.", words.Quoted(r.Data), words.Quoted(string(d)))
	return nil
}

// slurmGone waits until the coordinator, which sees the state, has ended.
func (e *Env) slurmGone(ctx context.Context, d slurmDir) error {
	address, err := d.target().current()
	if err != nil {
		return nil // it has never begun
	}
	for deadline := time.Now().Add(slurmLeave + time.Minute); ; {
		conn, err := net.DialTimeout("tcp", address, answerTimeout)
		if err != nil {
			return nil
		}
		_ = conn.Close()
		if time.Now().After(deadline) {
			return fmt.Errorf("the coordinator still answers at %s; does it see %s there?", address, words.Quoted(d.path(slurmStateFile)))
		}
		if pause(ctx, slurmPoll/2) != nil {
			return ErrInterrupted
		}
	}
}

// SlurmStatus prints how far the sweep is and what Slurm has of it.
func (e *Env) SlurmStatus(ctx context.Context, dir string) error {
	d, r, err := findSlurmDir(dir)
	if err != nil {
		return err
	}
	state, err := d.state()
	if err != nil {
		return err
	}
	flag := " --dir " + words.Quoted(string(d))
	m, absent := d.follows(ctx, r.Sweep)
	if absent == nil {
		e.printSweep(m)
		fmt.Fprintf(e.Out, "coordinator: %s\n", d.target().where())
	} else {
		fmt.Fprintf(e.Out, "%s: %s\n", r.Sweep, state)
	}
	tasks, err := slurmCommands.Queue(ctx, r.names(false)...)
	if err != nil {
		return err
	}
	fmt.Fprintln(e.Out, slurmQueueText(r, tasks))
	switch {
	case d.hasResults():
		fmt.Fprintf(e.Out, "results: %s\n", words.Quoted(d.path(slurmResults)))
		if _, err := os.Stat(d.path(slurmResults, failuresFile)); err == nil {
			e.say("Some parameter sets have no fit; %s says why.", words.Quoted(d.path(slurmResults, failuresFile)))
		}
	case state == slurmEnded:
		e.say("The results have not been written: %s says why; `foible cluster slurm restart%s` tries again.", words.Quoted(d.path(slurmLogs, "coordinator.log")), flag)
	case state == slurmStopped:
		e.say("The sweep has been stopped; `foible cluster slurm restart%s` goes on with it.", flag)
	case absent != nil && r.AsJob && slices.ContainsFunc(tasks, func(t slurm.Task) bool { return r.isCoordinator(t.Name) }):
		e.say("The coordinator's job has not begun, or not begun again.")
	case absent != nil:
		e.say("%v; if it is no more, `foible cluster slurm restart%s` starts it again.", absent, flag)
	case len(tasks) == 0:
		e.say("No worker is left; `foible cluster slurm scale%s %d` submits them again. What they said is in %s.", flag, r.Workers, words.Quoted(d.path(slurmLogs)))
	}
	return nil
}

// slurmQueueText counts workers by state.
func slurmQueueText(r *slurmRecord, tasks []slurm.Task) string {
	counts := map[string]int{}
	for i := range tasks {
		t := &tasks[i]
		what := strings.ToLower(t.State)
		if t.State == "PENDING" && t.Reason != "" && t.Reason != "None" {
			what += " (" + t.Reason + ")"
		}
		if r.isCoordinator(t.Name) {
			what = "coordinator " + what
		}
		counts[what]++
	}
	if len(counts) == 0 {
		return fmt.Sprintf("Slurm: no jobs, of %s asked for", words.Count(r.Workers, "worker"))
	}
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[what], what))
	}
	return fmt.Sprintf("Slurm: %s, of %s asked for", strings.Join(parts, ", "), words.Count(r.Workers, "worker"))
}
