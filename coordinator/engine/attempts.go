package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// patience is how long one attempt waits for an answer of a server that may have failed.
const patience = 4 * time.Second

// errUnanswered: no server answered in the time of one attempt.
var errUnanswered = fmt.Errorf("no answer in %v", patience)

// Pauses between attempts.
const (
	firstPause = 50 * time.Millisecond
	maxPause   = time.Second
)

// try calls f, and again while that may help: when a server is lost, others take over within seconds, and until then
// some questions have no answer. It gives up after callTimeout, with ErrUnavailable. The stream is the one that f asks;
// if there is none of that name, the error is ErrNotFound.
func (e *Engine) try(ctx context.Context, stream string, f func(context.Context) error) error {
	ctx, cancel, err := e.call(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	return e.repeat(ctx, stream, f)
}

// repeat is try until ctx ends.
func (e *Engine) repeat(ctx context.Context, stream string, f func(context.Context) error) error {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		attempt, end := e.attempt(ctx)
		err := e.cause(attempt, f(attempt))
		end()
		switch {
		case err == nil, !e.passing(err) && ctx.Err() == nil:
			return err
		case ctx.Err() == nil && e.gone(ctx, stream, err):
			return ErrNotFound
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			if cause := e.cause(ctx, ctx.Err()); !errors.Is(err, cause) {
				err = fmt.Errorf("%w: %w", cause, err)
			}
			return err
		}
	}
}

// attempt bounds one of several attempts; the embedded server has as long as there is.
func (e *Engine) attempt(ctx context.Context) (context.Context, context.CancelFunc) {
	if !e.Shared() {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, patience, errUnanswered)
}

// passing says whether an error is of servers that are lost or being replaced. The embedded server is replaced when it
// is started again.
func (e *Engine) passing(err error) bool {
	if !e.Shared() {
		return errors.Is(err, nats.ErrConnectionClosed)
	}
	if isTaken(err) {
		return false
	}
	for _, passing := range []error{
		errUnanswered, nats.ErrNoResponders, jetstream.ErrNoStreamResponse, nats.ErrTimeout, nats.ErrDisconnected,
		nats.ErrReconnectBufExceeded, nats.ErrConnectionReconnecting, nats.ErrStaleConnection,
		jetstream.ErrDigestMismatch, // the server that was asked has not got all parts yet
	} {
		if errors.Is(err, passing) {
			return true
		}
	}
	var api *jetstream.APIError
	return errors.As(err, &api) && api.Code == 503
}

// gone says whether the reason why nobody answered for a stream is that there is none.
func (e *Engine) gone(ctx context.Context, stream string, err error) bool {
	if stream == "" || !errors.Is(err, nats.ErrNoResponders) && !errors.Is(err, jetstream.ErrNoStreamResponse) {
		return false
	}
	ctx, end := e.attempt(ctx)
	defer end()
	_, err = e.link().js.Stream(ctx, stream)
	return errors.Is(err, jetstream.ErrStreamNotFound)
}
