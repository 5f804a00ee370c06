package coordinator

import (
	"context"
	"errors"
	"time"

	"foible/coordinator/engine"
)

const (
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
	for first := 0; ; {
		if c.deal(ctx, first) {
			first++ // only now: with one slot at a time, every sweep has its turn
			continue
		}
		poll.Reset(pollInterval)
		select {
		case <-ctx.Done():
			return nil
		case <-c.demand.wake:
		case <-poll.C:
		}
	}
}

// deal shares the slots that wait among the sweeps that run, beginning with one of them: each gets an equal
// part, and what others leave. It says whether there was a job.
func (c *Coordinator) deal(ctx context.Context, first int) (some bool) {
	waiting := c.demand.size()
	if waiting == 0 {
		return false
	}
	runs := c.running()
	for i := range runs {
		run, others := runs[(first+i)%len(runs)], len(runs)-i
		n, err := c.offer(ctx, run, (waiting+others-1)/others)
		if err != nil && ctx.Err() == nil {
			c.log.Error("fetch jobs", "sweep", run.id, "error", err)
		}
		some = some || n > 0
		if waiting -= n; waiting <= 0 {
			break
		}
	}
	return some
}

// offer fetches at most n jobs of a sweep and gives them to slots.
func (c *Coordinator) offer(ctx context.Context, run *sweepRun, n int) (fetched int, err error) {
	deliveries, err := run.queue.Fetch(ctx, n)
	if errors.Is(err, engine.ErrNotFound) { // the sweep has just ended
		err = nil
	}
	offers := make([]offer, 0, len(deliveries))
	for _, d := range deliveries {
		// An acknowledgement was lost, or results were: those of the fits on which the report rests.
		if d.Job() >= run.plan.Jobs() || run.done(d.Job()) || !run.known(d.Job()) {
			_ = d.Ack()
			continue
		}
		offers = append(offers, offer{run: run, delivery: d})
	}
	for _, o := range c.demand.deal(offers) {
		_ = o.delivery.Release()
	}
	if len(deliveries) == 0 && err == nil {
		err = run.audit(ctx)
	}
	return len(deliveries), err
}
