package worker_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"foible.dev/foible/internal/await"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"foible.dev/foible/worker"
)

const lease = 30 * time.Second

// server is a coordinator whose every message is a test's.
type server struct {
	foiblev1.UnimplementedWorkerServiceServer
	t     testing.TB
	calls chan *call
	hears chan struct{} // if there is one, nothing but Hello is read till it is closed
	conn  *grpc.ClientConn

	mu   sync.Mutex // guards what follows
	down bool
	last net.Conn
}

// fall breaks the connection and lets no other be made.
func (s *server) fall() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = true
	_ = s.last.Close()
}

// rise ends that.
func (s *server) rise() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = false
}

// call is one connection of a worker, after its Hello.
type call struct {
	t      testing.TB
	at     time.Time
	hello  *foiblev1.Hello
	stream grpc.BidiStreamingServer[foiblev1.WorkRequest, foiblev1.WorkResponse]
	heard  chan *foiblev1.WorkRequest // closed when the worker has closed its side or is gone
	end    chan error                 // what the call is to end with
}

func newServer(t testing.TB) *server {
	t.Helper()
	s := &server{t: t, calls: make(chan *call, 10)}
	listener := bufconn.Listen(1 << 20)
	g := grpc.NewServer()
	foiblev1.RegisterWorkerServiceServer(g, s)
	go func() { _ = g.Serve(listener) }()
	var err error
	s.conn, err = grpc.NewClient("passthrough:///bufconn", worker.Pauses(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.down {
				return nil, errors.New("nobody listens")
			}
			var err error
			s.last, err = listener.DialContext(ctx)
			return s.last, err
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.conn.Close()
		g.Stop()
	})
	return s
}

// Work implements foiblev1.WorkerServiceServer.
func (s *server) Work(stream grpc.BidiStreamingServer[foiblev1.WorkRequest, foiblev1.WorkResponse]) error {
	m, err := stream.Recv()
	if err != nil {
		return err
	}
	c := &call{t: s.t, at: time.Now(), hello: m.GetHello(), stream: stream, heard: make(chan *foiblev1.WorkRequest, 1000), end: make(chan error, 1)}
	if c.hello == nil {
		s.t.Errorf("the first message is %v", m)
	}
	go func() {
		defer close(c.heard)
		if s.hears != nil {
			<-s.hears
		}
		for {
			m, err := stream.Recv()
			if err != nil {
				return
			}
			c.heard <- m
		}
	}()
	s.calls <- c
	select {
	case err := <-c.end:
		return err
	case <-stream.Context().Done():
		return stream.Context().Err()
	}
}

// connected waits for the worker to connect, and welcomes it.
func (s *server) connected() *call {
	s.t.Helper()
	c := s.greeted()
	c.say(&foiblev1.WorkResponse{Message: &foiblev1.WorkResponse_Welcome{Welcome: &foiblev1.Welcome{LeaseSeconds: lease.Seconds()}}})
	return c
}

// greeted waits for the worker's Hello.
func (s *server) greeted() *call {
	s.t.Helper()
	select {
	case c := <-s.calls:
		return c
	case <-time.After(await.Limit()):
		s.t.Fatalf("waited %v for a connection\n\n%s", await.Limit(), await.Goroutines())
		return nil
	}
}

func (c *call) say(m *foiblev1.WorkResponse) {
	c.t.Helper()
	if err := c.stream.Send(m); err != nil {
		c.t.Fatal(err)
	}
}

// assign gives a job, with its number as lease.
func (c *call) assign(job int32) {
	c.t.Helper()
	c.say(&foiblev1.WorkResponse{Message: &foiblev1.WorkResponse_Assign{Assign: &foiblev1.Assign{SweepId: "s", Job: job, Lease: uint64(job), Attempt: 1}}})
}

func (c *call) recorded(job int32, verdict foiblev1.Verdict) {
	c.t.Helper()
	c.say(&foiblev1.WorkResponse{Message: &foiblev1.WorkResponse_Recorded{Recorded: &foiblev1.Recorded{SweepId: "s", Job: job, Lease: uint64(job), Verdict: verdict}}})
}

// next is the next message that is not a heartbeat; nil if the worker has closed its side.
func (c *call) next() *foiblev1.WorkRequest {
	c.t.Helper()
	for {
		select {
		case m := <-c.heard:
			if m.GetHeartbeat() == nil {
				return m
			}
		case <-time.After(await.Limit()):
			c.t.Fatalf("waited %v for a message that is no heartbeat\n\n%s", await.Limit(), await.Goroutines())
		}
	}
}

func (c *call) result(job int32) *foiblev1.JobResult {
	c.t.Helper()
	m := c.next()
	if r := m.GetResult(); r == nil || r.GetSweepId() != "s" || r.GetJob() != job || r.GetLease() != uint64(job) {
		c.t.Fatalf("%v, not the result of job %d", m, job)
	}
	return m.GetResult().GetResult()
}

func (c *call) beat() []uint64 {
	c.t.Helper()
	select {
	case m := <-c.heard:
		if m.GetHeartbeat() == nil {
			c.t.Fatalf("%v, not a heartbeat", m)
		}
		return m.GetHeartbeat().GetLeases()
	case <-time.After(await.Limit()):
		c.t.Fatalf("waited %v for a heartbeat\n\n%s", await.Limit(), await.Goroutines())
		return nil
	}
}

func (c *call) drain() []uint64 {
	c.t.Helper()
	m := c.next()
	if m.GetDrain() == nil {
		c.t.Fatalf("%v, not Drain", m)
	}
	return m.GetDrain().GetReleased()
}

// closed checks that the worker says no more, and ends the call.
func (c *call) closed() {
	c.t.Helper()
	if m := c.next(); m != nil {
		c.t.Errorf("%v, not the end", m)
	}
	c.end <- nil
}

type executor func(ctx context.Context, job int32) (*foiblev1.JobResult, error)

func (do executor) Execute(ctx context.Context, job *foiblev1.Assign) (*foiblev1.JobResult, error) {
	return do(ctx, job.GetJob())
}

// takes is an executor whose jobs take so long.
func takes(d time.Duration) executor {
	return func(ctx context.Context, _ int32) (*foiblev1.JobResult, error) {
		select {
		case <-time.After(d):
			return &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Infer{Infer: &foiblev1.InferResult{}}}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// running is a worker's Run.
type running struct {
	t     testing.TB
	stop  context.CancelFunc
	ended chan error
}

func (s *server) run(do executor, adjust func(*worker.Config)) *running {
	s.t.Helper()
	cfg := worker.DefaultConfig()
	cfg.Conn, cfg.Executor, cfg.Slots, cfg.Version, cfg.Host = s.conn, do, 4, "v", "here"
	if adjust != nil {
		adjust(&cfg)
	}
	w, err := worker.New(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{t: s.t, stop: cancel, ended: make(chan error, 1)}
	go func() { r.ended <- w.Run(ctx) }()
	return r
}

// end waits for the end of Run.
func (r *running) end(within time.Duration) error {
	r.t.Helper()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(within):
		r.t.Fatalf("Run goes on after %v", within)
		return nil
	}
}

// test runs in false time; the worker's life ends with the test.
func test(t *testing.T, do executor, adjust func(*worker.Config), script func(t *testing.T, s *server, r *running)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		r := s.run(do, adjust)
		defer time.Sleep(time.Hour) // the longest that anything goes on
		defer func() { _ = s.conn.Close() }()
		defer r.stop()
		script(t, s, r)
	})
}

func TestHelloAndHeartbeats(t *testing.T) {
	test(t, takes(time.Hour), nil, func(t *testing.T, s *server, _ *running) {
		c := s.connected()
		if h := c.hello; h.GetVersion() != "v" || h.GetHost() != "here" || h.GetSlots() != 4 || h.GetBusy() != 0 {
			t.Error(h)
		}
		if held := c.beat(); len(held) != 0 {
			t.Errorf("holds %v at first", held)
		}
		c.assign(2)
		c.assign(1)
		c.assign(1) // repeated: it is one job
		for range 5 {
			start := time.Now()
			held := c.beat()
			if d := time.Since(start); !slices.Equal(held, []uint64{1, 2}) || d > lease/3 {
				t.Errorf("holds %v after %v", held, d)
			}
		}
	})
}

func TestResultsUntilAnswered(t *testing.T) {
	var runs atomic.Int32
	do := executor(func(ctx context.Context, job int32) (*foiblev1.JobResult, error) {
		runs.Add(1)
		return takes(time.Second)(ctx, job)
	})
	test(t, do, nil, func(t *testing.T, s *server, _ *running) {
		c := s.connected()
		for job := range int32(3) {
			c.assign(job + 1)
		}
		for range 3 {
			c.next()
		}
		c.recorded(1, foiblev1.Verdict_VERDICT_RECORDED)
		time.Sleep(time.Second)
		c.end <- status.Error(codes.Unavailable, "gone")

		// A second connection breaks before it has answered.
		c = s.connected()
		if c.hello.GetBusy() != 2 {
			t.Error(c.hello)
		}
		if held := c.beat(); !slices.Equal(held, []uint64{2, 3}) {
			t.Errorf("holds %v", held)
		}
		c.result(2)
		c.result(3)
		c.end <- nil

		c = s.connected()
		c.beat()
		c.result(2)
		c.result(3)
		c.recorded(2, foiblev1.Verdict_VERDICT_DUPLICATE)
		c.recorded(3, foiblev1.Verdict_VERDICT_REFUSED)
		for held := c.beat(); len(held) > 0; held = c.beat() {
		}
		if n := runs.Load(); n != 3 {
			t.Errorf("%d runs of 3 jobs", n)
		}
	})
}

// TestFirstBeatThenResults: even a result that is ready when the worker connects comes after Welcome and the heartbeat
// that names the leases, by which the coordinator counts slots.
func TestFirstBeatThenResults(t *testing.T) {
	test(t, takes(time.Second), nil, func(t *testing.T, s *server, _ *running) {
		for range 20 {
			c := s.connected()
			c.beat()
			c.assign(1)
			time.Sleep(999 * time.Millisecond)
			s.fall()
			time.Sleep(time.Second)
			s.rise()
			c = s.greeted()
			time.Sleep(time.Minute)
			if n := len(c.heard); n != 0 {
				t.Fatalf("%d messages before Welcome", n)
			}
			c.say(&foiblev1.WorkResponse{Message: &foiblev1.WorkResponse_Welcome{Welcome: &foiblev1.Welcome{LeaseSeconds: 30}}})
			if held := c.beat(); !slices.Equal(held, []uint64{1}) {
				t.Fatalf("holds %v", held)
			}
			c.result(1)
			c.recorded(1, foiblev1.Verdict_VERDICT_RECORDED)
			time.Sleep(time.Second)
			c.end <- nil
		}
	})
}

// TestPauses: the pauses before dialling again double up to the greatest, whatever the connection's own are, and
// begin anew after a welcome.
func TestPauses(t *testing.T) {
	test(t, takes(0), nil, func(t *testing.T, s *server, _ *running) {
		c := s.connected()
		for range 2 {
			c.end <- status.Error(codes.Unavailable, "gone")
			last := time.Now()
			for i, want := range []time.Duration{100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000} {
				c = s.greeted()
				if d := c.at.Sub(last); d != want*time.Millisecond {
					t.Errorf("pause %d is %v, want %v", i, d, want*time.Millisecond)
				}
				last = c.at
				c.end <- status.Error(codes.Unavailable, "not yet")
			}
			c = s.connected()
			time.Sleep(time.Second)
		}
		s.fall()
		time.Sleep(24 * time.Hour)
		s.rise()
		up := time.Now()
		// The first call may find the connection still failing, and the second does not.
		if c := s.connected(); c.at.Sub(up) > 20*time.Second {
			t.Errorf("connected %v after the coordinator came back", c.at.Sub(up))
		}
	})
}

func TestFailures(t *testing.T) {
	for _, f := range []struct {
		name string
		do   executor
		want string
	}{
		{"error", func(context.Context, int32) (*foiblev1.JobResult, error) { return nil, errors.New("bad luck") }, "bad luck"},
		{"error with a result", func(context.Context, int32) (*foiblev1.JobResult, error) {
			return &foiblev1.JobResult{}, errors.New("bad luck")
		}, "bad luck"},
		{"panic", func(context.Context, int32) (*foiblev1.JobResult, error) { panic("so bad") }, "panic: so bad"},
		{"panic of the runtime", func(_ context.Context, job int32) (*foiblev1.JobResult, error) {
			return nil, fmt.Errorf("%d", []int{}[job])
		}, "panic: runtime error: index out of range [1] with length 0"},
		{"nothing", func(context.Context, int32) (*foiblev1.JobResult, error) { return nil, nil }, "neither a result nor an error"},
		{"bytes that are no text", func(context.Context, int32) (*foiblev1.JobResult, error) {
			return nil, errors.New("file \xff\xfe")
		}, "file \uFFFD"},
		{"too large", func(context.Context, int32) (*foiblev1.JobResult, error) {
			cell := &foiblev1.Cell{Posterior: make([]float64, 33<<17)}
			return &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Infer{Infer: &foiblev1.InferResult{Cells: []*foiblev1.Cell{cell}}}}, nil
		}, "bytes, more than"},
	} {
		t.Run(f.name, func(t *testing.T) {
			test(t, f.do, nil, func(t *testing.T, s *server, _ *running) {
				c := s.connected()
				c.assign(1)
				if got := c.result(1).GetFailure().GetReason(); !strings.Contains(got, f.want) {
					t.Errorf("failure %q, want %q", got, f.want)
				}
				c.recorded(1, foiblev1.Verdict_VERDICT_RETRY)
				c.assign(2) // it goes on
				c.result(2)
			})
		})
	}
}

func TestDrain(t *testing.T) {
	const timeout = 20 * time.Second
	for _, d := range []struct {
		name     string
		timeout  time.Duration
		job      time.Duration
		released []uint64 // nil: the results come instead
		after    time.Duration
	}{
		{"in time", timeout, 5 * time.Second, nil, 5 * time.Second},
		{"too late", timeout, time.Hour, []uint64{1, 2}, timeout},
		{"no time", 0, time.Hour, []uint64{1, 2}, 0},
	} {
		t.Run(d.name, func(t *testing.T) {
			test(t, takes(d.job), func(cfg *worker.Config) { cfg.DrainTimeout = d.timeout }, func(t *testing.T, s *server, r *running) {
				c := s.connected()
				c.assign(1)
				c.assign(2)
				c.beat()
				synctest.Wait()
				start := time.Now()
				r.stop()
				if d.timeout > 0 {
					if released := c.drain(); len(released) != 0 {
						t.Errorf("hands back %v at once", released)
					}
					c.assign(3) // it crossed with Drain
					if released := c.drain(); !slices.Equal(released, []uint64{3}) {
						t.Errorf("hands back %v, not the job that came late", released)
					}
				}
				if d.released != nil {
					released := c.drain()
					if len(released) == 0 { // Drain may be said twice
						released = c.drain()
					}
					if !slices.Equal(released, d.released) {
						t.Errorf("hands back %v", released)
					}
				} else {
					for range 2 {
						c.recorded(c.next().GetResult().GetJob(), foiblev1.Verdict_VERDICT_RECORDED)
					}
				}
				if took := time.Since(start); took != d.after {
					t.Errorf("took %v", took)
				}
				for m := c.next(); m != nil; m = c.next() {
					if m.GetDrain() == nil || len(m.GetDrain().GetReleased()) > 0 {
						t.Errorf("then says %v", m)
					}
				}
				c.end <- nil
				if err := r.end(time.Second); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A worker that is dismissed drains, and ends without dialling again.
func TestDismiss(t *testing.T) {
	dismissed := make(chan struct{})
	test(t, takes(2*time.Second), func(cfg *worker.Config) { cfg.Dismissed = func() { close(dismissed) } }, func(t *testing.T, s *server, r *running) {
		c := s.connected()
		c.assign(1)
		c.beat()
		c.say(&foiblev1.WorkResponse{Message: &foiblev1.WorkResponse_Dismiss{Dismiss: &foiblev1.Dismiss{}}})
		if released := c.drain(); len(released) != 0 {
			t.Errorf("hands back %v at once", released)
		}
		<-dismissed
		c.result(1)
		c.recorded(1, foiblev1.Verdict_VERDICT_RECORDED)
		c.closed()
		if err := r.end(time.Second); err != nil {
			t.Error(err)
		}
	})
}

// TestDrainAcrossConnections: a worker that is told to stop while it is disconnected comes back to hand over its results.
func TestDrainAcrossConnections(t *testing.T) {
	test(t, takes(2*time.Second), nil, func(t *testing.T, s *server, r *running) {
		c := s.connected()
		c.assign(1)
		time.Sleep(time.Second)
		s.fall()
		time.Sleep(5 * time.Second)
		r.stop()
		time.Sleep(time.Second)
		s.rise()
		c = s.connected()
		for done := false; !done; {
			if m := c.next(); m.GetResult() != nil {
				c.recorded(1, foiblev1.Verdict_VERDICT_RECORDED)
				done = true
			}
		}
		c.closed()
		if err := r.end(time.Second); err != nil {
			t.Error(err)
		}
	})
}

// TestStopAlone: a worker without a coordinator stops at once if it holds nothing, else when its time has run out.
func TestStopAlone(t *testing.T) {
	for _, holds := range []bool{false, true} {
		t.Run(fmt.Sprintf("holds=%v", holds), func(t *testing.T) {
			test(t, takes(time.Hour), nil, func(t *testing.T, s *server, r *running) {
				c := s.connected()
				if holds {
					c.assign(1)
				}
				time.Sleep(time.Second)
				s.fall()
				time.Sleep(time.Minute)
				start := time.Now()
				r.stop()
				if err := r.end(time.Minute); err != nil {
					t.Error(err)
				}
				most := time.Duration(0)
				if holds {
					most = 25 * time.Second
				}
				if d := time.Since(start); d > most {
					t.Errorf("stopping took %v", d)
				}
			})
		})
	}
}

func TestRefused(t *testing.T) {
	for _, code := range []codes.Code{codes.FailedPrecondition, codes.InvalidArgument, codes.Unauthenticated, codes.PermissionDenied} {
		test(t, takes(0), nil, func(t *testing.T, s *server, r *running) {
			s.greeted().end <- status.Error(code, "another version")
			if err := r.end(time.Second); err == nil || !strings.Contains(err.Error(), "refuses it: another version") {
				t.Errorf("%v: %v", code, err)
			}
		})
	}
}

// TestBothSidesTalk: results larger than the windows of the connection, in both directions at once, do not make
// both sides wait for each other.
func TestBothSidesTalk(t *testing.T) {
	const slots = 200
	large := &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Infer{Infer: &foiblev1.InferResult{
		Cells: []*foiblev1.Cell{{Posterior: make([]float64, 10_000)}},
	}}}
	start := make(chan struct{})
	do := executor(func(context.Context, int32) (*foiblev1.JobResult, error) {
		<-start
		return large, nil
	})
	s := newServer(t)
	s.hears = make(chan struct{})
	r := s.run(do, func(cfg *worker.Config) { cfg.Slots = 1000 })
	c := s.connected()
	for job := range int32(slots) {
		c.assign(job + 1)
	}
	close(start)
	// The coordinator hears nothing until it has said all of this.
	sets := []*foiblev1.ParameterColumns{{Model: "boltzmann", Alpha: make([]float64, 3000)}}
	said := make(chan error, 1)
	go func() {
		for job := int32(slots); job < 2*slots; job++ {
			err := c.stream.Send(&foiblev1.WorkResponse{Message: &foiblev1.WorkResponse_Assign{Assign: &foiblev1.Assign{
				SweepId: "s", Job: job + 1, Lease: uint64(job) + 1, Work: &foiblev1.Assign_Infer{Infer: &foiblev1.InferJob{Columns: sets}},
			}}})
			if err != nil {
				said <- err
				return
			}
		}
		said <- nil
	}()
	if err := await.Value(t, said, "the worker to listen while it talks"); err != nil {
		t.Error(err)
	}
	close(s.hears)
	for range 2 * slots {
		m := c.next().GetResult()
		c.recorded(m.GetJob(), foiblev1.Verdict_VERDICT_RECORDED)
	}
	r.stop()
	c.drain()
	c.closed()
	if err := r.end(await.Limit()); err != nil {
		t.Error(err)
	}
}

func TestConfig(t *testing.T) {
	good := func() worker.Config {
		cfg := worker.DefaultConfig()
		cfg.Conn, cfg.Executor, cfg.Slots, cfg.Version = &grpc.ClientConn{}, takes(0), 1, "v"
		return cfg
	}
	if cfg := good(); cfg.Validate() != nil {
		t.Error(cfg.Validate())
	}
	for text, spoil := range map[string]func(*worker.Config){
		"no connection":      func(c *worker.Config) { c.Conn = nil },
		"no executor":        func(c *worker.Config) { c.Executor = nil },
		"0 slots":            func(c *worker.Config) { c.Slots = 0 },
		"1025 slots":         func(c *worker.Config) { c.Slots = 1025 },
		"no version":         func(c *worker.Config) { c.Version = "" },
		"pauses of 0s":       func(c *worker.Config) { c.Retry = 0 },
		"pauses of 20s to 1": func(c *worker.Config) { c.Retry = 20 * time.Second },
	} {
		cfg := good()
		spoil(&cfg)
		if _, err := worker.New(cfg); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v: want %q", err, text)
		}
	}
}
