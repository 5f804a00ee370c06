package command

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	"foible.dev/foible/coordinator"
)

// healthTimeout is how long a probe waits for an answer.
const healthTimeout = 4 * time.Second

// Health says whether a coordinator serves, and why not; if live is set, whether it answers at all.
func Health(ctx context.Context, term *Terminal, t Target, live bool) error {
	c, err := dial(t)
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }()
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	var trailer metadata.MD
	answer, err := healthv1.NewHealthClient(c.conn).Check(ctx, &healthv1.HealthCheckRequest{}, grpc.Trailer(&trailer))
	if err != nil {
		return c.explain(err)
	}
	reasons := trailer.Get(coordinator.ReasonTrailer)
	switch s := answer.GetStatus(); {
	case live:
		term.print("The coordinator answers.")
		return nil
	case s != healthv1.HealthCheckResponse_SERVING && len(reasons) > 0:
		return fmt.Errorf("the coordinator at %s answers, but its store does not accept writes: %s", t.where(), reasons[0])
	case s != healthv1.HealthCheckResponse_SERVING:
		return fmt.Errorf("the coordinator at %s answers, and is %s; its log says why", t.where(), s)
	}
	term.print("The coordinator serves.")
	return nil
}
