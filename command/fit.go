package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"foible/coordinator"
	foiblev1 "foible/proto/foible/v1"
	"foible/worker"
)

// FitOptions say what to fit, and how.
type FitOptions struct {
	Study   string
	Sweep   SweepChoice
	Workers int    // worker slots; 0: one a core
	Out     string // output directory
}

// stateDir holds, in the output directory, what is recorded so far.
const stateDir = ".foible"

// ErrInterrupted ends a command that the user has stopped.
var ErrInterrupted = errors.New("interrupted")

// Fit runs a sweep to its end in this process: a coordinator, a worker, and gRPC between them.
func (e *Env) Fit(ctx context.Context, o FitOptions) error {
	fsys, err := openStudy(o.Study)
	if err != nil {
		return err
	}
	s, err := e.loadStudy(fsys, false)
	if err != nil {
		return err
	}
	config, err := o.Sweep.config(fsys, s.Domain)
	if err != nil {
		return err
	}
	if o.Workers < 0 {
		return usagef("--workers %d: must be at least 1", o.Workers)
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Out == "" {
		o.Out = defaultOut(s)
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}

	cluster, err := e.startLocal(ctx, filepath.Join(o.Out, stateDir), o.Workers)
	if err != nil {
		return err
	}
	err = func() error {
		created, err := cluster.client.submit(cluster.ctx, s, config)
		if err != nil {
			return err
		}
		m := created.GetSweep()
		e.say("Fitting %s: %d cells on %s", s.Name, m.GetProgress().GetCells(), count(o.Workers, "worker slot"))
		if m.GetState() == foiblev1.SweepState_SWEEP_STATE_RUNNING {
			if m, err = e.watch(cluster.ctx, cluster.client, m.GetSweepId()); err != nil {
				return err
			}
		} else {
			e.say("it was done before, with results in %s", o.Out)
		}
		return e.collect(cluster.ctx, cluster.client, m, s, o.Out, false)
	}()
	stopped := cluster.stop()
	if ctx.Err() != nil {
		e.say("Stopped. The same command goes on from where it is.")
		return ErrInterrupted
	}
	return errors.Join(err, stopped)
}

// local is a coordinator and a worker in this process.
type local struct {
	ctx    context.Context // ends when ctx of startLocal does or a part fails
	client *client
	stop   func() error // waits for all parts
}

// startLocal opens no port.
func (e *Env) startLocal(ctx context.Context, dataDir string, slots int) (*local, error) {
	listener := bufconn.Listen(1 << 20)
	cfg := coordinator.DefaultConfig()
	cfg.Listener, cfg.DataDir, cfg.Version, cfg.Logger = listener, dataDir, e.Version, e.Logger
	cfg.Lease = 10 * time.Second // the worker lives and dies with the coordinator
	c, err := coordinator.New(cfg)
	if err != nil {
		return nil, err
	}
	client, err := dial("passthrough:///local", grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
		return listener.DialContext(ctx)
	}))
	if err != nil {
		return nil, err
	}
	wcfg := worker.DefaultConfig()
	wcfg.Conn, wcfg.Slots, wcfg.Version, wcfg.Logger = client.conn, slots, e.Version, e.Logger
	wcfg.Executor = worker.NewScience(client.studies)
	wcfg.Host, wcfg.DrainTimeout = "local", time.Second
	w, err := worker.New(wcfg)
	if err != nil {
		return nil, err
	}

	// The coordinator outlives the worker, which hands back what it has not finished.
	coordinating, stopCoordinator := context.WithCancel(context.WithoutCancel(ctx))
	parts, partsCtx := errgroup.WithContext(ctx)
	working, stopWorker := context.WithCancel(partsCtx)
	coordinated := make(chan error, 1)
	go func() { coordinated <- c.Run(coordinating) }()
	parts.Go(func() error {
		select {
		case err := <-coordinated:
			coordinated <- err
			if err == nil && coordinating.Err() == nil {
				err = errors.New("the coordinator has stopped")
			}
			return err
		case <-working.Done():
			return nil
		}
	})
	parts.Go(func() error { return w.Run(working) })
	return &local{
		ctx:    partsCtx,
		client: client,
		stop: func() error {
			stopWorker()
			err := parts.Wait()
			stopCoordinator()
			err = errors.Join(err, <-coordinated)
			client.close()
			if errors.Is(err, context.Canceled) {
				err = nil
			}
			return err
		},
	}, nil
}
