package coordinator

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/service"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// A store that takes no writes stalls all sweeps: no jobs are scheduled, results that have arrived wait, and everybody
// who looks sees why. When it takes writes again, all goes on from what is stored.

// opening says whether the coordinator has opened its store. Safe for concurrent use.
type opening struct {
	mu      sync.Mutex    // guards what follows
	done    bool          // its sweeps have been taken up
	reason  string        // why that is waited for; "" if it is just a matter of time
	changed chan struct{} // closed at the next change
}

func newOpening() *opening { return &opening{changed: make(chan struct{})} }

func (o *opening) set(done bool, reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done, o.reason = done, reason
	close(o.changed)
	o.changed = make(chan struct{})
}

func (o *opening) state() (done bool, reason string, changed <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.done, o.reason, o.changed
}

// wait waits until the store is open, for which a coordinator needs a moment at its start. If it takes longer, and the
// caller is not patient, the error says why.
func (o *opening) wait(ctx context.Context, patient bool) error {
	for {
		done, reason, changed := o.state()
		switch {
		case done:
			return nil
		case reason != "" && !patient:
			return fmt.Errorf("%w: %w: %s", service.ErrUnavailable, engine.ErrStalled, reason)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// stalled is why the store accepts no writes, and when it will; "" if it does.
func (c *Coordinator) stalled() string {
	done, reason, _ := c.opening.state()
	if done {
		reason, _ = c.store.Stalled()
	}
	return reason
}

// watchStore stalls sweeps while the store accepts no writes.
func (c *Coordinator) watchStore(ctx context.Context, healthy *healthServer) error {
	for before := ""; ; {
		reason, changed := c.store.Stalled()
		if reason != before {
			before = reason
			c.report(reason)
			c.stall(ctx, reason != "")
			healthy.serving(reason == "")
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// report says that the store accepts no writes, and why, or that it does again.
func (c *Coordinator) report(reason string) {
	switch {
	case c.cfg.Stalled != nil:
		c.cfg.Stalled(reason)
	case reason != "":
		c.log.Error("sweeps are paused: the store does not accept writes", "reason", reason)
	default:
		c.log.Info("the store accepts writes; sweeps go on")
	}
}

// stall tells all sweeps that nothing of them is written for now, or is again: what could not be stored meanwhile is
// looked after at once.
func (c *Coordinator) stall(ctx context.Context, stalled bool) {
	for _, run := range c.taken() {
		run.Stall(ctx, stalled)
	}
	c.demand.Signal()
}

// admit lets calls wait until the coordinator has taken up its sweeps. Those about its health need not; workers wait,
// however long it takes, and all others hear of it if it takes long.
func (c *Coordinator) admit(ctx context.Context, method string) error {
	of, _, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	if of == healthv1.Health_ServiceDesc.ServiceName {
		return nil
	}
	return service.StatusOf(c.opening.wait(ctx, of == foiblev1.WorkerService_ServiceDesc.ServiceName))
}

func (c *Coordinator) admitCall(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	if err := c.admit(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	c.tellVersion(ctx)
	return handle(ctx, request)
}

func (c *Coordinator) admitStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	if err := c.admit(stream.Context(), info.FullMethod); err != nil {
		return err
	}
	return handle(srv, stream)
}

// ReasonTrailer of an answer to a health check says why a coordinator does not serve.
const ReasonTrailer = "foible-reason-bin"

// healthServer is gRPC's, and says why a coordinator does not serve.
type healthServer struct {
	*health.Server
	reason func() string
}

func newHealthServer(reason func() string) *healthServer {
	h := &healthServer{health.NewServer(), reason}
	h.serving(false)
	return h
}

func (h *healthServer) serving(does bool) {
	status := healthv1.HealthCheckResponse_NOT_SERVING
	if does {
		status = healthv1.HealthCheckResponse_SERVING
	}
	h.SetServingStatus("", status)
}

// Check implements [healthv1.HealthServer].
func (h *healthServer) Check(ctx context.Context, m *healthv1.HealthCheckRequest) (*healthv1.HealthCheckResponse, error) {
	if reason := h.reason(); reason != "" {
		_ = grpc.SetTrailer(ctx, metadata.Pairs(ReasonTrailer, reason)) // the status stands without it
	}
	return h.Server.Check(ctx, m)
}
