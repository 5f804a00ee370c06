package coordinator_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/coordinator/limits"
	"foible.dev/foible/coordinator/web"
	"foible.dev/foible/internal/await"
	"foible.dev/foible/internal/memdir"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"foible.dev/foible/worker"
)

const version = "test"

// cluster is a coordinator that can be stopped and started again on one directory, and its workers.
type cluster struct {
	t      testing.TB
	dir    string
	adjust func(*coordinator.Config)

	mu       sync.Mutex // guards listener and inner
	listener *bufconn.Listener
	inner    *coordinator.Coordinator // of the moment

	stop    func() // ends the coordinator's Run, and waits
	conn    *grpc.ClientConn
	sweeps  foiblev1.SweepServiceClient
	studies foiblev1.StudyServiceClient
}

// newCluster starts a coordinator. Leases are short; adjust, if given, has the last word.
func newCluster(t testing.TB, adjust func(*coordinator.Config)) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: memdir.New(t), adjust: adjust}
	c.start()
	c.conn = c.dial(append(limited(), grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))...)
	c.sweeps, c.studies = foiblev1.NewSweepServiceClient(c.conn), foiblev1.NewStudyServiceClient(c.conn)
	t.Cleanup(func() {
		_ = c.conn.Close()
		c.stop()
		time.Sleep(50 * time.Millisecond) // the queue's server has goroutines that end a moment later
	})
	return c
}

func (c *cluster) start() {
	c.t.Helper()
	listener := bufconn.Listen(1 << 20)
	c.mu.Lock()
	c.listener = listener
	c.mu.Unlock()
	cfg := coordinator.DefaultConfig()
	cfg.Listener, cfg.DataDir, cfg.Version = listener, c.dir, version
	if c.adjust != nil {
		c.adjust(&cfg)
	}
	co, err := coordinator.New(cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	c.inner = co
	c.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- co.Run(ctx) }()
	c.stop = sync.OnceFunc(func() {
		cancel()
		if err, ok := await.Try(c.t, stopped, "the coordinator to stop"); ok && err != nil {
			c.t.Errorf("coordinator: %v", err)
		}
	})
}

// connect opens a connection to the coordinator of the moment.
func (c *cluster) connect(ctx context.Context, _ string) (net.Conn, error) {
	c.mu.Lock()
	listener := c.listener
	c.mu.Unlock()
	return listener.DialContext(ctx)
}

// limited bounds each call on a connection by how long a test waits, streams included but for those of workers, which
// last as long as the worker.
func limited() []grpc.DialOption {
	bound := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithTimeout(ctx, await.Limit())
		context.AfterFunc(ctx, cancel)
		return ctx
	}
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			return invoke(bound(ctx), method, req, reply, cc, opts...)
		}),
		grpc.WithChainStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			if method != foiblev1.WorkerService_Work_FullMethodName {
				ctx = bound(ctx)
			}
			return stream(ctx, desc, cc, method, opts...)
		}),
	}
}

func (c *cluster) dial(options ...grpc.DialOption) *grpc.ClientConn {
	c.t.Helper()
	options = append([]grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(c.connect),
		worker.Pauses(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(limits.MaxResponseBytes)),
	}, options...)
	conn, err := grpc.NewClient("passthrough:///bufconn", options...)
	if err != nil {
		c.t.Fatal(err)
	}
	return conn
}

// work starts a worker; the function returned drains it.
func (c *cluster) work(slots int, do executor, options ...grpc.DialOption) (drain func()) {
	c.t.Helper()
	return c.employ("test", slots, func(*grpc.ClientConn) worker.Executor { return do }, options...)
}

// employ starts a worker on a host, with the executor that is made of its connection; the function returned drains it.
func (c *cluster) employ(host string, slots int, do func(*grpc.ClientConn) worker.Executor, options ...grpc.DialOption) (drain func()) {
	c.t.Helper()
	conn := c.dial(options...)
	cfg := worker.DefaultConfig()
	cfg.Conn, cfg.Executor, cfg.Slots, cfg.Version, cfg.Host = conn, do(conn), slots, version, host
	cfg.DrainTimeout = time.Second
	w, err := worker.New(cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- w.Run(ctx) }()
	drain = sync.OnceFunc(func() {
		cancel()
		if err, ok := await.Try(c.t, stopped, "the worker to stop"); ok && err != nil {
			c.t.Errorf("worker: %v", err)
		}
		_ = conn.Close()
	})
	c.t.Cleanup(drain)
	return drain
}

// bundle is the smallest study that a coordinator stores.
func bundle(t testing.TB) []byte {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	if _, err := archive.CreateHeader(&zip.FileHeader{Name: "study.yaml", Method: zip.Store}); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// send stores a study; chunk by chunk of the bytes given.
func (c *cluster) send(chunks ...[]byte) (string, error) {
	stream, err := c.studies.CreateStudy(c.t.Context())
	if err != nil {
		return "", err
	}
	for _, chunk := range chunks {
		if err := stream.Send(&foiblev1.CreateStudyRequest{Chunk: chunk}); err != nil {
			break // CloseAndRecv says why
		}
	}
	m, err := stream.CloseAndRecv()
	return m.GetStudyHash(), err
}

// request asks for a sweep of so many parameter sets on so many stimuli, without a report.
func (c *cluster) request(sets, n int) *foiblev1.CreateSweepRequest {
	c.t.Helper()
	hash, err := c.send(bundle(c.t))
	if err != nil {
		c.t.Fatal(err)
	}
	axes := &foiblev1.ModelConfig{}
	for i := range sets {
		axes.Alpha = append(axes.Alpha, 1+float64(i)/8)
	}
	return &foiblev1.CreateSweepRequest{
		StudyHash: hash, StudyName: "made-up", Stimuli: stimuli(n),
		Config: &foiblev1.SweepConfig{Models: map[string]*foiblev1.ModelConfig{"boltzmann": axes}, Report: &foiblev1.StageConfig{}, Seed: 7},
	}
}

// The stages of a sweep of two stages.
var (
	fitSize    = &foiblev1.StageConfig{Runs: 2}
	reportSize = &foiblev1.StageConfig{Runs: 3}
)

// staged asks for a sweep of several models, Boltzmann with so many parameter sets and four more with two each, and
// a report.
func (c *cluster) staged(sets, n int) *foiblev1.CreateSweepRequest {
	c.t.Helper()
	m := c.request(sets, n)
	m.Config.Fit, m.Config.Report = fitSize, reportSize
	one := []float64{0.1}
	for model, axes := range map[string]*foiblev1.ModelConfig{
		"full":            {GoalNoise: one, BudgetR: []int32{2}, BudgetQ: one, SearchNoise: one, ActionNoise: []float64{0.1, 0.2}},
		"goal-lesioned":   {BudgetR: []int32{2}, BudgetQ: one, SearchNoise: one, ActionNoise: []float64{0.1, 0.2}},
		"plan-lesioned":   {GoalNoise: one, ActionNoise: []float64{0.1, 0.2}},
		"action-lesioned": {GoalNoise: one, BudgetR: []int32{2}, BudgetQ: one, SearchNoise: []float64{0.1, 0.2}},
	} {
		m.Config.Models[model] = axes
	}
	return m
}

// submit makes a sweep.
func (c *cluster) submit(m *foiblev1.CreateSweepRequest) string {
	c.t.Helper()
	r, err := c.sweeps.CreateSweep(c.t.Context(), m)
	if err != nil {
		c.t.Fatal(err)
	}
	var names []string
	for _, s := range m.GetStimuli() {
		if strings.HasPrefix(s.GetStimulus(), "long") {
			names = append(names, s.GetStimulus())
		}
	}
	id := r.GetSweep().GetSweepId()
	if names != nil {
		longSweeps.Store(id, names)
		c.t.Cleanup(func() { longSweeps.Delete(id) }) // another test may ask for the same sets, and so have the same id
	}
	return id
}

func (c *cluster) sweep(id string) *foiblev1.Sweep {
	c.t.Helper()
	r, err := c.sweeps.GetSweep(c.t.Context(), &foiblev1.GetSweepRequest{SweepId: id})
	if err != nil {
		c.t.Fatal(err)
	}
	return r.GetSweep()
}

// wait watches a sweep to its end, see [cluster.follow].
func (c *cluster) wait(id string) *foiblev1.Sweep {
	c.t.Helper()
	s, err := c.follow(id)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// follow watches a sweep to its end, over coordinators that stop and start. Progress must not go back, nor beyond the
// plan. It gives up when nothing has been recorded for a long time, and says what is known then. Any goroutine may call
// it.
func (c *cluster) follow(id string) (*foiblev1.Sweep, error) {
	var last *foiblev1.Sweep
	deadline := time.Now().Add(await.Limit())
	for {
		ctx, cancel := context.WithDeadline(c.t.Context(), deadline)
		stream, err := c.sweeps.WatchSweep(ctx, &foiblev1.WatchSweepRequest{SweepId: id})
		for err == nil {
			var m *foiblev1.WatchSweepResponse
			if m, err = stream.Recv(); err != nil {
				break
			}
			p, before := m.GetSweep().GetProgress(), last.GetProgress()
			if p.GetJobsDone() > p.GetJobs() || p.GetCellsDone() > p.GetCells() || p.GetJobsFailed() > p.GetJobsDone() ||
				p.GetJobsDone() < before.GetJobsDone() || p.GetCellsDone() < before.GetCellsDone() {
				c.t.Errorf("progress %v after %v", p, before)
			}
			if last == nil || p.GetJobsDone() > before.GetJobsDone() {
				deadline = time.Now().Add(await.Limit())
			}
			last = m.GetSweep()
		}
		cancel()
		switch {
		case errors.Is(err, io.EOF) && last.GetState() != foiblev1.SweepState_SWEEP_STATE_RUNNING:
			return last, nil
		case c.t.Context().Err() != nil:
			return nil, c.t.Context().Err()
		case time.Now().After(deadline):
			return nil, fmt.Errorf("waited %v for the next result of sweep %s, which was last seen as %v, with error %w; workers: %+v\n\n%s",
				await.Limit(), id, last, err, c.workers(), await.Goroutines())
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// workers are those of the coordinator of the moment.
func (c *cluster) workers() []web.Worker {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inner.Workers()
}

// export is the recorded results of a sweep in order, and how many there are. It tries again if the coordinator goes away.
func (c *cluster) export(id string) (results []byte, n int) {
	c.t.Helper()
	for d := await.Begin(); ; time.Sleep(100 * time.Millisecond) {
		results, n, err := c.tryExport(id, false)
		if err == nil {
			return results, n
		}
		if status.Code(err) != codes.Unavailable {
			c.t.Fatal(err)
		}
		d.Check(c.t, "the results of sweep "+id, err)
	}
}

func (c *cluster) tryExport(id string, partial bool) (results []byte, n int, err error) {
	stream, err := c.sweeps.ExportResults(c.t.Context(), &foiblev1.ExportResultsRequest{SweepId: id, Partial: partial})
	if err != nil {
		return nil, 0, err
	}
	seen := map[int32]bool{}
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return results, len(seen), nil
		}
		if err != nil {
			return nil, 0, err
		}
		if seen[m.GetJob()] {
			c.t.Errorf("job %d has two results", m.GetJob())
		}
		seen[m.GetJob()] = true
		text, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			return nil, 0, err
		}
		results = fmt.Appendf(results, "%d:%x\n", m.GetJob(), text)
	}
}
