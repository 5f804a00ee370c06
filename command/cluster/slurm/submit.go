package slurm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/coordinator/engine/disk"
	"foible.dev/foible/core/words"
)

func newSubmit(term *terminal.Terminal) *cobra.Command {
	o := SubmitOptions{Workers: 10, Listen: DefaultListen}
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
		Args:    cli.AtMost(1), ValidArgsFunction: input.CompleteStudy,
		RunE: func(c *cobra.Command, args []string) error {
			o.Study, o.Given = cli.OptionalArgument(args), c.Flags().Changed
			return Submit(c.Context(), term, o)
		},
	}
	input.SweepFlags(c, &o.Sweep)
	c.Flags().IntVar(&o.Workers, "workers", o.Workers, "`number` of workers")
	jobFlags(c, &o.Jobs)
	c.Flags().StringVar(&o.Dir, "dir", "", "`directory` that all nodes see (default: foible-slurm-NAME, by the study's name)")
	c.Flags().StringVar(&o.Data, "data", "", "`directory` of the coordinator, best on a local disk (default: DIR/data)")
	c.Flags().StringVar(&o.Listen, "listen", o.Listen, "`host:port` on which the coordinator listens; without a host, on all addresses, and workers dial the\nmachine's name; port 0 is a free one")
	c.Flags().BoolVar(&o.Share, "share", false, "let others on the cluster read the directory, participants' answers and all but its tokens")
	c.Flags().BoolVar(&o.AsJob, "coordinator-job", false, "run the coordinator as a job of Slurm, with the options of the workers but --mem")
	return c
}

// SubmitOptions say what to run under Slurm, and how.
type SubmitOptions struct {
	Study   string
	Sweep   input.SweepChoice
	Dir     string // shared by all nodes; "": named after the study
	Data    string // of the coordinator; "": in Dir
	Listen  string // of the coordinator
	AsJob   bool   // the coordinator is a job of Slurm
	Share   bool   // others can read the directory, but for its tokens
	Workers int
	Jobs    JobOptions

	// Given says whether a flag was given, by its name. Of a sweep that was submitted before, the others stay as they were.
	Given func(flag string) bool
}

// DefaultListen is where a coordinator listens by default: all addresses, a free port.
const DefaultListen = ":0"

func (o *SubmitOptions) validate() error {
	if err := o.Jobs.validate(); err != nil {
		return err
	}
	if err := checkWorkers("--workers", o.Workers, 1); err != nil {
		return err
	}
	return connect.CheckAddress("--listen", o.Listen, false)
}

func checkWorkers(flag string, n, least int) error {
	const most = 100_000
	if n < least || n > most {
		return cli.Usagef("%s %d: must be %d to %d", flag, n, least, most)
	}
	return nil
}

// Submit starts a coordinator, gives it the sweep, and submits workers.
// If one of these fails, nothing is left of the others.
func Submit(ctx context.Context, term *terminal.Terminal, o SubmitOptions) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	s, config, err := input.Prepare(ctx, term, o.Study, o.Sweep)
	if err != nil {
		return err
	}
	id, err := input.SweepID(s, config)
	if err != nil {
		return err
	}
	if o.Dir == "" {
		o.Dir = dirPrefix + s.Name
	}
	path, err := filepath.Abs(o.Dir)
	if err != nil {
		return err
	}
	if strings.ContainsAny(path, "\n\"'\\%") {
		return cli.Usagef("--dir %q: Slurm gives a meaning of its own to quotes, backslash and %%; name another", path)
	}
	d := sweepDir(path)
	if _, err := commands.Limits(ctx, o.Jobs.Account); err != nil { // first of all: is there a Slurm?
		return err
	}
	r := &sweepRecord{
		Sweep: id, Study: s.Name, Version: cli.Version(), Name: "foible-" + s.Name + "-" + strings.ToLower(rand.Text()[:6]),
		Data: d.path(dataDir), Listen: o.Listen, AsJob: o.AsJob, Workers: o.Workers, JobOptions: o.Jobs,
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
		return submitAgain(ctx, term, d, known, &o)
	}
	release, err := d.claim(r.Data, o.Share)
	if err != nil {
		return cli.CannotWrite(o.Dir, "--dir", err)
	}
	defer func() {
		if failed := release(err == nil); err != nil {
			err = undone(ctx, err, failed)
		}
	}()
	if kind := disk.NetworkFileSystem(r.Data); kind != "" {
		term.Say("The coordinator is to keep its data in %s, which is on %s: slow, and perhaps without locks. A local disk is better, if it is always this machine that runs the coordinator: --data /var/tmp/%s.", words.Quoted(r.Data), kind, r.Name)
	}
	if err := d.fill(s, config, r); err != nil {
		return cli.CannotWrite(o.Dir, "--dir", err)
	}
	stop, err := startCoordinator(ctx, term, d, r)
	if err != nil {
		return err
	}
	n, err := addWorkers(ctx, term, d, r, o.Workers)
	if err != nil {
		return errors.Join(err, stop())
	}
	sayNext(term, d, r, n)
	return nil
}

// unchangeable returns an error if a flag was given that a sweep, once submitted, cannot change, and says something else.
func (o *SubmitOptions) unchangeable(d sweepDir, known, asked *sweepRecord) error {
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

// errLeft says what to do about jobs that could not be cancelled.
var errLeft = errors.New("end them with scancel")

// undone is an error after which nothing is left, unless that failed too.
func undone(ctx context.Context, err, failed error) error {
	switch {
	case failed != nil:
		return errors.Join(err, fmt.Errorf("what was begun could not be removed: %w", failed))
	case errors.Is(err, errLeft):
		return err
	case ctx.Err() != nil:
		return cli.ErrInterrupted
	}
	return fmt.Errorf("%w (what was begun has been ended again)", err)
}

// sayNext says what can be done now.
func sayNext(term *terminal.Terminal, d sweepDir, r *sweepRecord, n int) {
	fmt.Fprintln(term.Out, r.Sweep)
	dir := " --dir " + words.Quoted(string(d))
	done := "Submitted " + words.Count(n, "worker") + " to Slurm."
	if state, err := d.state(); err == nil && state == stateEnded {
		done = "The sweep needs no more workers."
	} else if n == 0 {
		done = "The coordinator is there; no worker was missing."
	}
	term.Say("%s When the sweep has ended, its tables and figures will be in %s.", done, words.Quoted(d.path(resultsDir)))
	term.Say("  how far it is:         foible cluster slurm status%s", dir)
	term.Say("  to its end:            foible watch%s %s", d.target().Flags(access.User), r.Sweep)
	term.Say("  more workers or fewer: foible cluster slurm scale%s N", dir)
	term.Say("  no more of it:         foible cluster slurm stop%s", dir)
}

// submitAgain goes on with a sweep that was submitted before.
func submitAgain(ctx context.Context, term *terminal.Terminal, d sweepDir, r *sweepRecord, o *SubmitOptions) error {
	if state, err := d.state(); err == nil && state == stateEnded && d.hasResults() {
		term.Say("This sweep has ended; its tables and figures are in %s.", words.Quoted(d.path(resultsDir)))
		return nil
	}
	want := wantedWorkers{jobs: o.Jobs, given: o.Given}
	if o.Given("workers") {
		want.n = o.Workers
	}
	return restart(ctx, term, d, r, &want)
}
