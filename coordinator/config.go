// Package coordinator splits sweeps into jobs, gives them to workers over gRPC
// and gathers their results. Read [Config] and [Coordinator] first.
//
// What must not be lost is in the engine: specs, the queue, and the results,
// which are the only truth. Everything here is derived from them, and made
// anew after a restart.
package coordinator

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/limits"
	"foible.dev/foible/coordinator/web"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/sweep"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Config of a coordinator. The zero value of a field has no meaning but where it says so; start from DefaultConfig.
type Config struct {
	// Listener is where workers and users dial in. The coordinator closes it.
	Listener net.Listener
	// Access decides who may call; nil: whoever can reach the listener.
	Access *access.Keeper
	// DataDir holds the engine's files. One coordinator at a time uses it.
	DataDir string
	// Servers keep what DataDir would, for one coordinator or several; nil: DataDir does.
	Servers *engine.Servers
	// Version must be the workers' version too, since results are compared byte by byte.
	Version string
	// Lease is how long a job that is not heard of stays with its worker.
	Lease time.Duration
	// Grace is how long the jobs of a broken connection wait for their worker to come back. At most Lease.
	Grace time.Duration
	// MaxFailures is on how many different workers a job must fail for a cause that is not known, or be answered wrongly,
	// before that is recorded; with fewer workers, how often. Failures of the computation are recorded at once, those of
	// the infrastructure never.
	MaxFailures int
	// MaxLost is how many different workers must be lost while they have a job, one after the other, before it is
	// recorded as failed: it may be what ends them.
	MaxLost int
	// JobDeadline is how long a job may take before an idle worker is given it too; it doubles each time. 0: a minute
	// and ten times what the slowest jobs like it have taken for their size, ten minutes before any has been seen.
	JobDeadline time.Duration
	// Limits bound what others can use up. Those of Access and Web are of the Keeper and the dashboard, which have their own copies.
	Limits limits.Limits
	// Shapes reads from a bundle which stimuli a study has, so that a sweep with others is refused; nil to refuse none.
	Shapes func(bundle []byte) ([]*foiblev1.StimulusShape, error)
	// Scorer reads the judgements of a study from its bundle, so that the fits that workers send can be computed again and
	// compared; nil: fits are checked for what they can be, no more.
	Scorer func(bundle []byte, b sweep.Bootstrap, seed uint64) (*score.Scorer, error)
	// Web serves the dashboard; nil: there is none.
	Web *web.Server
	// Listening is called when calls are answered; its error ends the coordinator. nil: nothing.
	Listening func() error
	// Stalled is called when the store ceases to accept writes, with why and until when, and with "" when it accepts them
	// again; nil: that is logged.
	Stalled func(reason string)
	// Dismissed is closed by the caller when no work is left and workers, also those that come later, are to end;
	// nil: never.
	Dismissed <-chan struct{}
	// Metrics takes what the coordinator counts; nil: nobody reads it.
	Metrics prometheus.Registerer
	// Tracing takes spans of calls and jobs; nil: there are none.
	Tracing trace.TracerProvider
	// Logger takes what an operator acts on; nil for none.
	Logger hclog.Logger
}

// DefaultConfig lacks Listener, DataDir or Servers, and Version.
func DefaultConfig() Config {
	return Config{
		Lease:       30 * time.Second,
		Grace:       5 * time.Second,
		MaxFailures: 3,
		MaxLost:     20,
		Limits:      limits.Default(),
	}
}

// Validate says what is wrong with a configuration.
func (c *Config) Validate() error {
	var errs []error
	if c.Listener == nil {
		errs = append(errs, errors.New("no listener"))
	}
	if c.DataDir == "" && c.Servers == nil {
		errs = append(errs, errors.New("no data directory"))
	}
	if c.Version == "" {
		errs = append(errs, errors.New("no version"))
	}
	if c.Lease < time.Second {
		errs = append(errs, fmt.Errorf("lease %v: must be at least a second", c.Lease))
	}
	if c.Grace < 0 || c.Grace > c.Lease {
		errs = append(errs, fmt.Errorf("grace %v: must be at most the lease, %v", c.Grace, c.Lease))
	}
	if c.MaxFailures < 1 {
		errs = append(errs, fmt.Errorf("%d failures: must be at least 1", c.MaxFailures))
	}
	if c.MaxLost < 1 {
		errs = append(errs, fmt.Errorf("%d workers lost: must be at least 1", c.MaxLost))
	}
	if c.JobDeadline < 0 || c.JobDeadline > 0 && c.JobDeadline < time.Second {
		errs = append(errs, fmt.Errorf("job deadline %v: must be at least a second, or 0 for one by what jobs take", c.JobDeadline))
	}
	return errors.Join(append(errs, c.Limits.Validate())...)
}
