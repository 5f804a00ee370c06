package web

import (
	"context"

	"foible.dev/foible/coordinator/web/views"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Coordinator is what the dashboard shows, and what it changes. Unknown sweeps are [service.ErrNotFound].
type Coordinator interface {
	Sweep(ctx context.Context, id string) (*foiblev1.Sweep, error)
	// ListSweeps returns all sweeps, newest first.
	ListSweeps(ctx context.Context) ([]*foiblev1.Sweep, error)
	PauseSweep(ctx context.Context, id string) (*foiblev1.Sweep, error)
	ResumeSweep(ctx context.Context, id string) (*foiblev1.Sweep, error)
	CancelSweep(ctx context.Context, id string) (*foiblev1.Sweep, error)
	RetrySweep(ctx context.Context, id string) (*foiblev1.Sweep, *foiblev1.Retried, error)
	ExtendSweep(ctx context.Context, m *foiblev1.ExtendSweepRequest) (sweep *foiblev1.Sweep, existed bool, err error)

	// Inside is a sweep seen closely.
	Inside(ctx context.Context, id string) (*Inside, error)
	// ChunkFits are the score job of a chunk whose parameter sets are known, and its fits, in the order of the parameter
	// sets; none if the job has failed or has no result.
	ChunkFits(ctx context.Context, id string, chunk sweep.Chunk) (sweep.Job, []result.Fit, error)
	// Cell is what a parameter set predicts of a stimulus, by their places in the plan; nil if there is no result.
	Cell(ctx context.Context, id string, set, stimulus int) (*result.Cell, error)
	// Study is the bundle of a study.
	Study(ctx context.Context, hash string) ([]byte, error)
	// Changes is closed at the next change of a sweep; nil if it has ended, or is not followed here.
	Changes(id string) <-chan struct{}
	// Workers are those of this coordinator, and those that have left it of late.
	Workers() []Worker
	// Elsewhere counts the workers of other coordinators that share the data.
	Elsewhere() int
}

// What a coordinator tells of sweeps and workers stands where it is shown.
type (
	// Inside is a sweep seen closely.
	Inside = views.Inside
	// Failure is a job whose result is a failure, or that has cells which could not be computed.
	Failure = views.Failure
	// Worker is one connection of a worker.
	Worker = views.Worker
	// Job is one that a worker has.
	Job = views.Job
)
