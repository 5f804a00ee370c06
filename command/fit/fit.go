// Package fit has the commands that run sweeps on this machine: fit, estimate
// and recover. Each has a file with its flags, help and run function.
package fit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/follow"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/output"
	"foible.dev/foible/command/results"
	"foible.dev/foible/command/serve"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/core/report/recovery"
	"foible.dev/foible/core/words"
	"foible.dev/foible/domains"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"foible.dev/foible/worker"
)

// Options say what to fit, and how.
type Options struct {
	Study     string
	Sweep     input.SweepChoice
	Workers   int    // worker slots; 0: one a core
	Memory    string // that the process may use, as in 8GiB; "": most of what there is
	Out       string // output directory; "": named after the study
	Notify    follow.Notify
	Web       string // address of the dashboard, of this machine; "": none
	Overwrite bool   // what the directory holds of others
	// WithoutJudgements: the study may have no judgements; there are only posteriors then.
	WithoutJudgements bool
	Verify            float64 // share of the cells to compute twice, from 0 to 1
	// Recovery is the directory of a recovery of the same study, for the page; "": none.
	Recovery string

	create func(path string) (*os.File, error)   // opens the files of the output, in tests; nil: os.Create
	around func(worker.Executor) worker.Executor // what stands between the worker and its jobs, in tests; nil: nothing
}

// StateDir holds, in the output directory, what is recorded so far.
const StateDir = ".foible"

// makeStateDir makes an output directory, and in it the directory of what is recorded so far, which has the study and what
// participants answered, and only this user may read it.
func makeStateDir(out string) (string, error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", err
	}
	dir := filepath.Join(out, StateDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o700)
}

// Fit runs a sweep to its end in this process: a coordinator, a worker, and gRPC between them.
func Fit(ctx context.Context, term *terminal.Terminal, o Options) error {
	workers, err := serve.Slots("--workers", o.Workers)
	if err != nil {
		return err
	}
	budget, err := serve.MemoryBudget(o.Memory)
	if err != nil {
		return err
	}
	if err := o.Notify.Check(); err != nil {
		return err
	}
	if _, _, err := net.SplitHostPort(o.Study); err == nil && o.Web == serve.AnyWebAddress {
		return cli.Usagef("--web takes its address behind a =: write --web=%s", o.Study)
	}
	if err := follow.CheckVerify(o.Verify); err != nil {
		return err
	}
	s, config, err := input.Prepare(ctx, term, o.Study, o.Sweep)
	if err != nil {
		return err
	}
	if err := input.CheckLimits(s, config); err != nil { // which are those of the coordinator in this process
		return fmt.Errorf("sweep: %w", err)
	}
	if err := input.RequireJudgements(s, o.WithoutJudgements); err != nil {
		return err
	}
	recovered, err := results.ReadRecovery(o.Recovery, s)
	if err != nil {
		return err
	}
	if o.Out == "" {
		o.Out = results.DefaultDir(s)
	}
	dashboard, err := serve.Invite(term, o.Web)
	if err != nil {
		return err
	}
	id, err := input.SweepID(s, config)
	if err != nil {
		return err
	}
	if err := output.Claim(o.Out, results.Owner(id), o.Overwrite); err != nil {
		return err
	}
	_, err = os.Stat(filepath.Join(o.Out, StateDir))
	fresh := errors.Is(err, fs.ErrNotExist)
	data, err := makeStateDir(o.Out)
	if err != nil {
		return cli.CannotWrite(o.Out, "--out", err)
	}

	var ahead *follow.Forecast
	if fresh {
		ahead = foretell(ctx, s, config, workers)
	}
	cluster, err := serve.StartLocal(ctx, serve.LocalOptions{Data: data, Slots: workers, Memory: budget, Dashboard: dashboard, Around: o.around, Logger: term.Logger})
	if err != nil {
		return err
	}
	f := runningFit{local: cluster, study: s, config: config, recovered: recovered, o: &o}
	err = f.run(term, run{workers, o.Out, ahead})
	if err == nil && dashboard != nil && terminal.Redraws(term.Err) {
		term.Say("The dashboard stays open at %s until you press Ctrl-C.", dashboard.URL())
		<-cluster.Context.Done()
		ctx = context.WithoutCancel(ctx) // the fit was not interrupted
	}
	return stopLocal(ctx, term, cluster, o.Out, err)
}

// runningFit is a fit whose coordinator and worker run.
type runningFit struct {
	local     *serve.Local
	study     *domains.Study
	config    *foiblev1.SweepConfig
	recovered *recovery.Recovered // nil: none
	o         *Options
}

// run makes the sweep, waits for it and writes the report.
func (f *runningFit) run(term *terminal.Terminal, how run) error {
	ctx, c, s, o := f.local.Context, f.local.Client, f.study, f.o
	created, err := f.submitWithRoom(term)
	if err != nil {
		return err
	}
	m := created.GetSweep()
	follow.SayVerify(term, created, o.Verify)
	follow.SayRetried(term, m, created.GetRetried())
	if m.GetState() != foiblev1.SweepState_SWEEP_STATE_RUNNING {
		term.Say("%s has been fitted before; writing its tables and figures again.", s.Name)
	} else if m, err = runSweep(term, f.local, s.Name, created, how); err != nil {
		return err
	}
	written := results.Writer{Client: c, Sweep: m, Study: s, Dir: o.Out, Recovered: f.recovered, Beyond: fitting(o, s), Create: o.create}
	err = written.Write(ctx, term)
	if ctx.Err() == nil {
		follow.NotifyEnd(ctx, term, o.Notify, c, m)
	}
	return err
}

// submitWithRoom makes the sweep as soon as there is room on the disk.
func (f *runningFit) submitWithRoom(term *terminal.Terminal) (*foiblev1.CreateSweepResponse, error) {
	for said := ""; ; {
		created, err := f.local.Client.Submit(f.local.Context, f.study, f.config, 0, f.o.Verify)
		full := (*connect.StalledError)(nil)
		if !errors.As(err, &full) {
			return created, err
		}
		if said != full.Reason {
			said = full.Reason
			term.Say("Waiting: %s.", said)
		}
		select {
		case <-time.After(follow.RetryInterval):
		case <-f.local.Context.Done():
			return nil, cli.ErrInterrupted
		}
	}
}

// run is how a sweep is run in this process.
type run struct {
	workers  int
	out      string
	foretold *follow.Forecast // nil: not known
}

// runSweep waits for a sweep that has not ended.
func runSweep(term *terminal.Terminal, cluster *serve.Local, study string, created *foiblev1.CreateSweepResponse, r run) (*foiblev1.Sweep, error) {
	ctx, c, m := cluster.Context, cluster.Client, created.GetSweep()
	term.Say("Fitting %s: %s on %s; %s", study, words.Count(m.GetProgress().GetCells(), "cell"), words.Count(r.workers, "worker slot"), input.MethodText(m.GetConfig()))
	if err := mentionOthers(ctx, term, c, m.GetSweepId(), r.out); err != nil {
		return nil, err
	}
	if text := r.foretold.String(); text != "" {
		term.Say("%s", text)
	}
	w := follow.Options{ID: m.GetSweepId(), Foretold: r.foretold}
	if created.GetExisted() { // else workers may have begun before this was said
		w.Before = m.GetProgress().GetCellsDone()
	}
	return follow.Watch(ctx, term, c, w)
}

// mentionOthers says that what an earlier command began in the directory is done too.
func mentionOthers(ctx context.Context, term *terminal.Terminal, c *connect.Client, id, out string) error {
	all, err := c.Sweeps.ListSweeps(ctx, &foiblev1.ListSweepsRequest{})
	if err != nil {
		return c.Explain(err)
	}
	others := 0
	for _, m := range all.GetSweeps() {
		if m.GetSweepId() != id && connect.StateName(m) == connect.StateRunning {
			others++
		}
	}
	if others > 0 {
		term.Say("%s also holds %s begun before, which shares the worker slots; with another --out this one does not share them.",
			words.Quoted(out), words.Count(others, "unfinished sweep"))
	}
	return nil
}

// stopLocal ends what runs in this process, and says what to do about how it ended.
func stopLocal(ctx context.Context, term *terminal.Terminal, cluster *serve.Local, out string, err error) error {
	if ctx.Err() != nil || errors.Is(err, cli.ErrInterrupted) {
		term.Say("Stopping: cells that are not done within a second are given up and computed again later. A second signal ends the process at once.")
	}
	stopped := cluster.Stop()
	switch {
	case ctx.Err() == nil && errors.Is(stopped, engine.ErrInUse):
		return fmt.Errorf("another command works in %s; wait for it, or give this one a directory of its own with --out", words.Quoted(out))
	case ctx.Err() == nil && errors.Is(stopped, engine.ErrVersion):
		return fmt.Errorf("%w; use that version, or give this one a directory of its own with --out", stopped)
	case ctx.Err() == nil && stopped != nil: // err is a consequence
		return stopped
	case ctx.Err() != nil, errors.Is(err, cli.ErrInterrupted):
		term.Say("Stopped; nothing recorded is lost. The same command goes on from here.")
		return cli.ErrInterrupted
	}
	return err
}

// NewFit returns the command fit.
func NewFit(term *terminal.Terminal) *cobra.Command {
	var o Options
	c := &cobra.Command{
		Use:   "fit [STUDY]",
		Short: "Fit a study's sweep, and write tables and figures",
		Long: `Fit runs a sweep to its end on this machine, and writes tables and figures. Interrupted, it goes on where it
stopped when it is called again with the same output directory. STUDY is a directory with study.yaml, or the name
of a sample: ` + strings.Join(domains.Names(), ", ") + `.`,
		Example: "  foible fit\n  foible fit my-study --out my-fit\n  foible fit block-words --models boltzmann --set alpha=0.25,0.5,1 --set value=optimal,on_policy",
		GroupID: cli.GroupLocal, Args: cli.AtMost(1), ValidArgsFunction: input.CompleteStudy,
		RunE: func(c *cobra.Command, args []string) error {
			o.Study = cli.OptionalArgument(args)
			return Fit(c.Context(), term, o)
		},
	}
	c.Flags().StringVar(&o.Web, "web", "", "show the sweep in a browser, on a terminal until you press Ctrl-C, at a free port or at `host:port` of this machine, as in --web=localhost:7411")
	c.Flags().Lookup("web").NoOptDefVal = serve.AnyWebAddress
	input.SweepFlags(c, &o.Sweep)
	follow.NotifyFlag(c, &o.Notify)
	c.Flags().IntVar(&o.Workers, "workers", 0, "`number` of worker slots (default: one per core)")
	serve.MemoryFlag(c, &o.Memory)
	cli.OutFlag(c, &o.Out, &o.Overwrite)
	results.RecoveryFlag(c, &o.Recovery)
	input.WithoutJudgementsFlag(c, &o.WithoutJudgements)
	follow.VerifyFlag(c, &o.Verify)
	return c
}

// fitting is the same fit once more, with the values of the grid and those beyond.
func fitting(o *Options, s *domains.Study) results.Beyond {
	return func(edges []results.MoreValues) string {
		line := "foible fit"
		if o.Study != "" {
			line += " " + words.Quoted(o.Study)
		}
		choice := o.Sweep
		choice.Set = slices.DeleteFunc(slices.Clone(choice.Set), func(assignment string) bool {
			axis, _, _ := strings.Cut(assignment, "=")
			return slices.ContainsFunc(edges, func(m results.MoreValues) bool { return m.Axis == strings.TrimSpace(axis) })
		})
		line += choice.Flags()
		for _, m := range edges {
			line += input.SetFlag(m.Axis, results.Ascending(append(slices.Clone(m.Had), m.Further...)))
		}
		if o.Workers > 0 {
			line += " --workers " + strconv.Itoa(o.Workers)
		}
		line += " --out " + words.Quoted(output.NextTo(o.Out)) // which this sweep's results are not in
		if o.Recovery != "" {
			line += " --recovery " + words.Quoted(o.Recovery)
		}
		return line
	}
}
