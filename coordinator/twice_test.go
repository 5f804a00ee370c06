package coordinator_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/internal/await"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// queueAgain puts a job into the queue once more, as an audit does that takes it for lost.
func queueAgain(c *cluster, id string, job int) {
	c.t.Helper()
	if err := c.inner.QueueAgain(c.t.Context(), id, job); err != nil {
		c.t.Fatal(err)
	}
}

// TestQueuedTwice: a job that the queue has twice goes to one worker at a time, whichever of its entries comes, and
// however often that has been given out.
func TestQueuedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		id := c.submit(c.request(1, 1))
		one := c.join(1, 0)
		job := one.job()
		queueAgain(c, id, 0)
		two := c.join(2, 0)
		two.idle(time.Second) // the new entry

		// The job is done by the entry that comes first; the other one has been given out before.
		c.to(paused)(c.pause(id))
		one.fail(job)
		queueAgain(c, id, 0)
		two.drain()
		c.to(running)(c.resume(id))
		job = one.job()
		if job.GetAttempt() != 1 {
			t.Errorf("the new entry was to come, not attempt %d", job.GetAttempt())
		}
		three := c.join(2, 0)
		three.idle(time.Second) // the old entry
		if p := c.sweep(id).GetProgress(); p.GetLeasesLost() != 0 || p.GetJobsLeased() != 1 {
			t.Error(p)
		}
		one.done(job)
		select {
		case score := <-one.assigned:
			one.done(score)
		case score := <-three.assigned:
			three.done(score)
		case <-time.After(await.Limit()):
			t.Fatalf("waited %v for the score job; the sweep is %v", await.Limit(), c.sweep(id))
		}
		if p := c.wait(id).GetProgress(); p.GetJobsDone() != 2 || p.GetDuplicates() != 0 || p.GetLeasesLost() != 0 {
			t.Error(p)
		}
	})
}

// TestQueuedTwiceLastFailure: a worker's slot is not given to the other entry of a job while its last failure is being
// recorded: a worker that does not answer for it would keep the sweep from ending. It is a matter of which comes
// first, so the test is repeated.
func TestQueuedTwiceLastFailure(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, nil)
			id := c.submit(c.request(1, 1))
			queueAgain(c, id, 0)
			h := c.join(1, 0)
			for range coordinator.DefaultConfig().MaxFailures {
				h.fail(h.job())
			}
			if p := c.wait(id).GetProgress(); p.GetJobsFailed() != 2 || p.GetJobsLeased() != 0 {
				t.Error(p)
			}
			h.idle(lease)
		})
	}
}

// TestDoneElsewhere: a worker that goes on with a job which another one has done meanwhile is told to leave it.
func TestDoneElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leases)
		id := c.submit(c.request(1, 1))
		one := c.join(1, 0)
		job := one.job()
		one.beat(job.GetLease())
		two := c.join(1, 0)
		again := two.job() // one is silent for longer than the lease
		one.beat(job.GetLease())
		one.wanted()
		two.done(again)
		one.beat(job.GetLease())
		if got := one.unwanted(); !slices.Equal(got, []uint64{job.GetLease()}) {
			t.Errorf("told to leave %v, not %v", got, job.GetLease())
		}
		if r := one.tell(job, answer(job)); r.GetVerdict() != foiblev1.Verdict_VERDICT_DUPLICATE {
			t.Error(r)
		}
		two.done(two.job())
		c.wait(id)
	})
}
