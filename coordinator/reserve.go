package coordinator

import (
	"context"

	"foible.dev/foible/coordinator/limits"
	"foible.dev/foible/coordinator/store"
	"foible.dev/foible/core/sweep"
)

// reserve notes that a sweep is coming, until it has arrived, or says which limit it would exceed, together with those that have not
// ended and those that are coming.
func (c *Coordinator) reserve(id string, plan *sweep.Plan) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	plans := []*sweep.Plan{plan}
	for other, run := range c.sweeps {
		if other != id && !run.Ended() {
			plans = append(plans, run.Plan)
		}
	}
	for other, coming := range c.coming {
		if run := c.sweeps[other]; other != id && coming.plan != nil && (run == nil || run.Ended()) {
			plans = append(plans, coming.plan)
		}
	}
	if err := c.cfg.Limits.CheckUnended(plans); err != nil {
		return err
	}
	c.expect(id).plan = plan
	return nil
}

// coming is a sweep that is being taken up.
type coming struct {
	users int         // how often it is expected
	plan  *sweep.Plan // nil if no room was asked for
}

// expect notes that a sweep is coming, until it has arrived. The caller holds mu.
func (c *Coordinator) expect(id string) *coming {
	if c.coming[id] == nil {
		c.coming[id] = &coming{}
	}
	c.coming[id].users++
	return c.coming[id]
}

// arrived ends what expect began: the sweep is in memory, or does not come.
func (c *Coordinator) arrived(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.coming[id].users--; c.coming[id].users == 0 {
		delete(c.coming, id)
	}
}

// checkStored says whether the data directory has as many sweeps as it may.
func (c *Coordinator) checkStored(ctx context.Context) error {
	ids, err := c.store.Sweeps(ctx)
	if err != nil {
		return store.Sentinel(err)
	}
	if most := c.cfg.Limits.StoredSweeps; len(ids) >= most {
		return limits.Beyond("max-stored-sweeps", len(ids)+1, most, "sweeps, ended ones included")
	}
	return nil
}
