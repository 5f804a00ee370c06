package slurm

import (
	"context"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/cluster/slurm/scheduler"
	"foible.dev/foible/command/follow"
	"foible.dev/foible/command/results"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/words"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

func newStatus(term *terminal.Terminal) *cobra.Command {
	var dir string
	var asJSON bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Show the progress of the sweep and its jobs in Slurm",
		Long:  "Status shows the progress of the sweep and its jobs in Slurm. With --json it prints an object with the fields\n\n" + StatusFields(),
		Args:  cli.AtMost(0),
		RunE:  func(c *cobra.Command, _ []string) error { return Status(c.Context(), term, dir, asJSON) },
	}
	cli.JSONFlag(c, &asJSON)
	dirFlag(c, &dir)
	return c
}

// statusJSON is a sweep under Slurm for scripts. The help of `foible cluster slurm status` is made of the notes.
type statusJSON struct {
	Sweep       string            `json:"sweep" note:"id"`
	Directory   string            `json:"directory" note:"of the sweep"`
	State       dirState          `json:"state" note:"running, stopped (by a user), ended"`
	Coordinator string            `json:"coordinator,omitempty" note:"host:port; not there if none answers"`
	Results     string            `json:"results,omitempty" note:"directory with tables and figures; not there before they are written"`
	Asked       int               `json:"workers_asked" note:"that were asked for last"`
	Running     int               `json:"workers_running" note:"in Slurm's queue that have begun"`
	Pending     int               `json:"workers_pending" note:"that have not begun"`
	Reasons     map[string]int    `json:"pending_reasons,omitempty" note:"why, as Slurm says, with the number of workers"`
	Progress    *follow.SweepJSON `json:"progress,omitempty" note:"as of foible status --json, without fits; not there if no coordinator answers"`
}

// StatusFields documents the fields of `foible cluster slurm status --json`, a line each.
func StatusFields() string { return follow.FieldNotes(reflect.TypeFor[statusJSON]()) }

// newStatusJSON is what Slurm and the coordinator, if it answers, have of the sweep.
func newStatusJSON(d sweepDir, r *sweepRecord, state dirState, m *foiblev1.Sweep, tasks []scheduler.Task) statusJSON {
	s := statusJSON{Sweep: r.Sweep, Directory: string(d), State: state, Asked: r.Workers, Reasons: map[string]int{}}
	if d.hasResults() {
		s.Results = d.path(resultsDir)
	}
	if m != nil {
		progress := follow.NewSweepJSON(m)
		s.Progress, s.Coordinator = &progress, d.target().Where()
		if address, err := d.target().Current(); err == nil {
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

// Status prints how far the sweep is and what Slurm has of it.
func Status(ctx context.Context, term *terminal.Terminal, dir string, asJSON bool) error {
	d, r, err := findDir(dir)
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
		tasks, err := commands.Queue(ctx, r.names(false)...)
		if err != nil {
			return err
		}
		return term.PrintJSON(newStatusJSON(d, r, state, m, tasks))
	}
	if absent == nil {
		follow.PrintSweep(term, m)
		term.Print("coordinator: %s", d.target().Where())
	} else {
		term.Print("%s: %s", r.Sweep, state)
	}
	tasks, err := commands.Queue(ctx, r.names(false)...)
	if err != nil {
		return err
	}
	fmt.Fprintln(term.Out, queueText(r, tasks))
	workers := 0
	for i := range tasks {
		if !r.isCoordinator(tasks[i].Name) {
			workers++
		}
	}
	switch {
	case d.hasResults():
		term.Print("results: %s", words.Quoted(d.path(resultsDir)))
		if _, err := os.Stat(d.path(resultsDir, results.FailuresFile)); err == nil {
			term.Say("Some parameter sets have no fit; %s says why.", words.Quoted(d.path(resultsDir, results.FailuresFile)))
		}
	case state == stateEnded:
		term.Say("The results have not been written: %s says why; `foible cluster slurm restart%s` tries again.", words.Quoted(d.path(logsDir, "coordinator.log")), flag)
	case state == stateStopped:
		term.Say("The sweep has been stopped; `foible cluster slurm restart%s` goes on with it.", flag)
	case absent != nil && r.AsJob && slices.ContainsFunc(tasks, func(t scheduler.Task) bool { return r.isCoordinator(t.Name) }):
		term.Say("The coordinator's job has not begun, or not begun again.")
	case absent != nil:
		term.Say("%v; if it is no more, `foible cluster slurm restart%s` starts it again.", absent, flag)
	case workers > 0 && workers < r.Workers:
		term.Say("%s of %s left; `foible cluster slurm restart%s` submits others.", words.Count(r.Workers-workers, "worker"), words.Thousands(r.Workers), flag)
	case workers == 0:
		term.Say("No worker is left; `foible cluster slurm scale%s %d` submits them again. What they said is in %s.", flag, r.Workers, words.Quoted(d.path(logsDir)))
	}
	return nil
}

// queueText counts workers by state.
func queueText(r *sweepRecord, tasks []scheduler.Task) string {
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
