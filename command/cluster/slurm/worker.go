package slurm

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/cluster/slurm/scheduler"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/serve"
	"foible.dev/foible/command/terminal"
)

// newWorker is what a job of Slurm runs.
func newWorker(term *terminal.Terminal) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "worker", Hidden: true, Args: cli.AtMost(0),
		RunE: func(c *cobra.Command, _ []string) error { return Worker(c.Context(), term, dir) },
	}
	dirFlag(c, &dir)
	return c
}

// Worker is a worker in a job of Slurm. It leaves when the sweep has
// ended or was stopped; when its time is up, it goes back into the queue.
func Worker(ctx context.Context, term *terminal.Terminal, dir string) error {
	d, r, err := findDir(dir)
	if err != nil {
		return err
	}
	d.keepPrivate()
	return untilTimeIsUp(ctx, term, d, func(ctx context.Context) error {
		ctx, leave := context.WithCancel(ctx)
		defer leave()
		// A coordinator dismisses its workers. Whether one is to come again, the state says.
		leaveWhenOver := func() {
			if s, err := d.state(); err == nil && s != stateRunning {
				term.Logger.Info("leaving", "state", s)
				leave()
			}
		}
		if err := d.awaitAddress(ctx, leaveWhenOver); err != nil || ctx.Err() != nil {
			return err
		}
		return serve.Worker(ctx, term, serve.WorkerOptions{
			Coordinator: d.target(), Slots: scheduler.CPUs(r.CPUs), Drain: drainTime, Patience: workerPatience, Dialling: leaveWhenOver,
		})
	})
}

// awaitAddress waits until a coordinator has begun, since it makes the tokens
// that a worker needs. It looks less and less often, and calls look each time.
// That ctx ends is no error.
func (d sweepDir) awaitAddress(ctx context.Context, look func()) error {
	wait := connect.AddressPause
	for deadline := time.Now().Add(workerPatience); ; wait = min(2*wait, connect.MaxAddressPause) {
		_, err := d.target().Current()
		if err == nil || ctx.Err() != nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("no coordinator has begun within %v: %w", workerPatience, err)
		}
		_ = pause(ctx, wait)
		look()
	}
}

// untilTimeIsUp does work until Slurm says that the job's time is nearly up.
// Then it requeues the job, unless nothing is left to do.
func untilTimeIsUp(ctx context.Context, term *terminal.Terminal, d sweepDir, work func(context.Context) error) error {
	told, ignore := scheduler.TimeIsUp()
	defer ignore()
	state, err := d.state()
	if err != nil {
		return err
	}
	if state != stateRunning {
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
	self := scheduler.Job()
	if s, err := d.state(); err != nil || s != stateRunning || self.ID == "" {
		return err
	}
	if self.Restarts >= maxRestarts {
		return fmt.Errorf("the job has been requeued %d times; `foible cluster slurm scale` starts others", self.Restarts)
	}
	term.Logger.Info("going back into the queue", "job", self.ID)
	return commands.Requeue(context.WithoutCancel(ctx), self.ID)
}
