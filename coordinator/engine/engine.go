// Package engine is the durable memory of a coordinator: studies, sweeps, the queue of jobs and their
// results, on NATS JetStream. It and the packages below it are the only ones that know NATS.
//
// Read [Engine] first, then [Queue]. The rules that the rest of the coordinator may rely on:
//
//   - RESULTS is the only truth. The first result recorded for a job wins for ever; [Engine.Record]
//     returns nil only after the result is on disk.
//   - A write that fails, as on a full disk, stops all writes until they can be made again, see [Engine.Stalled].
//   - The queue may deliver a job more than once and may lose acknowledgements in a crash. It never loses
//     a job that was enqueued and not acknowledged.
//   - Every call is safe for concurrent use, and safe to repeat.
//
// Layout in JetStream, embedded or of a site's own servers: key-value bucket
// "sweeps", bucket "store" about the store itself; object store "studies"; for each sweep S a stream JOBS-S (subjects j.S.main, j.S.redo) with one
// durable consumer "queue", and a stream RESULTS-S (subjects r.S.<job/10000>.<job%10000>), and, while it is tried again, a stream FORMER-S (subjects f.S.<job>). One stream a
// sweep keeps each below the 10^6 subjects above which JetStream stops writing its index, and makes the
// deletion of a sweep the deletion of a directory.
package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	"github.com/hashicorp/go-hclog"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"foible.dev/foible/coordinator/engine/disk"
	"foible.dev/foible/coordinator/engine/server"
	"foible.dev/foible/coordinator/engine/writes"
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
	ErrInUse = server.ErrInUse
	// ErrUnavailable: the servers do not answer; they may later.
	ErrUnavailable = errors.New("the queue's servers do not answer")
	// ErrLogin: the servers do not accept the user that Servers name.
	ErrLogin = server.ErrLogin
	// ErrUntrusted: a server's certificate is of no authority that Servers name, or of another server.
	ErrUntrusted = server.ErrUntrusted
	// ErrStalled: the store takes no writes at the moment. They were not made, or are made again in vain; see Stalled.
	ErrStalled = writes.ErrStalled
	// ErrDamaged: what is stored cannot be read.
	ErrDamaged = errors.New("damaged")
	// ErrVersion: the store was written by another version of Foible, and this one cannot read it.
	ErrVersion = errors.New("another version of the store")
	// ErrClosed: the engine is closed.
	ErrClosed = errors.New("engine is closed")
	// ErrInvalid: an id or a payload that the engine cannot hold, or servers that cannot hold what it stores.
	ErrInvalid = server.ErrInvalid
)

const (
	// MaxResult is the largest result, and the largest sweep value, in bytes.
	MaxResult = server.MaxPayload - 4<<10
	// MaxJobs bounds job numbers: a job is in [0, MaxJobs).
	MaxJobs = 1 << 30

	callTimeout = 30 * time.Second // one call to JetStream, fsync included

	// maxReplicas is the largest number of servers on which each stream is kept.
	maxReplicas = 3
)

// Servers are NATS servers of a site, in place of the embedded one.
type Servers = server.Servers

// Config says where the engine keeps its data, and how long a lease lasts.
type Config struct {
	// Dir is the data directory of the embedded server; it is created if absent.
	Dir string
	// Servers take the place of the embedded server, unless nil.
	Servers *Servers
	// Logger takes what an operator acts on, and at level debug what the server says; nil discards it.
	Logger hclog.Logger
	// Waiting is called when Open must wait, with what it waits for, and again when that changes; nil: nothing.
	Waiting func(reason string)
	// AckWait is the lease: a delivered job that is neither acknowledged nor extended for this long is
	// delivered again. Default 30 s.
	AckWait time.Duration
	// MaxAckPending bounds the leased jobs of one sweep. It must be well above the number of slots of all
	// workers: the leases of a coordinator that was killed count until they expire. Default 10,000.
	MaxAckPending int
}

// Engine keeps what is stored by a server in this process, or by the servers of a site.
type Engine struct {
	cfg      Config
	log      hclog.Logger
	lock     *flock.Flock // of the directory; nil where the servers are a site's own
	current  atomic.Pointer[link]
	replicas int // on how many servers a new stream is kept
	recorder *recorder
	batchID  batchIDs

	writes *writes.State

	finishing sync.RWMutex // held for reading by what the embedded server must finish, for writing while it is stopped for good

	life      context.Context // ends, with cause ErrClosed, before Close stops anything
	end       context.CancelCauseFunc
	running   sync.WaitGroup
	closeOnce sync.Once
	closeErr  error
}

// link is a connection to the store, and what was opened by it. When the embedded server is started again there is
// another one.
type link struct {
	embedded *server.Embedded // nil: the servers are a site's own
	conn     *nats.Conn
	js       jetstream.JetStream
	sweeps   jetstream.KeyValue
	sweepLog jetstream.Stream // that of sweeps
	studies  jetstream.ObjectStore
	store    jetstream.KeyValue // what is said of the store itself
}

// link is the one to use now.
func (e *Engine) link() *link { return e.current.Load() }

// Open starts the embedded server on cfg.Dir and recovers what is there, or connects to cfg.Servers as soon as
// they answer. It waits while nothing can be written to cfg.Dir, see Config.Waiting. ctx bounds the start only. The
// error wraps ErrInUse when another coordinator has the directory, ErrVersion when another version of Foible has
// written what is there and this one cannot read it.
func Open(ctx context.Context, cfg Config) (*Engine, error) {
	switch {
	case cfg.Servers == nil && cfg.Dir == "":
		return nil, fmt.Errorf("engine: %w: no data directory", ErrInvalid)
	case cfg.Servers != nil && len(cfg.Servers.URLs) == 0:
		return nil, fmt.Errorf("engine: %w: no servers", ErrInvalid)
	}
	if cfg.AckWait == 0 {
		cfg.AckWait = 30 * time.Second
	}
	if cfg.MaxAckPending == 0 {
		cfg.MaxAckPending = 10_000
	}
	if cfg.Waiting == nil {
		cfg.Waiting = func(string) {}
	}
	log := cfg.Logger
	if log == nil {
		log = hclog.NewNullLogger()
	}
	e := &Engine{cfg: cfg, log: log, replicas: 1, batchID: newBatchIDs(), writes: writes.New()}
	e.life, e.end = context.WithCancelCause(context.Background())
	var err error
	if e.Shared() {
		err = e.start(ctx)
	} else if e.lock, err = server.Lock(cfg.Dir, log); err == nil {
		if err = e.startWithRoom(ctx); err != nil {
			err = errors.Join(err, e.lock.Unlock())
		}
	}
	if err != nil {
		return nil, err
	}
	e.recorder = newRecorder(e)
	e.running.Go(e.recorder.run)
	e.running.Go(e.watchWrites)
	return e, nil
}

// startWithRoom starts as soon as the directory can be written to: a server that starts on a full disk could damage
// what is there.
func (e *Engine) startWithRoom(ctx context.Context) error {
	said := ""
	for {
		full := disk.TryWriting(e.cfg.Dir)
		if full == nil {
			err := e.start(ctx)
			if err == nil {
				return nil
			}
			if full = disk.TryWriting(e.cfg.Dir); full == nil || ctx.Err() != nil {
				return err
			}
		}
		if reason := disk.Trouble(e.cfg.Dir, full); reason != said {
			said = reason
			e.cfg.Waiting(reason)
		}
		select {
		case <-time.After(stalledPause):
		case <-ctx.Done():
			return fmt.Errorf("engine: %w", ctx.Err())
		}
	}
}

// start makes a link, and uses it from now on.
func (e *Engine) start(ctx context.Context) error {
	l, err := e.connect(ctx)
	if err != nil {
		return err
	}
	attaching := ctx
	if l.embedded != nil { // stopped while it creates a stream, it leaves goroutines behind: no interruption here
		attaching = context.WithoutCancel(ctx)
	}
	if err := errors.Join(e.attach(attaching, l), ctx.Err()); err != nil {
		l.close()
		return err
	}
	e.current.Store(l)
	return nil
}

// connect starts the embedded server, or finds the others.
func (e *Engine) connect(ctx context.Context) (*link, error) {
	l := &link{}
	var err error
	if e.Shared() {
		if l.conn, err = e.cfg.Servers.Connect(ctx, e.cfg.Waiting, e.log); err != nil {
			return nil, err
		}
		e.replicas = min(maxReplicas, max(len(e.cfg.Servers.URLs), len(l.conn.Servers())))
		return l, nil
	}
	if l.embedded, err = server.Start(ctx, e.cfg.Dir, e.log, e.writeFailed); err != nil {
		return nil, err
	}
	if l.conn, err = l.embedded.Connect(); err != nil {
		l.embedded.Stop()
		return nil, fmt.Errorf("engine: connect: %w", err)
	}
	return l, nil
}

func (l *link) close() {
	l.conn.Close()
	if l.embedded != nil {
		l.embedded.Stop()
	}
}

// attach opens what all sweeps share, creating it in a new directory.
func (e *Engine) attach(ctx context.Context, l *link) (err error) {
	l.js, err = jetstream.New(l.conn,
		jetstream.WithDefaultTimeout(callTimeout), jetstream.WithPublishAsyncTimeout(callTimeout))
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	ctx, cancel := e.within(ctx, callTimeout, errTimeout)
	defer cancel()
	for _, open := range []struct {
		what string
		of   func(context.Context) error
	}{
		{"version", func(ctx context.Context) (err error) {
			if err = e.provide(ctx, l.js, storeConfig); err == nil {
				l.store, err = l.js.KeyValue(ctx, "store")
			}
			return err
		}},
		{"sweeps", func(ctx context.Context) (err error) {
			if err = e.provide(ctx, l.js, sweepsConfig); err == nil {
				l.sweeps, err = l.js.KeyValue(ctx, "sweeps")
			}
			if err == nil {
				l.sweepLog, err = l.js.Stream(ctx, sweepsStream)
			}
			return err
		}},
		{"studies", func(ctx context.Context) (err error) {
			if err = e.provide(ctx, l.js, studiesConfig); err == nil {
				l.studies, err = l.js.ObjectStore(ctx, "studies")
			}
			return err
		}},
	} {
		if err := e.repeat(ctx, "", open.of); err != nil {
			return fmt.Errorf("engine: open %s: %w", open.what, e.explain(err))
		}
	}
	if err := e.repeat(ctx, "", func(ctx context.Context) error { return checkVersion(ctx, l.store) }); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	if e.Shared() {
		return nil
	}
	if err := e.adoptResults(ctx, l.js); err != nil {
		return fmt.Errorf("engine: open results: %w", err)
	}
	return nil
}

// explain says what to do about servers that cannot keep anything.
func (e *Engine) explain(err error) error {
	if e.Shared() && (errors.Is(err, ErrUnavailable) || errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount)) {
		return fmt.Errorf("%w; see that jetstream is set in the configuration of the NATS servers, and for the account, and that most of them run", err)
	}
	return err
}

const (
	sweepsStream = "KV_sweeps"
	sweepPrefix  = "$KV.sweeps."
)

// The streams of the bucket and of the object store. Reads of them are answered by the server that leads the
// stream: any other may be a moment behind.
var (
	sweepsConfig = jetstream.StreamConfig{
		Name: sweepsStream, Subjects: []string{sweepPrefix + ">"}, Storage: jetstream.FileStorage,
		MaxMsgsPerSubject: 1, MaxMsgSize: MaxResult, Discard: jetstream.DiscardNew, AllowRollup: true, DenyDelete: true,
	}
	storeConfig = jetstream.StreamConfig{
		Name: "KV_store", Subjects: []string{"$KV.store.>"}, Storage: jetstream.FileStorage,
		MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, AllowRollup: true, DenyDelete: true,
	}
	studiesConfig = jetstream.StreamConfig{
		Name: "OBJ_studies", Subjects: []string{"$O.studies.C.>", "$O.studies.M.>"}, Storage: jetstream.FileStorage,
		Discard: jetstream.DiscardNew, AllowRollup: true,
	}
)

// provide makes a stream unless it is there; one that is there stays as it is.
func (e *Engine) provide(ctx context.Context, js jetstream.JetStream, cfg jetstream.StreamConfig) error {
	_, err := js.Stream(ctx, cfg.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		_, err = e.createStream(ctx, js, cfg)
	}
	return err
}

// createStream makes a stream that is kept on as many servers as there are, up to maxReplicas.
func (e *Engine) createStream(ctx context.Context, js jetstream.JetStream, cfg jetstream.StreamConfig) (jetstream.Stream, error) {
	ctx, end := e.uninterrupted(ctx)
	defer end()
	for cfg.Replicas = e.replicas; ; cfg.Replicas-- {
		stream, err := js.CreateStream(ctx, cfg)
		var api *jetstream.APIError
		switch {
		case errors.Is(err, jetstream.ErrStreamNameAlreadyInUse): // made by another, with other replicas
			return js.Stream(ctx, cfg.Name)
		case cfg.Replicas == 1 || !errors.As(err, &api) || api.ErrorCode != noPeers && api.ErrorCode != noCluster:
			return stream, err
		}
		e.log.Warn("too few NATS servers; a stream is kept on fewer", "stream", cfg.Name, "replicas", cfg.Replicas-1)
	}
}

// What the server answers when it has too few others, or none, for the replicas.
const (
	noPeers   jetstream.ErrorCode = 10005
	noCluster jetstream.ErrorCode = 10074
)

// Close stops all that Open started and releases the directory, if any. Calls in progress return ErrClosed or a
// connection error; a result whose Record had not returned may or may not be recorded.
func (e *Engine) Close() error {
	e.closeOnce.Do(func() {
		e.end(ErrClosed)
		e.running.Wait()
		e.finishing.Lock()
		defer e.finishing.Unlock()
		e.link().close()
		if e.lock != nil {
			e.closeErr = e.lock.Unlock()
		}
	})
	return e.closeErr
}

// call bounds one call by callTimeout and by the life of the engine.
func (e *Engine) call(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if e.life.Err() != nil {
		return nil, nil, ErrClosed
	}
	ctx, cancel := e.within(ctx, callTimeout, errTimeout)
	if err := e.writes.Wait(ctx); err != nil {
		cancel()
		return nil, nil, e.cause(ctx, err)
	}
	return ctx, cancel, nil
}

// within bounds ctx by a time and by the life of the engine.
func (e *Engine) within(ctx context.Context, limit time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, cause)
	stop := context.AfterFunc(e.life, func() { end(ErrClosed) })
	return ctx, func() { stop(); cancel(); end(nil) }
}

// uninterrupted is for what the embedded server must finish before it is stopped, because it would leave goroutines and files
// behind: the creation of a stream, and a batch of messages. Such a call goes on when the caller, or the engine, ends, until
// the server answers, as long as a call may take, or until the store accepts no writes. Servers of a site go on by themselves.
func (e *Engine) uninterrupted(ctx context.Context) (context.Context, func()) {
	if e.Shared() {
		return ctx, func() {}
	}
	e.finishing.RLock()
	going, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) && !errors.Is(cause, ErrClosed) {
			cancel(cause)
		}
	})
	going, end := context.WithTimeoutCause(going, callTimeout, errTimeout)
	return going, func() {
		stop()
		end()
		cancel(nil)
		e.finishing.RUnlock()
	}
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
	case !e.Shared() && (errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrNoStreamResponse)):
		if reason, _ := e.writes.Reason(); reason != "" { // the server may have given all streams up
			return writes.Stalled(reason)
		}
		return ErrNotFound
	case errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, jetstream.ErrConsumerNotFound),
		errors.Is(err, jetstream.ErrConsumerDeleted),
		errors.Is(err, jetstream.ErrKeyNotFound), errors.Is(err, jetstream.ErrObjectNotFound):
		return ErrNotFound
	}
	return err
}

var errTimeout = fmt.Errorf("%w in %v", ErrUnavailable, callTimeout)

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
