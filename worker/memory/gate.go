package memory

import (
	"context"
	"errors"
	"sync"
)

// ErrTooLarge ends work that was stopped for want of memory though nothing ran next to it.
var ErrTooLarge = errors.New("it needs more memory than it may use, with nothing else running")

// errShed is the cause by which a gate stops work.
var errShed = errors.New("stopped for want of memory")

// Gate lets pieces of work run at the same time, fewer of them after memory has
// run short. Safe for concurrent use.
type Gate struct {
	slots int

	mu      sync.Mutex // guards what follows
	places  int        // how many may run at once, from 1 to slots
	running []*work    // in the order in which they began
	changed chan struct{}
}

// work is a piece of work that runs.
type work struct {
	stop  context.CancelCauseFunc
	shed  bool
	alone bool // nothing ran next to it when it was shed
}

// NewGate makes a gate with a number of slots, at least one.
func NewGate(slots int) *Gate {
	return &Gate{slots: slots, places: slots, changed: make(chan struct{})}
}

// Do does something once there is a place for it. If [Gate.Shed] stops it, it is done
// again when fewer others run; if nothing else ran, the error is [ErrTooLarge]. All
// other errors are those of do, or of ctx. do must return soon after its context ends.
func (g *Gate) Do(ctx context.Context, do func(context.Context) error) error {
	for {
		w, working, err := g.enter(ctx)
		if err != nil {
			return err
		}
		err = do(working)
		stopped := err != nil && errors.Is(context.Cause(working), errShed)
		g.leave(w)
		switch {
		case !stopped:
			return err
		case w.alone:
			return ErrTooLarge
		}
	}
}

// enter waits for a place.
func (g *Gate) enter(ctx context.Context) (*work, context.Context, error) {
	for {
		g.mu.Lock()
		if len(g.running) < g.places {
			w := &work{}
			var working context.Context
			working, w.stop = context.WithCancelCause(ctx)
			g.running = append(g.running, w)
			g.mu.Unlock()
			return w, working, nil
		}
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// leave gives a place back. Once nothing runs, all slots are places again.
func (g *Gate) leave(w *work) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w.stop(nil)
	for i := range g.running {
		if g.running[i] == w {
			g.running = append(g.running[:i], g.running[i+1:]...)
			break
		}
	}
	if len(g.running) == 0 && !w.shed {
		g.places = g.slots
	}
	close(g.changed)
	g.changed = make(chan struct{})
}

// Shed stops the work that began last, and from then on lets one piece fewer run. It
// does nothing while work that it has stopped is still ending, or none runs. It returns
// how many may run from now on; 0 if they are not fewer than before.
func (g *Gate) Shed() (places int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := len(g.running)
	for _, w := range g.running {
		if w.shed {
			return 0
		}
	}
	if n == 0 {
		return 0
	}
	last := g.running[n-1]
	last.shed, last.alone = true, n == 1
	last.stop(errShed)
	if last.alone {
		return 0
	}
	g.places = n - 1
	return g.places
}
