package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/worker"
)

// NewWorker returns the command worker.
func NewWorker(term *terminal.Terminal) *cobra.Command {
	var o WorkerOptions
	c := &cobra.Command{
		Use:     "worker",
		Short:   "Run jobs for a coordinator",
		Long:    "Worker runs jobs until it is interrupted; then it finishes or hands back what it holds. It may be started before its\ncoordinator, and outlives it. It joins with the token that `foible token show worker` prints.",
		GroupID: cli.GroupCluster, Args: cli.AtMost(0),
		RunE: func(c *cobra.Command, _ []string) error { return Worker(c.Context(), term, o) },
	}
	connect.TargetFlags(c, &o.Coordinator)
	c.Flags().IntVar(&o.Slots, "slots", 0, "`number` of jobs run at once (default: one per core)")
	MemoryFlag(c, &o.Memory)
	c.Flags().DurationVar(&o.Drain, "drain", 20*time.Second, "`time` that jobs may take after an interrupt, before they are handed back")
	c.Flags().DurationVar(&o.Patience, "patience", 0, "`time` without a coordinator that answers, or without the token that it makes at its first start, after which it ends (default: it waits for ever)")
	observeFlags(c, &o.Observe)
	return c
}

// WorkerOptions say which coordinator a worker works for.
type WorkerOptions struct {
	Coordinator connect.Target
	Slots       int    // 0: one a core
	Memory      string // that the process may use, as in 8GiB; "": most of what there is
	Drain       time.Duration
	Patience    time.Duration // for a coordinator that does not answer; 0: without end
	Observe     ObserveOptions

	Dialling func() // called when the address file has been read, which is seldom; nil: nothing
}

// Worker works until ctx ends, and then drains.
func Worker(ctx context.Context, term *terminal.Terminal, o WorkerOptions) error {
	n, err := Slots("--slots", o.Slots)
	if err != nil {
		return err
	}
	budget, err := MemoryBudget(o.Memory)
	if err != nil {
		return err
	}
	if o.Drain < 0 {
		return cli.Usagef("--drain %v: must be at least 0s", o.Drain)
	}
	if o.Patience < 0 {
		return cli.Usagef("--patience %v: must be at least 0s", o.Patience)
	}
	watched, err := observe(ctx, term, "foible-worker", o.Observe)
	if err != nil {
		return err
	}
	defer watched.stop()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	if done, err := awaitToken(ctx, term, o); done || err != nil {
		return err
	}
	var c *connect.Client
	// Once the token's coordinator has been reached, a worker stays, whatever the network or another program in that
	// place does. What answers at an address from a file may be something else that has come to where it was.
	var met atomic.Bool
	refusal := func() (reason error, final bool) {
		return c.Refusal(), o.Coordinator.AddressFile == "" && !met.Load()
	}
	calls, err := watched.calls()
	if err != nil {
		return err
	}
	if o.Coordinator.AddressFile != "" {
		calls = append(calls, grpc.WithContextDialer((&connect.AddressFile{Read: o.Coordinator.Current, After: o.Dialling}).Dial))
	}
	c, err = connect.DialAs(access.Worker, o.Coordinator, append(calls, grpc.WithChainStreamInterceptor((&patience{target: o.Coordinator, limit: o.Patience, logger: term.Logger, met: &met, refusal: refusal, giveUp: giveUp}).intercept(ctx)))...)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	cfg := worker.DefaultConfig()
	cfg.Memory = budget
	science := worker.NewScience(c.Studies)
	science.SamplesMemory, cfg.Relieve = samplesMemory(cfg.Memory, n), science.Relieve
	cfg.Conn, cfg.Slots, cfg.Version, cfg.Logger, cfg.DrainTimeout = c.Conn, n, cli.Version(), term.Logger, o.Drain
	cfg.Dismissed = func() { giveUp(nil) }
	if cfg.Executor, err = watched.executor(science, n); err != nil {
		return err
	}
	if cfg.Host, err = os.Hostname(); err != nil {
		cfg.Host = "unknown"
	}
	w, err := worker.New(cfg)
	if err != nil {
		return err
	}
	ran := make(chan error, 1)
	go func() { ran <- w.Run(ctx) }()
	late := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(o.Drain+worker.HandBackTimeout+leaveTimeout, func() { close(late) })
	})()
	select {
	case err = <-ran:
	case <-late: // the jobs that go on have been handed back, and end with the process
		term.Logger.Warn("leaving jobs that do not stop")
	}
	if reason, final := refusal(); err != nil && reason != nil && final {
		return reason
	}
	if impatient := context.Cause(ctx); err == nil && errors.Is(impatient, errImpatient) {
		return impatient
	}
	return err
}

// leaveTimeout is how long a worker that has drained waits for jobs that do not stop.
const leaveTimeout = time.Second

var errImpatient = errors.New("no coordinator has answered")

// patience says how a worker waits for a coordinator.
type patience struct {
	target  connect.Target
	limit   time.Duration // of the waiting; 0: none
	logger  hclog.Logger
	met     *atomic.Bool                      // set when the coordinator has been reached
	refusal func() (reason error, final bool) // why what answers is refused; final: for good
	giveUp  context.CancelCauseFunc           // ends the worker
}

// intercept holds calls back until the coordinator can be reached, so that its
// absence is said once and makes no job fail. When ctx ends it waits no more,
// nor for what answers and is refused for good. When patience ends, so does the worker.
func (p *patience) intercept(ctx context.Context) grpc.StreamClientInterceptor {
	return func(call context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		waiting, cancel := context.WithCancel(call)
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		if p.limit > 0 && desc.ClientStreams {
			defer time.AfterFunc(p.limit, func() {
				p.giveUp(fmt.Errorf("%w at %s for %v; see that one runs there, or wait longer with --patience", errImpatient, p.target.Where(), p.limit))
			}).Stop()
		}
		said := false
		state := cc.GetState()
		for ; state != connectivity.Ready && state != connectivity.Shutdown; state = cc.GetState() {
			if state == connectivity.TransientFailure {
				reason, final := p.refusal()
				if reason != nil && final {
					return nil, status.Error(codes.Unauthenticated, reason.Error())
				}
				if desc.ClientStreams && !said { // Work: one at a time
					said = true
					about := []any{"coordinator", p.target.Where()}
					if reason != nil {
						about = append(about, "reason", reason)
					}
					p.logger.Info("no coordinator answers; trying until one does", about...)
				}
			}
			cc.Connect()
			if !cc.WaitForStateChange(waiting, state) {
				break
			}
		}
		if state == connectivity.Ready {
			p.met.Store(true)
		}
		return stream(call, desc, cc, method, opts...)
	}
}

// tokenPause is how long a worker waits before it looks for its token again.
const tokenPause = time.Second

// awaitToken waits until the file or directory of --token-file holds a token, which the coordinator makes when it is
// first started. It is done if ctx ends before.
func awaitToken(ctx context.Context, term *terminal.Terminal, o WorkerOptions) (done bool, err error) {
	if o.Coordinator.TokenFile == "" || o.Coordinator.Insecure {
		return false, nil
	}
	var late <-chan time.Time
	if o.Patience > 0 {
		late = time.After(o.Patience)
	}
	for said := false; ; said = true {
		_, err := o.Coordinator.Token(access.Worker)
		if !errors.Is(err, fs.ErrNotExist) {
			return false, nil // what else is wrong is said by who dials
		}
		if !said {
			term.Logger.Info("there is no token yet; waiting for the coordinator to make it", "file", o.Coordinator.TokenFile)
		}
		select {
		case <-time.After(tokenPause):
		case <-late:
			return false, err
		case <-ctx.Done():
			return true, nil
		}
	}
}
