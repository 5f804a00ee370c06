package coordinator

import (
	"context"
	"errors"
	"time"

	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/schedule"
)

const (
	// avoidPause is how long a job waits that only workers could take on which it failed.
	avoidPause = time.Second
	// pollInterval is how often the queues are asked while slots wait and nothing has been heard: redeliveries
	// come without notice.
	pollInterval = 100 * time.Millisecond
	// auditInterval is how often an idle sweep is checked for jobs that the queue has lost.
	auditInterval = 10 * time.Second
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
		var more []*sweepRun // those that may have further jobs
		got := make([]int, len(runs))
		shares := make([]*schedule.Share, len(runs))
		for i, run := range runs {
			shares[i] = &run.share
			shares[i].Weight = run.weight()
		}
		for i, n := range c.stride.Split(shares, waiting) {
			var err error
			if n > 0 {
				if got[i], err = c.offer(ctx, runs[i], n); err != nil && ctx.Err() == nil {
					c.log.Error("fetch jobs", "sweep", runs[i].id, "error", err)
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

// offer fetches at most n jobs of a sweep and gives them to slots. Slots for which there are no more get jobs that take
// too long elsewhere.
func (c *Coordinator) offer(ctx context.Context, run *sweepRun, n int) (fetched int, err error) {
	deliveries, err := run.queue.Fetch(ctx, n)
	if errors.Is(err, engine.ErrNotFound) { // the sweep has just ended
		err = nil
	}
	offers := make([]offer, 0, len(deliveries))
	for _, d := range deliveries {
		needed := d.Job() < run.plan.Jobs() && !run.done(d.Job()) // else an acknowledgement was lost
		if needed {
			var unsure error
			if needed, unsure = run.knows(ctx, d.Job()); unsure != nil {
				o := offer{run: run, delivery: d}
				err = errors.Join(err, unsure, o.release(0))
				continue
			}
		}
		if !needed { // or results were lost: those of the fits on which the report rests
			_ = d.Ack()
			continue
		}
		offers = append(offers, offer{run: run, delivery: d})
	}
	fetched = len(deliveries)
	if fetched < n { // there is nothing else to do
		overdue := run.overdue(n - fetched)
		fetched += len(overdue)
		offers = append(offers, overdue...)
	}
	for _, o := range c.demand.Deal(offers) {
		var wait time.Duration
		switch {
		case o.overdue != nil:
			fetched--
		case run.troubles.Failed(o.delivery.Job()) || run.computedOnce(o.delivery.Job()): // it is kept for workers that are busy
			wait = avoidPause
		}
		_ = o.release(wait)
	}
	if fetched == 0 && err == nil {
		err = run.audit(ctx)
	}
	return fetched, err
}
