package command

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"foible.dev/foible/command/slurm"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

const (
	// slurmNotice is how long before its time limit a job is told.
	slurmNotice = 90 * time.Second
	// slurmLeastTime is a time limit of which enough is left to work in.
	slurmLeastTime = 5 * time.Minute
	// slurmDrain is what jobs of a worker get then. It ends before Slurm's usual KillWait, 30 s.
	slurmDrain = 20 * time.Second
	// slurmPatience is how long a worker waits for a coordinator, in which it uses up its allocation.
	slurmPatience = 15 * time.Minute
	// slurmRestarts is how often a job puts itself back into the queue when its time is up.
	slurmRestarts = 200
	// slurmLeave is how long a coordinator waits for its workers to leave.
	slurmLeave = slurmDrain + 10*time.Second
	// slurmLinger is how long an ended coordinator still answers those who watch.
	slurmLinger = 10 * time.Second
	slurmPoll   = time.Second
)

var slurmCommands = slurm.Commands{Timeout: slurm.DefaultTimeout, Retries: slurm.DefaultRetries}

// SlurmWorker is a worker in a job of Slurm. It leaves when the sweep has
// ended or was stopped; when its time is up, it goes back into the queue.
func SlurmWorker(ctx context.Context, term *Terminal, dir string) error {
	d, r, err := findSlurmDir(dir)
	if err != nil {
		return err
	}
	d.keepPrivate()
	return untilTimeIsUp(ctx, term, d, func(ctx context.Context) error {
		ctx, leave := context.WithCancel(ctx)
		defer leave()
		// A coordinator dismisses its workers. Whether one is to come again, the state says.
		leaveWhenOver := func() {
			if s, err := d.state(); err == nil && s != slurmRunning {
				term.Logger.Info("leaving", "state", s)
				leave()
			}
		}
		if err := d.awaitAddress(ctx, leaveWhenOver); err != nil || ctx.Err() != nil {
			return err
		}
		return Worker(ctx, term, WorkerOptions{
			Coordinator: d.target(), Slots: slurm.CPUs(r.CPUs), Drain: slurmDrain, Patience: slurmPatience, dialling: leaveWhenOver,
		})
	})
}

// awaitAddress waits until a coordinator has begun, since it makes the tokens
// that a worker needs. It looks less and less often, and calls look each time.
// That ctx ends is no error.
func (d slurmDir) awaitAddress(ctx context.Context, look func()) error {
	wait := addressPause
	for deadline := time.Now().Add(slurmPatience); ; wait = min(2*wait, maxAddressPause) {
		_, err := d.target().current()
		if err == nil || ctx.Err() != nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("no coordinator has begun within %v: %w", slurmPatience, err)
		}
		_ = pause(ctx, wait)
		look()
	}
}

// untilTimeIsUp does work until Slurm says that the job's time is nearly up.
// Then it requeues the job, unless nothing is left to do.
func untilTimeIsUp(ctx context.Context, term *Terminal, d slurmDir, work func(context.Context) error) error {
	told, ignore := slurm.TimeIsUp()
	defer ignore()
	state, err := d.state()
	if err != nil {
		return err
	}
	if state != slurmRunning {
		term.Logger.Info("nothing is left to do", "state", state)
		return nil
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	var timeIsUp atomic.Bool
	go func() {
		select {
		case <-told:
			term.Logger.Info("time is nearly up")
			timeIsUp.Store(true)
			stop()
		case <-working.Done():
		}
	}()
	if err := work(working); err != nil || !timeIsUp.Load() {
		return err
	}
	self := slurm.Job()
	if s, err := d.state(); err != nil || s != slurmRunning || self.ID == "" {
		return err
	}
	if self.Restarts >= slurmRestarts {
		return fmt.Errorf("the job has been requeued %d times; `foible cluster slurm scale` starts others", self.Restarts)
	}
	term.Logger.Info("going back into the queue", "job", self.ID)
	return slurmCommands.Requeue(context.WithoutCancel(ctx), self.ID)
}

// SlurmCoordinator is the coordinator of a sweep under Slurm. It makes the
// sweep, and when that has ended writes its results and ends.
func SlurmCoordinator(ctx context.Context, term *Terminal, dir string) error {
	d, r, err := findSlurmDir(dir)
	if err != nil {
		return err
	}
	d.keepPrivate()
	if !r.AsJob {
		return slurmCoordinate(ctx, term, d, r)
	}
	return untilTimeIsUp(ctx, term, d, func(ctx context.Context) error { return slurmCoordinate(ctx, term, d, r) })
}

func slurmCoordinate(ctx context.Context, term *Terminal, d slurmDir, r *slurmRecord) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	following, unfollow := context.WithCancel(ctx)
	defer unfollow()
	served := make(chan error, 1)
	dismissed := make(chan struct{})
	go func() {
		defer unfollow()
		o := CoordinatorOptions{Listen: r.Listen, Data: r.Data, Lease: DefaultLease, Limits: DefaultLimits(), AddressFile: d.path(slurmAddressFile), addressMode: d.mode(0o644), dismissed: dismissed}
		o.announced = func() error { return d.copyTokens(r.Data) }
		served <- Coordinator(serving, term, o)
	}()
	err := slurmFollow(following, term, d, r, sync.OnceFunc(func() { close(dismissed) }))
	stop()
	if failed := <-served; failed != nil {
		return failed // err is a consequence
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// slurmFollow makes the sweep, waits for its end, and writes its results. It calls dismiss when workers are to leave.
func slurmFollow(ctx context.Context, term *Terminal, d slurmDir, r *slurmRecord, dismiss func()) error {
	s, config, err := d.sweep()
	if err != nil {
		return err
	}
	for { // until the coordinator has made its tokens
		if err := d.copyTokens(r.Data); err == nil {
			break
		}
		if err := pause(ctx, slurmPoll/10); err != nil {
			return err
		}
	}
	c, err := dialWarning(term, d.target(), grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }()
	// A sweep that is there is left as it is, since it may have been paused or cancelled, unless it is damaged.
	there, err := c.sweeps.GetSweep(ctx, &foiblev1.GetSweepRequest{SweepId: r.Sweep})
	damage := there.GetSweep().GetDamage()
	if damage != "" {
		term.Logger.Warn("the sweep was damaged and is submitted again", "sweep", r.Sweep, "damage", damage)
	}
	if status.Code(err) == codes.NotFound || damage != "" {
		_, err = c.submit(ctx, s, config, 0, 0)
	}
	if err != nil {
		return c.explain(err)
	}
	if r.AsJob && slurm.Job().Restarts > 0 {
		if err := slurmTopUp(ctx, term, d, r); err != nil {
			term.Logger.Warn("submit workers for those that have left", "error", err)
		}
	}
	var exported error // what has become of the results
	for done := map[string]bool{}; ; {
		if state, err := d.state(); err == nil && state == slurmStopped {
			term.Logger.Info("stopped by a user")
			dismiss()
			untilLeft(ctx, c)
			return nil
		}
		if err := d.copyTokens(r.Data); err != nil {
			term.Logger.Warn("copy tokens", "error", err)
		}
		all, err := c.sweeps.ListSweeps(ctx, &foiblev1.ListSweepsRequest{})
		if err != nil {
			return c.explain(err)
		}
		unfinished := 0
		for _, m := range all.GetSweeps() { // others may have been given to the coordinator too
			stuck := neverEnds(m)
			switch {
			case done[m.GetSweepId()]:
			case stuck != nil:
				done[m.GetSweepId()] = true
				term.Logger.Error("sweep does not go on", "sweep", m.GetSweepId(), "error", stuck)
				exported = errors.Join(exported, stuck)
			case unended(m.GetState()):
				unfinished++
			default:
				done[m.GetSweepId()] = true
				exported = errors.Join(exported, slurmExport(ctx, term, c, d, r, m))
			}
		}
		if unfinished == 0 {
			break
		}
		if err := pause(ctx, slurmPoll); err != nil {
			return err
		}
	}
	if err := d.setState(slurmEnded); err != nil {
		return err
	}
	dismiss()
	if err := slurmCancelPending(ctx, term, d, r); err != nil {
		term.Logger.Warn("cancel workers that have not begun; they will end as soon as they begin", "error", err)
	}
	untilLeft(ctx, c)
	_ = pause(ctx, slurmLinger)
	return exported
}

// neverEnds says why a sweep has neither ended whole nor will do so by itself; nil if it has or may.
func neverEnds(m *foiblev1.Sweep) error {
	switch {
	case m.GetDamage() != "":
		return fmt.Errorf("sweep %s is damaged: %s", m.GetSweepId(), m.GetDamage())
	case unended(m.GetState()) && m.GetProgress() == nil:
		return fmt.Errorf("version %s left sweep %s unfinished; submit it again", m.GetVersion(), m.GetSweepId())
	}
	return nil
}

// slurmCancelPending cancels the workers that have not begun when the sweep has ended. It waits for a command that may be
// submitting some, and then reads what that has submitted; later ones see that the sweep has ended. See slurmAdd.
func slurmCancelPending(ctx context.Context, term *Terminal, d slurmDir, r *slurmRecord) error {
	unlock, err := d.lock(r)
	for deadline := time.Now().Add(slurmPatience); errors.Is(err, errLocked) && time.Now().Before(deadline); unlock, err = d.lock(r) {
		if err := pause(ctx, slurmPoll); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	defer unlock()
	return slurmCommands.CancelPending(ctx, r.names(true)...)
}

// slurmExport writes the results of a sweep that has ended.
func slurmExport(ctx context.Context, term *Terminal, c *client, d slurmDir, r *slurmRecord, m *foiblev1.Sweep) error {
	term.Logger.Info("sweep has ended", "sweep", m.GetSweepId(), "state", stateName(m))
	s, err := c.study(ctx, m.GetStudyHash())
	if err != nil {
		return err
	}
	dir := d.path(slurmResults)
	if m.GetSweepId() != r.Sweep {
		dir += "-" + m.GetSweepId()
	}
	results := sweepResults{client: c, sweep: m, study: s, dir: dir, partial: m.GetState() == foiblev1.SweepState_SWEEP_STATE_CANCELLED, beyond: extending(c, m)}
	return results.write(ctx, term)
}

// untilLeft waits for the workers to leave, but not for ever.
func untilLeft(ctx context.Context, c *client) {
	ctx, cancel := context.WithTimeout(ctx, slurmLeave)
	defer cancel()
	for pause(ctx, slurmPoll) == nil {
		all, err := c.sweeps.ListSweeps(ctx, &foiblev1.ListSweepsRequest{})
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

// slurmTopUp submits workers for those that are asked for and not there.
func slurmTopUp(ctx context.Context, term *Terminal, d slurmDir, r *slurmRecord) error {
	unlock, err := d.lock(r)
	if err != nil {
		return err
	}
	defer unlock()
	tasks, err := slurmWorkers(ctx, r)
	if err != nil {
		return err
	}
	_, err = slurmAdd(ctx, term, d, r, r.Workers-len(tasks))
	return err
}

// follows says whether the coordinator answers and has the sweep.
func (d slurmDir) follows(ctx context.Context, id string) (*foiblev1.Sweep, error) {
	if _, err := d.target().current(); err != nil {
		return nil, errNoAddress
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	c, err := dial(d.target())
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.close() }()
	m, err := c.sweep(ctx, id)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("no coordinator answers at %s within %v", d.target().where(), answerTimeout)
	}
	return m, err
}

// answerTimeout is how long a coordinator may take to answer.
const answerTimeout = 10 * time.Second

var errNoAddress = errors.New("the coordinator has not begun to listen")
