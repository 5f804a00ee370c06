package coordinator_test

import (
	"context"
	"testing"
	"time"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/worker"
)

// When no work is left, workers that are connected end, and so do those that come later.
func TestDismissed(t *testing.T) {
	dismissed := make(chan struct{})
	c := newCluster(t, func(cfg *coordinator.Config) { cfg.Dismissed = dismissed })
	ended := make(chan error, 2)
	work := func() {
		conn := c.dial()
		t.Cleanup(func() { _ = conn.Close() })
		cfg := worker.DefaultConfig()
		cfg.Conn, cfg.Executor, cfg.Slots, cfg.Version = conn, executor(nil), 1, version
		w, err := worker.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		t.Cleanup(cancel)
		go func() { ended <- w.Run(ctx) }()
	}
	work()
	select {
	case err := <-ended:
		t.Fatalf("a worker ended before it was dismissed: %v", err)
	case <-time.After(300 * time.Millisecond): // it may not have joined yet; then it comes later
	}
	close(dismissed)
	work()
	for range 2 {
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("a worker that was dismissed has not ended within 2 minutes")
		}
	}
}
