package web

import (
	"context"
	"time"

	"foible.dev/foible/core/model"
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
	ChunkFits(ctx context.Context, id string, chunk int) (sweep.Job, []result.Fit, error)
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

// Inside is a sweep seen closely. Nothing in it changes.
type Inside struct {
	Config   sweep.Config
	Sets     []model.ParameterSet
	Stimuli  []sweep.Shape
	Coverage []sweep.Coverage
	Scored   []bool // by chunk of the rounds whose parameter sets are known: its score job has a result
	Chosen   []int  // indexes into Sets of the report's parameter sets; nil before they are chosen
	Failures []Failure
}

// Failure is a job whose result is a failure, or that has cells which could not be computed.
type Failure struct {
	Job      int
	Cells    bool   // the cells of Sets could not be computed; those of the job's other parameter sets were
	Stage    string // fit, top_up or report
	Score    bool   // a comparison with people
	Stimulus string // of a job that is none
	Sets     []model.ParameterSet
	Reason   string
}

// Worker is one connection of a worker.
type Worker struct {
	Host     string
	Slots    int
	Draining bool
	Joined   time.Time
	Heard    time.Time // its last heartbeat or result
	Left     time.Time // zero: it is connected
	Done     int64     // results of it that were recorded
	Failed   int64     // failures that it reported, and wrong answers, but for those of the computation
	Aside    time.Time // it keeps failing, and is given no jobs before; zero: it is given jobs
	Reason   string    // of its last failure, if it keeps failing
	Lost     int64     // jobs that it has lost to others, because it was not heard of
	Slow     bool      // a job of it was overdue, and no result has come since
	Overdue  int64     // times that a job of it was given to another too, because it took too long
	Jobs     []Job     // that it has, oldest first
}

// Job is one that a worker has.
type Job struct {
	Sweep  string
	Number int
	Since  time.Time
}
