//go:build long

package coordinator_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/internal/await"
	"foible.dev/foible/internal/natssite"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// health is whether a coordinator serves, and why not.
func (c *cluster) health() (serves bool, reason string) {
	c.t.Helper()
	var trailer metadata.MD
	m, err := healthv1.NewHealthClient(c.conn).Check(c.t.Context(), &healthv1.HealthCheckRequest{}, grpc.Trailer(&trailer))
	if err != nil {
		c.t.Fatal(err)
	}
	return m.GetStatus() == healthv1.HealthCheckResponse_SERVING, strings.Join(trailer.Get(coordinator.ReasonTrailer), "")
}

// Two of three NATS servers are lost: health, the sweep and the calls that would store something say why nothing goes on. When they are back,
// the sweep goes on by itself, to the results of a coordinator without such servers.
func TestQuorumLost(t *testing.T) {
	alone := newCluster(t, nil)
	alone.work(2, nil)
	id := alone.submit(alone.request(40, 4))
	alone.wait(id)
	want, _ := alone.export(id)

	site := natssite.New(t, 8<<20)
	c := newCluster(t, func(cfg *coordinator.Config) {
		cfg.DataDir, cfg.Servers = "", &engine.Servers{URLs: site.URLs()}
		cfg.Lease, cfg.Grace = 5*time.Second, time.Second
	})
	await.Until(t, "the servers to answer", func() bool {
		serves, _ := c.health()
		return serves
	})
	if got := c.submit(c.request(40, 4)); got != id {
		t.Fatalf("the sweep is %s, not %s", got, id)
	}
	begun, hold := make(chan struct{}, 1000), make(chan struct{})
	c.work(2, func(ctx context.Context, _ *foiblev1.Assign) error {
		begun <- struct{}{}
		if len(begun) < 10 {
			return nil
		}
		select {
		case <-hold:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	await.Until(t, "some jobs to be done", func() bool { return c.sweep(id).GetProgress().GetJobsDone() > 5 })
	site.Stop(0)
	site.Stop(1)
	close(hold) // results come, which cannot be stored
	const lacks = "the NATS servers have no quorum, most of them must run; goes on when they do"
	none := "no NATS server answers; goes on when one does"
	said := func() any {
		serves, reason := c.health()
		return []any{serves, reason, c.sweep(id)}
	}
	await.Until(t, "health to say that there is no quorum", func() bool {
		serves, reason := c.health()
		return !serves && (reason == lacks || reason == none)
	}, said)
	await.Until(t, "the sweep to say so", func() bool {
		stalled := c.sweep(id).GetStalled()
		return stalled == lacks || stalled == none
	}, said)
	done := c.sweep(id).GetProgress().GetJobsDone()
	if _, err := c.pause(id); err == nil {
		t.Error("a sweep was paused, which could not be stored")
	}
	if now := c.sweep(id).GetProgress().GetJobsDone(); now != done {
		t.Errorf("%d jobs are said to be done, and then %d, though nothing could be stored", done, now)
	}

	site.Start(0)
	site.Start(1)
	await.Until(t, "health to say that the coordinator serves", func() bool {
		serves, reason := c.health()
		return serves && reason == ""
	}, said)
	s := c.wait(id)
	whole(t, s)
	if s.GetStalled() != "" {
		t.Errorf("it is still said that %s", s.GetStalled())
	}
	if got, _ := c.export(id); string(got) != string(want) {
		t.Error("the results are not those of a coordinator without such servers")
	}
}
