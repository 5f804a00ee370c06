package serve

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/coordinator"
	"foible.dev/foible/coordinator/web"
	"foible.dev/foible/domains"
	"foible.dev/foible/worker"
)

// Local is a coordinator and a worker in this process.
type Local struct {
	Context context.Context // ends when ctx of startLocal does or a part fails
	Client  *connect.Client
	Stop    func() error // returns when all parts have stopped, with the error of one that failed
}

// LocalOptions say what to run in this process.
type LocalOptions struct {
	Data      string                                // directory of the coordinator
	Slots     int                                   // of the worker
	Memory    int64                                 // that the process may use, in bytes; 0: no bound
	Dashboard *web.Server                           // nil: none
	Around    func(worker.Executor) worker.Executor // what stands between the worker and its jobs; nil: nothing
	Logger    hclog.Logger
}

// StartLocal starts a coordinator and a worker in this process. It opens no port.
func StartLocal(ctx context.Context, o LocalOptions) (*Local, error) {
	listener := bufconn.Listen(1 << 20)
	cfg := coordinator.DefaultConfig()
	cfg.Listener, cfg.DataDir, cfg.Version, cfg.Logger, cfg.Web = listener, o.Data, cli.Version(), o.Logger, o.Dashboard
	// The worker lives and dies with the coordinator: after a kill, nothing is to be waited for.
	cfg.Lease, cfg.Grace = 3*time.Second, 3*time.Second
	cfg.Scorer, cfg.Shapes = domains.Scorer, domains.Shapes
	cfg.Stalled = func(string) {} // who watches the sweep sees it
	c, err := coordinator.New(cfg)
	if err != nil {
		return nil, err
	}
	dialer := func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }
	client, err := connect.NewClient("passthrough:///local", grpc.WithContextDialer(dialer), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	wcfg := worker.DefaultConfig()
	wcfg.Conn, wcfg.Slots, wcfg.Version, wcfg.Logger = client.Conn, o.Slots, cli.Version(), o.Logger
	science := worker.NewScience(client.Studies)
	science.SamplesMemory = samplesMemory(o.Memory, o.Slots)
	wcfg.Executor, wcfg.Memory, wcfg.Relieve = science, o.Memory, science.Relieve
	if o.Around != nil {
		wcfg.Executor = o.Around(wcfg.Executor)
	}
	wcfg.Host, wcfg.DrainTimeout = "local", time.Second
	w, err := worker.New(wcfg)
	if err != nil {
		return nil, err
	}

	// The coordinator outlives the worker, which hands back what it has not finished.
	coordinating, stopCoordinator := context.WithCancel(context.WithoutCancel(ctx))
	working, stopWorker := context.WithCancel(ctx)
	coordinated, worked := make(chan error, 1), make(chan error, 1)
	go func() {
		defer stopWorker()
		coordinated <- c.Run(coordinating)
	}()
	go func() {
		defer stopWorker()
		worked <- w.Run(working)
	}()
	return &Local{
		Context: working,
		Client:  client,
		Stop: func() error {
			stopWorker()
			err := <-worked
			stopCoordinator()
			return errors.Join(<-coordinated, err, client.Close())
		},
	}, nil
}
