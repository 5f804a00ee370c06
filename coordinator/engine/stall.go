package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A store may cease to take writes: its disk is full, read-only or broken, or most of the NATS servers are lost. The
// embedded server then gives the stream up that it could not write to, and takes nothing for it as long as the process
// lives. So a write error stops all writes, here, with ErrStalled. Once the directory can be written to again, the
// embedded server is started anew, which recovers every stream as after a crash, and writes go on.

const (
	// probeInterval is how often a store to which nothing is written is asked whether it takes writes.
	probeInterval = 10 * time.Second
	// probePatience is how long it may take to say so.
	probePatience = 20 * time.Second
	// stalledPause is when a store that takes no writes is asked again at first, maxStalledPause later on.
	stalledPause, maxStalledPause = time.Second, 4 * time.Second
	// probeBytes must be free on a disk that was full.
	probeBytes = 1 << 20
)

// writes says whether the store takes writes. Safe for concurrent use.
type writes struct {
	begun chan struct{} // holds a token when they have just stopped

	mu      sync.Mutex              // guards what follows
	reason  string                  // why there are none; "" while there are
	changed chan struct{}           // closed at the next change of reason
	going   context.Context         // ends, with a cause that wraps ErrStalled, when they stop
	halt    context.CancelCauseFunc // ends going
	gate    chan struct{}           // closed, but while the embedded server is started anew: calls wait for it
	last    time.Time               // when one has succeeded
}

func newWrites() *writes {
	w := &writes{begun: make(chan struct{}, 1), changed: make(chan struct{}), gate: make(chan struct{}), last: time.Now()}
	w.going, w.halt = context.WithCancelCause(context.Background())
	close(w.gate)
	return w
}

// stop lets no write begin, and ends those under way. Called again, it changes the reason.
func (w *writes) stop(reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reason == reason {
		return
	}
	w.reason = reason
	w.halt(stalled(reason)) // once
	close(w.changed)
	w.changed = make(chan struct{})
	select {
	case w.begun <- struct{}{}:
	default:
	}
}

// resume lets them go on.
func (w *writes) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reason, w.last = "", time.Now()
	w.going, w.halt = context.WithCancelCause(context.Background())
	close(w.changed)
	w.changed = make(chan struct{})
}

func stalled(reason string) error { return fmt.Errorf("%w: %s", ErrStalled, reason) }

// state is the reason why there are no writes, "" if there are, and a channel that is closed when that changes.
func (w *writes) state() (reason string, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reason, w.changed
}

// begin bounds the context of a write by the time in which there are writes.
func (w *writes) begin(ctx context.Context) (context.Context, func(), error) {
	w.mu.Lock()
	going := w.going
	w.mu.Unlock()
	if going.Err() != nil {
		return nil, nil, context.Cause(going)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(going, func() { cancel(context.Cause(going)) })
	return ctx, func() { stop(); cancel(nil) }, nil
}

// succeeded notes a write.
func (w *writes) succeeded() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = time.Now()
}

// idle is how long there has been no write.
func (w *writes) idle() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.last)
}

// shut lets calls wait, until open is called.
func (w *writes) shut() (open func()) {
	gate := make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gate = gate
	return func() { close(gate) }
}

// wait waits until calls may go on.
func (w *writes) wait(ctx context.Context) error {
	w.mu.Lock()
	gate := w.gate
	w.mu.Unlock()
	select {
	case <-gate:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stalled says, to people, why the store does not accept writes and when it will; "" if it accepts them. The channel
// is closed when that changes. While it is stalled, what writes returns ErrStalled at once, and what reads goes on.
func (e *Engine) Stalled() (reason string, changed <-chan struct{}) { return e.writes.state() }

// write is try of something that writes.
func (e *Engine) write(ctx context.Context, stream string, f func(context.Context) error) error {
	ctx, end, err := e.writes.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	err = e.try(ctx, stream, f)
	e.wrote(err)
	return err
}

// wrote takes note of how a write has ended.
func (e *Engine) wrote(err error) {
	var api *jetstream.APIError
	failed := errors.As(err, &api) && api.Code >= 500 && !isTaken(err)
	switch {
	case err == nil:
		e.writes.succeeded()
	case errors.Is(err, ErrStalled), errors.Is(err, ErrClosed):
	case !e.Shared() && (failed || isDropped(err) || errors.Is(err, ErrUnavailable)):
		if trouble := tryWriting(e.cfg.Dir); trouble != nil {
			e.writes.stop(writeTrouble(e.cfg.Dir, trouble))
		}
	case e.Shared() && (failed || errors.Is(err, ErrUnavailable)):
		e.writes.stop(e.serversTrouble(err))
	}
}

// writeFailed takes note of what the embedded server says of a write that has failed. It holds locks meanwhile.
func (e *Engine) writeFailed(said string) {
	e.writes.stop(writeTrouble(e.cfg.Dir, errors.New(said)))
}

// serversTrouble says why NATS servers do not take a write.
func (e *Engine) serversTrouble(err error) string {
	var api *jetstream.APIError
	switch {
	case !e.link().conn.IsConnected():
		return "no NATS server answers; goes on when one does"
	case errors.As(err, &api) && api.ErrorCode == insufficientResources, err != nil && strings.Contains(err.Error(), syscall.ENOSPC.Error()):
		return "the NATS servers have no room left; goes on when they have"
	case errors.As(err, &api) && api.ErrorCode == storeFailed:
		return fmt.Sprintf("the NATS servers cannot store (%s); goes on when they can", api.Description)
	}
	return "the NATS servers have no quorum, most of them must run; goes on when they do"
}

const insufficientResources jetstream.ErrorCode = 10023

// watchWrites finds out when the store takes no writes, and lets them go on when it does, until the engine is closed.
func (e *Engine) watchWrites() {
	again := stalledPause
	for pause := probeInterval; ; {
		select {
		case <-e.life.Done():
			return
		case <-e.writes.begun:
		case <-time.After(pause):
		}
		reason, _ := e.writes.state()
		switch {
		case reason == "" && e.writes.idle() >= probeInterval:
			ctx, cancel := context.WithTimeoutCause(e.life, probePatience, errTimeout)
			_ = e.write(ctx, "", e.probe) // takes note of its error
			cancel()
			pause = probeInterval
		case reason == "":
			pause = probeInterval - e.writes.idle()
		case e.restore():
			pause, again = probeInterval, stalledPause
			e.writes.resume()
		default:
			pause, again = again, min(2*again, maxStalledPause)
		}
	}
}

// probe stores something.
func (e *Engine) probe(ctx context.Context) error {
	_, err := e.link().store.Put(ctx, "probe", []byte(time.Now().UTC().Format(time.RFC3339)))
	return err
}

// restore says whether the store takes writes again. The embedded server is started anew for that.
func (e *Engine) restore() bool {
	ctx, cancel := e.within(e.life, probePatience, errTimeout)
	defer cancel()
	if e.Shared() {
		err := e.repeat(ctx, "", e.probe)
		if err != nil && e.life.Err() == nil {
			e.writes.stop(e.serversTrouble(err))
		}
		return err == nil
	}
	trouble := tryWriting(e.cfg.Dir)
	if trouble == nil {
		trouble = e.restart(ctx)
	}
	if trouble != nil && e.life.Err() == nil {
		e.log.Debug("the store does not accept writes yet", "error", trouble)
		if full := tryWriting(e.cfg.Dir); full != nil {
			trouble = full
		}
		e.writes.stop(writeTrouble(e.cfg.Dir, trouble))
	}
	return trouble == nil
}

// restart starts the embedded server anew. Calls wait meanwhile; those under way fail.
func (e *Engine) restart(ctx context.Context) error {
	defer e.writes.shut()()
	e.link().close()
	if err := e.start(e.life); err != nil {
		return err
	}
	return e.repeat(ctx, "", e.probe)
}

// tryWriting writes a file to a directory, and removes it; its error says why that cannot be done.
func tryWriting(dir string) (err error) {
	path := filepath.Join(dir, "probe")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, probeBytes))
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(path))
}

// writeTrouble says, to people, why nothing can be written to a directory, and when it will go on.
func writeTrouble(dir string, err error) string {
	for _, known := range []struct {
		errno syscall.Errno
		text  string
	}{
		{syscall.ENOSPC, "the disk of %s is full; goes on when there is room"},
		{syscall.EDQUOT, "the disk quota of %s is used up; goes on when there is room"},
		{syscall.EROFS, "the disk of %s is read-only; goes on when it can be written to"},
		{syscall.EIO, "the disk of %s fails with input/output errors; goes on when it can be written to"},
		{syscall.EACCES, "permission to write to %s is denied; goes on when it is given"},
		{syscall.EPERM, "permission to write to %s is denied; goes on when it is given"},
	} {
		if errors.Is(err, known.errno) || strings.Contains(err.Error(), known.errno.Error()) {
			return fmt.Sprintf(known.text, dir)
		}
	}
	return fmt.Sprintf("writing to %s fails (%v); goes on when that can be done", dir, err)
}
