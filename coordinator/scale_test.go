package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/internal/await"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// cpu is the processor time that this process has used.
func cpu(t testing.TB) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// runJobs runs about so many jobs of an executor that does nothing but answer: through gRPC, the queue, and to the
// disk. Coordinator and workers share the process, and its processor time.
func runJobs(t testing.TB, model string, jobs, workers, cells int) (rate float64, each time.Duration) {
	const n, slots = 16, 64
	c := newCluster(t, nil)
	m := c.request(max(1, jobs/(n+1))*cells, n)
	if axes := m.Config.Models["boltzmann"]; model == "full" {
		one := []float64{0.5}
		full := &foiblev1.ModelConfig{GoalNoise: one, BudgetR: []int32{2}, BudgetQ: one, ActionNoise: one, SearchNoise: axes.Alpha}
		m.Config.Models = map[string]*foiblev1.ModelConfig{model: full}
	}
	if cells < 256 {
		m.Stimuli = long(n, cells)
	}
	id := c.submit(m)
	start, used := time.Now(), cpu(t)
	for range workers {
		c.work(slots/workers, nil)
	}
	s := c.wait(id)
	if s.GetState() != foiblev1.SweepState_SWEEP_STATE_SUCCEEDED {
		t.Error(s)
	}
	done := s.GetProgress().GetJobsDone()
	return float64(done) / time.Since(start).Seconds(), (cpu(t) - used) / time.Duration(done)
}

func BenchmarkJobs(b *testing.B) {
	run := func(model string, workers, cells int) {
		b.Run(fmt.Sprintf("model=%s/workers=%d/slots=%d/cells=%d", model, workers, 64/workers, cells), func(b *testing.B) {
			rate, each := runJobs(b, model, b.N, workers, cells)
			b.ReportMetric(rate, "jobs/s")
			b.ReportMetric(float64(each.Microseconds()), "cpu-µs/job")
			b.ReportMetric(0, "ns/op")
		})
	}
	for _, workers := range []int{1, 8} {
		for _, cells := range []int{1, 16, 256} {
			run("boltzmann", workers, cells)
		}
	}
	run("full", 1, 256) // with the batches of marginal inference, and in "judged" detail from 80 jobs on
}

// maxJobCost is the most processor time that a job may take, of the whole way from the queue to the disk, in times of
// [codecTime]. It was 290 when this was written.
const maxJobCost = 600

// codecTime is the processor time of encoding and decoding a small result, by which other times are measured, so that
// they say little of how fast the machine is or how busy.
func codecTime(t testing.TB) time.Duration {
	m := &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Infer{Infer: &foiblev1.InferResult{
		Cells: []*foiblev1.Cell{{CellHash: make([]byte, 32), Posterior: make([]float64, 15)}},
	}}}
	const n = 20_000
	began := cpu(t)
	for range n {
		if err := proto.Unmarshal(must(proto.Marshal(m)), &foiblev1.JobResult{}); err != nil {
			t.Fatal(err)
		}
	}
	return (cpu(t) - began) / n
}

// TestJobCost: a job takes little processor time, everything included. The best of several tries counts: what else the
// machine does makes it more.
func TestJobCost(t *testing.T) {
	if testing.Short() || raceDetector() {
		t.Skip("a short run, or one with the race detector, says nothing about speed")
	}
	for _, workers := range []int{1, 8} {
		best := math.Inf(1)
		for try := 0; try < 4 && best > maxJobCost; try++ {
			unit := codecTime(t)
			rate, each := runJobs(t, "boltzmann", 8500, workers, 1)
			unit = min(unit, codecTime(t))
			cost := float64(each) / float64(unit)
			best = min(best, cost)
			t.Logf("%d workers: %.0f jobs a second, %v of processor time each, %.0f times the %v of a small result's encoding", workers, rate, each, cost, unit)
		}
		if best > maxJobCost {
			t.Errorf("%d workers: a job takes %.0f times as long as encoding a small result, want at most %d", workers, best, maxJobCost)
		}
	}
}

// raceDetector says whether this test was built with it.
func raceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// BenchmarkRestart starts a coordinator on a sweep of one cell a job with so many results, until it gives out a job.
func BenchmarkRestart(b *testing.B) {
	for _, results := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("results=%d", results), func(b *testing.B) {
			const n = 16
			c := newCluster(b, nil)
			m := c.request(results/n+1, n)
			m.Stimuli = long(n, 1)
			id := c.submit(m)
			c.stop()
			recordAll(b, c.dir, id, results, results/n)
			b.ResetTimer()
			for range b.N {
				c.start()
				first := make(chan struct{}, 64)
				drain := c.work(1, func(ctx context.Context, _ *foiblev1.Assign) error {
					first <- struct{}{}
					<-ctx.Done()
					return ctx.Err()
				})
				await.Value(b, first, "the first job")
				b.StopTimer()
				runtime.GC()
				var mem runtime.MemStats
				runtime.ReadMemStats(&mem)
				b.ReportMetric(float64(mem.HeapInuse)/1e6, "heap-MB")
				drain()
				c.stop()
				b.StartTimer()
			}
		})
	}
}

// recordAll records and acknowledges the first jobs of a sweep, and records the scores of so many chunks, behind the
// coordinator's back.
func recordAll(b *testing.B, dir, id string, results, scores int) {
	b.Helper()
	e, err := engine.Open(b.Context(), engine.Config{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	infer := must(proto.Marshal(&foiblev1.JobResult{Outcome: &foiblev1.JobResult_Infer{Infer: &foiblev1.InferResult{
		Cells: []*foiblev1.Cell{{CellHash: make([]byte, 32), Posterior: make([]float64, 15)}},
	}}}))
	score := must(proto.Marshal(&foiblev1.JobResult{Outcome: &foiblev1.JobResult_Score{Score: &foiblev1.ScoreResult{}}}))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 2000 {
		wg.Go(func() {
			for job := int(next.Add(1)) - 1; job < results+scores; job = int(next.Add(1)) - 1 {
				number, value := job, infer
				if job >= results {
					number, value = job+16, score // after the infer jobs, of which one chunk is left
				}
				if err := e.Record(b.Context(), id, number, value); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	await.Group(b, &wg, "the results to be recorded", func() any { return next.Load() })
	if err := e.Enqueue(b.Context(), id, results+16); err != nil { // the coordinator may have been stopped before
		b.Fatal(err)
	}
	q, err := e.Queue(b.Context(), id)
	if err != nil {
		b.Fatal(err)
	}
	for left, d := results, await.Begin(); left > 0; {
		got, err := q.Fetch(b.Context(), min(left, 1000))
		if err != nil {
			b.Fatal(err)
		}
		for _, d := range got {
			if err := d.Ack(); err != nil {
				b.Fatal(err)
			}
		}
		if len(got) > 0 {
			d.Extend()
		}
		d.Check(b, "jobs to acknowledge", left)
		left -= len(got)
	}
	if err := errors.Join(b.Context().Err(), e.Close()); err != nil {
		b.Fatal(err)
	}
}
