package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/hashicorp/go-hclog"
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"foible.dev/foible/coordinator/engine/disk"
)

// Embedded is a NATS server in this process, without a port.
type Embedded struct {
	server *natsserver.Server
	log    hclog.Logger
}

// Lock makes a directory, if it is not there, and this process the only one that uses it.
// The error wraps ErrInUse if another one does.
func Lock(dir string, log hclog.Logger) (*flock.Flock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	if kind := disk.NetworkFileSystem(dir); kind != "" {
		log.Warn("the data directory is on a network file system: slow, and perhaps without locks; a local disk is better", "dir", dir, "kind", kind)
	}
	lock := flock.New(filepath.Join(dir, "lock"))
	switch held, err := lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("engine: lock %s: %w; keep the data on a file system with locks, best on a local disk", dir, err)
	case !held:
		return nil, fmt.Errorf("engine: directory %s is %w", dir, ErrInUse)
	}
	return lock, nil
}

// unlimited is the server's limit of bytes on disk. By default it is what is free when the server starts, so that room
// that is made later would be of no use.
const unlimited = 1 << 62

// Start starts the server on a directory, which the caller has locked, and recovers what is
// there. failed is called when a write has failed, with what the server says; it must not
// wait for the server.
func Start(ctx context.Context, dir string, log hclog.Logger, failed func(said string)) (*Embedded, error) {
	if err := removeIndexes(dir); err != nil {
		return nil, fmt.Errorf("engine: start server: %w", err)
	}
	// SyncAlways makes an acknowledgement mean "on disk"; the server otherwise syncs every two minutes.
	srv, err := natsserver.NewServer(&natsserver.Options{
		ServerName:             "foible",
		DontListen:             true,
		NoSigs:                 true,
		JetStream:              true,
		JetStreamMaxStore:      unlimited,
		StoreDir:               dir,
		SyncAlways:             true,
		MaxPayload:             MaxPayload,
		DisableJetStreamBanner: true,
	})
	if err != nil {
		return nil, fmt.Errorf("engine: start server: %w", err)
	}
	sink := &serverLog{log: log, failed: failed}
	srv.SetLoggerV2(sink, false, false, false)
	e := &Embedded{server: srv, log: log}
	started := make(chan struct{})
	go func() {
		srv.Start() // recovers every stream before it returns
		close(started)
	}()
	select {
	case <-started:
	case <-ctx.Done():
		<-started
		e.Stop()
		return nil, fmt.Errorf("engine: start server: %w", ctx.Err())
	}
	if !srv.JetStreamEnabled() || !srv.ReadyForConnections(10*time.Second) {
		err := sink.fatal()
		if err == nil {
			err = errors.New("server is not ready")
		}
		e.Stop()
		return nil, fmt.Errorf("engine: start server: %w", err)
	}
	return e, nil
}

// Connect connects to the server.
func (e *Embedded) Connect() (*nats.Conn, error) {
	return nats.Connect("", nats.InProcessServer(e.server), nats.Name("coordinator"), nats.NoReconnect(),
		nats.Timeout(10*time.Second), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			e.log.Debug("queue connection", "error", err)
		}))
}

// Stop stops the server, and waits until it has stopped.
func (e *Embedded) Stop() {
	e.server.Shutdown()
	e.server.WaitForShutdown()
}

// StreamsDir is where the embedded server has a directory for each stream.
func StreamsDir(dir string) string { return filepath.Join(dir, "jetstream", "$G", "streams") }

// removeIndexes makes the embedded server read, and so verify, all records when it starts. It would believe its indexes
// otherwise, and the server of NATS 2.15 loops for ever at some damaged records that it did not expect.
func removeIndexes(dir string) error {
	indexes, err := filepath.Glob(filepath.Join(StreamsDir(dir), "*", "msgs", "index.db"))
	for _, path := range indexes {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// serverLog takes what the server says. It is about the server itself, in words of its own, so that it is for level
// debug: what matters to people is found out, and said, elsewhere.
type serverLog struct {
	log    hclog.Logger
	failed func(said string) // called when a write has failed; it must not wait for the server

	mu    sync.Mutex // guards first
	first error      // the first fatal error; it is returned by Open, not logged
}

func (l *serverLog) fatal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first
}

func (l *serverLog) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == nil {
		l.first = fmt.Errorf(format, v...)
	}
}

// writeErrors are words by which the server says that it has given a stream or a consumer up, or all of them: it answers
// no more writes then, until it is started again, and sends no error.
var writeErrors = []string{"ritical write error", "disabling JetStream", "JetStream out of"}

func (l *serverLog) trouble(kind, format string, v ...any) {
	said := fmt.Sprintf(format, v...)
	l.log.Debug("queue server", kind, said)
	if slices.ContainsFunc(writeErrors, func(words string) bool { return strings.Contains(said, words) }) {
		l.failed(said)
	}
}

func (l *serverLog) Errorf(format string, v ...any) { l.trouble("error", format, v...) }
func (l *serverLog) Warnf(format string, v ...any)  { l.trouble("warning", format, v...) }
func (l *serverLog) Debugf(string, ...any)          {}
func (l *serverLog) Tracef(string, ...any)          {}

func (l *serverLog) Noticef(format string, v ...any) {
	if l.log.IsTrace() {
		l.log.Trace("queue server", "notice", fmt.Sprintf(format, v...))
	}
}
