package command

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"time"

	"foible/coordinator"
	"foible/worker"
)

// CoordinatorOptions say where a coordinator listens and keeps its data.
type CoordinatorOptions struct {
	Listen, Data string
	Lease        time.Duration
}

// Coordinator runs a coordinator until ctx ends.
func (e *Env) Coordinator(ctx context.Context, o CoordinatorOptions) error {
	if err := loopback(o.Listen); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	cfg := coordinator.DefaultConfig()
	cfg.Listener, cfg.DataDir, cfg.Version, cfg.Logger = listener, o.Data, e.Version, e.Logger
	cfg.Lease, cfg.Grace = o.Lease, min(cfg.Grace, o.Lease)
	c, err := coordinator.New(cfg)
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// loopback refuses addresses that other machines could reach: there is no encryption yet.
func loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return usagef("address %q: write it as host:port, e.g. %s", address, DefaultAddress)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return usagef("address %q can be reached from other machines, and this version speaks without encryption; use a loopback address such as %s", address, DefaultAddress)
}

// WorkerOptions say whom a worker works for.
type WorkerOptions struct {
	Coordinator string
	Slots       int // 0: one a core
	Drain       time.Duration
}

// Worker works until ctx ends, and then drains.
func (e *Env) Worker(ctx context.Context, o WorkerOptions) error {
	if err := loopback(o.Coordinator); err != nil {
		return err
	}
	c, err := dial(o.Coordinator)
	if err != nil {
		return err
	}
	defer c.close()
	cfg := worker.DefaultConfig()
	cfg.Conn, cfg.Version, cfg.Logger, cfg.DrainTimeout = c.conn, e.Version, e.Logger, o.Drain
	cfg.Executor = worker.NewScience(c.studies)
	if cfg.Slots = o.Slots; cfg.Slots == 0 {
		cfg.Slots = runtime.GOMAXPROCS(0)
	}
	if cfg.Host, err = os.Hostname(); err != nil {
		cfg.Host = "unknown"
	}
	w, err := worker.New(cfg)
	if err != nil {
		return err
	}
	return w.Run(ctx)
}
