package coordinator_test

import (
	"testing"
	"testing/synctest"

	"foible.dev/foible/internal/await"
)

// A coordinator with many sweeps that have ended holds little more than the streams that NATS keeps for their results.
func TestMemoryOfEndedSweeps(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures memory, which takes long and says nothing under the race detector, and this is a short run")
	}
	synctest.Test(t, func(t *testing.T) {
		const sweeps, together = 20, 10
		c := newCluster(t, nil)
		drain := c.work(4, nil)
		before := 0.0
		submitted := 0
		for submitted < sweeps {
			var ids []string
			for range together {
				m := c.request(2000, 4)
				m.Config.Seed = uint64(submitted)
				ids = append(ids, c.submit(m))
				submitted++
			}
			for _, id := range ids {
				if s := c.wait(id); s.GetState() != succeeded {
					t.Fatal(s)
				}
			}
			await.Until(t, "the sweeps to leave memory", func() bool { return c.inner.InMemory() == 0 })
			if before == 0 {
				before = heap() // the first ones are not counted, nor what the server takes for itself
			}
		}
		drain()
		each := 0.0
		await.Until(t, "what ended sweeps take to be given back", func() bool { // the server keeps what it has just written for seconds
			each = (heap() - before) / (sweeps - together) * 1024
			return each < 200
		}, func() float64 { return each })
		c.restart()
		listed := len(c.ids())
		t.Logf("%.0f KB for each sweep that has ended, %.0f MB held after a restart and a list", each, heap())
		if n := c.inner.InMemory(); listed != sweeps || n > 0 {
			t.Errorf("%d sweeps are listed, %d in memory", listed, n)
		}
	})
}
