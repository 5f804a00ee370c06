// Package worker runs the jobs that a coordinator sends: it dials out,
// holds as many jobs as it has slots, keeps their leases with heartbeats, and
// sends each result until it is answered. Read [Config] and [Worker] first.
package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"foible.dev/foible/worker/memory"
)

// Executor does a job. An error may be a [Failure], which says what is to blame and hence what becomes of the job; after any
// other error, as after a panic, it is tried on other workers.
type Executor interface {
	Execute(ctx context.Context, job *foiblev1.Assign) (*foiblev1.JobResult, error)
}

// Config of a worker. Start from DefaultConfig.
type Config struct {
	// Conn leads to the coordinator, dialled with [Pauses]. The caller closes it.
	Conn grpc.ClientConnInterface
	// Executor does the jobs, several at once.
	Executor Executor
	// Slots is how many jobs are done at once.
	Slots int
	// Version must be the coordinator's.
	Version string
	// Host says where the worker runs.
	Host string
	// DrainTimeout is how long jobs may go on after ctx has ended, before they are handed back.
	DrainTimeout time.Duration
	// Retry is the first pause before dialling again; it doubles up to MaxRetry.
	Retry, MaxRetry time.Duration
	// Memory is how much this process may use, in bytes; 0: as much as it likes. When live memory nears it, Relieve is
	// called first; then fewer jobs run at once; a job that needs more while it runs by itself has failed.
	Memory int64
	// Relieve drops what can be made again, while jobs go on; nil: nothing is dropped.
	Relieve func()
	// Dismissed is called when the coordinator says that no work is left. The worker then drains, as if ctx had ended.
	// nil: nothing is called.
	Dismissed func()
	// Logger takes what an operator acts on; nil for none.
	Logger hclog.Logger
}

// DefaultConfig lacks Conn, Executor, Slots and Version.
func DefaultConfig() Config {
	return Config{DrainTimeout: 20 * time.Second, Retry: 100 * time.Millisecond, MaxRetry: 10 * time.Second}
}

// Validate says what is wrong with a configuration.
func (c *Config) Validate() error {
	var errs []error
	if c.Conn == nil {
		errs = append(errs, errors.New("no connection"))
	}
	if c.Executor == nil {
		errs = append(errs, errors.New("no executor"))
	}
	if c.Slots < 1 || c.Slots > 1024 {
		errs = append(errs, fmt.Errorf("%d slots: must be 1 to 1024", c.Slots))
	}
	if c.Version == "" {
		errs = append(errs, errors.New("no version"))
	}
	if c.Retry <= 0 || c.MaxRetry < c.Retry {
		errs = append(errs, fmt.Errorf("pauses of %v to %v before dialling again", c.Retry, c.MaxRetry))
	}
	if c.Memory < 0 {
		errs = append(errs, fmt.Errorf("%d bytes of memory", c.Memory))
	}
	return errors.Join(errs...)
}

// Worker is one worker process.
type Worker struct {
	cfg    Config
	id     string // by which coordinators know it again
	log    hclog.Logger
	client foiblev1.WorkerServiceClient
	gate   *memory.Gate       // through which all jobs go
	leave  context.CancelFunc // ends what Run takes for its ctx; set by Run

	mu      sync.Mutex      // guards what follows
	jobs    map[uint64]*job // held, by lease
	changed chan struct{}   // holds a token when a result is ready or a job has gone
}

// job is what a worker holds from its assignment until its result is answered.
type job struct {
	assign *foiblev1.Assign
	ctx    context.Context     // of its execution
	stop   context.CancelFunc  // ends ctx
	result *foiblev1.JobResult // nil while it runs
	sent   *session            // the connection by which the result was sent
}

// New checks a configuration.
func New(cfg Config) (*Worker, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	log := cfg.Logger
	if log == nil {
		log = hclog.NewNullLogger()
	}
	return &Worker{
		cfg: cfg, id: rand.Text(), log: log.Named("worker"),
		client:  foiblev1.NewWorkerServiceClient(cfg.Conn),
		gate:    memory.NewGate(cfg.Slots),
		jobs:    map[uint64]*job{},
		changed: make(chan struct{}, 1),
	}, nil
}

// Run works until ctx ends or the coordinator dismisses the worker, then drains: jobs that finish within DrainTimeout
// are sent and answered, others are handed back. It dials again whenever the
// connection breaks, and gives up only if the coordinator will not have it.
func (w *Worker) Run(ctx context.Context) error {
	ctx, w.leave = context.WithCancel(ctx)
	defer w.leave()
	// Jobs outlive ctx by DrainTimeout, and the connection by a little more, to hand back what is unfinished.
	working, stopWorking := context.WithCancel(context.WithoutCancel(ctx))
	talking, stopTalking := context.WithCancel(context.WithoutCancel(ctx))
	var executing sync.WaitGroup
	if w.cfg.Memory > 0 {
		executing.Go(func() { w.guard(working) })
	}
	defer executing.Wait()
	defer stopTalking()
	defer stopWorking()
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(w.cfg.DrainTimeout, stopWorking)
		time.AfterFunc(w.cfg.DrainTimeout+HandBackTimeout, stopTalking)
	})()

	pause := w.cfg.Retry
	leaving := ctx.Done()
	for {
		s := &session{w: w, leaving: ctx, working: working, executing: &executing}
		err := s.run(talking)
		switch {
		case s.drained:
			w.log.Info("drained")
			return nil
		case s.welcomed && status.Code(err) == codes.Unauthenticated: // its token has ended; there may be another by now
		case refused(err):
			return fmt.Errorf("worker: the coordinator refuses it: %s", status.Convert(err).Message())
		case ctx.Err() != nil && w.held() == 0:
			return nil
		}
		if s.welcomed {
			pause = w.cfg.Retry
		}
		w.log.Warn("connection lost", "error", err, "retry_in", pause.String())
		select {
		case <-time.After(pause):
		case <-leaving:
			if w.held() == 0 {
				return nil
			}
			leaving = nil
		case <-talking.Done():
			return nil // its leases run out
		}
		pause = min(2*pause, w.cfg.MaxRetry)
	}
}

// Pauses keeps those of a gRPC connection before it dials again, which grow to two minutes
// unless told otherwise, below a worker's own, which are the ones that are to count.
func Pauses() grpc.DialOption {
	return grpc.WithConnectParams(grpc.ConnectParams{
		Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
		MinConnectTimeout: 20 * time.Second,
	})
}

// HandBackTimeout is how long a worker that leaves tries to say so.
const HandBackTimeout = 5 * time.Second

// refused says whether dialling again would be answered in the same way.
func refused(err error) bool {
	switch status.Code(err) {
	case codes.FailedPrecondition, codes.InvalidArgument, codes.Unauthenticated, codes.PermissionDenied:
		return true
	}
	return false
}

// held counts the jobs whose result has not been answered.
func (w *Worker) held() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.jobs)
}

func (w *Worker) signal() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// execute does a job and leaves its result for the connection of the moment.
// A job that ctx interrupts has none; one that is stopped has failed.
func (w *Worker) execute(ctx context.Context, j *job) {
	started := time.Now()
	defer j.stop()
	result, err := w.do(j.ctx, j.assign)
	log := w.log.With("sweep", j.assign.GetSweepId(), "job", j.assign.GetJob(), "attempt", j.assign.GetAttempt())
	if err != nil && ctx.Err() != nil {
		return
	}
	if size := proto.Size(result); err == nil && size > sweep.MaxResultBytes {
		err = Computation(fmt.Errorf("the result has %d bytes, more than %d", size, sweep.MaxResultBytes))
	}
	if err != nil && j.ctx.Err() != nil { // it was stopped, whatever it says
		err = Infrastructure(err)
	}
	if err != nil {
		log.Debug("job failed", "error", err) // the coordinator decides what becomes of it
		result = failure(err)
	} else {
		log.Debug("job done", "seconds", time.Since(started).Seconds())
	}
	w.mu.Lock()
	j.result = result
	w.mu.Unlock()
	w.signal()
}

// guard keeps the process within its memory until ctx ends.
func (w *Worker) guard(ctx context.Context) {
	g := memory.Guard{
		Limit:   w.cfg.Memory,
		Relieve: w.cfg.Relieve,
		Shed: func() {
			if places := w.gate.Shed(); places > 0 {
				w.log.Warn("memory is short; fewer jobs are done at once", "jobs", places, "memory", words.Bytes(w.cfg.Memory))
			}
		},
	}
	if g.Relieve == nil {
		g.Relieve = func() {}
	}
	g.Run(ctx)
}

// do does a job when there is memory for it.
func (w *Worker) do(ctx context.Context, assign *foiblev1.Assign) (result *foiblev1.JobResult, err error) {
	err = w.gate.Do(ctx, func(ctx context.Context) error {
		result, err = w.try(ctx, assign)
		return err
	})
	if errors.Is(err, memory.ErrTooLarge) {
		err = fmt.Errorf("the job needs more than the %s of memory that this worker may use, with nothing else running; give it more with --memory",
			words.Bytes(w.cfg.Memory))
	}
	return result, err
}

// try turns a panic into a failure of the job: one job must not take a worker's others with it.
func (w *Worker) try(ctx context.Context, assign *foiblev1.Assign) (result *foiblev1.JobResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			w.log.Error("panic", "sweep", assign.GetSweepId(), "job", assign.GetJob(), "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if result, err = w.cfg.Executor.Execute(ctx, assign); result == nil && err == nil {
		err = errors.New("the executor has neither a result nor an error")
	}
	return result, err
}
