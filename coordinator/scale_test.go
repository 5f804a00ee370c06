package coordinator_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// cpu is the processor time that this process has used.
func cpu(t testing.TB) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkJobs runs jobs of an executor that does nothing but answer: through gRPC, the queue, and to the disk.
// Coordinator and workers share the process, and its processor time.
func BenchmarkJobs(b *testing.B) {
	for _, workers := range []int{1, 8} {
		for _, cells := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("workers=%d/slots=%d/cells=%d", workers, 64/workers, cells), func(b *testing.B) {
				const n = 16
				c := newCluster(b, nil)
				chunks := max(1, b.N/(n+1))
				m := c.request(max(256, chunks*cells), n)
				if cells < 256 {
					m.Stimuli = long(n, cells)
				}
				id := c.submit(m)
				start, used := time.Now(), cpu(b)
				b.ResetTimer()
				for range workers {
					c.work(64/workers, nil)
				}
				s := c.wait(id)
				jobs := float64(s.GetProgress().GetJobs())
				b.ReportMetric(jobs/time.Since(start).Seconds(), "jobs/s")
				b.ReportMetric(float64((cpu(b)-used).Microseconds())/jobs, "cpu-µs/job")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
