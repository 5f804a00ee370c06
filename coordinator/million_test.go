package coordinator_test

import (
	"bytes"
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/internal/await"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// queued is closed when a coordinator logs that a sweep is queued.
type queued chan struct{}

func (q queued) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("sweep queued")) {
		close(q)
	}
	return len(line), nil
}

// heap is what is in use after a collection, in MB.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse) / (1 << 20)
}

// A sweep of a million cells is submitted within a minute, held in less than
// 500 MB of heap, client and server together, and gives out jobs within 15
// seconds of a restart: in jobs of usual size, and in the harshest, one job a cell.
func TestMillionCells(t *testing.T) {
	for _, test := range []struct {
		name  string
		cells int // a job
	}{{"256 cells a job", 256}, {"one cell a job", 1}} {
		t.Run(test.name, func(t *testing.T) {
			if testing.Short() && test.cells == 1 {
				t.Skip("a million jobs take half a minute, and this is a short run")
			}
			const sets, n = 62_500, 16
			before := heap()
			all := make(queued)
			c := newCluster(t, func(cfg *coordinator.Config) { cfg.Logger = hclog.New(&hclog.LoggerOptions{Output: all}) })
			m := c.request(sets, n)
			if test.cells < 256 {
				m.Stimuli = long(n, test.cells)
			}
			start := time.Now()
			id := c.submit(m)
			await.Value(t, all, "the jobs to be queued", func() any { return c.sweep(id) })
			submitted := time.Since(start)
			held := heap() - before

			c.stop()
			c.adjust = nil
			start = time.Now()
			c.start()
			first := make(chan struct{}, 1)
			drain := c.work(4, func(ctx context.Context, _ *foiblev1.Assign) error {
				select {
				case first <- struct{}{}:
				default:
				}
				<-ctx.Done()
				return ctx.Err()
			})
			await.Value(t, first, "the first job after the restart", func() any { return c.sweep(id) })
			restarted := time.Since(start)
			if got := c.sweep(id).GetProgress(); got.GetCells() != sets*n {
				t.Errorf("%d cells, want %d", got.GetCells(), sets*n)
			}
			drain()
			t.Logf("submitted and queued in %.1f s, %.0f MB held, giving out jobs %.2f s after a restart", submitted.Seconds(), held, restarted.Seconds())
			if held > 500 {
				t.Errorf("%.0f MB are held", held)
			}
		})
	}
}
