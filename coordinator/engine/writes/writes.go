// Package writes knows whether a store takes writes. All writes stop together when it does
// not, and go on together when it does again; who asks can wait for the change. It knows
// nothing of what is stored, and where.
package writes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrStalled: the store takes no writes at the moment.
var ErrStalled = errors.New("the store does not accept writes")

// State says whether the store takes writes. Safe for concurrent use.
type State struct {
	stopped chan struct{} // holds a token when they have just stopped

	mu      sync.Mutex              // guards what follows
	reason  string                  // why there are none; "" while there are
	changed chan struct{}           // closed at the next change of reason
	going   context.Context         // ends, with a cause that wraps ErrStalled, when they stop
	halt    context.CancelCauseFunc // ends going
	gate    chan struct{}           // closed, but while the embedded server is started anew: calls wait for it
	last    time.Time               // when one has succeeded
}

// New is the state of a store that takes writes.
func New() *State {
	w := &State{stopped: make(chan struct{}, 1), changed: make(chan struct{}), gate: make(chan struct{}), last: time.Now()}
	w.going, w.halt = context.WithCancelCause(context.Background())
	close(w.gate)
	return w
}

// Stop lets no write begin, and ends those under way. Called again, it changes the reason.
func (w *State) Stop(reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reason == reason {
		return
	}
	w.reason = reason
	w.halt(Stalled(reason)) // once
	close(w.changed)
	w.changed = make(chan struct{})
	select {
	case w.stopped <- struct{}{}:
	default:
	}
}

// Resume lets them go on.
func (w *State) Resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reason, w.last = "", time.Now()
	w.going, w.halt = context.WithCancelCause(context.Background())
	close(w.changed)
	w.changed = make(chan struct{})
}

// Stalled is ErrStalled with a reason.
func Stalled(reason string) error { return fmt.Errorf("%w: %s", ErrStalled, reason) }

// Reason is the reason why there are no writes, "" if there are, and a channel that is closed when that changes.
func (w *State) Reason() (reason string, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reason, w.changed
}

// Begin bounds the context of a write by the time in which there are writes.
func (w *State) Begin(ctx context.Context) (context.Context, func(), error) {
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

// Succeeded notes a write.
func (w *State) Succeeded() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = time.Now()
}

// Idle is how long there has been no write.
func (w *State) Idle() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.last)
}

// Shut lets calls wait, until open is called.
func (w *State) Shut() (open func()) {
	gate := make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gate = gate
	return func() { close(gate) }
}

// Wait waits until calls may go on.
func (w *State) Wait(ctx context.Context) error {
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

// Stopped has a value each time that writes have just stopped, for one reader.
func (w *State) Stopped() <-chan struct{} { return w.stopped }
