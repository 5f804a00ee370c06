package coordinator_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/internal/await"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// What is shown of a sweep while it runs: parts that add up, a rate, the best fits so far, and when it will end.
func TestShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leases)
		m := c.request(8, 6)
		m.Config.Fit, m.Config.Report = fitSize, reportSize
		id := c.submit(m)
		if s := c.sweep(id); s.GetEtaHigh() != nil {
			t.Errorf("an ETA of %v without a worker", s.GetEtaHigh().AsDuration())
		}
		c.work(2, func(ctx context.Context, job *foiblev1.Assign) error {
			d := time.Second + 3*time.Second*time.Duration(codec.InferJobSize(job.GetInfer()))
			select {
			case <-time.After(d):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		type said struct {
			at        time.Time
			low, high time.Duration
		}
		var all []said
		s := c.sweep(id)
		for d := await.Begin(); s.GetState() == foiblev1.SweepState_SWEEP_STATE_RUNNING; s = c.sweep(id) {
			d.Check(t, "the end of the sweep", s)
			p := s.GetProgress()
			sum := func(parts []*foiblev1.PartProgress) (done, cells int64) {
				for _, part := range parts {
					done, cells = done+part.GetCellsDone(), cells+part.GetCells()
				}
				return done, cells
			}
			for _, parts := range [][]*foiblev1.PartProgress{p.GetStages(), p.GetModels(), p.GetStimuli()} {
				if done, cells := sum(parts); done != p.GetCellsDone() || cells != p.GetCells() {
					t.Errorf("parts of %d in %d cells, of %d in %d", done, cells, p.GetCellsDone(), p.GetCells())
				}
			}
			if 5*p.GetCellsDone() >= p.GetCells() {
				all = append(all, said{time.Now(), s.GetEtaLow().AsDuration(), s.GetEtaHigh().AsDuration()})
				if s.GetEtaHigh() == nil || p.GetCellsPerSecond() <= 0 {
					t.Errorf("no ETA, or no rate: %v, %v", s.GetEtaHigh(), p.GetCellsPerSecond())
				}
			}
			time.Sleep(5 * time.Second)
		}
		within := 0
		for _, a := range all {
			if left := s.GetEndTime().AsTime().Sub(a.at); a.low <= left && left <= a.high {
				within++
			}
		}
		if len(all) < 10 || 10*within < 8*len(all) {
			t.Errorf("the end lay in %d of %d ranges", within, len(all))
		}
		if s.GetEtaLow() != nil || s.GetProgress().GetCellsPerSecond() != 0 {
			t.Errorf("a sweep that has ended has an ETA or a rate: %v", s)
		}
		best(c, s)
		c.restart()
		s.Progress.Workers, s.Progress.Slots = 0, 0 // they belong to the moment
		if again := c.sweep(id); !proto.Equal(again.GetProgress(), s.GetProgress()) {
			t.Errorf("after a restart %v, not %v", again.GetProgress(), s.GetProgress())
		}
	})
}

// best checks that the best fits shown are the first of those listed.
func best(c *cluster, s *foiblev1.Sweep) {
	c.t.Helper()
	listed, err := c.sweeps.ListFits(c.t.Context(), &foiblev1.ListFitsRequest{SweepId: s.GetSweepId(), PerModel: 1})
	if err != nil {
		c.t.Fatal(err)
	}
	var want []*foiblev1.Fit
	for _, fit := range listed.GetFits() {
		if fit.GetOverall().PearsonR != nil {
			want = append(want, &foiblev1.Fit{ParameterSet: fit.GetParameterSet(), Overall: fit.GetOverall(), Number: fit.GetNumber(), Incomplete: fit.GetIncomplete()})
		}
	}
	got := s.GetProgress().GetBest()
	if len(got) != len(want) || len(got) == 0 {
		c.t.Fatalf("%d best fits, want %d", len(got), len(want))
	}
	for i := range got {
		if !proto.Equal(got[i], want[i]) {
			c.t.Errorf("best fit %v, want %v", got[i], want[i])
		}
	}
}

// A sweep that is paused has no ETA; one that a coordinator takes up again shows the best fits that it had.
func TestShownAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leases)
		id := c.submit(c.request(8, 2))
		h := c.join(2, 0)
		for range 9 {
			job := h.job()
			time.Sleep(100 * time.Millisecond)
			h.done(job)
		}
		time.Sleep(time.Second)
		if s := c.sweep(id); s.GetEtaHigh() == nil {
			t.Error("no ETA while it runs")
		}
		if _, err := c.pause(id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if s := c.sweep(id); s.GetEtaHigh() != nil {
			t.Error("an ETA while it is paused")
		}
		h.die()
		before := c.sweep(id)
		best(c, before)
		c.restart()
		after := c.sweep(id)
		best(c, after)
		for _, p := range []*foiblev1.Progress{before.Progress, after.Progress} { // what is counted from the start of the coordinator
			p.JobsLeased, p.Retries, p.LeasesLost, p.Workers, p.Slots, p.CellsPerSecond, p.WorkerSeconds = 0, 0, 0, 0, 0, 0, 0
		}
		if !proto.Equal(before.GetProgress(), after.GetProgress()) {
			t.Errorf("after a restart %v, not %v", after.GetProgress(), before.GetProgress())
		}
	})
}

// Two sweeps that share the workers count each other, also if the jobs of one take ten times as long: the end of each
// lies in what is said of it, from the first on.
func TestSharedWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leases)
		var ids [2]string
		for i := range ids {
			m := c.request(8, 6+2*i)
			m.Config.Fit, m.Config.Report = fitSize, reportSize
			m.Config.Seed = uint64(i)
			ids[i] = c.submit(m)
		}
		pace := map[string]time.Duration{ids[0]: 10 * time.Second, ids[1]: time.Second}
		c.work(2, func(ctx context.Context, job *foiblev1.Assign) error {
			select {
			case <-time.After(pace[job.GetSweepId()] * time.Duration(1+codec.InferJobSize(job.GetInfer()))):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		type said struct {
			at        time.Time
			low, high time.Duration
		}
		all := map[string][]said{}
		ends := map[string]time.Time{}
		for d := await.Begin(); len(ends) < len(ids); {
			for _, id := range ids {
				s := c.sweep(id)
				d.Check(t, "the end of both sweeps", s)
				if s.GetState() != foiblev1.SweepState_SWEEP_STATE_RUNNING {
					ends[id] = s.GetEndTime().AsTime()
				} else if s.GetEtaHigh() != nil {
					all[id] = append(all[id], said{time.Now(), s.GetEtaLow().AsDuration(), s.GetEtaHigh().AsDuration()})
				}
			}
			time.Sleep(5 * time.Second)
		}
		for _, id := range ids {
			within, early := 0, 0
			for _, a := range all[id] {
				switch left := ends[id].Sub(a.at); {
				case a.low <= left && left <= a.high:
					within++
				case left > a.high:
					early++
				}
			}
			if first := all[id][0]; ends[id].Sub(first.at) < first.low || ends[id].Sub(first.at) > first.high {
				t.Errorf("%s: at first %v to %v is said, and it takes %v", id, first.low, first.high, ends[id].Sub(first.at))
			}
			t.Logf("%s: the end lay in %d of %d ranges, and after %d", id, within, len(all[id]), early)
			if len(all[id]) < 10 || 10*within < 7*len(all[id]) {
				t.Errorf("%s: the end lay in %d of %d ranges, and after %d", id, within, len(all[id]), early)
			}
		}
	})
}
