package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/hashicorp/go-hclog"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// embedded is a NATS server in this process, without a port, that alone holds its directory.
type embedded struct {
	server *server.Server
	lock   *flock.Flock
	log    hclog.Logger
}

func startEmbedded(ctx context.Context, dir string, log hclog.Logger) (*embedded, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	if kind := NetworkFileSystem(dir); kind != "" {
		log.Warn("the data directory is on a network file system: slow, and perhaps without locks; a local disk is better", "dir", dir, "kind", kind)
	}
	lock := flock.New(filepath.Join(dir, "lock"))
	switch held, err := lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("engine: lock %s: %w; keep the data on a file system with locks, best on a local disk", dir, err)
	case !held:
		return nil, fmt.Errorf("engine: directory %s is %w", dir, ErrInUse)
	}
	// SyncAlways makes an acknowledgement mean "on disk"; the server otherwise syncs every two minutes.
	srv, err := server.NewServer(&server.Options{
		ServerName:             "foible",
		DontListen:             true,
		NoSigs:                 true,
		JetStream:              true,
		StoreDir:               dir,
		SyncAlways:             true,
		MaxPayload:             maxPayload,
		DisableJetStreamBanner: true,
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("engine: start server: %w", err), lock.Unlock())
	}
	sink := &serverLog{log: log}
	srv.SetLoggerV2(sink, false, false, false)
	e := &embedded{server: srv, lock: lock, log: log}
	started := make(chan struct{})
	go func() {
		srv.Start() // recovers every stream before it returns
		close(started)
	}()
	select {
	case <-started:
	case <-ctx.Done():
		<-started
		return nil, errors.Join(fmt.Errorf("engine: start server: %w", ctx.Err()), e.stop())
	}
	if !srv.JetStreamEnabled() || !srv.ReadyForConnections(10*time.Second) {
		err := sink.fatal()
		if err == nil {
			err = errors.New("server is not ready")
		}
		return nil, errors.Join(fmt.Errorf("engine: start server: %w", err), e.stop())
	}
	return e, nil
}

func (e *embedded) connect() (*nats.Conn, error) {
	return nats.Connect("", nats.InProcessServer(e.server), nats.Name("coordinator"), nats.NoReconnect(),
		nats.Timeout(10*time.Second), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			e.log.Warn("queue connection", "error", err)
		}))
}

func (e *embedded) stop() error {
	e.server.Shutdown()
	e.server.WaitForShutdown()
	return e.lock.Unlock()
}

// serverLog hands the server's log to hclog. The server's notices are many and about itself: Trace.
type serverLog struct {
	log hclog.Logger

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

func (l *serverLog) Errorf(format string, v ...any) {
	l.log.Error("queue server", "error", fmt.Sprintf(format, v...))
}

func (l *serverLog) Warnf(format string, v ...any) {
	l.log.Warn("queue server", "error", fmt.Sprintf(format, v...))
}
func (l *serverLog) Debugf(string, ...any) {}
func (l *serverLog) Tracef(string, ...any) {}

func (l *serverLog) Noticef(format string, v ...any) {
	if l.log.IsTrace() {
		l.log.Trace("queue server", "notice", fmt.Sprintf(format, v...))
	}
}
