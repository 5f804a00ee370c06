package coordinator_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/coordinator/web"
	"foible.dev/foible/core/sweep"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// What is seen of a sweep closely is what its plan, its progress and its results say, also after a restart, when it has
// long ended.
func TestInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		id := c.submit(c.staged(5, 3))
		before, err := c.inner.Inside(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if len(before.Sets) != 13 || len(before.Stimuli) != 3 || before.Chosen != nil || len(before.Failures) != 0 || done(before) != 0 {
			t.Errorf("before the first job: %+v", before)
		}
		c.work(2, func(_ context.Context, job *foiblev1.Assign) error {
			if work := job.GetInfer(); work.GetStimulus() == "s01" && slices.Contains(models(asked(work)), "boltzmann") && work.GetStage() == sweep.FitStage {
				return errors.New("no luck")
			}
			time.Sleep(time.Second)
			return nil
		})
		end := c.wait(id)
		if p := end.GetProgress(); p.GetWorkerSeconds() < float64(p.GetJobsDone()-p.GetJobsFailed()) || p.GetWorkerSecondsEstimated() || p.GetRetries() == 0 {
			t.Error(p)
		}
		after, err := c.inner.Inside(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if done(after) != int(end.GetProgress().GetCells()) || len(after.Chosen) == 0 || len(after.Failures) != int(end.GetProgress().GetJobsFailed()) {
			t.Errorf("at the end: %d cells, %+v", done(after), after)
		}
		f := after.Failures[0]
		if f.Score || f.Stimulus != "s01" || f.Reason != "no luck" || len(f.Sets) == 0 || f.Sets[0].Model != "boltzmann" {
			t.Errorf("%+v", f)
		}
		c.checkFits(id, after)

		c.stop()
		c.start()
		if got := c.sweep(id).GetProgress().GetWorkerSeconds(); math.Abs(got-end.GetProgress().GetWorkerSeconds()) > 1e-9 {
			t.Errorf("%v s of work, before the restart %v", got, end.GetProgress().GetWorkerSeconds())
		}
		again, err := c.inner.Inside(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if len(again.Failures) != len(after.Failures) {
			t.Errorf("after a restart: %+v", again.Failures)
		}
		again.Failures = after.Failures // in another order
		if !reflect.DeepEqual(again, after) {
			t.Errorf("after a restart: %+v\nwant %+v", again, after)
		}
		c.checkFits(id, again)
		if _, err := c.inner.Inside(t.Context(), "none"); !errors.Is(err, service.ErrNotFound) {
			t.Error(err)
		}
	})
}

// done counts the cells done.
func done(in *web.Inside) (n int) {
	for _, c := range in.Coverage {
		for _, cells := range c.Done {
			n += cells
		}
	}
	return n
}

// allScored says whether every chunk of a sweep is said to be scored: each has a job a stimulus, and its score job.
func (c *cluster) allScored(id string, in *web.Inside) bool {
	c.t.Helper()
	return len(in.Scored)*(len(in.Stimuli)+1) == int(c.sweep(id).GetProgress().GetJobs())
}

// checkFits: chunk by chunk, there is a fit a parameter set that has one, and cells of the reported sets are the report's.
func (c *cluster) checkFits(id string, in *web.Inside) {
	c.t.Helper()
	if !c.allScored(id, in) {
		c.t.Errorf("only %v are scored", in.Scored)
	}
	all, reported := 0, 0
	for _, chunk := range in.Scored {
		job, fits, err := c.inner.ChunkFits(c.t.Context(), id, chunk)
		if err != nil {
			c.t.Error(chunk, err)
		}
		if job.Chunk != chunk || len(fits) != 0 && len(fits) != len(job.Sets) {
			c.t.Errorf("%d fits of chunk %d, job %+v", len(fits), chunk, job)
		}
		for i := range fits {
			if got, want := job.Sets[i], in.Sets[job.Index(i)]; got != want {
				c.t.Errorf("fit %d of chunk %d is of %v, not %v", i, chunk, got, want)
			}
		}
		if job.Stage == sweep.ReportStage {
			reported = len(fits)
			continue
		}
		all += len(fits)
	}
	if all == 0 || all >= len(in.Sets) {
		c.t.Errorf("%d fits", all)
	}
	if reported != len(in.Chosen) {
		c.t.Errorf("%d of %d fits are reported", reported, len(in.Chosen))
	}
	for set := range in.Sets {
		cell, err := c.inner.Cell(c.t.Context(), id, set, 0)
		if err != nil || cell == nil || len(cell.Posterior) != actions+1 {
			c.t.Errorf("set %d: %+v, %v", set, cell, err)
		}
	}
	if runs := func(set int) int {
		cell, _ := c.inner.Cell(c.t.Context(), id, set, 0)
		return cell.Runs.Len()
	}; runs(in.Chosen[0]) != int(reportSize.GetRuns()) {
		c.t.Errorf("the cell of a reported set has %d runs", runs(in.Chosen[0]))
	}
	for set := range in.Sets { // that has failed
		if in.Sets[set].Model == "boltzmann" {
			if cell, err := c.inner.Cell(c.t.Context(), id, set, 1); cell != nil || err != nil {
				c.t.Errorf("%+v, %v", cell, err)
			}
		}
	}
}

// Workers are shown with what they do, have done and have lost, also after they have left.
func TestWorkersAreShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leases)
		id := c.submit(c.request(1, 3))
		one := c.join(2, 0)
		first := one.job()
		one.job()
		time.Sleep(grace / 2)
		one.done(first)
		synctest.Wait()
		w := c.inner.Workers()
		if len(w) != 1 || w[0].Host != "hand" || w[0].Slots != 2 || w[0].Done != 1 || w[0].Lost != 0 || !w[0].Left.IsZero() || len(w[0].Jobs) != 2 || w[0].Jobs[0].Sweep != id || time.Since(w[0].Heard) > time.Second {
			t.Errorf("at work: %+v", w)
		}
		one.die()
		time.Sleep(2 * grace)
		two := c.join(3, 0)
		two.job()
		two.job()
		synctest.Wait()
		w = c.inner.Workers()
		if len(w) != 2 || w[0].Slots != 3 || len(w[0].Jobs) != 2 || w[1].Left.IsZero() || w[1].Lost != 2 || w[1].Done != 1 || len(w[1].Jobs) != 0 {
			t.Errorf("after the first has left: %+v", w)
		}
		if p := c.sweep(id).GetProgress(); p.GetRetries() != 2 {
			t.Error(p)
		}
		two.drain()
		if w := c.inner.Workers(); !w[0].Draining {
			t.Errorf("draining: %+v", w[0])
		}
	})
}

// Of jobs that were recorded before a restart, it is not known how long they took; they count as the others do.
func TestCostAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		id := c.submit(c.request(1, 3))
		one := c.join(1, 0)
		job := one.job()
		time.Sleep(2 * time.Second)
		one.done(job)
		one.die()
		c.stop()
		c.start()
		if p := c.sweep(id).GetProgress(); p.GetWorkerSeconds() != 0 || p.GetJobsDone() != 1 {
			t.Error(p)
		}
		two := c.join(1, 0)
		job = two.job()
		time.Sleep(3 * time.Second)
		two.done(job)
		if p := c.sweep(id).GetProgress(); math.Abs(p.GetWorkerSeconds()-6) > 0.1 || !p.GetWorkerSecondsEstimated() {
			t.Error(p)
		}
	})
}
