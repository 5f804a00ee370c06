//go:build unix

package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// cpu is the processor time this process has used.
func cpu(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// reportJobs reports what each of n jobs cost since start.
func reportJobs(b *testing.B, n int, start time.Time, used time.Duration) {
	b.ReportMetric(float64(n)/time.Since(start).Seconds(), "jobs/s")
	b.ReportMetric(float64((cpu(b)-used).Microseconds())/float64(n), "cpu-µs/job")
	b.ReportMetric(0, "ns/op")
}

func fill(b *testing.B, e *Engine, n, size int) {
	b.Helper()
	result := make([]byte, size)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 1000 {
		wg.Go(func() {
			for job := int(next.Add(1)) - 1; job < n; job = int(next.Add(1)) - 1 {
				if err := e.Record(b.Context(), "s", job, result); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkJobs takes jobs from the queue, as many as slots are free, records 2 kB for each and
// acknowledges it.
func BenchmarkJobs(b *testing.B) {
	for _, slots := range []int{1, 8, 64, 512} {
		b.Run(fmt.Sprintf("slots=%d", slots), func(b *testing.B) {
			e, q := openSweep(b, Config{}, b.N)
			result := make([]byte, 2000)
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			start, used := time.Now(), cpu(b)
			b.ResetTimer()
			free := make(chan struct{}, slots)
			for range slots {
				free <- struct{}{}
			}
			work := make(chan *Delivery, slots)
			var done atomic.Int64
			var wg sync.WaitGroup
			for range slots {
				wg.Go(func() {
					for d := range work {
						if err := e.Record(b.Context(), "s", d.Job(), result); err != nil {
							b.Error(err)
						}
						if err := d.Ack(); err != nil {
							b.Error(err)
						}
						if done.Add(1) == int64(b.N) {
							cancel()
						}
						free <- struct{}{}
					}
				})
			}
			for ctx.Err() == nil {
				<-free
				n := 1
				for len(free) > 0 {
					<-free
					n++
				}
				got, err := q.Fetch(ctx, n)
				if err != nil && !errors.Is(err, context.Canceled) {
					b.Fatal(err)
				}
				for _, d := range got {
					work <- d
				}
				for range n - len(got) {
					free <- struct{}{}
				}
			}
			close(work)
			wg.Wait()
			reportJobs(b, b.N, start, used)
		})
	}
}

func BenchmarkRecord(b *testing.B) {
	for _, callers := range []int{1, 8, 64} {
		for _, size := range []int{2_000, 100_000} {
			b.Run(fmt.Sprintf("callers=%d/bytes=%d", callers, size), func(b *testing.B) {
				e, _ := openSweep(b, Config{}, 0)
				result := make([]byte, size)
				start, used := time.Now(), cpu(b)
				b.ResetTimer()
				var next atomic.Int64
				var wg sync.WaitGroup
				for range callers {
					wg.Go(func() {
						for job := int(next.Add(1)) - 1; job < b.N; job = int(next.Add(1)) - 1 {
							if err := e.Record(b.Context(), "s", job, result); err != nil {
								b.Error(err)
							}
						}
					})
				}
				wg.Wait()
				reportJobs(b, b.N, start, used)
			})
		}
	}
}

func BenchmarkEnqueue(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			for range b.N {
				openSweep(b, Config{}, n)
			}
		})
	}
}

// BenchmarkReplay reads what is recorded, and opens a copy of the directory made without closing it: what
// a killed process leaves.
func BenchmarkReplay(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("results=%d", n), func(b *testing.B) {
			dir := b.TempDir()
			e, _ := openSweep(b, Config{Dir: dir}, 0)
			fill(b, e, n, 500)
			b.Run("recorded", func(b *testing.B) {
				for range b.N {
					count := 0
					if err := e.Recorded(b.Context(), "s", n, func(int) error { count++; return nil }); err != nil || count != n {
						b.Fatal(count, err)
					}
				}
			})
			b.Run("results", func(b *testing.B) {
				for range b.N {
					count := 0
					if err := e.Results(b.Context(), "s", func(int, []byte) error { count++; return nil }); err != nil || count != n {
						b.Fatal(count, err)
					}
				}
			})
			b.Run("reopen-killed", func(b *testing.B) {
				for range b.N {
					b.StopTimer()
					killed := b.TempDir()
					if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
					e, err := Open(b.Context(), Config{Dir: killed})
					if err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					runtime.GC()
					var mem runtime.MemStats
					runtime.ReadMemStats(&mem)
					b.ReportMetric(float64(mem.HeapAlloc)/1e6, "heap-MB/both")
					if err := e.Close(); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
			})
		})
	}
}
