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
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"foible.dev/foible/command/slurm"
	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/core/words"
	"github.com/spf13/cobra"

	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// SlurmOptions say what to run under Slurm, and how.
type SlurmOptions struct {
	Study   string
	Sweep   SweepChoice
	Dir     string // shared by all nodes; "": named after the study
	Data    string // of the coordinator; "": in Dir
	Listen  string // of the coordinator
	AsJob   bool   // the coordinator is a job of Slurm
	Share   bool   // others can read the directory, but for its tokens
	Workers int
	Jobs    SlurmJobOptions

	// Given says whether a flag was given, by its name. Of a sweep that was submitted before, the others stay as they were.
	Given func(flag string) bool
}

// SlurmListen is where a coordinator listens unless told otherwise: all addresses, a free port.
const SlurmListen = ":0"

func (o *SlurmOptions) validate() error {
	if err := o.Jobs.validate(); err != nil {
		return err
	}
	if err := slurmWorkersFlag("--workers", o.Workers, 1); err != nil {
		return err
	}
	return hostPort("--listen", o.Listen, false)
}

func slurmWorkersFlag(flag string, n, least int) error {
	const most = 100_000
	if n < least || n > most {
		return usagef("%s %d: must be %d to %d", flag, n, least, most)
	}
	return nil
}

// SlurmSubmit starts a coordinator, gives it the sweep, and submits workers.
// If one of these fails, nothing is left of the others.
func SlurmSubmit(ctx context.Context, term *Terminal, o SlurmOptions) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	s, config, err := prepare(ctx, term, o.Study, o.Sweep)
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
	if _, err := slurmCommands.Limits(ctx, o.Jobs.Account); err != nil { // first of all: is there a Slurm?
		return err
	}
	r := &slurmRecord{
		Sweep: id, Study: s.Name, Version: Version(), Name: "foible-" + s.Name + "-" + strings.ToLower(rand.Text()[:6]),
		Data: d.path(slurmData), Listen: o.Listen, AsJob: o.AsJob, Workers: o.Workers, SlurmJobOptions: o.Jobs,
	}
	if o.Data != "" {
		if r.Data, err = filepath.Abs(o.Data); err != nil {
			return err
		}
	}
	if known, err := d.record(); err == nil {
		if known.Sweep != id {
			return fmt.Errorf("%s is of another sweep, %s of version %s; name another directory with --dir", words.Quoted(o.Dir), known.Sweep, known.Version)
		}
		if err := o.unchangeable(d, known, r); err != nil {
			return fmt.Errorf("%w, which the sweep in %s keeps: leave it out, or submit to another directory with --dir", err, words.Quoted(o.Dir))
		}
		d.keepPrivate()
		return slurmAgain(ctx, term, d, known, &o)
	}
	release, err := d.claim(r.Data, o.Share)
	if err != nil {
		return cannotWrite(o.Dir, "--dir", err)
	}
	defer func() {
		if failed := release(err == nil); err != nil {
			err = undone(ctx, err, failed)
		}
	}()
	if kind := engine.NetworkFileSystem(r.Data); kind != "" {
		term.say("The coordinator is to keep its data in %s, which is on %s: slow, and perhaps without locks. A local disk is better, if it is always this machine that runs the coordinator: --data /var/tmp/%s.", words.Quoted(r.Data), kind, r.Name)
	}
	if err := d.fill(s, config, r); err != nil {
		return cannotWrite(o.Dir, "--dir", err)
	}
	stop, err := slurmStart(ctx, term, d, r)
	if err != nil {
		return err
	}
	n, err := slurmAdd(ctx, term, d, r, o.Workers)
	if err != nil {
		return errors.Join(err, stop())
	}
	slurmSay(term, d, r, n)
	return nil
}

// unchangeable returns an error if a flag was given that a sweep, once submitted, cannot change, and says something else.
func (o *SlurmOptions) unchangeable(d slurmDir, known, asked *slurmRecord) error {
	for _, f := range []struct{ flag, known, asked string }{
		{"data", words.Quoted(known.Data), words.Quoted(asked.Data)},
		{"listen", known.Listen, asked.Listen},
		{"coordinator-job", fmt.Sprint(known.AsJob), fmt.Sprint(asked.AsJob)},
		{"share", fmt.Sprint(d.shared()), fmt.Sprint(o.Share)},
	} {
		if o.Given(f.flag) && f.known != f.asked {
			return fmt.Errorf("--%s is %s and was %s", f.flag, f.asked, f.known)
		}
	}
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

// slurmSay says what can be done now.
func slurmSay(term *Terminal, d slurmDir, r *slurmRecord, n int) {
	fmt.Fprintln(term.Out, r.Sweep)
	dir := " --dir " + words.Quoted(string(d))
	done := "Submitted " + words.Count(n, "worker") + " to Slurm."
	if state, err := d.state(); err == nil && state == slurmEnded {
		done = "The sweep needs no more workers."
	} else if n == 0 {
		done = "The coordinator is there; no worker was missing."
	}
	term.say("%s When the sweep has ended, its tables and figures will be in %s.", done, words.Quoted(d.path(slurmResults)))
	term.say("  how far it is:         foible cluster slurm status%s", dir)
	term.say("  to its end:            foible watch%s %s", d.target().flags(access.User), r.Sweep)
	term.say("  more workers or fewer: foible cluster slurm scale%s N", dir)
	term.say("  no more of it:         foible cluster slurm stop%s", dir)
}

// slurmAgain goes on with a sweep that was submitted before.
func slurmAgain(ctx context.Context, term *Terminal, d slurmDir, r *slurmRecord, o *SlurmOptions) error {
	if state, err := d.state(); err == nil && state == slurmEnded && d.hasResults() {
		term.say("This sweep has ended; its tables and figures are in %s.", words.Quoted(d.path(slurmResults)))
		return nil
	}
	want := slurmWorkersWanted{jobs: o.Jobs, given: o.Given}
	if o.Given("workers") {
		want.n = o.Workers
	}
	return slurmRestart(ctx, term, d, r, &want)
}

// slurmWorkersWanted are the workers that a sweep is to have from now on.
type slurmWorkersWanted struct {
	n     int // 0: as many as before
	jobs  SlurmJobOptions
	given func(flag string) bool // which flags of jobs count; the other options stay as they are
}

func (d slurmDir) hasResults() bool {
	_, err := os.Stat(d.path(slurmResults, "manifest.json"))
	return err == nil
}

// SlurmRestart starts a coordinator again that is no more, and workers for those that have left.
func SlurmRestart(ctx context.Context, term *Terminal, dir string, jobs SlurmJobOptions, given func(flag string) bool) error {
	if err := jobs.validate(); err != nil {
		return err
	}
	d, r, err := findSlurmDir(dir)
	if err != nil {
		return err
	}
	d.keepPrivate() // jobs have the umask of the command that submits them
	return slurmRestart(ctx, term, d, r, &slurmWorkersWanted{jobs: jobs, given: given})
}

// slurmRestart starts what is missing of a coordinator and workers. If that fails, all is as before.
func slurmRestart(ctx context.Context, term *Terminal, d slurmDir, r *slurmRecord, want *slurmWorkersWanted) (result error) {
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
	wanted, options := r.Workers, r.SlurmJobOptions
	defer func() {
		if result != nil {
			r.Workers, r.SlurmJobOptions = wanted, options
			result = errors.Join(result, d.setRecord(r))
		}
	}()
	changes, err := r.change(ctx, d, &want.jobs, want.given)
	if err != nil {
		return err
	}
	if want.n > 0 {
		r.Workers = want.n
	}
	_, absent := d.follows(ctx, r.Sweep)
	if absent == nil && before == slurmRunning {
		if want.n > 0 && want.n < len(tasks) {
			return fmt.Errorf("the sweep is running with %s, more than --workers %d; `foible cluster slurm scale --dir %s %[2]d` ends some", words.Count(len(tasks), "worker"), want.n, words.Quoted(string(d)))
		}
		if outdated, _ := r.outdated(d, tasks); len(changes)+len(outdated) == 0 && r.Workers <= len(tasks) {
			term.say("The sweep is running, with %s; `foible cluster slurm scale N` changes their number.", words.Count(len(tasks), "worker"))
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
		stop, err := slurmStart(ctx, term, d, r)
		if err != nil {
			return undone(ctx, err, d.setState(before))
		}
		defer func() {
			if result != nil {
				result = undone(ctx, errors.Join(result, stop()), d.setState(before))
			}
		}()
		if before == slurmEnded {
			term.say("The sweep had ended; its results are being written again to %s.", words.Quoted(d.path(slurmResults)))
			return nil
		}
	}
	n, err := slurmRenew(ctx, term, d, r, tasks, changes)
	if err != nil {
		return err
	}
	slurmSay(term, d, r, n)
	return nil
}

// slurmRenew submits the workers that are missing among the tasks in the queue, and others in place of those that wait
// with options that hold no more. It says what became of these, and returns how many are missing no more. The caller
// holds the lock.
func slurmRenew(ctx context.Context, term *Terminal, d slurmDir, r *slurmRecord, tasks []slurm.Task, changes []string) (int, error) {
	outdated, begun := r.outdated(d, tasks)
	missing := max(0, r.Workers-len(tasks))
	added, err := slurmAdd(ctx, term, d, r, missing+len(outdated))
	if err != nil {
		return 0, err
	}
	if len(changes) > 0 { // for people to read: what is in the queue has its own copy
		if err := d.writeScripts(r); err != nil {
			return 0, err
		}
	}
	replaced := max(0, added-missing) // one that has begun meanwhile goes on
	if err := slurmCommands.CancelPendingTasks(ctx, taskIDs(outdated[:replaced])...); err != nil {
		return 0, fmt.Errorf("workers with other options are submitted, and those that wait could not be cancelled: %w; `foible cluster slurm scale %d` puts it right", err, r.Workers)
	}
	sayChanges(term, d, changes, replaced, len(outdated)-replaced, len(begun))
	return added - replaced, nil
}

func taskIDs(tasks []slurm.Task) []string {
	var ids []string
	for i := range tasks {
		ids = append(ids, tasks[i].ID)
	}
	return ids
}

func (r *slurmRecord) isCoordinator(name string) bool {
	j := r.job(name)
	return j != nil && j.Coordinator
}

// slurmStart starts the coordinator: a process that outlives this command, or a job. It waits until the process
// answers; a job may have to wait for its turn. Stop ends it again.
func slurmStart(ctx context.Context, term *Terminal, d slurmDir, r *slurmRecord) (stop func() error, err error) {
	if err := d.setState(slurmRunning); err != nil {
		return nil, err
	}
	if r.AsJob {
		name, err := sbatch(ctx, term, d, r, slurmJob{Coordinator: true}, d.path(slurmCoordSh))
		if err != nil {
			return nil, err
		}
		return func() error { return slurmCancel(ctx, name) }, nil
	}

	logPath := d.path(slurmLogs, "coordinator.log")
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, d.mode(0o644))
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
func sbatch(ctx context.Context, term *Terminal, d slurmDir, r *slurmRecord, j slurmJob, script string, options ...string) (name string, err error) {
	j.Name, j.Options = fmt.Sprintf("%s-%d", r.Name, len(r.Jobs)+1), slurmOptions(r, d, j.Coordinator)
	r.Jobs = append(r.Jobs, j)
	if err := d.setRecord(r); err != nil {
		return "", err
	}
	id, err := slurmCommands.Submit(ctx, j.Name, script, slices.Concat(j.Options, options)...)
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
// as the limits leave room for; none if the sweep has ended meanwhile. If one array is refused, the others are cancelled.
// The caller holds the lock: so either the state is seen here, or the coordinator, which sets it first and then takes
// the lock, sees what is submitted here.
func slurmAdd(ctx context.Context, term *Terminal, d slurmDir, r *slurmRecord, n int) (_ int, err error) {
	if state, err := d.state(); n <= 0 || err == nil && state == slurmEnded {
		return 0, d.setRecord(r)
	}
	limits, err := slurmCommands.Limits(ctx, r.Account)
	if err != nil {
		return 0, err
	}
	if room := limits.Submit - limits.Queued; limits.Submit > 0 && room < n {
		if room <= 0 {
			return 0, fmt.Errorf("the limit of your jobs in Slurm is %s (MaxSubmitJobs), and you have %s; wait until some have ended, or cancel some", words.Thousands(limits.Submit), words.Thousands(limits.Queued))
		}
		term.say("Slurm lets you have %s (MaxSubmitJobs), and you have %s: %s of %s are submitted. With --cpus-per-worker each does more.", words.Count(limits.Submit, "job"), words.Thousands(limits.Queued), words.Thousands(room), words.Count(n, "worker"))
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
		name, err := sbatch(ctx, term, d, r, slurmJob{Workers: tasks}, d.path(slurmWorkerSh), append([]string{fmt.Sprintf("--array=0-%d", tasks-1)}, after...)...)
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
func SlurmScale(ctx context.Context, term *Terminal, dir string, n int, jobs SlurmJobOptions, given func(flag string) bool) error {
	if err := slurmWorkersFlag("N", n, 0); err != nil {
		return err
	}
	if err := jobs.validate(); err != nil {
		return err
	}
	d, r, err := findSlurmDir(dir)
	if err != nil {
		return err
	}
	d.keepPrivate() // jobs have the umask of the command that submits them
	unlock, err := d.lock(r)
	if err != nil {
		return err
	}
	defer unlock()
	switch state, err := d.state(); {
	case err != nil:
		return err
	case state == slurmStopped:
		return fmt.Errorf("the sweep has been stopped; `foible cluster slurm restart --dir %s` goes on with it", words.Quoted(string(d)))
	case state == slurmEnded:
		term.say("This sweep has ended and needs no workers.")
		return nil
	}
	tasks, err := slurmWorkers(ctx, r)
	if err != nil {
		return err
	}
	wanted, options := r.Workers, r.SlurmJobOptions
	changes, err := r.change(ctx, d, &jobs, given)
	if err != nil {
		return err
	}
	r.Workers = n
	before := len(tasks)
	if n < before {
		tasks = r.leaveFirst(d, tasks)
		if err := slurmCommands.CancelTasks(ctx, taskIDs(tasks[:before-n])...); err != nil {
			return err
		}
		tasks = tasks[before-n:]
	}
	added, err := slurmRenew(ctx, term, d, r, tasks, changes)
	switch {
	case err != nil:
		r.Workers, r.SlurmJobOptions = wanted, options
		return errors.Join(err, d.setRecord(r))
	case n < before:
		term.say("%s told to leave; %s are left.", words.Count(before-n, "worker"), words.Thousands(n))
	default:
		term.say("%s submitted; there are %d.", words.Count(added, "worker"), before+added)
	}
	return nil
}

// leaveFirst sorts workers so that those come first that are missed least: those that have not begun, and among these,
// and among the others, those whose options hold no more.
func (r *slurmRecord) leaveFirst(d slurmDir, tasks []slurm.Task) []slurm.Task {
	outdated, begun := r.outdated(d, tasks)
	old := map[string]bool{}
	for _, id := range taskIDs(slices.Concat(outdated, begun)) {
		old[id] = true
	}
	rank := func(t *slurm.Task) int {
		rank := 0
		if !t.Pending() {
			rank += 2
		}
		if !old[t.ID] {
			rank++
		}
		return rank
	}
	return slices.SortedStableFunc(slices.Values(tasks), func(a, b slurm.Task) int { return rank(&a) - rank(&b) })
}

// SlurmStop ends workers and coordinator. What is recorded stays.
func SlurmStop(ctx context.Context, term *Terminal, dir string) error {
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
	if err := errors.Join(slurmGone(ctx, term, d), slurmCommands.Cancel(ctx, r.names(false)...)); err != nil {
		return err
	}
	if state == slurmEnded {
		term.say("The sweep had ended; its tables and figures are in %s.", words.Quoted(d.path(slurmResults)))
		return nil
	}
	term.say("Stopped; what is recorded stays in %s. `foible cluster slurm restart --dir %s` goes on from there.", words.Quoted(r.Data), words.Quoted(string(d)))
	return nil
}

// slurmGone waits until the coordinator, which sees the state, has ended.
func slurmGone(ctx context.Context, term *Terminal, d slurmDir) error {
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

// slurmJSON is a sweep under Slurm for scripts. The help of `foible cluster slurm status` is made of the notes.
type slurmJSON struct {
	Sweep       string         `json:"sweep" note:"id"`
	Directory   string         `json:"directory" note:"of the sweep"`
	State       slurmState     `json:"state" note:"running, stopped (by a user), ended"`
	Coordinator string         `json:"coordinator,omitempty" note:"host:port; not there if none answers"`
	Results     string         `json:"results,omitempty" note:"directory with tables and figures; not there before they are written"`
	Asked       int            `json:"workers_asked" note:"that were asked for last"`
	Running     int            `json:"workers_running" note:"in Slurm's queue that have begun"`
	Pending     int            `json:"workers_pending" note:"that have not begun"`
	Reasons     map[string]int `json:"pending_reasons,omitempty" note:"why, as Slurm says, with the number of workers"`
	Progress    *sweepJSON     `json:"progress,omitempty" note:"as of foible status --json, without fits; not there if no coordinator answers"`
}

// SlurmStatusFields documents the fields of `foible cluster slurm status --json`, a line each.
func SlurmStatusFields() string { return fieldNotes(reflect.TypeFor[slurmJSON]()) }

// slurmJSONOf is what Slurm and the coordinator, if it answers, have of the sweep.
func slurmJSONOf(d slurmDir, r *slurmRecord, state slurmState, m *foiblev1.Sweep, tasks []slurm.Task) slurmJSON {
	s := slurmJSON{Sweep: r.Sweep, Directory: string(d), State: state, Asked: r.Workers, Reasons: map[string]int{}}
	if d.hasResults() {
		s.Results = d.path(slurmResults)
	}
	if m != nil {
		progress := newSweepJSON(m)
		s.Progress, s.Coordinator = &progress, d.target().where()
		if address, err := d.target().current(); err == nil {
			s.Coordinator = address
		}
	}
	for i := range tasks {
		switch t := &tasks[i]; {
		case r.isCoordinator(t.Name) || t.Ending():
		case t.Pending():
			s.Pending++
			s.Reasons[t.Reason]++
		default:
			s.Running++
		}
	}
	return s
}

// SlurmStatus prints how far the sweep is and what Slurm has of it.
func SlurmStatus(ctx context.Context, term *Terminal, dir string, asJSON bool) error {
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
	if asJSON {
		tasks, err := slurmCommands.Queue(ctx, r.names(false)...)
		if err != nil {
			return err
		}
		return term.printJSON(slurmJSONOf(d, r, state, m, tasks))
	}
	if absent == nil {
		printSweep(term, m)
		term.print("coordinator: %s", d.target().where())
	} else {
		term.print("%s: %s", r.Sweep, state)
	}
	tasks, err := slurmCommands.Queue(ctx, r.names(false)...)
	if err != nil {
		return err
	}
	fmt.Fprintln(term.Out, slurmQueueText(r, tasks))
	workers := 0
	for i := range tasks {
		if !r.isCoordinator(tasks[i].Name) {
			workers++
		}
	}
	switch {
	case d.hasResults():
		term.print("results: %s", words.Quoted(d.path(slurmResults)))
		if _, err := os.Stat(d.path(slurmResults, failuresFile)); err == nil {
			term.say("Some parameter sets have no fit; %s says why.", words.Quoted(d.path(slurmResults, failuresFile)))
		}
	case state == slurmEnded:
		term.say("The results have not been written: %s says why; `foible cluster slurm restart%s` tries again.", words.Quoted(d.path(slurmLogs, "coordinator.log")), flag)
	case state == slurmStopped:
		term.say("The sweep has been stopped; `foible cluster slurm restart%s` goes on with it.", flag)
	case absent != nil && r.AsJob && slices.ContainsFunc(tasks, func(t slurm.Task) bool { return r.isCoordinator(t.Name) }):
		term.say("The coordinator's job has not begun, or not begun again.")
	case absent != nil:
		term.say("%v; if it is no more, `foible cluster slurm restart%s` starts it again.", absent, flag)
	case workers > 0 && workers < r.Workers:
		term.say("%s of %s left; `foible cluster slurm restart%s` submits others.", words.Count(r.Workers-workers, "worker"), words.Thousands(r.Workers), flag)
	case workers == 0:
		term.say("No worker is left; `foible cluster slurm scale%s %d` submits them again. What they said is in %s.", flag, r.Workers, words.Quoted(d.path(slurmLogs)))
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
		parts = append(parts, words.Thousands(counts[what])+" "+what)
	}
	return fmt.Sprintf("Slurm: %s, of %s asked for", strings.Join(parts, ", "), words.Count(r.Workers, "worker"))
}

func newSlurm(term *Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "slurm",
		Short: "Run a sweep under Slurm",
		Long: `Slurm runs a sweep with workers that are jobs of Slurm. Submit returns at once; tables and figures appear in the
sweep's directory, which all nodes must see and by which the other commands know the sweep, on any of them.`,
		Example: "  foible cluster slurm submit my-study --workers 200 --time 4:00:00\n  foible cluster slurm status",
		Args:    unknownCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },

		SuggestionsMinimumDistance: 2,
	}
	c.AddCommand(newSlurmSubmit(term), newSlurmStatus(term), newSlurmScale(term), newSlurmStop(term), newSlurmRestart(term), newSlurmCoordinator(term), newSlurmWorker(term))
	return c
}

func slurmDirFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "dir", "", "`directory` of the sweep (default: the current one, or the only one in it)")
}

func newSlurmSubmit(term *Terminal) *cobra.Command {
	o := SlurmOptions{Workers: 10, Listen: SlurmListen}
	c := &cobra.Command{
		Use:   "submit [STUDY]",
		Short: "Start a coordinator and submit workers for a study's sweep",
		Long: `Submit starts a coordinator on this machine, which outlives the command, or as a job with --coordinator-job, where a
login node does not suffer it. It submits workers as job arrays and returns. Workers that learn that their time is
nearly up finish or hand back what they hold, and go back into the queue while something is left to do. When the sweep
has ended, workers and coordinator end too, and tables and figures are in DIR/results.

If Slurm refuses one of the jobs, all others are cancelled and nothing is left running. The same command again, with the
same directory, goes on with a sweep that was stopped or has lost its coordinator. Options for workers that are given
then hold for workers from now on: those that wait in the queue are replaced, and those that run keep theirs.`,
		Example: "  foible cluster slurm submit my-study --workers 200 --time 4:00:00 --partition short\n  foible cluster slurm submit my-study --workers 50 --cpus-per-worker 4 --mem 2G --sbatch-option=--qos=long",
		Args:    atMost(1), ValidArgsFunction: studies,
		RunE: func(c *cobra.Command, args []string) error {
			o.Study, o.Given = argument(args), c.Flags().Changed
			return SlurmSubmit(c.Context(), term, o)
		},
	}
	sweepFlags(c, &o.Sweep)
	c.Flags().IntVar(&o.Workers, "workers", o.Workers, "`number` of workers")
	slurmJobFlags(c, &o.Jobs)
	c.Flags().StringVar(&o.Dir, "dir", "", "`directory` that all nodes see (default: foible-slurm-NAME, by the study's name)")
	c.Flags().StringVar(&o.Data, "data", "", "`directory` of the coordinator, best on a local disk (default: DIR/data)")
	c.Flags().StringVar(&o.Listen, "listen", o.Listen, "`host:port` on which the coordinator listens; without a host, on all addresses, and workers dial the\nmachine's name; port 0 is a free one")
	c.Flags().BoolVar(&o.Share, "share", false, "let others on the cluster read the directory, participants' answers and all but its tokens")
	c.Flags().BoolVar(&o.AsJob, "coordinator-job", false, "run the coordinator as a job of Slurm, with the options of the workers but --mem")
	return c
}

// slurmJobFlags are what Slurm is asked for each worker.
func slurmJobFlags(c *cobra.Command, o *SlurmJobOptions) {
	c.Flags().IntVar(&o.CPUs, "cpus-per-worker", 1, "`number` of cores of a worker, each with a job of its own")
	c.Flags().StringVar(&o.Memory, "mem", "", "`memory` of a worker, as sbatch takes it")
	c.Flags().StringVar(&o.Time, "time", "", "`limit` of a worker's time, as sbatch takes it; 5 minutes at least")
	c.Flags().StringVar(&o.Partition, "partition", "", "`name` of a partition")
	c.Flags().StringVar(&o.Account, "account", "", "`name` of an account")
	c.Flags().StringArrayVar(&o.Options, "sbatch-option", nil, "`option` for sbatch, such as --qos=long; may be repeated")
}

func newSlurmStatus(term *Terminal) *cobra.Command {
	var dir string
	var asJSON bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Show how far the sweep is, and what Slurm has of it",
		Long:  "Status shows how far the sweep is, and what Slurm has of it. With --json it prints an object with the fields\n\n" + SlurmStatusFields(),
		Args:  atMost(0),
		RunE:  func(c *cobra.Command, _ []string) error { return SlurmStatus(c.Context(), term, dir, asJSON) },
	}
	jsonFlag(c, &asJSON)
	slurmDirFlag(c, &dir)
	return c
}

func newSlurmScale(term *Terminal) *cobra.Command {
	var dir string
	var jobs SlurmJobOptions
	c := &cobra.Command{
		Use:   "scale N",
		Short: "Change the number of workers",
		Long:  "Scale submits workers until there are N, or tells as many to leave; those that have not begun go first.\nOptions for workers that are given hold from now on, as with `foible cluster slurm submit`; the others stay as they were.",
		Args:  exactlyOne("say how many workers there are to be"),
		RunE: func(c *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[0])
			if err != nil {
				return usagef("%q: say how many workers there are to be, as a whole number", args[0])
			}
			return SlurmScale(c.Context(), term, dir, n, jobs, c.Flags().Changed)
		},
	}
	slurmJobFlags(c, &jobs)
	slurmDirFlag(c, &dir)
	return c
}

func newSlurmStop(term *Terminal) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "stop",
		Short: "End workers and coordinator; what is recorded stays",
		Args:  atMost(0),
		RunE:  func(c *cobra.Command, _ []string) error { return SlurmStop(c.Context(), term, dir) },
	}
	slurmDirFlag(c, &dir)
	return c
}

func newSlurmRestart(term *Terminal) *cobra.Command {
	var dir string
	var jobs SlurmJobOptions
	c := &cobra.Command{
		Use:   "restart",
		Short: "Go on with a sweep that was stopped or has lost its coordinator",
		Long:  "Restart starts the coordinator again, here or as a job, where there is none any more; it needs the coordinator's data\ndirectory. It submits workers for those that have left. Options for workers that are given hold from now on;\nthe others stay as they were.",
		Args:  atMost(0),
		RunE: func(c *cobra.Command, _ []string) error {
			return SlurmRestart(c.Context(), term, dir, jobs, c.Flags().Changed)
		},
	}
	slurmJobFlags(c, &jobs)
	slurmDirFlag(c, &dir)
	return c
}

// slurmCoordinator is what submit starts.
func newSlurmCoordinator(term *Terminal) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "coordinator", Hidden: true, Args: atMost(0),
		RunE: func(c *cobra.Command, _ []string) error { return SlurmCoordinator(c.Context(), term, dir) },
	}
	slurmDirFlag(c, &dir)
	return c
}

// slurmWorker is what a job of Slurm runs.
func newSlurmWorker(term *Terminal) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "worker", Hidden: true, Args: atMost(0),
		RunE: func(c *cobra.Command, _ []string) error { return SlurmWorker(c.Context(), term, dir) },
	}
	slurmDirFlag(c, &dir)
	return c
}
