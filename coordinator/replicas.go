package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator/active"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/replica"
	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/store"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Several coordinators may share an engine's servers. Each follows what the others store: sweeps and their states, and
// results, from which it makes its own progress. The queue gives each job to one of them. What is done twice all the
// same is harmless: the first result stands, and a sweep ends by compare-and-set.

const (
	// takeUpPause is how long to wait before a sweep that could not be taken up is tried again.
	takeUpPause = active.RetryPause
)

// join makes this coordinator one of several, if others may have the same servers.
func (c *Coordinator) join() error {
	if !c.store.Shared() {
		return nil
	}
	err := c.store.Hear(func(said []byte) {
		if p := c.others.Hear(said); p != nil { // who is new has heard nothing yet
			c.tellOthers()
			for _, differs := range p.Differs(c.cfg.settings()) {
				c.log.Warn("another coordinator on these NATS servers differs", "how", differs)
			}
		}
	})
	if err != nil {
		return err
	}
	c.background.Go(func() error {
		err := c.store.WatchSweeps(c.ctx, func(id string, value []byte, revision uint64) {
			if value == nil {
				c.background.Go(func() error { c.followDeletion(id); return nil })
				return
			}
			spec := &foiblev1.Sweep{}
			if err := proto.Unmarshal(value, spec); err != nil {
				c.log.Error("the record of a sweep is damaged", "sweep", id, "error", err)
				return
			}
			c.followLater(id, spec, revision)
		})
		if c.ctx.Err() != nil || errors.Is(err, engine.ErrClosed) {
			return nil
		}
		return err
	})
	c.background.Go(func() error {
		for tick := time.Tick(active.SendInterval); ; {
			select {
			case <-tick:
			case <-c.ctx.Done():
				return nil
			}
			for _, run := range c.running() {
				run.SendOverdue(c.ctx)
			}
		}
	})
	c.background.Go(func() error {
		for tick := time.Tick(replica.Interval); ; {
			c.tellOthers()
			select {
			case <-tick:
			case <-c.ctx.Done():
				return nil
			}
		}
	})
	return nil
}

// followLater lets follow do what has been stored of a sweep, and does not wait for it: to take up a sweep takes long, and other sweeps go
// on meanwhile. Nothing is to be done of a sweep that has ended, and that is neither in memory nor on its way there.
func (c *Coordinator) followLater(id string, spec *foiblev1.Sweep, revision uint64) {
	c.mu.Lock()
	goesOn := store.Unended(spec.GetState()) && !spec.GetDeleted()
	if !goesOn && c.sweeps[id] == nil && !c.taking.used(id) {
		c.mu.Unlock()
		return
	}
	c.expect(id)
	c.mu.Unlock()
	c.background.Go(func() error {
		defer c.arrived(id)
		c.follow(id, spec, revision)
		return nil
	})
}

// follow does what has been done to a sweep, perhaps by another coordinator, as it was stored at a revision, or later.
func (c *Coordinator) follow(id string, spec *foiblev1.Sweep, revision uint64) {
	defer c.taking.lock(id)()
	switch now, at, err := c.store.SweepRecord(c.ctx, id); {
	case err == nil && at > revision: // stored while this waited
		spec, revision = now, at
	case errors.Is(err, service.ErrNotFound): // deleted while this waited, or the server that was asked does not know of it yet
		if store.Unended(spec.GetState()) {
			c.takeUpLater(id)
		}
		return
	}
	run, taken := c.run(id)
	switch {
	case taken && run.Older(revision) && (!store.SameLife(run.Spec, spec) || run.State() == store.Cancelled && store.Unended(spec.GetState())):
		c.discard(run) // it goes on, with a new queue, or is of no more use
	case taken:
		before := run.State()
		run.Adopt(spec, revision)
		if run.Ended() {
			if run.State() == store.Cancelled && before != store.Cancelled {
				c.log.Info("sweep cancelled", "sweep", id)
			}
			c.discard(run)
		}
		c.demand.Signal()
		return
	}
	if !store.Unended(spec.GetState()) || spec.GetDeleted() {
		return
	}
	err := c.takeUp(c.ctx, spec, revision)
	if err == nil || c.ctx.Err() != nil {
		return
	}
	c.log.Error("take up sweep; trying again", "sweep", id, "error", err)
	c.takeUpLater(id)
}

// followDeletion forgets a sweep that has been deleted, perhaps by another coordinator.
func (c *Coordinator) followDeletion(id string) {
	defer c.taking.lock(id)()
	if _, _, err := c.store.SweepRecord(c.ctx, id); !errors.Is(err, service.ErrNotFound) {
		return // it has been made anew since
	}
	if run, taken := c.run(id); taken {
		c.discard(run)
	}
	c.damages.Clear(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.past, id)
	delete(c.ended, id)
}

// catchUp does what has been stored of a sweep.
func (c *Coordinator) catchUp(ctx context.Context, id string) {
	if spec, revision, err := c.store.Sweep(ctx, id); err == nil {
		c.follow(id, spec, revision)
	}
}

// find is run, for one who may know from another coordinator that there is the sweep, or that it goes on again.
func (c *Coordinator) find(ctx context.Context, id string) (*active.Sweep, bool) {
	if run, ok := c.run(id); ok && !run.Ended() || !c.store.Shared() {
		return run, ok
	}
	c.catchUp(ctx, id)
	return c.run(id)
}

// settings are those that the other coordinators must have too.
func (c *Config) settings() replica.Settings {
	s := replica.Settings{Version: c.Version, Lease: c.Lease}
	if c.Access != nil {
		s.Authority = fmt.Sprintf("%x", c.Access.Authority())
	}
	return s
}

// tellOthers says to the other coordinators how this one stands.
func (c *Coordinator) tellOthers() {
	if !c.store.Shared() {
		return
	}
	p := replica.Presence{Sweeps: map[string]replica.Load{}, Settings: c.cfg.settings()}
	p.Workers, p.Slots = c.crew.Connected()
	p.Aside = c.crew.Troubles()
	c.mu.Lock()
	for id, run := range c.sweeps {
		if l := run.Load(); l != (replica.Load{}) {
			p.Sweeps[id] = l
		}
	}
	c.mu.Unlock()
	said, err := c.others.Message(p)
	if err == nil {
		err = c.store.Tell(said)
	}
	if err != nil {
		c.log.Debug("tell other coordinators", "error", err)
	}
}

// serving says which servers keep the data, or where it is.
func (c *Config) serving() string {
	if c.Servers != nil {
		return fmt.Sprint(c.Servers.URLs)
	}
	return c.DataDir
}
