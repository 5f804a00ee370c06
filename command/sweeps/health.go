package sweeps

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/coordinator"
)

// healthTimeout is how long a probe waits for an answer.
const healthTimeout = 4 * time.Second

// Health says whether a coordinator serves, and why not; if live is set, whether it answers at all.
func Health(ctx context.Context, term *terminal.Terminal, t connect.Target, live bool) error {
	c, err := connect.Dial(t)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	var trailer metadata.MD
	answer, err := healthv1.NewHealthClient(c.Conn).Check(ctx, &healthv1.HealthCheckRequest{}, grpc.Trailer(&trailer))
	if err != nil {
		return c.Explain(err)
	}
	reasons := trailer.Get(coordinator.ReasonTrailer)
	switch s := answer.GetStatus(); {
	case live:
		term.Print("The coordinator answers.")
		return nil
	case s != healthv1.HealthCheckResponse_SERVING && len(reasons) > 0:
		return fmt.Errorf("the coordinator at %s answers, but its store does not accept writes: %s", t.Where(), reasons[0])
	case s != healthv1.HealthCheckResponse_SERVING:
		return fmt.Errorf("the coordinator at %s answers, and is %s; its log says why", t.Where(), s)
	}
	term.Print("The coordinator serves.")
	return nil
}

// NewHealth returns the command health.
func NewHealth(term *terminal.Terminal) *cobra.Command {
	var target connect.Target
	var live bool
	c := &cobra.Command{
		Use:   "health",
		Short: "Check whether a coordinator is ready",
		Long: `Health asks a coordinator whether it serves, for scripts and probes. Its exit code is 0 if it does. One whose store does
not accept writes, because its disk is full or most of its NATS servers are lost, answers and does not serve: health
says why. For a probe that ends a coordinator which hangs, ask with --live: ending one with a full disk does not help.`,
		GroupID: cli.GroupCluster, Args: cli.AtMost(0),
		RunE: func(c *cobra.Command, _ []string) error { return Health(c.Context(), term, target, live) },
	}
	connect.TargetFlags(c, &target)
	c.Flags().BoolVar(&live, "live", false, "exit code 0 if it answers, though it does not serve")
	return c
}
