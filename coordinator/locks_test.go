package coordinator_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/coordinator/limits"
	"foible.dev/foible/internal/await"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// other asks for a sweep like another one with another seed.
func other(m *foiblev1.CreateSweepRequest, seed uint64) *foiblev1.CreateSweepRequest {
	return &foiblev1.CreateSweepRequest{
		StudyHash: m.GetStudyHash(), StudyName: m.GetStudyName(), Stimuli: m.GetStimuli(),
		Config: &foiblev1.SweepConfig{Models: m.GetConfig().GetModels(), Fit: m.GetConfig().GetFit(), Report: m.GetConfig().GetReport(), Seed: seed},
	}
}

// TestTakingUpHindersNoOtherSweep: while a sweep is being taken up, which takes long if it is large, all else goes on: others
// are made, done, paused, cancelled and deleted. What is asked about the one waits, and is answered then.
func TestTakingUpHindersNoOtherSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		m := c.request(3, 2)
		id := c.submit(m)
		c.to(cancelled)(c.cancel(id))
		end := c.inner.BeginTakingUp(id)
		revived := make(chan string, 1)
		go func() {
			r, err := c.sweeps.CreateSweep(t.Context(), m)
			if err != nil {
				t.Error(err)
			}
			revived <- r.GetSweep().GetSweepId()
		}()
		second, third := c.submit(other(m, 8)), c.submit(other(m, 9))
		c.to(paused)(c.pause(second))
		c.to(cancelled)(c.cancel(third))
		if err := c.delete(third); err != nil {
			t.Error(err)
		}
		c.to(running)(c.resume(second))
		drain := c.work(2, nil)
		if s := c.wait(second); s.GetState() != succeeded {
			t.Errorf("it is %v", s)
		}
		time.Sleep(time.Second)
		select {
		case <-revived:
			t.Error("a sweep was taken up twice at a time")
		default:
		}
		end()
		if got := await.Value(t, revived, "the sweep to be made again"); got != id {
			t.Errorf("it is %s, not %s", got, id)
		}
		if s := c.wait(id); s.GetState() != succeeded {
			t.Errorf("it is %v", s)
		}
		drain()
	})
}

// TestReplicaTakingUpHindersNoOtherSweep: the same of a coordinator that takes up what another one has stored.
func TestReplicaTakingUpHindersNoOtherSweep(t *testing.T) {
	a, b := newReplicas(t)
	m := a.request(3, 2)
	id := a.submit(m)
	b.sweep(id) // it has it now
	a.to(cancelled)(a.cancel(id))
	await.Until(t, "the other knows that it was cancelled", func() bool { return b.sweep(id).GetState() == cancelled })
	end := b.inner.BeginTakingUp(id)
	if got := a.submit(m); got != id {
		t.Fatalf("the sweep is %s, not %s", got, id)
	}
	second := a.submit(other(m, 8))
	await.Until(t, "the other coordinator takes up the second sweep", func() bool { return b.inner.Has(second) })
	b.to(paused)(b.pause(second))
	await.Until(t, "the first knows that it is paused", func() bool { return a.sweep(second).GetState() == paused })
	a.to(running)(a.resume(second))
	drain := b.work(2, nil)
	if s := b.wait(second); s.GetState() != succeeded {
		t.Errorf("it is %v", s)
	}
	if b.inner.Has(id) {
		t.Error("it has been taken up while it was being taken up")
	}
	end()
	if s := b.wait(id); s.GetState() != succeeded {
		t.Errorf("it is %v", s)
	}
	drain()
}

// TestLimitsOfSweepsAtOnce: of sweeps that are made at the same time, no more are taken than may be.
func TestLimitsOfSweepsAtOnce(t *testing.T) {
	for name, set := range map[string]func(*limits.Limits){
		"in memory": func(l *limits.Limits) { l.Sweeps = 2 },
		"stored":    func(l *limits.Limits) { l.StoredSweeps = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, func(cfg *coordinator.Config) { set(&cfg.Limits) })
				m := c.request(3, 2)
				var made atomic.Int32
				var all sync.WaitGroup
				for seed := range uint64(8) {
					all.Go(func() {
						_, err := c.sweeps.CreateSweep(t.Context(), other(m, 8+seed))
						if status.Code(err) == codes.ResourceExhausted {
							return
						}
						if err != nil {
							t.Error(err)
						}
						made.Add(1)
					})
				}
				await.Group(t, &all, "the sweeps to be made or refused")
				if n := made.Load(); n != 2 || len(c.ids()) != 2 {
					t.Errorf("%d sweeps are made, and %d listed", n, len(c.ids()))
				}
			})
		})
	}
}
