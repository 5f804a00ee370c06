package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/cluster/slurm/scheduler"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/words"
)

func newScale(term *terminal.Terminal) *cobra.Command {
	var dir string
	var jobs JobOptions
	c := &cobra.Command{
		Use:   "scale N",
		Short: "Change the number of workers",
		Long:  "Scale submits workers until there are N, or tells as many to leave; those that have not begun go first.\nOptions for workers that are given hold from now on, as with `foible cluster slurm submit`; the others stay as they were.",
		Args:  cli.ExactlyOne("say how many workers there are to be"),
		RunE: func(c *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[0])
			if err != nil {
				return cli.Usagef("%q: say how many workers there are to be, as a whole number", args[0])
			}
			return Scale(c.Context(), term, dir, wantedWorkers{n, jobs, c.Flags().Changed})
		},
	}
	jobFlags(c, &jobs)
	dirFlag(c, &dir)
	return c
}

// Scale asks for n workers in all, with the options that were given.
func Scale(ctx context.Context, term *terminal.Terminal, dir string, want wantedWorkers) error {
	n := want.n
	if err := checkWorkers("N", n, 0); err != nil {
		return err
	}
	if err := want.jobs.validate(); err != nil {
		return err
	}
	d, r, err := findDir(dir)
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
	case state == stateStopped:
		return fmt.Errorf("the sweep has been stopped; `foible cluster slurm restart --dir %s` goes on with it", words.Quoted(string(d)))
	case state == stateEnded:
		term.Say("This sweep has ended and needs no workers.")
		return nil
	}
	tasks, err := queuedWorkers(ctx, r)
	if err != nil {
		return err
	}
	wanted, options := r.Workers, r.JobOptions
	changes, err := r.change(ctx, d, &want.jobs, want.given)
	if err != nil {
		return err
	}
	r.Workers = n
	before := len(tasks)
	if n < before {
		tasks = r.leaveFirst(d, tasks)
		if err := commands.CancelTasks(ctx, taskIDs(tasks[:before-n])...); err != nil {
			return err
		}
		tasks = tasks[before-n:]
	}
	added, err := renewWorkers(ctx, term, d, r, queue{tasks, changes})
	switch {
	case err != nil:
		r.Workers, r.JobOptions = wanted, options
		return errors.Join(err, d.setRecord(r))
	case n < before:
		term.Say("%s told to leave; %s are left.", words.Count(before-n, "worker"), words.Thousands(n))
	default:
		term.Say("%s submitted; there are %d.", words.Count(added, "worker"), before+added)
	}
	return nil
}

// leaveFirst sorts workers so that those come first that are missed least: those that have not begun, and among these,
// and among the others, those whose options hold no more.
func (r *sweepRecord) leaveFirst(d sweepDir, tasks []scheduler.Task) []scheduler.Task {
	outdated, begun := r.outdated(d, tasks)
	old := map[string]bool{}
	for _, id := range taskIDs(slices.Concat(outdated, begun)) {
		old[id] = true
	}
	rank := func(t *scheduler.Task) int {
		rank := 0
		if !t.Pending() {
			rank += 2
		}
		if !old[t.ID] {
			rank++
		}
		return rank
	}
	return slices.SortedStableFunc(slices.Values(tasks), func(a, b scheduler.Task) int { return rank(&a) - rank(&b) })
}
