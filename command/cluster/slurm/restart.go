package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/cluster/slurm/scheduler"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/words"
)

func newRestart(term *terminal.Terminal) *cobra.Command {
	var dir string
	var jobs JobOptions
	c := &cobra.Command{
		Use:   "restart",
		Short: "Restart a sweep that was stopped or has lost its coordinator",
		Long:  "Restart starts the coordinator again, here or as a job, where there is none any more; it needs the coordinator's data\ndirectory. It submits workers for those that have left. Options for workers that are given hold from now on;\nthe others stay as they were.",
		Args:  cli.AtMost(0),
		RunE: func(c *cobra.Command, _ []string) error {
			return Restart(c.Context(), term, dir, jobs, c.Flags().Changed)
		},
	}
	jobFlags(c, &jobs)
	dirFlag(c, &dir)
	return c
}

// wantedWorkers are the workers that a sweep is to have from now on.
type wantedWorkers struct {
	n     int // 0: as many as before
	jobs  JobOptions
	given func(flag string) bool // which flags of jobs count; the other options stay as they are
}

// Restart starts a coordinator again that is no more, and workers for those that have left.
func Restart(ctx context.Context, term *terminal.Terminal, dir string, jobs JobOptions, given func(flag string) bool) error {
	if err := jobs.validate(); err != nil {
		return err
	}
	d, r, err := findDir(dir)
	if err != nil {
		return err
	}
	d.keepPrivate() // jobs have the umask of the command that submits them
	return restart(ctx, term, d, r, &wantedWorkers{jobs: jobs, given: given})
}

// restart starts what is missing of a coordinator and workers. If that fails, all is as before.
func restart(ctx context.Context, term *terminal.Terminal, d sweepDir, r *sweepRecord, want *wantedWorkers) (result error) {
	unlock, err := d.lock(r)
	if err != nil {
		return err
	}
	defer unlock()
	tasks, err := queuedWorkers(ctx, r) // is there a Slurm?
	if err != nil {
		return err
	}
	before, _ := d.state()
	wanted, options := r.Workers, r.JobOptions
	defer func() {
		if result != nil {
			r.Workers, r.JobOptions = wanted, options
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
	if absent == nil && before == stateRunning {
		if want.n > 0 && want.n < len(tasks) {
			return fmt.Errorf("the sweep is running with %s, more than --workers %d; `foible cluster slurm scale --dir %s %[2]d` ends some", words.Count(len(tasks), "worker"), want.n, words.Quoted(string(d)))
		}
		if outdated, _ := r.outdated(d, tasks); len(changes)+len(outdated) == 0 && r.Workers <= len(tasks) {
			term.Say("The sweep is running, with %s; `foible cluster slurm scale N` changes their number.", words.Count(len(tasks), "worker"))
			return nil
		}
	} else {
		if absent == nil {
			return fmt.Errorf("the coordinator at %s is about to end; try again in a minute", d.target().Where())
		}
		if r.AsJob {
			queued, err := commands.Queue(ctx, r.names(false)...)
			if err != nil {
				return err
			}
			for i := range queued {
				if r.isCoordinator(queued[i].Name) {
					return fmt.Errorf("the coordinator's job %s is %s (%s); wait for it, or `scancel %[1]s` and try again", queued[i].ID, strings.ToLower(queued[i].State), queued[i].Reason)
				}
			}
		}
		before := cmp.Or(before, stateStopped)
		stop, err := startCoordinator(ctx, term, d, r)
		if err != nil {
			return undone(ctx, err, d.setState(before))
		}
		defer func() {
			if result != nil {
				result = undone(ctx, errors.Join(result, stop()), d.setState(before))
			}
		}()
		if before == stateEnded {
			term.Say("The sweep had ended; its results are being written again to %s.", words.Quoted(d.path(resultsDir)))
			return nil
		}
	}
	n, err := renewWorkers(ctx, term, d, r, queue{tasks, changes})
	if err != nil {
		return err
	}
	sayNext(term, d, r, n)
	return nil
}

// queue is what Slurm's queue has of a sweep's workers.
type queue struct {
	tasks   []scheduler.Task
	changes []string // of the options of workers, which hold from now on
}

// renewWorkers submits the workers that are missing among the tasks in the queue, and others in place of those that wait
// with options that hold no more. It says what became of these, and returns how many are missing no more. The caller
// holds the lock.
func renewWorkers(ctx context.Context, term *terminal.Terminal, d sweepDir, r *sweepRecord, q queue) (int, error) {
	outdated, begun := r.outdated(d, q.tasks)
	missing := max(0, r.Workers-len(q.tasks))
	added, err := addWorkers(ctx, term, d, r, missing+len(outdated))
	if err != nil {
		return 0, err
	}
	if len(q.changes) > 0 { // for people to read: what is in the queue has its own copy
		if err := d.writeScripts(r); err != nil {
			return 0, err
		}
	}
	replaced := max(0, added-missing) // one that has begun meanwhile goes on
	if err := commands.CancelPendingTasks(ctx, taskIDs(outdated[:replaced])...); err != nil {
		return 0, fmt.Errorf("workers with other options are submitted, and those that wait could not be cancelled: %w; `foible cluster slurm scale %d` puts it right", err, r.Workers)
	}
	(&otherOptions{q.changes, replaced, len(outdated) - replaced, len(begun)}).say(term, d)
	return added - replaced, nil
}

func taskIDs(tasks []scheduler.Task) []string {
	var ids []string
	for i := range tasks {
		ids = append(ids, tasks[i].ID)
	}
	return ids
}

func (r *sweepRecord) isCoordinator(name string) bool {
	j := r.job(name)
	return j != nil && j.Coordinator
}

func (d sweepDir) hasResults() bool {
	_, err := os.Stat(d.path(resultsDir, "manifest.json"))
	return err == nil
}
