package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Shared says whether other coordinators may have the same servers.
func (e *Engine) Shared() bool { return e.cfg.Servers != nil }

// followInterval is how often servers are asked for what is new. A question is answered by whichever server can, so
// that nothing has to be kept, or found again, when one is lost.
const followInterval = 200 * time.Millisecond

// WatchSweeps calls fn for every sweep, and again after each change by whomever, until ctx ends. Of several changes in
// between it may see only the last. The value is nil if the sweep was deleted.
func (e *Engine) WatchSweeps(ctx context.Context, fn func(id string, value []byte, revision uint64)) error {
	for next := uint64(1); ; {
		attempt, end := e.attempt(ctx)
		at, err := e.sweepFrom(attempt, next, fn)
		end()
		if err == nil {
			next = at + 1
		} else if err := e.rest(ctx); err != nil {
			return err
		}
	}
}

// sweepFrom calls fn for the next sweep stored, or deleted, at a sequence or after it, and returns that one's own. After
// the last one, it returns jetstream.ErrMsgNotFound.
func (e *Engine) sweepFrom(ctx context.Context, next uint64, fn func(id string, value []byte, revision uint64)) (at uint64, err error) {
	msg, err := e.link().sweepLog.GetMsg(ctx, next, jetstream.WithGetMsgSubject(sweepPrefix+">"))
	if err != nil {
		return 0, err
	}
	value := msg.Data
	if msg.Header.Get("KV-Operation") != "" {
		value = nil
	} else if value == nil {
		value = []byte{}
	}
	fn(strings.TrimPrefix(msg.Subject, sweepPrefix), value, msg.Sequence)
	return msg.Sequence, nil
}

// LastResult is the sequence of the last result recorded, for Follow.
func (e *Engine) LastResult(ctx context.Context, sweep string) (sequence uint64, err error) {
	err = e.try(ctx, "", func(ctx context.Context) error {
		stream, err := e.link().js.Stream(ctx, resultsName(sweep))
		if err == nil {
			sequence = stream.CachedInfo().State.LastSeq
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("last result of sweep %s: %w", sweep, err)
	}
	return sequence, nil
}

// Follow calls fn for each result recorded after a sequence, by whomever, in the order in which they were recorded,
// until ctx ends. A sweep that does not exist, or not any more, is ErrNotFound. It stops at the first error of fn.
func (e *Engine) Follow(ctx context.Context, sweep string, after uint64, fn func(job int, result []byte) error) error {
	var failed error
	each := func(job int, result []byte) error {
		failed = fn(job, result)
		return failed
	}
	for next := after + 1; ; {
		var more bool
		var err error
		next, more, err = e.resultsFrom(ctx, sweep, next, each)
		switch {
		case failed != nil:
			return failed
		case err == nil && more:
			continue
		case err != nil && (!e.passing(err) && errors.Is(err, ErrNotFound) || e.gone(ctx, resultsName(sweep), err)):
			return fmt.Errorf("results of sweep %s: %w", sweep, ErrNotFound)
		}
		if err := e.rest(ctx); err != nil {
			return err
		}
	}
}

// rest waits until it is time to ask again.
func (e *Engine) rest(ctx context.Context) error {
	select {
	case <-time.After(followInterval):
		return nil
	case <-e.life.Done():
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// coordinatorsSubject is where coordinators that share servers hear of each other.
const coordinatorsSubject = "foible.coordinators"

// Tell says something to all coordinators that listen at the moment, this one included. It may be lost.
func (e *Engine) Tell(said []byte) error { return e.link().conn.Publish(coordinatorsSubject, said) }

// Hear calls fn for what coordinators say, until the engine is closed.
func (e *Engine) Hear(fn func(said []byte)) error {
	_, err := e.link().conn.Subscribe(coordinatorsSubject, func(msg *nats.Msg) { fn(msg.Data) })
	if err != nil {
		return fmt.Errorf("hear of other coordinators: %w", err)
	}
	return nil
}
