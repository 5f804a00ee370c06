package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"foible.dev/foible/coordinator/engine/disk"
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
)

// Stalled says, to people, why the store does not accept writes and when it will; "" if it accepts them. The channel
// is closed when that changes. While it is stalled, what writes returns ErrStalled at once, and what reads goes on.
func (e *Engine) Stalled() (reason string, changed <-chan struct{}) { return e.writes.Reason() }

// write is try of something that writes.
func (e *Engine) write(ctx context.Context, stream string, f func(context.Context) error) error {
	ctx, end, err := e.writes.Begin(ctx)
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
		e.writes.Succeeded()
	case errors.Is(err, ErrStalled), errors.Is(err, ErrClosed):
	case !e.Shared() && (failed || isDropped(err) || errors.Is(err, ErrUnavailable)):
		if trouble := disk.TryWriting(e.cfg.Dir); trouble != nil {
			e.writes.Stop(disk.Trouble(e.cfg.Dir, trouble))
		}
	case e.Shared() && (failed || errors.Is(err, ErrUnavailable)):
		e.writes.Stop(e.serversTrouble(err))
	}
}

// writeFailed takes note of what the embedded server says of a write that has failed. It holds locks meanwhile.
func (e *Engine) writeFailed(said string) {
	e.writes.Stop(disk.Trouble(e.cfg.Dir, errors.New(said)))
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
		case <-e.writes.Stopped():
		case <-time.After(pause):
		}
		reason, _ := e.writes.Reason()
		switch {
		case reason == "" && e.writes.Idle() >= probeInterval:
			ctx, cancel := context.WithTimeoutCause(e.life, probePatience, errTimeout)
			_ = e.write(ctx, "", e.probe) // takes note of its error
			cancel()
			pause = probeInterval
		case reason == "":
			pause = probeInterval - e.writes.Idle()
		case e.restore():
			pause, again = probeInterval, stalledPause
			e.writes.Resume()
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
			e.writes.Stop(e.serversTrouble(err))
		}
		return err == nil
	}
	trouble := disk.TryWriting(e.cfg.Dir)
	if trouble == nil {
		trouble = e.restart(ctx)
	}
	if trouble != nil && e.life.Err() == nil {
		e.log.Debug("the store does not accept writes yet", "error", trouble)
		if full := disk.TryWriting(e.cfg.Dir); full != nil {
			trouble = full
		}
		e.writes.Stop(disk.Trouble(e.cfg.Dir, trouble))
	}
	return trouble == nil
}

// restart starts the embedded server anew. Calls wait meanwhile; those under way fail.
func (e *Engine) restart(ctx context.Context) error {
	defer e.writes.Shut()()
	e.link().close()
	if err := e.start(e.life); err != nil {
		return err
	}
	return e.repeat(ctx, "", e.probe)
}
