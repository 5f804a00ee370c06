package coordinator_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// extend asks for more values of alpha.
func (c *cluster) extend(id string, alpha ...float64) (*foiblev1.ExtendSweepResponse, error) {
	return c.sweeps.ExtendSweep(c.t.Context(), &foiblev1.ExtendSweepRequest{
		SweepId: id, Models: map[string]*foiblev1.ModelConfig{"boltzmann": {Alpha: alpha}},
	})
}

// census counts how often workers have computed each cell.
type census struct {
	mu    sync.Mutex
	cells map[string]int // guarded by mu
}

func (n *census) Execute(_ context.Context, job *foiblev1.Assign) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, set := range asked(job.GetInfer()) {
		n.cells[job.GetInfer().GetStage()+" "+job.GetInfer().GetStimulus()+" "+set.String()]++
	}
	return nil
}

// take returns the number of cells computed since the last call, and how many of these had been computed before.
func (n *census) take() (computed, again int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for cell, times := range n.cells {
		computed += times % 1000
		if times > 1 {
			again += times % 1000
		}
		n.cells[cell] = 1000
	}
	return computed, again
}

func newCensus() *census { return &census{cells: map[string]int{}} }

// TestExtend: an extended sweep has the results of a fresh one of the larger grid, and workers compute the new cells
// alone, once, however old and new ones lie in its jobs.
func TestExtend(t *testing.T) {
	for _, test := range []struct {
		name string
		from int       // parameter sets of the sweep
		add  []float64 // values of alpha
	}{
		{"at the end", 64, []float64{100, 101, 102}},
		{"between", 64, []float64{1.01, 1.51, 2.01, 2.02, 7.77}},
		{"below, and one that is there", 5, []float64{0.5, 1}},
		{"twice as many", 40, func() (all []float64) {
			for i := range 40 {
				all = append(all, 1.0625+float64(i)/8)
			}
			return all
		}()},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, nil)
				n := newCensus()
				c.work(3, n.Execute)
				m := c.staged(test.from, 3)
				id := c.submit(m)
				c.wait(id)
				n.take()
				r, err := c.extend(id, test.add...)
				if err != nil || r.GetExisted() || r.GetSweep().GetExtends() != id || r.GetSweep().GetSweepId() == id {
					t.Fatalf("%v, %v", r, err)
				}
				larger := r.GetSweep()
				s := c.wait(larger.GetSweepId())
				if s.GetState() != succeeded {
					t.Fatal(s)
				}
				added := len(larger.GetConfig().GetModels()["boltzmann"].GetAlpha()) - test.from
				computed, again := n.take()
				if again != 0 || computed < added*3 || computed > added*3+5*3 {
					t.Errorf("%d cells were computed, %d of them again, where %d are new", computed, again, added*3)
				}

				fresh := newCluster(t, nil)
				fresh.work(3, nil)
				m.Config = larger.GetConfig()
				if hash, err := fresh.send(bundle(t)); err != nil || hash != m.GetStudyHash() {
					t.Fatal(hash, err)
				}
				if got := fresh.submit(m); got != larger.GetSweepId() {
					t.Errorf("a fresh sweep is %s, the extended one %s", got, larger.GetSweepId())
				}
				fresh.wait(larger.GetSweepId())
				got, _ := c.export(larger.GetSweepId())
				want, _ := fresh.export(larger.GetSweepId())
				if !bytes.Equal(got, want) {
					t.Error("the results are others than those of a fresh sweep")
				}
			})
		})
	}
}

// TestExtendAgain: a sweep extended twice, over a restart, computes nothing twice.
func TestExtendAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		n := newCensus()
		drain := c.work(3, n.Execute)
		first := c.submit(c.request(20, 3))
		c.wait(first)
		second, err := c.extend(first, 1.1, 1.2, 50)
		if err != nil {
			t.Fatal(err)
		}
		drain()
		c.restart()
		c.work(3, n.Execute)
		c.wait(second.GetSweep().GetSweepId())
		third, err := c.extend(second.GetSweep().GetSweepId(), 1.15, 60)
		if err != nil {
			t.Fatal(err)
		}
		if s := c.wait(third.GetSweep().GetSweepId()); s.GetState() != succeeded {
			t.Error(s)
		}
		if computed, again := n.take(); computed != 25*3 || again != 0 {
			t.Errorf("%d cells were computed, %d of them twice", computed, again)
		}
		_, err = c.extend(first, 1)
		wantCode(t, err, codes.InvalidArgument, "it has all of these values already")
		_, err = c.extend(first, -1)
		wantCode(t, err, codes.InvalidArgument, "alpha[0]: must be greater than 0")
		if r, err := c.extend(first, 50, 1.2, 1.1); err != nil || !r.GetExisted() || !proto.Equal(r.GetSweep().GetCreateTime(), second.GetSweep().GetCreateTime()) {
			t.Errorf("%v, %v", r, err)
		}
	})
}

// TestExtendUnfinished: an extension waits for the sweep that it extends, and computes what that has not when it is
// cancelled, or could not do.
func TestExtendUnfinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, func(cfg *coordinator.Config) { cfg.MaxFailures = 1 })
		n := newCensus()
		id := c.submit(c.request(40, 4))
		h := c.join(1, 0)
		bad := h.job()
		h.tell(bad, failure("bad"))
		for range 6 {
			job := h.job()
			if err := n.Execute(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			h.done(job)
		}
		held := h.job()
		r, err := c.extend(id, 1.01, 77)
		if err != nil {
			t.Fatal(err)
		}
		larger := r.GetSweep().GetSweepId()
		if s := c.sweep(larger); s.GetWaitsFor() != id || s.GetEtaHigh() != nil {
			t.Errorf("it waits for %q, with an ETA of %v", s.GetWaitsFor(), s.GetEtaHigh())
		}
		c.to(paused)(c.pause(id))
		if s := c.sweep(larger); s.GetWaitsFor() != id {
			t.Errorf("it waits for %q, which is paused", s.GetWaitsFor())
		}
		h.done(held)
		h.idle(10 * time.Second)
		c.to(cancelled)(c.cancel(id))
		if job := h.job(); job.GetSweepId() != larger {
			t.Errorf("a job of %s", job.GetSweepId())
		}
		if s := c.sweep(larger); s.GetWaitsFor() != "" {
			t.Errorf("it waits for %q, which has ended", s.GetWaitsFor())
		}
		h.die()
		if err := n.Execute(t.Context(), held); err != nil {
			t.Fatal(err)
		}
		before, _ := n.take()
		c.work(2, n.Execute)
		if s := c.wait(larger); s.GetState() != succeeded {
			t.Error(s)
		}
		if computed, again := n.take(); computed+before != 42*4 || again != 0 {
			t.Errorf("%d cells were computed after %d, %d of them again", computed, before, again)
		}
	})
}

// TestExtendPartAnswers: an answer with the cells that were asked for is recorded, also without its lease; one with
// others is refused.
func TestExtendPartAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		drain := c.work(1, nil)
		id := c.submit(c.request(64, 2))
		c.wait(id)
		drain()
		r, err := c.extend(id, 1.01, 1.02, 1.03)
		if err != nil {
			t.Fatal(err)
		}
		h := c.join(1, 0)
		job := h.job()
		if n := codec.InferJobSize(job.GetInfer()); n != 3 {
			t.Fatalf("%d cells were asked for", n)
		}
		h.die()
		c.restart()
		h = c.join(1, 1)
		h.beat(job.GetLease())
		few := answer(job)
		few.GetInfer().Cells = few.GetInfer().Cells[:2]
		twice := answer(job)
		twice.GetInfer().Cells[1] = twice.GetInfer().GetCells()[0]
		for _, wrong := range []*foiblev1.JobResult{few, twice} {
			if r := h.tell(job, wrong); r.GetVerdict() != foiblev1.Verdict_VERDICT_REFUSED {
				t.Errorf("a wrong answer: %v", r)
			}
		}
		h.done(job)
		h.die()
		c.work(2, nil)
		if s := c.wait(r.GetSweep().GetSweepId()); s.GetState() != succeeded {
			t.Error(s)
		}
	})
}

// TestExtendToLarge: a sweep extended beyond the size up to which every step is kept has the results of a fresh one, and
// computes nothing twice.
func TestExtendToLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, fresh := newCluster(t, nil), newCluster(t, nil)
		n := newCensus()
		c.work(3, n.Execute)
		fresh.work(3, nil)
		m := c.staged(2400, 8)
		id := c.submit(m)
		c.wait(id)
		n.take()
		var add []float64
		for i := range 200 {
			add = append(add, 1.0625+float64(i)/8)
		}
		r, err := c.extend(id, add...)
		if err != nil {
			t.Fatal(err)
		}
		larger := r.GetSweep().GetSweepId()
		c.wait(larger)
		if computed, again := n.take(); computed < 200*8 || computed > (200+5)*8 || again != 0 {
			t.Errorf("%d cells were computed, %d of them again", computed, again)
		}
		if _, err := fresh.send(bundle(t)); err != nil {
			t.Fatal(err)
		}
		m.Config = r.GetSweep().GetConfig()
		fresh.wait(fresh.submit(m))
		got, _ := c.export(larger)
		want, _ := fresh.export(larger)
		if !bytes.Equal(got, want) {
			t.Error("the results are others than those of a fresh sweep")
		}
	})
}
