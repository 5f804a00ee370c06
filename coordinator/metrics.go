package coordinator

import (
	"errors"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"

	"foible.dev/foible/coordinator/active"
	"foible.dev/foible/coordinator/session"
	"foible.dev/foible/coordinator/store"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// maxMeasuredSweeps bounds the sweeps that have metrics of their own: those that have not ended, the oldest first.
const maxMeasuredSweeps = 50

// metrics count what happens. They are there whether or not anybody reads them.
type metrics struct {
	rpc     *grpcprom.ServerMetrics
	jobs    active.Counters
	session *session.Metrics
}

func newMetrics() *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	return &metrics{
		rpc:     grpcprom.NewServerMetrics(grpcprom.WithServerHandlingTimeHistogram()),
		session: session.NewMetrics(),
		jobs: active.Counters{
			Again:  counter("foible_jobs_given_out_again_total", "Jobs sent to workers that had been sent before."),
			Lost:   counter("foible_leases_lost_total", "Leases that ended because nothing was heard of the worker."),
			Copies: counter("foible_jobs_overdue_total", "Jobs given to another worker too, because they took too long."),
			Cells:  counter("foible_cells_recorded_total", "Cells of jobs that have got their result."),
		},
	}
}

// register lets a registry read what a coordinator counts.
func (c *Coordinator) register(r prometheus.Registerer) error {
	m := c.metrics
	var errs []error
	for _, one := range append(m.session.Collectors(), m.rpc, m.jobs.Again, m.jobs.Lost, m.jobs.Copies, m.jobs.Cells, state{c}) {
		errs = append(errs, r.Register(one))
	}
	return errors.Join(errs...)
}

// state is how a coordinator stands when it is asked.
type state struct{ c *Coordinator }

var (
	workersDesc = prometheus.NewDesc("foible_workers", "Workers connected to this coordinator.", nil, nil)
	slotsDesc   = prometheus.NewDesc("foible_slots", "Slots of the workers connected to this coordinator.", nil, nil)
	freeDesc    = prometheus.NewDesc("foible_slots_waiting", "Slots that wait for a job.", nil, nil)
	storeDesc   = prometheus.NewDesc("foible_store_writable", "1 if the store accepts writes, 0 if it does not, as on a full disk: no jobs are scheduled then.", nil, nil)
	sweepsDesc  = prometheus.NewDesc("foible_sweeps", "Sweeps that this coordinator has taken up since it started, by state; those that were deleted since do not count.", []string{"state"}, nil)
)

// Gauges of a sweep that has not ended.
var sweepGauges = []struct {
	desc  *prometheus.Desc
	value func(*active.Measured) int
}{
	{sweepDesc("cells", "Cells of the sweep."), func(m *active.Measured) int { return m.Cells }},
	{sweepDesc("cells_done", "Cells of the sweep whose job has a result."), func(m *active.Measured) int { return m.CellsDone }},
	{sweepDesc("jobs", "Jobs of the sweep."), func(m *active.Measured) int { return m.Jobs }},
	{sweepDesc("jobs_done", "Jobs of the sweep with a result."), func(m *active.Measured) int { return m.JobsDone }},
	{sweepDesc("jobs_failed", "Jobs of the sweep whose result is a failure."), func(m *active.Measured) int { return m.JobsFailed }},
	{sweepDesc("cells_failed", "Cells of the sweep that could not be computed, of jobs that have a result."), func(m *active.Measured) int { return m.CellsFailed }},
	{sweepDesc("jobs_leased", "Jobs of the sweep that workers of this coordinator have."), func(m *active.Measured) int { return m.Leased }},
	{sweepDesc("jobs_queued", "Jobs of the sweep that can be done, have no result, and are with no worker of this coordinator."), func(m *active.Measured) int { return m.Queued }},
}

var etaDesc = prometheus.NewDesc("foible_sweep_eta_seconds", "Time in which the sweep ends: the ends of an 80 % range. Absent where nothing can be said.", []string{"sweep", "bound"}, nil)

func sweepDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("foible_sweep_"+name, help, []string{"sweep"}, nil)
}

// Describe implements [prometheus.Collector].
func (s state) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{storeDesc, workersDesc, slotsDesc, freeDesc, sweepsDesc, etaDesc} {
		to <- desc
	}
	for _, g := range sweepGauges {
		to <- g.desc
	}
}

// Collect implements [prometheus.Collector].
func (s state) Collect(to chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	writable := 1.0
	if s.c.stalled() != "" {
		writable = 0
	}
	gauge(storeDesc, writable)
	workers, slots := s.c.crew.Connected()
	gauge(workersDesc, float64(workers))
	gauge(slotsDesc, float64(slots))
	gauge(freeDesc, float64(s.c.demand.Slots()))
	runs := s.c.taken()
	states := map[foiblev1.SweepState]int{}
	s.c.mu.Lock()
	for _, state := range s.c.ended {
		states[state]++
	}
	s.c.mu.Unlock()
	n := 0
	for _, run := range runs {
		state := run.State()
		states[state]++
		if !store.Unended(state) || n == maxMeasuredSweeps {
			continue
		}
		n++
		measured := run.Measure()
		for _, g := range sweepGauges {
			gauge(g.desc, float64(g.value(&measured)), run.ID)
		}
		if measured.Foreseen {
			gauge(etaDesc, measured.Low.Seconds(), run.ID, "low")
			gauge(etaDesc, measured.High.Seconds(), run.ID, "high")
		}
	}
	for state, name := range stateLabels {
		gauge(sweepsDesc, float64(states[state]), name)
	}
}

var stateLabels = map[foiblev1.SweepState]string{
	store.Running: "running", store.Paused: "paused", store.Cancelled: "cancelled",
	store.Succeeded: "succeeded", store.FailedInPart: "failed",
}

// taken lists the sweeps that this coordinator has in memory, the oldest first. Some may have just ended.
func (c *Coordinator) taken() []*active.Sweep {
	c.mu.Lock()
	defer c.mu.Unlock()
	return sorted(c.sweeps)
}
