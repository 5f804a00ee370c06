package command

import (
	"context"
	"fmt"
	"time"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// healthTimeout is how long a probe waits for an answer.
const healthTimeout = 4 * time.Second

// Health says whether a coordinator answers.
func (e *Env) Health(ctx context.Context, t Target) error {
	c, err := dial(t)
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }()
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	answer, err := healthv1.NewHealthClient(c.conn).Check(ctx, &healthv1.HealthCheckRequest{})
	if err != nil {
		return c.explain(err)
	}
	if s := answer.GetStatus(); s != healthv1.HealthCheckResponse_SERVING {
		return fmt.Errorf("the coordinator at %s answers, and is %s; its log says why", t.Address, s)
	}
	fmt.Fprintln(e.Out, "The coordinator serves.")
	return nil
}
