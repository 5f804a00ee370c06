package slurm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/cluster/slurm/scheduler"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/results"
	"foible.dev/foible/command/serve"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/domains"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// newCoordinator is what submit starts.
func newCoordinator(term *terminal.Terminal) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "coordinator", Hidden: true, Args: cli.AtMost(0),
		RunE: func(c *cobra.Command, _ []string) error { return Coordinator(c.Context(), term, dir) },
	}
	dirFlag(c, &dir)
	return c
}

const (
	// noticeTime is how long before its time limit a job hears of it.
	noticeTime = 90 * time.Second
	// minTime is the smallest time limit that leaves enough time to work.
	minTime = 5 * time.Minute
	// drainTime is what jobs of a worker get then. It ends before Slurm's usual KillWait, 30 s.
	drainTime = 20 * time.Second
	// workerPatience is how long a worker waits for a coordinator, in which it uses up its allocation.
	workerPatience = 15 * time.Minute
	// maxRestarts is how often a job puts itself back into the queue when its time is up.
	maxRestarts = 200
	// leaveTime is how long a coordinator waits for its workers to leave.
	leaveTime = drainTime + 10*time.Second
	// lingerTime is how long an ended coordinator still answers those who watch.
	lingerTime   = 10 * time.Second
	pollInterval = time.Second
)

var commands = scheduler.Commands{Timeout: scheduler.DefaultTimeout, Retries: scheduler.DefaultRetries}

// Coordinator is the coordinator of a sweep under Slurm. It makes the
// sweep, and when that has ended writes its results and ends.
func Coordinator(ctx context.Context, term *terminal.Terminal, dir string) error {
	d, r, err := findDir(dir)
	if err != nil {
		return err
	}
	d.keepPrivate()
	if !r.AsJob {
		return coordinate(ctx, term, d, r)
	}
	return untilTimeIsUp(ctx, term, d, func(ctx context.Context) error { return coordinate(ctx, term, d, r) })
}

func coordinate(ctx context.Context, term *terminal.Terminal, d sweepDir, r *sweepRecord) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	following, unfollow := context.WithCancel(ctx)
	defer unfollow()
	served := make(chan error, 1)
	dismissed := make(chan struct{})
	go func() {
		defer unfollow()
		o := serve.CoordinatorOptions{Listen: r.Listen, Data: r.Data, Lease: serve.DefaultLease, Limits: serve.DefaultLimits(), AddressFile: d.path(addressFile), AddressMode: d.mode(0o644), Dismissed: dismissed}
		o.Announced = func() error { return d.copyTokens(r.Data) }
		served <- serve.Coordinator(serving, term, o)
	}()
	err := followSweep(following, term, d, r, sync.OnceFunc(func() { close(dismissed) }))
	stop()
	if failed := <-served; failed != nil {
		return failed // err is a consequence
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// following is a sweep under Slurm whose coordinator runs in this process.
type following struct {
	term   *terminal.Terminal
	dir    sweepDir
	record *sweepRecord
	client *connect.Client

	done     map[string]bool // sweeps of the coordinator that have ended and been written, by id
	exported error           // what has become of the results
}

// followSweep makes the sweep, waits for its end, and writes its results. It calls dismiss when workers are to leave.
func followSweep(ctx context.Context, term *terminal.Terminal, d sweepDir, r *sweepRecord, dismiss func()) error {
	s, config, err := d.sweep()
	if err != nil {
		return err
	}
	for { // until the coordinator has made its tokens
		if err := d.copyTokens(r.Data); err == nil {
			break
		}
		if err := pause(ctx, pollInterval/10); err != nil {
			return err
		}
	}
	c, err := connect.DialWithWarnings(term, d.target(), grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	f := &following{term: term, dir: d, record: r, client: c, done: map[string]bool{}}
	if err := f.submit(ctx, s, config); err != nil {
		return c.Explain(err)
	}
	if r.AsJob && scheduler.Job().Restarts > 0 {
		if err := replaceWorkers(ctx, term, d, r); err != nil {
			term.Logger.Warn("submit workers for those that have left", "error", err)
		}
	}
	for {
		if state, err := d.state(); err == nil && state == stateStopped {
			term.Logger.Info("stopped by a user")
			dismiss()
			untilLeft(ctx, c)
			return nil
		}
		if err := d.copyTokens(r.Data); err != nil {
			term.Logger.Warn("copy tokens", "error", err)
		}
		unfinished, err := f.look(ctx)
		if err != nil {
			return err
		}
		if unfinished == 0 {
			break
		}
		if err := pause(ctx, pollInterval); err != nil {
			return err
		}
	}
	if err := d.setState(stateEnded); err != nil {
		return err
	}
	dismiss()
	if err := cancelPending(ctx, term, d, r); err != nil {
		term.Logger.Warn("cancel workers that have not begun; they will end as soon as they begin", "error", err)
	}
	untilLeft(ctx, c)
	_ = pause(ctx, lingerTime)
	return f.exported
}

// submit makes the sweep. One that is there is left as it is, since it may have been paused or cancelled, unless it is
// damaged.
func (f *following) submit(ctx context.Context, s *domains.Study, config *foiblev1.SweepConfig) error {
	there, err := f.client.Sweeps.GetSweep(ctx, &foiblev1.GetSweepRequest{SweepId: f.record.Sweep})
	damage := there.GetSweep().GetDamage()
	if damage != "" {
		f.term.Logger.Warn("the sweep was damaged and is submitted again", "sweep", f.record.Sweep, "damage", damage)
	}
	if status.Code(err) == codes.NotFound || damage != "" {
		_, err = f.client.Submit(ctx, s, config, 0, 0)
	}
	return err
}

// look writes the results of the sweeps that have ended since it looked last, and returns how many have not ended. Others
// may have given sweeps to the coordinator too.
func (f *following) look(ctx context.Context) (unfinished int, err error) {
	all, err := f.client.Sweeps.ListSweeps(ctx, &foiblev1.ListSweepsRequest{})
	if err != nil {
		return 0, f.client.Explain(err)
	}
	for _, m := range all.GetSweeps() {
		stuck := neverEnds(m)
		switch {
		case f.done[m.GetSweepId()]:
		case stuck != nil:
			f.done[m.GetSweepId()] = true
			f.term.Logger.Error("sweep does not go on", "sweep", m.GetSweepId(), "error", stuck)
			f.exported = errors.Join(f.exported, stuck)
		case connect.HasNotEnded(m.GetState()):
			unfinished++
		default:
			f.done[m.GetSweepId()] = true
			f.exported = errors.Join(f.exported, f.exportResults(ctx, m))
		}
	}
	return unfinished, nil
}

// neverEnds says why a sweep has neither ended whole nor will do so by itself; nil if it has or may.
func neverEnds(m *foiblev1.Sweep) error {
	switch {
	case m.GetDamage() != "":
		return fmt.Errorf("sweep %s is damaged: %s", m.GetSweepId(), m.GetDamage())
	case connect.HasNotEnded(m.GetState()) && m.GetProgress() == nil:
		return fmt.Errorf("version %s left sweep %s unfinished; submit it again", m.GetVersion(), m.GetSweepId())
	}
	return nil
}

// cancelPending cancels the workers that have not begun when the sweep has ended. It waits for a command that may be
// submitting some, and then reads what that has submitted; later ones see that the sweep has ended. See addWorkers.
func cancelPending(ctx context.Context, term *terminal.Terminal, d sweepDir, r *sweepRecord) error {
	unlock, err := d.lock(r)
	for deadline := time.Now().Add(workerPatience); errors.Is(err, errLocked) && time.Now().Before(deadline); unlock, err = d.lock(r) {
		if err := pause(ctx, pollInterval); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	defer unlock()
	return commands.CancelPending(ctx, r.names(true)...)
}

// exportResults writes the results of a sweep that has ended.
func (f *following) exportResults(ctx context.Context, m *foiblev1.Sweep) error {
	term, c, d, r := f.term, f.client, f.dir, f.record
	term.Logger.Info("sweep has ended", "sweep", m.GetSweepId(), "state", connect.StateName(m))
	s, err := c.Study(ctx, m.GetStudyHash())
	if err != nil {
		return err
	}
	dir := d.path(resultsDir)
	if m.GetSweepId() != r.Sweep {
		dir += "-" + m.GetSweepId()
	}
	written := results.Writer{Client: c, Sweep: m, Study: s, Dir: dir, Partial: m.GetState() == foiblev1.SweepState_SWEEP_STATE_CANCELLED, Beyond: results.ExtendCommand(c, m)}
	return written.Write(ctx, term)
}

// untilLeft waits for the workers to leave, but not for ever.
func untilLeft(ctx context.Context, c *connect.Client) {
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	for pause(ctx, pollInterval) == nil {
		all, err := c.Sweeps.ListSweeps(ctx, &foiblev1.ListSweepsRequest{})
		if err != nil {
			return
		}
		workers := int32(0)
		for _, m := range all.GetSweeps() {
			workers = max(workers, m.GetProgress().GetWorkers())
		}
		if workers == 0 {
			return
		}
	}
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// replaceWorkers submits workers for those that are asked for and not there.
func replaceWorkers(ctx context.Context, term *terminal.Terminal, d sweepDir, r *sweepRecord) error {
	unlock, err := d.lock(r)
	if err != nil {
		return err
	}
	defer unlock()
	tasks, err := queuedWorkers(ctx, r)
	if err != nil {
		return err
	}
	_, err = addWorkers(ctx, term, d, r, r.Workers-len(tasks))
	return err
}

// follows says whether the coordinator answers and has the sweep.
func (d sweepDir) follows(ctx context.Context, id string) (*foiblev1.Sweep, error) {
	if _, err := d.target().Current(); err != nil {
		return nil, errNoAddress
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	c, err := connect.Dial(d.target())
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	m, err := c.Sweep(ctx, id)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("no coordinator answers at %s within %v", d.target().Where(), answerTimeout)
	}
	return m, err
}

// answerTimeout is how long a coordinator may take to answer.
const answerTimeout = 10 * time.Second

var errNoAddress = errors.New("the coordinator has not begun to listen")
