package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/domains"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"foible.dev/foible/worker"
)

// logged is a cluster whose coordinator's log is kept.
func logged(t *testing.T, adjust ...func(*coordinator.Config)) (*cluster, *safeLog) {
	log := &safeLog{}
	return newCluster(t, func(cfg *coordinator.Config) {
		leases(cfg)
		for _, more := range adjust {
			more(cfg)
		}
		cfg.Logger = hclog.New(&hclog.LoggerOptions{Output: log, Level: hclog.Info})
	}), log
}

// safeLog may be written by several.
type safeLog struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

func (l *safeLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// lines that have a text.
func (l *safeLog) lines(with string) (all []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, with) {
			all = append(all, line)
		}
	}
	return all
}

// whole checks that every job of a sweep has a result, and none is a failure.
func whole(t *testing.T, s *foiblev1.Sweep) {
	t.Helper()
	if p := s.GetProgress(); s.GetState() != succeeded || p.GetJobsDone() != p.GetJobs() || p.GetJobsFailed() != 0 {
		t.Errorf("the sweep did not end whole: %v", s)
	}
}

// TestComputationFails: what no try can mend is tried once, recorded at once, and no warning; it does not count against the
// worker.
func TestComputationFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, log := logged(t)
		tried := map[int32]int{}
		id := c.submit(c.request(8, 2))
		c.work(1, func(_ context.Context, job *foiblev1.Assign) error {
			tried[job.GetJob()]++
			if job.GetInfer() != nil {
				return worker.Computation(errors.New("more than 5000000 states can be reached"))
			}
			return nil
		})
		start := time.Now()
		s := c.wait(id)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("it took %v: something waited", took)
		}
		if p := s.GetProgress(); s.GetState() != inPart || p.GetJobsDone() != p.GetJobs() || p.GetRetries() != 0 {
			t.Error(s)
		}
		for job, n := range tried {
			if n != 1 {
				t.Errorf("job %d was tried %d times", job, n)
			}
		}
		if w := log.lines("[WARN]"); len(w) > 0 {
			t.Errorf("the log warns: %q", w)
		}
		for _, w := range c.inner.Workers() {
			if w.Failed != 0 || !w.Aside.IsZero() {
				t.Errorf("the worker is blamed: %+v", w)
			}
		}
	})
}

// TestFailingWorker: a worker that fails each job at once, beside one that does them, costs no job; it is set aside, and
// that is said once a time, in the log, the status, and among the workers.
func TestFailingWorker(t *testing.T) {
	for _, test := range []struct {
		name  string
		err   error
		alone time.Duration // before the other one comes
	}{
		{"of its machine", worker.Infrastructure(errors.New("cannot allocate memory")), 20 * time.Second},
		{"unknown", errors.New("cannot allocate memory"), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, log := logged(t)
				id := c.submit(c.request(40, 3))
				failures := 0
				hire := func() {
					c.employ("good", 1, func(*grpc.ClientConn) worker.Executor {
						return executor(func(context.Context, *foiblev1.Assign) error { time.Sleep(time.Second); return nil })
					})
				}
				if test.alone == 0 {
					hire()
					synctest.Wait()
				}
				c.employ("bad", 4, func(*grpc.ClientConn) worker.Executor {
					return executor(func(context.Context, *foiblev1.Assign) error { failures++; return test.err })
				})
				time.Sleep(max(test.alone, 3*time.Second+500*time.Millisecond))
				told := strings.Join(c.sweep(id).GetProgress().GetTroubles(), "\n")
				if !strings.Contains(told, "worker on bad keeps failing and is set aside for ") || !strings.Contains(told, ": cannot allocate memory") {
					t.Errorf("the status says %q", told)
				}
				for _, w := range c.inner.Workers() {
					if w.Host == "bad" && (w.Failed == 0 || w.Aside.IsZero() || w.Reason != "cannot allocate memory") {
						t.Errorf("the worker is shown as %+v", w)
					}
				}
				if test.alone > 0 {
					hire()
				}
				s := c.wait(id)
				whole(t, s)
				if failures > 40 {
					t.Errorf("the worker was given %d jobs", failures)
				}
				if n := len(log.lines("job failed")); n > 1 {
					t.Errorf("%d lines of one cause", n)
				}
				if n := len(log.lines("is set aside")); n < 3 || n > 12 { // after pauses of 1 s, 2 s, and so on up to 5 minutes
					t.Errorf("it was said %d times that the worker is set aside: %q", n, log.lines("is set aside"))
				}
			})
		})
	}
}

// TestOnlyWorkerFails: the only worker fails every job for a cause unknown, once or twice, or each time. It is not set aside,
// as nothing would be done without it; each job is tried three times at most, and the sweep ends within seconds.
func TestOnlyWorkerFails(t *testing.T) {
	for _, times := range []int{2, 3} {
		t.Run(fmt.Sprintf("%d times", times), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, log := logged(t)
				id := c.submit(c.request(8, 5))
				tried := map[int32]int{}
				c.work(1, func(_ context.Context, job *foiblev1.Assign) error {
					if tried[job.GetJob()]++; tried[job.GetJob()] <= times {
						return errors.New("nobody knows why")
					}
					return nil
				})
				start := time.Now()
				s := c.wait(id)
				if took := time.Since(start); took < 3*time.Second || took > 30*time.Second { // with pauses of 1 and 2 s for each
					t.Errorf("it took %v", took)
				}
				if times == 2 {
					whole(t, s)
				} else if p := s.GetProgress(); s.GetState() != inPart || p.GetJobsFailed() != p.GetJobs() {
					t.Error(s)
				}
				for job, n := range tried {
					if n != 3 {
						t.Errorf("job %d was tried %d times", job, n)
					}
				}
				if n := len(log.lines("[WARN]")); n != 1 {
					t.Errorf("the log warns %d times: %q", n, log.lines("[WARN]"))
				}
			})
		})
	}
}

// TestUnknownFailure: a job that fails for a cause unknown goes to other workers, though the first is free; that it fails
// is recorded after three of them, and no sooner.
func TestUnknownFailure(t *testing.T) {
	for _, bad := range []int{2, 3} {
		t.Run(fmt.Sprintf("on %d of 4 workers", bad), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, log := logged(t)
				id := c.submit(c.request(1, 3))
				var mu sync.Mutex
				var tried []int // the workers that were given the job
				for i := range 4 {
					c.work(1, func(_ context.Context, job *foiblev1.Assign) error {
						time.Sleep(time.Duration(1+i) * time.Second) // so that the first is free when the job comes back
						mu.Lock()
						defer mu.Unlock()
						if job.GetJob() != 0 {
							return nil
						}
						tried = append(tried, i)
						if len(tried) <= bad {
							panic("no such thing")
						}
						return nil
					})
				}
				s := c.wait(id)
				if p := s.GetProgress(); bad == 2 {
					whole(t, s)
				} else if s.GetState() != inPart || p.GetJobsFailed() != 2 || p.GetFailures()[0] != "panic: no such thing" {
					t.Error(s)
				}
				seen := map[int]bool{}
				for _, i := range tried {
					seen[i] = true
				}
				if len(tried) != 3 || len(seen) != 3 {
					t.Errorf("the job was given to the workers %v", tried)
				}
				if n := len(log.lines("panic: no such thing")); n != 1 {
					t.Errorf("the log says it %d times", n)
				}
			})
		})
	}
}

// TestCutConnections: for 25 seconds no worker can fetch the study. Nothing is lost, and it goes on soon afterwards.
func TestCutConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, log := logged(t)
		m := c.sampleRequest()
		id := c.submit(m)
		start := time.Now()
		cut := func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			if strings.HasSuffix(method, "/GetStudy") && time.Since(start) < 25*time.Second {
				return nil, status.Error(codes.Unavailable, "connection reset by peer")
			}
			return stream(ctx, desc, cc, method, opts...)
		}
		for range 2 {
			c.employ("test", 2, func(conn *grpc.ClientConn) worker.Executor {
				return worker.NewScience(foiblev1.NewStudyServiceClient(conn))
			}, grpc.WithStreamInterceptor(cut))
		}
		whole(t, c.wait(id))
		if took := time.Since(start); took < 25*time.Second || took > 50*time.Second {
			t.Errorf("it took %v", took)
		}
		if n := len(log.lines("job failed")); n != 1 {
			t.Errorf("%d lines of one cause: %q", n, log.lines("job failed"))
		}
	})
}

// sampleRequest asks for a small sweep of a sample study, which it stores.
func (c *cluster) sampleRequest() *foiblev1.CreateSweepRequest {
	c.t.Helper()
	domain, _ := domains.ByName("block-words")
	s, found := domains.Load(domain.Sample)
	if err := found.Err(); err != nil {
		c.t.Fatal(err)
	}
	hash, err := c.send(s.Bundle)
	if err != nil {
		c.t.Fatal(err)
	}
	config, err := domains.LoadSweep("sweep.yaml", []byte("models: {boltzmann: {alpha: [0.5, 1, 2, 4]}}\nbootstrap: {resamples: 20}\nseed: 1\n"))
	if err != nil {
		c.t.Fatal(err)
	}
	return &foiblev1.CreateSweepRequest{StudyHash: hash, StudyName: s.Name, Config: config, Stimuli: s.Shapes()}
}
