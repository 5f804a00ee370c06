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

// dispatch brings jobs to free slots: one job a sweep in turn, while slots wait.
func (c *Coordinator) dispatch(ctx context.Context) error {
	poll := time.NewTimer(0)
	defer poll.Stop()
	for turn := 0; ; turn++ {
		given := 0
		if waiting := c.demand.size(); waiting > 0 {
			runs := c.running()
			for i := range runs {
				run := runs[(turn+i)%len(runs)]
				share := max(1, (waiting-given+len(runs)-i-1)/(len(runs)-i))
				n, err := c.offer(ctx, run, min(share, waiting-given))
				if err != nil && ctx.Err() == nil {
					c.log.Error("fetch jobs", "sweep", run.id, "error", err)
				}
				if given += n; given == waiting {
					break
				}
			}
		}
		if given > 0 {
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

// offer fetches at most n jobs of a sweep and gives them to slots.
func (c *Coordinator) offer(ctx context.Context, run *sweepRun, n int) (given int, err error) {
	if n < 1 {
		return 0, nil
	}
	deliveries, err := run.queue.Fetch(ctx, n)
	if errors.Is(err, engine.ErrNotFound) { // the sweep has just ended
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, d := range deliveries {
		if d.Job() < 0 || d.Job() >= run.plan.Jobs() || run.done(d.Job()) {
			_ = d.Ack() // lost acknowledgements come again
			given++
			continue
		}
		if !c.demand.give(offer{run: run, delivery: d}) {
			_ = d.Release()
			continue
		}
		given++
	}
	if len(deliveries) == 0 {
		return 0, run.audit(ctx)
	}
	return given, nil
}
