package coordinator_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"foible.dev/foible/internal/await"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

func (c *cluster) delete(id string) error {
	_, err := c.sweeps.DeleteSweep(c.t.Context(), &foiblev1.DeleteSweepRequest{SweepId: id})
	return err
}

// ids are those of the sweeps, sorted.
func (c *cluster) ids() (ids []string) {
	c.t.Helper()
	r, err := c.sweeps.ListSweeps(c.t.Context(), &foiblev1.ListSweepsRequest{})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, s := range r.GetSweeps() {
		ids = append(ids, s.GetSweepId())
	}
	slices.Sort(ids)
	return ids
}

// gone checks that a sweep is not there.
func (c *cluster) gone(id string) {
	c.t.Helper()
	_, err := c.sweeps.GetSweep(c.t.Context(), &foiblev1.GetSweepRequest{SweepId: id})
	if status.Code(err) != codes.NotFound || slices.Contains(c.ids(), id) {
		c.t.Errorf("it is still there: %v", err)
	}
	if _, _, err := c.tryExport(id, true); status.Code(err) != codes.NotFound {
		c.t.Errorf("its results: %v", err)
	}
	if _, err := c.inner.Inside(c.t.Context(), id); err == nil {
		c.t.Error("it can be looked at")
	}
}

// files are those of the store that are of a sweep.
func (c *cluster) files(id string) []string {
	found, err := filepath.Glob(filepath.Join(c.dir, "jetstream", "*", "streams", "*"+id))
	if err != nil {
		c.t.Fatal(err)
	}
	return found
}

// noFiles waits until the store has no files of a sweep, which it removes a moment after they are given up.
func (c *cluster) noFiles(id string) {
	c.t.Helper()
	var left []string
	await.Until(c.t, "the files of a deleted sweep to go", func() bool {
		left = c.files(id)
		return len(left) == 0
	}, func() []string { return left })
}

// onlyResults waits until nothing is left of a sweep's streams but its results: others are removed a moment after its end.
func (c *cluster) onlyResults(id string) {
	c.t.Helper()
	var left []string
	await.Until(c.t, "the other files of a sweep to go", func() bool {
		left = slices.DeleteFunc(c.files(id), func(name string) bool {
			base := filepath.Base(name)
			return strings.HasPrefix(base, "RESULTS-") || strings.HasPrefix(base, ".") // a file that is being removed
		})
		return len(left) == 0
	}, func() []string { return left })
}

// TestDelete: a sweep that has ended is deleted from list and disk, others stay; submitted again, it starts from nothing and
// comes to the same.
func TestDelete(t *testing.T) {
	for _, state := range []foiblev1.SweepState{succeeded, inPart, cancelled} {
		t.Run(state.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, atOnce)
				m, other := c.request(8, 2), c.submit(c.request(3, 2))
				var id string
				switch state {
				case succeeded:
					id = c.submit(m)
					drain := c.work(2, nil)
					c.wait(id)
					drain()
				case inPart:
					id = c.spoil(m, mishaps()[0]).GetSweepId()
				case cancelled:
					id = c.submit(m)
					c.to(cancelled)(c.cancel(id))
				}
				if len(c.files(id)) == 0 {
					t.Error("it has no files")
				}
				if _, err := c.inner.Inside(t.Context(), id); err != nil { // it is kept to be looked at
					t.Error(err)
				}
				if err := c.delete(id); err != nil {
					t.Fatal(err)
				}
				c.gone(id)
				wantCode(t, c.delete(id), codes.NotFound, id)
				c.noFiles(id)
				c.restart()
				c.gone(id)
				if got := c.ids(); !slices.Equal(got, []string{other}) {
					t.Errorf("there are %q", got)
				}
				r, err := c.sweeps.CreateSweep(t.Context(), m)
				if err != nil || r.GetExisted() || r.GetRetried() != nil || r.GetSweep().GetSweepId() != id || r.GetSweep().GetProgress().GetJobsDone() != 0 {
					t.Fatal(r, err)
				}
				d := &computed{}
				c.work(2, func(ctx context.Context, job *foiblev1.Assign) error {
					if job.GetSweepId() == id {
						return d.note(ctx, job)
					}
					return nil
				})
				if s := c.wait(id); s.GetState() != succeeded || len(d.jobs) != int(s.GetProgress().GetJobs()) {
					t.Errorf("%d jobs were computed, %v", len(d.jobs), s)
				}
			})
		})
	}
}

// TestDeleteRefused: a sweep that has not ended is not deleted.
func TestDeleteRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		wantCode(t, c.delete("none"), codes.NotFound, "sweep none")
		wantCode(t, c.delete("a.b"), codes.InvalidArgument, "a.b")
		id := c.submit(c.request(2, 2))
		wantCode(t, c.delete(id), codes.FailedPrecondition, "it has not ended; cancel it first")
		c.to(paused)(c.pause(id))
		wantCode(t, c.delete(id), codes.FailedPrecondition, "it has not ended; cancel it first")
		c.restart()
		wantCode(t, c.delete(id), codes.FailedPrecondition, "it has not ended; cancel it first")
		c.to(running)(c.resume(id))
		c.work(2, nil)
		if s := c.wait(id); s.GetState() != succeeded {
			t.Error(s)
		}
	})
}

// TestDeleteCutShort: a coordinator that stops while it deletes a sweep deletes the rest when it is started again; until
// then nobody sees the sweep, or makes it again.
func TestDeleteCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		m := c.request(2, 2)
		id := c.submit(m)
		c.to(cancelled)(c.cancel(id))
		if err := c.inner.CutDeletionShort(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		c.gone(id)
		_, err := c.sweeps.CreateSweep(t.Context(), m)
		wantCode(t, err, codes.Unavailable, "it is being deleted")
		c.restart()
		c.gone(id)
		c.noFiles(id)
		if r, err := c.sweeps.CreateSweep(t.Context(), m); err != nil || r.GetExisted() {
			t.Error(r, err)
		}
	})
}

// TestDeleteLost: what is left of a sweep whose record is lost can be deleted.
func TestDeleteLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		id := c.submit(c.request(2, 2))
		drain := c.work(1, nil)
		c.wait(id)
		drain()
		c.stop()
		if err := os.RemoveAll(filepath.Join(c.dir, "jetstream", "$G", "streams", "KV_sweeps")); err != nil {
			t.Fatal(err)
		}
		c.start()
		if s := c.sweep(id); s.GetDamage() == "" {
			t.Error(s)
		}
		if err := c.delete(id); err != nil {
			t.Fatal(err)
		}
		c.gone(id)
		c.restart()
		c.gone(id)
	})
}

// TestDeleteExtended: a sweep that extends a deleted one computes what it would have kept.
func TestDeleteExtended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		larger := func(c *cluster) *foiblev1.CreateSweepRequest { return c.request(6, 2) }
		want, _ := reference(t, larger)
		c := newCluster(t, nil)
		id := c.submit(c.request(5, 2))
		drain := c.work(1, nil)
		c.wait(id)
		drain()
		r, err := c.extend(id, larger(c).GetConfig().GetModels()["boltzmann"].GetAlpha()[5])
		if err != nil {
			t.Fatal(err)
		}
		h := c.join(1, 0) // which has a part of a job in hand
		job := h.job()
		if err := c.delete(id); err != nil {
			t.Fatal(err)
		}
		h.tell(job, answer(job))
		h.die()
		c.work(1, nil)
		if s := c.wait(r.GetSweep().GetSweepId()); s.GetState() != succeeded {
			t.Error(s)
		}
		if got, _ := c.export(r.GetSweep().GetSweepId()); !bytes.Equal(got, want) {
			t.Error("the results differ from those of a sweep that extends nothing")
		}
	})
}

// TestDeleteOfReplicas: what one coordinator deletes is gone for the other, also one that was made anew since.
func TestDeleteOfReplicas(t *testing.T) {
	a, b := newReplicas(t)
	m := a.request(5, 2)
	id := a.submit(m)
	drain := a.work(2, nil)
	b.wait(id)
	drain()
	for range 2 {
		if err := b.delete(id); err != nil {
			t.Fatal(err)
		}
		a.gone(id)
		b.gone(id)
		if r, err := a.sweeps.CreateSweep(t.Context(), m); err != nil || r.GetExisted() || r.GetSweep().GetProgress().GetJobsDone() != 0 {
			t.Fatal(r, err)
		}
		wantCode(t, b.delete(id), codes.FailedPrecondition, "it has not ended; cancel it first")
		drain := b.work(2, nil)
		for _, c := range []*cluster{a, b} {
			if s := c.wait(id); s.GetState() != succeeded {
				t.Error(s)
			}
		}
		drain()
		if _, n := a.export(id); n != 15 {
			t.Errorf("%d results", n)
		}
	}
}

// TestEndedSweepsLeaveMemory: what is asked of a sweep that has ended is answered from what is stored.
func TestEndedSweepsLeaveMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		drain := c.work(2, nil)
		var ids []string
		for i := range 12 {
			ids = append(ids, c.submit(c.request(2+i, 2)))
		}
		for _, id := range ids {
			c.wait(id)
		}
		other := c.submit(c.request(50, 2))
		c.to(cancelled)(c.cancel(other))
		time.Sleep(time.Second)
		if n := c.inner.InMemory(); n > 0 {
			t.Errorf("%d sweeps are in memory", n)
		}
		before := c.sweep(ids[3])
		if p := before.GetProgress(); p.GetJobsDone() != p.GetJobs() || p.GetWorkers() != 1 || p.GetSlots() != 2 || len(p.GetBest()) != 1 {
			t.Error(before)
		}
		drain()
		results, n := c.export(ids[3])
		fits, err := c.sweeps.ListFits(t.Context(), &foiblev1.ListFitsRequest{SweepId: ids[3]})
		if err != nil || len(fits.GetFits()) != 5 || n == 0 || len(c.ids()) != 13 {
			t.Errorf("%v, %v, %d results, %q", fits, err, n, c.ids())
		}
		for _, id := range ids {
			if in, err := c.inner.Inside(t.Context(), id); err != nil || !c.allScored(id, in) {
				t.Errorf("%+v, %v", in, err)
			}
		}
		if n := c.inner.InMemory(); n > 8 {
			t.Errorf("%d sweeps are in memory after they were looked at", n)
		}
		c.restart()
		if n := c.inner.InMemory(); n > 0 {
			t.Errorf("%d sweeps are in memory after a restart", n)
		}
		if again, _ := c.export(ids[3]); !bytes.Equal(again, results) {
			t.Error("the results differ after a restart")
		}
	})
}
