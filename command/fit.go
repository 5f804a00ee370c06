package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/core/report"
	"foible.dev/foible/core/words"
	"foible.dev/foible/domains"
	"github.com/spf13/cobra"

	foiblev1 "foible.dev/foible/proto/foible/v1"
	"foible.dev/foible/worker"
)

// FitOptions say what to fit, and how.
type FitOptions struct {
	Study     string
	Sweep     SweepChoice
	Workers   int    // worker slots; 0: one a core
	Memory    string // that the process may use, as in 8GiB; "": most of what there is
	Out       string // output directory; "": named after the study
	Notify    Notify
	Web       string // address of the dashboard, of this machine; "": none
	Overwrite bool   // what the directory holds of others
	// WithoutJudgements: the study may be without judgements, for the posteriors alone.
	WithoutJudgements bool
	Verify            float64 // share of the cells to compute twice, from 0 to 1
	// Recovery is the directory of a recovery of the same study, for the page; "": none.
	Recovery string

	create func(path string) (*os.File, error)   // opens the files of the output, in tests; nil: os.Create
	around func(worker.Executor) worker.Executor // what stands between the worker and its jobs, in tests; nil: nothing
}

// stateDir holds, in the output directory, what is recorded so far.
const stateDir = ".foible"

// makeStateDir makes an output directory, and in it the directory of what is recorded so far, which has the study and what
// participants answered, and is this user's alone.
func makeStateDir(out string) (string, error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", err
	}
	dir := filepath.Join(out, stateDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o700)
}

// Fit runs a sweep to its end in this process: a coordinator, a worker, and gRPC between them.
func Fit(ctx context.Context, term *Terminal, o FitOptions) error {
	workers, err := slots("--workers", o.Workers)
	if err != nil {
		return err
	}
	budget, err := memoryBudget(o.Memory)
	if err != nil {
		return err
	}
	if err := o.Notify.check(); err != nil {
		return err
	}
	if _, _, err := net.SplitHostPort(o.Study); err == nil && o.Web == AnyWebAddress {
		return usagef("--web takes its address behind a =: write --web=%s", o.Study)
	}
	if err := checkVerify(o.Verify); err != nil {
		return err
	}
	s, config, err := prepare(ctx, term, o.Study, o.Sweep)
	if err != nil {
		return err
	}
	if err := beyondDefaults(s, config); err != nil { // which are those of the coordinator in this process
		return fmt.Errorf("sweep: %w", err)
	}
	if err := judgedOr(s, o.WithoutJudgements); err != nil {
		return err
	}
	recovered, err := recoveryOf(o.Recovery, s)
	if err != nil {
		return err
	}
	if o.Out == "" {
		o.Out = defaultOut(s)
	}
	dashboard, err := invite(term, o.Web)
	if err != nil {
		return err
	}
	id, err := sweepID(s, config)
	if err != nil {
		return err
	}
	if err := claim(o.Out, sweepOwner(id), o.Overwrite); err != nil {
		return err
	}
	_, err = os.Stat(filepath.Join(o.Out, stateDir))
	fresh := errors.Is(err, fs.ErrNotExist)
	data, err := makeStateDir(o.Out)
	if err != nil {
		return cannotWrite(o.Out, "--out", err)
	}

	var ahead *foretold
	if fresh {
		ahead = foretell(ctx, s, config, workers)
	}
	cluster, err := startLocal(ctx, localOptions{data: data, slots: workers, memory: budget, dashboard: dashboard, around: o.around, logger: term.Logger})
	if err != nil {
		return err
	}
	f := runningFit{local: cluster, study: s, config: config, recovered: recovered, o: &o}
	err = f.run(term, run{workers, o.Out, ahead})
	if err == nil && dashboard != nil && redraws(term.Err) {
		term.say("The dashboard stays open at %s until you press Ctrl-C.", dashboard.URL())
		<-cluster.ctx.Done()
		ctx = context.WithoutCancel(ctx) // the fit was not interrupted
	}
	return stopLocal(ctx, term, cluster, o.Out, err)
}

// runningFit is a fit whose coordinator and worker run.
type runningFit struct {
	local     *local
	study     *domains.Study
	config    *foiblev1.SweepConfig
	recovered *report.Recovered // nil: none
	o         *FitOptions
}

// run makes the sweep, waits for it and writes the report.
func (f *runningFit) run(term *Terminal, how run) error {
	ctx, c, s, o := f.local.ctx, f.local.client, f.study, f.o
	created, err := f.submitWithRoom(term)
	if err != nil {
		return err
	}
	m := created.GetSweep()
	sayVerify(term, created, o.Verify)
	sayRetried(term, m, created.GetRetried())
	if m.GetState() != foiblev1.SweepState_SWEEP_STATE_RUNNING {
		term.say("%s has been fitted before; writing its tables and figures again.", s.Name)
	} else if m, err = runSweep(term, f.local, s.Name, created, how); err != nil {
		return err
	}
	results := sweepResults{client: c, sweep: m, study: s, dir: o.Out, recovered: f.recovered, beyond: fitting(o, s), create: o.create}
	err = results.write(ctx, term)
	if ctx.Err() == nil {
		notify(ctx, term, o.Notify, c, m)
	}
	return err
}

// submitWithRoom makes the sweep as soon as there is room on the disk.
func (f *runningFit) submitWithRoom(term *Terminal) (*foiblev1.CreateSweepResponse, error) {
	for said := ""; ; {
		created, err := f.local.client.submit(f.local.ctx, f.study, f.config, 0, f.o.Verify)
		full := (*StalledError)(nil)
		if !errors.As(err, &full) {
			return created, err
		}
		if said != full.Reason {
			said = full.Reason
			term.say("Waiting: %s.", said)
		}
		select {
		case <-time.After(retryInterval):
		case <-f.local.ctx.Done():
			return nil, ErrInterrupted
		}
	}
}

// run is how a sweep is run in this process.
type run struct {
	workers  int
	out      string
	foretold *foretold // nil: not known
}

// runSweep waits for a sweep that has not ended.
func runSweep(term *Terminal, cluster *local, study string, created *foiblev1.CreateSweepResponse, r run) (*foiblev1.Sweep, error) {
	ctx, c, m := cluster.ctx, cluster.client, created.GetSweep()
	term.say("Fitting %s: %s on %s; %s", study, words.Count(m.GetProgress().GetCells(), "cell"), words.Count(r.workers, "worker slot"), methodText(m.GetConfig()))
	if err := mentionOthers(ctx, term, c, m.GetSweepId(), r.out); err != nil {
		return nil, err
	}
	if text := r.foretold.String(); text != "" {
		term.say("%s", text)
	}
	w := watched{id: m.GetSweepId(), foretold: r.foretold}
	if created.GetExisted() { // else workers may have begun before this was said
		w.before = m.GetProgress().GetCellsDone()
	}
	return watch(ctx, term, c, w)
}

// mentionOthers says that what an earlier command began in the directory is done too.
func mentionOthers(ctx context.Context, term *Terminal, c *client, id, out string) error {
	all, err := c.sweeps.ListSweeps(ctx, &foiblev1.ListSweepsRequest{})
	if err != nil {
		return c.explain(err)
	}
	others := 0
	for _, m := range all.GetSweeps() {
		if m.GetSweepId() != id && stateName(m) == stateRunning {
			others++
		}
	}
	if others > 0 {
		term.say("%s also holds %s begun before, which shares the worker slots; with another --out this one does not share them.",
			words.Quoted(out), words.Count(others, "unfinished sweep"))
	}
	return nil
}

// stopLocal ends what runs in this process, and says what to do about how it ended.
func stopLocal(ctx context.Context, term *Terminal, cluster *local, out string, err error) error {
	if ctx.Err() != nil || errors.Is(err, ErrInterrupted) {
		term.say("Stopping: cells that are not done within a second are given up and computed again later. A second signal ends the process at once.")
	}
	stopped := cluster.stop()
	switch {
	case ctx.Err() == nil && errors.Is(stopped, engine.ErrInUse):
		return fmt.Errorf("another command works in %s; wait for it, or give this one a directory of its own with --out", words.Quoted(out))
	case ctx.Err() == nil && errors.Is(stopped, engine.ErrVersion):
		return fmt.Errorf("%w; use that version, or give this one a directory of its own with --out", stopped)
	case ctx.Err() == nil && stopped != nil: // err is a consequence
		return stopped
	case ctx.Err() != nil, errors.Is(err, ErrInterrupted):
		term.say("Stopped; nothing recorded is lost. The same command goes on from here.")
		return ErrInterrupted
	}
	return err
}

func newFit(term *Terminal) *cobra.Command {
	var o FitOptions
	c := &cobra.Command{
		Use:   "fit [STUDY]",
		Short: "Fit a study's sweep, and write tables and figures",
		Long: `Fit runs a sweep to its end on this machine, and writes tables and figures. Interrupted, it goes on where it
stopped when it is called again with the same output directory. STUDY is a directory with study.yaml, or the name
of a sample: ` + strings.Join(domains.Names(), ", ") + `.`,
		Example: "  foible fit\n  foible fit my-study --out my-fit\n  foible fit block-words --models boltzmann --set alpha=0.25,0.5,1 --set value=optimal,on_policy",
		GroupID: here, Args: atMost(1), ValidArgsFunction: studies,
		RunE: func(c *cobra.Command, args []string) error {
			o.Study = argument(args)
			return Fit(c.Context(), term, o)
		},
	}
	c.Flags().StringVar(&o.Web, "web", "", "shows the sweep in a browser, on a terminal until you press Ctrl-C, at a free port or at `host:port` of this machine, as in --web=localhost:7411")
	c.Flags().Lookup("web").NoOptDefVal = AnyWebAddress
	sweepFlags(c, &o.Sweep)
	notifyFlag(c, &o.Notify)
	c.Flags().IntVar(&o.Workers, "workers", 0, "`number` of worker slots (default: one a core)")
	memoryFlag(c, &o.Memory)
	outFlag(c, &o.Out, &o.Overwrite)
	recoveryFlag(c, &o.Recovery)
	withoutJudgementsFlag(c, &o.WithoutJudgements)
	verifyFlag(c, &o.Verify)
	return c
}
