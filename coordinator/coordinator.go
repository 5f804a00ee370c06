package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"buf.build/go/protovalidate"
	"github.com/hashicorp/go-hclog"
	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace/noop"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator/active"
	"foible.dev/foible/coordinator/answer"
	"foible.dev/foible/coordinator/crew"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/limits"
	"foible.dev/foible/coordinator/replica"
	"foible.dev/foible/coordinator/schedule"
	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/session"
	"foible.dev/foible/coordinator/store"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// handshakeTimeout is how long a connection may take to become one of HTTP/2.
const handshakeTimeout = 10 * time.Second

// stopTimeout is how long Run waits for calls in flight when it stops.
const stopTimeout = 5 * time.Second

// Coordinator owns an engine and the sweeps in it.
type Coordinator struct {
	cfg     Config
	log     hclog.Logger
	store   *store.Store // has no engine until that is open
	opening *opening
	demand  *schedule.Demand[active.Offer]
	crew    *crew.Crew
	damages *store.Damages
	env     *active.Env // of the sweeps; complete once Run has begun
	leases  *active.Leases
	others  *replica.Others
	metrics *metrics

	transfers *service.Transfers // set by Run
	watchers  atomic.Int64       // calls of WatchSweep that go on

	// taking has a lock for each sweep, by its id, which is held while the sweep is stored and taken up, cancelled, retried
	// or deleted. No one holds two of them.
	taking  locks
	storing sync.Mutex      // held while a new sweep is stored, so that there are never more than may be
	stride  schedule.Stride // only the dispatcher uses it
	// contenders are the running sweeps as they last learned about each other; only the dispatcher uses them.
	contenders []contender

	mu     sync.Mutex // guards what follows; taken before the mu of a sweep
	sweeps map[string]*active.Sweep
	coming map[string]*coming             // by id, sweeps that are being taken up
	past   map[string]*active.Sweep       // see viewed
	ended  map[string]foiblev1.SweepState // of sweeps that were taken up and have left memory

	background *errgroup.Group
	ctx        context.Context // of background work; ends with Run
}

// New checks a configuration.
func New(cfg Config) (*Coordinator, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("coordinator: %w", err)
	}
	log := cfg.Logger
	if log == nil {
		log = hclog.NewNullLogger()
	}
	c := &Coordinator{
		cfg:     cfg,
		log:     log.Named("coordinator"),
		opening: newOpening(),
		store:   &store.Store{},
		demand:  schedule.NewDemand[active.Offer](),
		crew:    crew.New(),
		others:  replica.New(),
		metrics: newMetrics(),
		sweeps:  map[string]*active.Sweep{},
		coming:  map[string]*coming{},
		past:    map[string]*active.Sweep{},
		ended:   map[string]foiblev1.SweepState{},
	}
	c.damages = store.NewDamages(c.log)
	c.env = &active.Env{
		Store: c.store, Crew: c.crew, Others: c.others, Damages: c.damages, Scorers: &answer.Scorers{New: cfg.Scorer}, Home: home{c},
		Version: cfg.Version, Bounds: crew.Bounds{MaxFailures: cfg.MaxFailures, MaxLost: cfg.MaxLost}, JobDeadline: cfg.JobDeadline,
		Counters: c.metrics.jobs, Log: c.log, Stalled: c.stalled, Tracer: noop.NewTracerProvider().Tracer(""),
	}
	if cfg.Tracing != nil {
		c.env.Tracer = cfg.Tracing.Tracer("foible.dev/foible/coordinator")
	}
	c.leases = active.NewLeases(c.env)
	if cfg.Metrics != nil {
		if err := c.register(cfg.Metrics); err != nil {
			return nil, fmt.Errorf("coordinator: %w", err)
		}
	}
	return c, nil
}

// Run opens the engine, takes up its sweeps, and serves until ctx ends. If the store cannot be opened yet, calls are
// answered with the reason meanwhile. It returns when all that it started has stopped: nil after ctx.
func (c *Coordinator) Run(ctx context.Context) (err error) {
	life, stop := context.WithCancel(ctx)
	defer stop()
	c.background, c.ctx = errgroup.WithContext(life)
	c.transfers = service.NewTransfers(c.ctx, c.store, c.cfg.Limits.TransferBytes, c.cfg.Limits.StudyBytes)
	c.env.Context, c.env.Go, c.env.Scorers.Studies = c.ctx, c.background.Go, c.transfers
	server, healthy := c.server()
	listener := c.cfg.Listener
	if c.cfg.Access != nil {
		listener = c.cfg.Access.Listen(listener)
	}
	c.background.Go(func() error {
		if err := server.Serve(listener); err != nil && c.ctx.Err() == nil {
			return err
		}
		return nil
	})
	c.store.Engine, err = engine.Open(c.ctx, engine.Config{
		Dir: c.cfg.DataDir, Servers: c.cfg.Servers, AckWait: c.cfg.Lease, Logger: c.log, Waiting: c.waiting,
	})
	if err == nil {
		defer func() { err = errors.Join(err, c.store.Close()) }()
		if err = errors.Join(c.resume(c.ctx), c.join()); err != nil {
			err = fmt.Errorf("take up sweeps: %w", err)
		}
	}
	if err != nil {
		stop()
		server.Stop()
		return ended(ctx, errors.Join(err, c.background.Wait()))
	}
	c.opening.set(true, "")
	healthy.serving(true)
	c.background.Go(func() error { return c.watchStore(c.ctx, healthy) })
	c.background.Go(func() error { return c.dispatch(c.ctx) })
	if c.cfg.Web != nil {
		c.background.Go(func() error { return c.cfg.Web.Run(c.ctx, c) })
	}
	if c.cfg.Listening != nil {
		c.background.Go(c.cfg.Listening)
	}
	c.log.Info("listening", "address", c.cfg.Listener.Addr().String(), "data", c.cfg.serving(), "version", c.cfg.Version)

	<-c.ctx.Done() // the caller's, or a part has failed
	healthy.Shutdown()
	stop()
	force := time.AfterFunc(stopTimeout, server.Stop)
	server.GracefulStop()
	force.Stop()
	if err := c.background.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("coordinator: %w", err)
	}
	c.log.Info("stopped")
	return nil
}

// home is the coordinator as its sweeps need it.
type home struct{ c *Coordinator }

func (h home) Update(ctx context.Context, id string, change func(*foiblev1.Sweep) error) (*foiblev1.Sweep, uint64, error) {
	return h.c.update(ctx, id, change)
}
func (h home) CatchUp(ctx context.Context, id string) { h.c.catchUp(ctx, id) }
func (h home) Retire(run *active.Sweep)               { h.c.retire(run) }
func (h home) Running() []*active.Sweep               { return h.c.running() }
func (h home) WaitsFor(run *active.Sweep) string      { return h.c.waits(run) }
func (h home) Signal()                                { h.c.demand.Signal() }
func (h home) Free(except []string) bool              { return h.c.demand.Other(except) }

// waiting says why the store is not open yet.
func (c *Coordinator) waiting(reason string) {
	c.opening.set(false, reason)
	c.report(reason)
}

// ended is how Run returns when it cannot start; that ctx has ended is no error.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("coordinator: %w", err)
}

func (c *Coordinator) server() (*grpc.Server, *healthServer) {
	options := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(limits.MaxRequestBytes),
		grpc.MaxSendMsgSize(limits.MaxResponseBytes),
		grpc.MaxHeaderListSize(16 << 10),
		grpc.MaxConcurrentStreams(uint32(c.cfg.Limits.Access.StreamsPerConnection)),
		grpc.ConnectionTimeout(handshakeTimeout),
		// A worker may be silent for the whole of a long job but for its heartbeats.
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 20 * time.Second, Timeout: 20 * time.Second, MaxConnectionIdle: 10 * time.Minute}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
	}
	if c.cfg.Metrics != nil { // refusals of validate count too
		options = append(options, grpc.ChainUnaryInterceptor(c.metrics.rpc.UnaryServerInterceptor()), grpc.ChainStreamInterceptor(c.metrics.rpc.StreamServerInterceptor()))
	}
	if c.cfg.Tracing != nil {
		options = append(options, grpc.StatsHandler(otelgrpc.NewServerHandler(
			otelgrpc.WithTracerProvider(c.cfg.Tracing), otelgrpc.WithPropagators(propagation.TraceContext{}))))
	}
	options = append(options, grpc.ChainUnaryInterceptor(validate))
	if c.cfg.Access != nil {
		options = append(options, c.cfg.Access.Options()...)
	}
	options = append(options, grpc.ChainUnaryInterceptor(c.admitCall), grpc.ChainStreamInterceptor(c.admitStream))
	server := grpc.NewServer(options...)
	foiblev1.RegisterStudyServiceServer(server, &service.Study{
		Studies: c.store, Limits: c.cfg.Limits.Study(), Transfers: c.transfers, TransferTime: c.cfg.Limits.TransferTime,
	})
	foiblev1.RegisterSweepServiceServer(server, &service.Sweep{Sweeps: c})
	foiblev1.RegisterWorkerServiceServer(server, &service.Worker{Dispatcher: c.dispatcher(), Stopping: c.ctx, Dismissed: c.cfg.Dismissed})
	healthy := newHealthServer(c.stalled)
	healthv1.RegisterHealthServer(server, healthy)
	reflection.Register(server)
	c.metrics.rpc.InitializeMetrics(server)
	return server, healthy
}

// dispatcher admits workers.
func (c *Coordinator) dispatcher() *session.Dispatcher {
	return &session.Dispatcher{
		Home: workersHome{c}, Leases: c.leases, Demand: c.demand, Metrics: c.metrics.session, Log: c.log,
		Version: c.cfg.Version, Lease: c.cfg.Lease, Grace: c.cfg.Grace,
	}
}

// validate refuses requests that break the rules written with their fields.
func validate(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	if m, ok := request.(proto.Message); ok {
		if err := protovalidate.Validate(m); err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
	}
	return handle(ctx, request)
}
