package coordinator

import (
	"context"
	"errors"
	"fmt"

	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/store"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// DeleteSweep implements [service.Sweeps]. First the record says that the sweep is being deleted, so that no coordinator
// shows it or takes it up any more, then its results go, and the record last: after an interruption, the next start, or the
// same call, does the rest.
func (c *Coordinator) DeleteSweep(ctx context.Context, id string) error {
	c.find(ctx, id)
	defer c.taking.lock(id)()
	spec, _, err := c.store.SweepRecord(ctx, id)
	switch {
	case errors.Is(err, store.ErrRecordDamaged):
	case errors.Is(err, service.ErrNotFound):
		if c.damages.Of(id) == "" { // else its results are left
			return err
		}
	case err != nil:
		return err
	case !spec.GetDeleted():
		_, _, err := c.update(ctx, id, func(s *foiblev1.Sweep) error {
			if store.Unended(s.GetState()) {
				return fmt.Errorf("%w: it has not ended; cancel it first", service.ErrPrecondition)
			}
			s.Deleted = true
			return nil
		})
		if err != nil {
			return err
		}
	}
	if run, taken := c.run(id); taken {
		c.discard(run)
	}
	if err := c.store.DeleteSweep(context.WithoutCancel(ctx), id); err != nil {
		return store.Sentinel(err)
	}
	c.damages.Clear(id)
	c.mu.Lock()
	delete(c.past, id)
	delete(c.ended, id)
	c.mu.Unlock()
	c.log.Info("sweep deleted", "sweep", id)
	return nil
}
