package command

import (
	"context"
	"errors"
	"net"
	"time"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/coordinator/web"
	"foible.dev/foible/domains"
	"foible.dev/foible/worker"
	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
)

// local is a coordinator and a worker in this process.
type local struct {
	ctx    context.Context // ends when ctx of startLocal does or a part fails
	client *client
	stop   func() error // returns when all parts have stopped, with the error of one that failed
}

// localOptions say what to run in this process.
type localOptions struct {
	data      string                                // directory of the coordinator
	slots     int                                   // of the worker
	memory    int64                                 // that the process may use, in bytes; 0: no bound
	dashboard *web.Server                           // nil: none
	around    func(worker.Executor) worker.Executor // what stands between the worker and its jobs; nil: nothing
	logger    hclog.Logger
}

// startLocal starts a coordinator and a worker in this process. It opens no port.
func startLocal(ctx context.Context, o localOptions) (*local, error) {
	listener := bufconn.Listen(1 << 20)
	cfg := coordinator.DefaultConfig()
	cfg.Listener, cfg.DataDir, cfg.Version, cfg.Logger, cfg.Web = listener, o.data, Version(), o.logger, o.dashboard
	// The worker lives and dies with the coordinator: after a kill, nothing is to be waited for.
	cfg.Lease, cfg.Grace = 3*time.Second, 3*time.Second
	cfg.Scorer, cfg.Shapes = domains.Scorer, domains.Shapes
	cfg.Stalled = func(string) {} // who watches the sweep sees it
	c, err := coordinator.New(cfg)
	if err != nil {
		return nil, err
	}
	dialer := func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }
	client, err := newClient("passthrough:///local", grpc.WithContextDialer(dialer), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	wcfg := worker.DefaultConfig()
	wcfg.Conn, wcfg.Slots, wcfg.Version, wcfg.Logger = client.conn, o.slots, Version(), o.logger
	science := worker.NewScience(client.studies)
	science.SamplesMemory = samplesMemory(o.memory, o.slots)
	wcfg.Executor, wcfg.Memory, wcfg.Relieve = science, o.memory, science.Relieve
	if o.around != nil {
		wcfg.Executor = o.around(wcfg.Executor)
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
	return &local{
		ctx:    working,
		client: client,
		stop: func() error {
			stopWorker()
			err := <-worked
			stopCoordinator()
			return errors.Join(<-coordinated, err, client.close())
		},
	}, nil
}
