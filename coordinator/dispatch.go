package coordinator

import (
	"context"
	"slices"
	"time"

	"foible.dev/foible/coordinator/active"
	"foible.dev/foible/coordinator/schedule"
)

const (
	// pollInterval is how often the queues are asked while slots wait and nothing has been heard: redeliveries
	// come without notice.
	pollInterval = 100 * time.Millisecond
)

// dispatch brings jobs to free slots while slots wait.
func (c *Coordinator) dispatch(ctx context.Context) error {
	poll := time.NewTimer(pollInterval)
	defer poll.Stop()
	for {
		if c.deal(ctx) {
			continue
		}
		poll.Reset(pollInterval)
		select {
		case <-ctx.Done():
			return nil
		case <-c.demand.Signalled():
		case <-poll.C:
		}
	}
}

// deal shares the slots that wait among the sweeps that run, by their weights: each gets its part, and what others
// leave. It says whether there was a job.
func (c *Coordinator) deal(ctx context.Context) (some bool) {
	waiting := c.demand.Slots()
	if waiting == 0 || c.stalled() != "" {
		return false
	}
	runs := c.running()
	c.compete(runs)
	for waiting > 0 && len(runs) > 0 {
		var more []*active.Sweep // those that may have further jobs
		got := make([]int, len(runs))
		shares := make([]*schedule.Share, len(runs))
		for i, run := range runs {
			shares[i] = run.Share()
		}
		for i, n := range c.stride.Split(shares, waiting) {
			var err error
			if n > 0 {
				if got[i], err = c.offer(ctx, runs[i], n); err != nil && ctx.Err() == nil {
					c.log.Error("fetch jobs", "sweep", runs[i].ID, "error", err)
				}
			}
			if got[i] == n {
				more = append(more, runs[i])
			}
			waiting -= got[i]
			some = some || got[i] > 0
		}
		c.stride.Charge(shares, got)
		runs = more
	}
	return some
}

// offer fetches at most n jobs of a sweep and gives them to slots.
func (c *Coordinator) offer(ctx context.Context, run *active.Sweep, n int) (fetched int, err error) {
	offers, fetched, err := run.Fetch(ctx, n)
	for _, o := range c.demand.Deal(offers) {
		if o.Keep() {
			fetched--
		}
	}
	if fetched == 0 && err == nil {
		err = run.Audit(ctx)
	}
	return fetched, err
}

// compete tells the running sweeps of each other, as far as that is not known: who is one, and of what weight.
func (c *Coordinator) compete(runs []*active.Sweep) {
	now := make([]contender, len(runs))
	for i, run := range runs {
		now[i] = contender{run.ID, run.Weight()}
	}
	if slices.Equal(now, c.contenders) {
		return
	}
	c.contenders = now
	at := time.Now()
	for _, run := range runs {
		run.Compete(at, runs)
	}
}

// contender is a sweep for the slots.
type contender struct {
	sweep  string
	weight float64
}
