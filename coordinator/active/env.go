// Package active has the sweeps that a coordinator has taken up. A [Sweep] makes its jobs, judges what workers answer, records
// results, and knows from them how it stands; [Leases] says which worker has which job until when. What must not be lost is
// in the store: a Sweep is made anew from it after a restart.
//
// A sweep knows its coordinator only through [Env], which has what all sweeps share.
package active

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"foible.dev/foible/coordinator/answer"
	"foible.dev/foible/coordinator/crew"
	"foible.dev/foible/coordinator/replica"
	"foible.dev/foible/coordinator/store"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Env is what the sweeps of a coordinator share.
type Env struct {
	Store   *store.Store
	Crew    *crew.Crew
	Others  *replica.Others
	Damages *store.Damages
	Scorers *answer.Scorers
	Home    Home

	Version     string
	Bounds      crew.Bounds
	JobDeadline time.Duration // see overdue; 0: one that follows from how long jobs take
	Counters    Counters
	Log         hclog.Logger
	Tracer      trace.Tracer // of jobs
	// Stalled is why the store accepts no writes, and when it will; "" if it does.
	Stalled func() string

	Context context.Context         // of background work
	Go      func(work func() error) // begins some
}

// Home is what a sweep asks of the coordinator that has it.
type Home interface {
	// Update changes what is stored of a sweep, and then what the coordinator knows of it; see [store.Store.Change].
	Update(ctx context.Context, id string, change func(*foiblev1.Sweep) error) (*foiblev1.Sweep, uint64, error)
	// CatchUp reads the stored record of a sweep, which another coordinator may have changed, and acts on it.
	CatchUp(ctx context.Context, id string)
	// Retire lets a sweep go that has ended.
	Retire(run *Sweep)
	// Running lists the sweeps whose jobs may be scheduled.
	Running() []*Sweep
	// WaitsFor is the id of the sweep that one waits for; "" if it does not.
	WaitsFor(run *Sweep) string
	// Signal says that there may be new jobs in a queue.
	Signal()
	// Free says whether any worker whose id is not in except waits for jobs and may be given one.
	Free(except []string) bool
}

// Counters count what happens to the jobs of all sweeps.
type Counters struct {
	Again  prometheus.Counter // jobs sent to workers that had been sent before
	Lost   prometheus.Counter // leases that ended because nothing was heard of the worker
	Copies prometheus.Counter // jobs given to another worker too
	Cells  prometheus.Counter // cells of jobs that have got their result
}

// ConnectedAnywhere counts those of the other coordinators too.
func (env *Env) ConnectedAnywhere() (workers, slots int) {
	workers, slots = env.Crew.Connected()
	moreWorkers, moreSlots, _ := env.Others.Sum("")
	return workers + moreWorkers, slots + moreSlots
}

// slotsElsewhere counts the slots of workers of the other coordinators.
func (env *Env) slotsElsewhere() int {
	_, slots, _ := env.Others.Sum("")
	return slots
}
