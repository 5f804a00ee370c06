package coordinator_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/nats-io/nats-server/v2/server"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/internal/await"
	"foible.dev/foible/internal/memdir"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// newReplicas starts two coordinators on one NATS server; what is said of them is done to both.
func newReplicas(t *testing.T, each ...func(*coordinator.Config)) (a, b *cluster) {
	t.Helper()
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, JetStream: true, StoreDir: memdir.New(t), MaxPayload: 8 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	go srv.Start()
	t.Cleanup(func() {
		srv.Shutdown()
		stopped := make(chan struct{})
		go func() { srv.WaitForShutdown(); close(stopped) }()
		await.Try(t, stopped, "the NATS server to stop")
	})
	if !srv.ReadyForConnections(await.Patience) {
		t.Fatalf("waited %v for the server to start", await.Patience)
	}
	adjust := func(c *coordinator.Config) {
		c.DataDir, c.Servers = "", &engine.Servers{URLs: []string{srv.ClientURL()}}
		c.Lease, c.Grace = 5*time.Second, time.Second
		for _, set := range each {
			set(c)
		}
	}
	return newCluster(t, adjust), newCluster(t, adjust)
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	await.Until(t, what, so)
}

// said is what a logger has written.
type said struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) count(part string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Count(s.text.String(), part)
}

// Each of two coordinators says, once, in what the other is not as it must be.
func TestReplicasDiffer(t *testing.T) {
	const differs = "another coordinator on these NATS servers differs"
	var log said
	var n atomic.Int32
	newReplicas(t, func(c *coordinator.Config) {
		keeper, err := access.Open(access.Config{DataDir: t.TempDir(), Limits: access.DefaultLimits()})
		if err != nil {
			t.Fatal(err)
		}
		c.Access, c.Lease, c.Logger = keeper, time.Duration(5+n.Add(1))*time.Second, hclog.New(&hclog.LoggerOptions{Output: &log})
	})
	eventually(t, "both say so", func() bool {
		return log.count("it has another authority") == 2 && log.count("its lease is 6s, this one's 7s") == 1 && log.count("its lease is 7s, this one's 6s") == 1
	})
	if got := log.count(differs); got != 4 {
		t.Errorf("%d differences, want 2 for each", got)
	}

	var alike said
	a, b := newReplicas(t, func(c *coordinator.Config) { c.Logger = hclog.New(&hclog.LoggerOptions{Output: &alike}) })
	id := b.submit(b.staged(2, 1))
	a.work(1, nil)
	eventually(t, "one has heard of the other's worker", func() bool { return b.sweep(id).GetProgress().GetWorkers() == 1 })
	if got := alike.count(differs); got != 0 {
		t.Errorf("%d differences, want none", got)
	}
}

// Two coordinators do a sweep together, each job once; what is done to it at one is done to it at the other, and both
// have the results that one alone has.
func TestReplicas(t *testing.T) {
	a, b := newReplicas(t)
	alone := newCluster(t, nil)
	alone.work(4, nil)
	id := alone.submit(alone.staged(20, 6))
	alone.wait(id)
	want, _ := alone.export(id)

	var mu sync.Mutex // guards done
	done := map[*cluster]map[string]int{a: {}, b: {}}
	for _, c := range []*cluster{a, b} {
		c.work(2, func(_ context.Context, job *foiblev1.Assign) error {
			time.Sleep(60 * time.Millisecond) // so that both hear of the sweep before it is over
			mu.Lock()
			defer mu.Unlock()
			done[c][fmt.Sprint(job.GetJob())]++
			return nil
		})
	}
	if got := a.submit(a.staged(20, 6)); got != id {
		t.Fatalf("the sweep is %s, not %s", got, id)
	}
	b.to(paused)(b.pause(id)) // it has not been told of the sweep
	eventually(t, "the other coordinator knows that it is paused", func() bool { return a.sweep(id).GetState() == paused })
	b.to(paused)(b.weigh(id, 30))
	a.to(running)(a.resume(id))
	eventually(t, "the other coordinator knows its priority", func() bool { return a.sweep(id).GetPriority() == 30 })

	for _, c := range []*cluster{a, b} {
		s := c.wait(id)
		p := s.GetProgress()
		if s.GetState() != succeeded || p.GetJobsDone() != p.GetJobs() || p.GetCellsDone() != p.GetCells() || p.GetDuplicates() != 0 {
			t.Errorf("%v: %v", s.GetState(), p)
		}
		if got, _ := c.export(id); string(got) != string(want) {
			t.Error("the results differ from those of one coordinator")
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for job := range a.sweep(id).GetProgress().GetJobs() {
		if n := done[a][fmt.Sprint(job)] + done[b][fmt.Sprint(job)]; n != 1 {
			t.Errorf("job %d was done %d times", job, n)
		}
	}
	if len(done[a]) == 0 || len(done[b]) == 0 {
		t.Errorf("%d jobs were done by one, %d by the other", len(done[a]), len(done[b]))
	}
	if p := b.sweep(id).GetProgress(); p.GetWorkers() != 2 || p.GetSlots() != 4 {
		t.Errorf("%d workers with %d slots", p.GetWorkers(), p.GetSlots())
	}
}

// A sweep that is cancelled at one coordinator is cancelled at the other, whose workers' results are refused; made
// again at that one, it goes on at both.
func TestReplicasCancel(t *testing.T) {
	a, b := newReplicas(t)
	hold := make(chan struct{})
	var held atomic.Int32
	b.work(2, func(ctx context.Context, _ *foiblev1.Assign) error {
		held.Add(1)
		select {
		case <-hold:
		case <-ctx.Done():
		}
		return ctx.Err()
	})
	m := a.request(30, 4)
	id := a.submit(m)
	eventually(t, "a worker of the other has jobs", func() bool { return held.Load() == 2 })
	eventually(t, "its leases are known", func() bool { return a.sweep(id).GetProgress().GetJobsLeased() == 2 })
	a.to(cancelled)(a.cancel(id))
	eventually(t, "the other knows that it was cancelled", func() bool { return b.sweep(id).GetState() == cancelled })
	if _, err := b.resume(id); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("a cancelled sweep is resumed: %v", err)
	}
	b.to(cancelled)(b.cancel(id))
	close(hold)

	if got := b.submit(m); got != id {
		t.Fatalf("the sweep is %s, not %s", got, id)
	}
	a.work(2, nil)
	for _, c := range []*cluster{b, a} {
		if s := c.wait(id); s.GetState() != succeeded {
			t.Errorf("it is %v", s.GetState())
		}
	}
}

// A coordinator and its worker go away with jobs in hand; the other one ends the sweep, with the failures that both
// have recorded. One that comes back knows it.
func TestReplicasLost(t *testing.T) {
	a, b := newReplicas(t)
	fail := func(_ context.Context, job *foiblev1.Assign) error {
		if job.GetJob() == 3 {
			return fmt.Errorf("it cannot be done")
		}
		return nil
	}
	var taken atomic.Int32
	leave := a.work(2, func(ctx context.Context, job *foiblev1.Assign) error {
		if taken.Add(1) > 8 {
			<-ctx.Done()
			return ctx.Err()
		}
		return fail(ctx, job)
	})
	id := a.submit(a.request(30, 4))
	eventually(t, "the worker has had some jobs", func() bool { return taken.Load() > 9 })
	go leave()
	a.stop()
	b.work(2, fail)
	s := b.wait(id)
	if p := s.GetProgress(); s.GetState() != inPart || p.GetJobsDone() != p.GetJobs() || p.GetJobsFailed() != 2 { // and what rests on it
		t.Errorf("%v: %v", s.GetState(), p)
	}
	a.start()
	if s := a.wait(id); s.GetState() != inPart || s.GetProgress().GetJobsFailed() != 2 {
		t.Errorf("%v: %v", s.GetState(), s.GetProgress())
	}
}
