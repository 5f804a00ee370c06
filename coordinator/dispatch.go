package coordinator

import (
	"context"
	"errors"
	"math"
	"time"

	"foible.dev/foible/coordinator/engine"
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
	for {
		if c.deal(ctx) {
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

// deal shares the slots that wait among the sweeps that run, by their weights: each gets its part, and what others
// leave. It says whether there was a job.
func (c *Coordinator) deal(ctx context.Context) (some bool) {
	waiting := c.demand.size()
	if waiting == 0 || c.stalled() != "" {
		return false
	}
	runs := c.running()
	c.compete(runs)
	for waiting > 0 && len(runs) > 0 {
		var more []*sweepRun // those that may have further jobs
		got := make([]int, len(runs))
		for i, n := range c.shares.split(runs, waiting) {
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
		c.shares.charge(runs, got)
		runs = more
	}
	return some
}

// shares divides slots between sweeps by weight, over time: each job puts a sweep's tag forward by 1 / weight, and the
// sweep with the least tag is next. One that had nothing to do begins where the others are: it has saved up nothing.
type shares struct {
	now float64 // the tag of the last sweep served, before that
}

// split says how many of the slots each sweep is to have.
func (s *shares) split(runs []*sweepRun, slots int) []int {
	n, tags, weights := make([]int, len(runs)), make([]float64, len(runs)), make([]float64, len(runs))
	for i, run := range runs {
		tags[i], weights[i] = max(s.now, run.tag), run.weight()
	}
	for range slots {
		next := 0
		for i := range tags {
			if tags[i] < tags[next] {
				next = i
			}
		}
		n[next]++
		tags[next] += 1 / weights[next]
	}
	return n
}

// charge notes how many jobs each sweep has been given.
func (s *shares) charge(runs []*sweepRun, jobs []int) {
	least := math.Inf(1)
	for i, run := range runs {
		if jobs[i] > 0 {
			begin := max(s.now, run.tag)
			least = min(least, begin)
			run.tag = begin + float64(jobs[i])/run.weight()
		}
	}
	if !math.IsInf(least, 1) {
		s.now = max(s.now, least)
	}
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
	for _, o := range c.demand.deal(offers) {
		var wait time.Duration
		switch {
		case o.overdue != nil:
			fetched--
		case run.failedBefore(o.delivery.Job()) || run.computedOnce(o.delivery.Job()): // it is kept for workers that are busy
			wait = avoidPause
		}
		_ = o.release(wait)
	}
	if fetched == 0 && err == nil {
		err = run.audit(ctx)
	}
	return fetched, err
}
