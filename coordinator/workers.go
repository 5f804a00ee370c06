package coordinator

import (
	"context"
	"errors"

	"foible.dev/foible/coordinator/active"
	"foible.dev/foible/coordinator/crew"
	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/session"
	"foible.dev/foible/coordinator/store"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// workersHome is the coordinator as the sessions of workers need it.
type workersHome struct{ c *Coordinator }

// Join implements [session.Home]. A sweep that is added at this moment hears of the worker once.
func (h workersHome) Join(id, host string, slots int) *crew.Member {
	h.c.mu.Lock()
	m := h.c.crew.Join(id, host, slots)
	for _, run := range h.c.sweeps {
		run.Joined(m)
	}
	h.c.mu.Unlock()
	h.c.tellOthers()
	return m
}

// Leave implements [session.Home].
func (h workersHome) Leave(m *crew.Member) {
	h.c.mu.Lock()
	m.Leave()
	for _, run := range h.c.sweeps {
		run.Left(m)
	}
	h.c.mu.Unlock()
	h.c.tellOthers()
}

// Sweep implements [session.Home].
func (h workersHome) Sweep(ctx context.Context, id string) (*active.Sweep, bool) {
	if run, ok := h.c.run(id); ok {
		return run, true
	}
	return h.c.find(ctx, id)
}

// TooLate implements [session.Home].
func (h workersHome) TooLate(ctx context.Context, id string) (foiblev1.Verdict, string, error) {
	spec, _, err := h.c.store.Sweep(ctx, id)
	switch {
	case errors.Is(err, service.ErrNotFound), errors.Is(err, store.ErrRecordDamaged), errors.Is(err, service.ErrInvalid):
	case err != nil:
		return 0, "", err
	case spec.GetState() == store.Cancelled:
		return foiblev1.Verdict_VERDICT_REFUSED, active.ErrCancelled.Error(), nil
	case !store.Unended(spec.GetState()): // so that every job has a result
		return foiblev1.Verdict_VERDICT_DUPLICATE, "", nil
	}
	return foiblev1.Verdict_VERDICT_REFUSED, session.NoSuchJob, nil
}

// Touch implements [session.Home].
func (h workersHome) Touch() {
	for _, run := range h.c.taken() {
		run.Touch()
	}
}
