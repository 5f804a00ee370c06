// Package engine is the durable memory of a coordinator: studies, sweeps, the queue of jobs and their
// results, on NATS JetStream. It is the only package that knows NATS.
//
// Read [Engine] first, then [Queue]. The rules that the rest of the coordinator may rely on:
//
//   - RESULTS is the only truth. The first result recorded for a job wins for ever; [Engine.Record]
//     returns nil only after the result is on disk.
//   - The queue may deliver a job more than once and may lose acknowledgements in a crash. It never loses
//     a job that was enqueued and not acknowledged.
//   - Every call is safe for concurrent use, and safe to repeat.
//
// Layout in JetStream, so that an external cluster can take the embedded server's place: key-value bucket
// "sweeps"; object store "studies"; for each sweep S a stream JOBS-S (subjects j.S.main, j.S.redo) with one
// durable consumer "queue", and a stream RESULTS-S (subjects r.S.<job/10000>.<job%10000>). One stream a
// sweep keeps each below the 10^6 subjects above which JetStream stops writing its index, and makes the
// deletion of a sweep the deletion of a directory.
package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

var (
	// ErrNotFound: no such study, sweep or result.
	ErrNotFound = errors.New("not found")
	// ErrExists: a sweep with this id is there already.
	ErrExists = errors.New("already exists")
	// ErrConflict: the sweep was changed since the revision given.
	ErrConflict = errors.New("changed by another writer")
	// ErrRecorded: the job has a result already; the new one was discarded.
	ErrRecorded = errors.New("a result is already recorded")
	// ErrInUse: another coordinator has the data directory open.
	ErrInUse = errors.New("in use by another coordinator")
	// ErrClosed: the engine is closed.
	ErrClosed = errors.New("engine is closed")
	// ErrInvalid: an id or a payload that the engine cannot hold.
	ErrInvalid = errors.New("invalid")
)

const (
	// MaxResult is the largest result, and the largest sweep value, in bytes.
	MaxResult = 8<<20 - 4<<10
	// MaxJobs bounds job numbers: a job is in [0, MaxJobs).
	MaxJobs = 1 << 30

	callTimeout = 30 * time.Second // one call to JetStream, fsync included
)

// Config says where the engine keeps its data, and how long a lease lasts.
type Config struct {
	// Dir is the data directory; it is created if absent.
	Dir string
	// Logger takes the server's warnings and errors; nil discards them.
	Logger hclog.Logger
	// AckWait is the lease: a delivered job that is neither acknowledged nor extended for this long is
	// delivered again. Default 30 s.
	AckWait time.Duration
	// MaxAckPending bounds the leased jobs of one sweep. It must be well above the number of slots of all
	// workers: the leases of a coordinator that was killed count until they expire. Default 10,000.
	MaxAckPending int
}

// Engine holds the embedded server and the connection to it.
type Engine struct {
	cfg      Config
	embedded *embedded
	conn     *nats.Conn
	js       jetstream.JetStream
	sweeps   jetstream.KeyValue
	studies  jetstream.ObjectStore
	recorder *recorder
	batchID  batchIDs

	life      context.Context // ends, with cause ErrClosed, before Close stops anything
	end       context.CancelCauseFunc
	running   sync.WaitGroup
	closeOnce sync.Once
	closeErr  error
}

// Open starts the embedded server on cfg.Dir and recovers what is there. ctx bounds the start only. The
// error wraps ErrInUse when another coordinator has the directory.
func Open(ctx context.Context, cfg Config) (*Engine, error) {
	if cfg.Dir == "" {
		return nil, fmt.Errorf("engine: %w: no data directory", ErrInvalid)
	}
	if cfg.AckWait == 0 {
		cfg.AckWait = 30 * time.Second
	}
	if cfg.MaxAckPending == 0 {
		cfg.MaxAckPending = 10_000
	}
	log := cfg.Logger
	if log == nil {
		log = hclog.NewNullLogger()
	}
	srv, err := startEmbedded(ctx, cfg.Dir, log)
	if err != nil {
		return nil, err
	}
	conn, err := srv.connect()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("engine: connect: %w", err), srv.stop())
	}
	e := &Engine{cfg: cfg, embedded: srv, conn: conn, batchID: newBatchIDs()}
	e.life, e.end = context.WithCancelCause(context.Background())
	// A server that is stopped while it creates a stream leaves goroutines behind: no interruption here.
	if err := errors.Join(e.attach(context.WithoutCancel(ctx)), ctx.Err()); err != nil {
		conn.Close()
		return nil, errors.Join(err, srv.stop())
	}
	e.recorder = newRecorder(e)
	e.running.Go(e.recorder.run)
	return e, nil
}

// attach opens what all sweeps share, creating it in a new directory.
func (e *Engine) attach(ctx context.Context) (err error) {
	e.js, err = jetstream.New(e.conn,
		jetstream.WithDefaultTimeout(callTimeout), jetstream.WithPublishAsyncTimeout(callTimeout))
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	e.sweeps, err = e.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: "sweeps", Storage: jetstream.FileStorage, MaxValueSize: MaxResult,
	})
	if err != nil {
		return fmt.Errorf("engine: open sweeps: %w", err)
	}
	e.studies, err = e.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
		Bucket: "studies", Storage: jetstream.FileStorage,
	})
	if err != nil {
		return fmt.Errorf("engine: open studies: %w", err)
	}
	return nil
}

// Close stops all that Open started and releases the directory. Calls in progress return ErrClosed or a
// connection error; a result whose Record had not returned may or may not be recorded.
func (e *Engine) Close() error {
	e.closeOnce.Do(func() {
		e.end(ErrClosed)
		e.running.Wait()
		e.conn.Close()
		e.closeErr = e.embedded.stop()
	})
	return e.closeErr
}

// call bounds one call by callTimeout and by the life of the engine.
func (e *Engine) call(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if e.life.Err() != nil {
		return nil, nil, ErrClosed
	}
	ctx, cancel := e.within(ctx, callTimeout, errTimeout)
	return ctx, cancel, nil
}

// within bounds ctx by a time and by the life of the engine.
func (e *Engine) within(ctx context.Context, limit time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, cause)
	stop := context.AfterFunc(e.life, func() { end(ErrClosed) })
	return ctx, func() { stop(); cancel(); end(nil) }
}

// cause says in this package's errors why a call with this context failed, where there is a word for it.
func (e *Engine) cause(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case e.life.Err() != nil:
		return ErrClosed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrNoStreamResponse),
		errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, jetstream.ErrConsumerNotFound),
		errors.Is(err, jetstream.ErrConsumerDeleted),
		errors.Is(err, jetstream.ErrKeyNotFound), errors.Is(err, jetstream.ErrObjectNotFound):
		return ErrNotFound
	}
	return err
}

var errTimeout = fmt.Errorf("no answer from the queue's server in %v", callTimeout)

// checkID keeps ids usable as one token of a subject, as a key and as part of a file name.
func checkID(kind, id string) error {
	if len(id) == 0 || len(id) > 128 {
		return fmt.Errorf("%w: %s id %q: want 1 to 128 characters", ErrInvalid, kind, id)
	}
	for _, r := range id {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_':
		default:
			return fmt.Errorf("%w: %s id %q: %q is not a letter, a digit, - or _", ErrInvalid, kind, id, r)
		}
	}
	return nil
}

func checkJob(job int) error {
	if job < 0 || job >= MaxJobs {
		return fmt.Errorf("%w: job %d: want [0, %d)", ErrInvalid, job, MaxJobs)
	}
	return nil
}
