package worker

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// kind of a job, as a label.
func kind(job *foiblev1.Assign) string {
	if job.GetScore() != nil {
		return "score"
	}
	return "infer"
}

// measured counts the jobs of an executor.
type measured struct {
	Executor
	busy     prometheus.Gauge
	jobs     *prometheus.CounterVec   // by outcome
	duration *prometheus.HistogramVec // by kind
}

// Measured is an executor whose jobs are counted, for a worker with a number of slots.
func Measured(e Executor, slots int, r prometheus.Registerer) (Executor, error) {
	m := &measured{
		Executor: e,
		busy:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "foible_worker_slots_busy", Help: "Jobs that run now."}),
		jobs:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "foible_worker_jobs_total", Help: "Jobs that have ended, by outcome."}, []string{"outcome"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "foible_worker_job_duration_seconds", Help: "Time that a job ran, by kind of job.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 11), // 1 ms to 17 min
		}, []string{"kind"}),
	}
	for _, outcome := range []string{"done", "failed", "stopped"} {
		m.jobs.WithLabelValues(outcome)
	}
	all := prometheus.NewGauge(prometheus.GaugeOpts{Name: "foible_worker_slots", Help: "Jobs that can run at once."})
	all.Set(float64(slots))
	return m, errors.Join(r.Register(m.busy), r.Register(m.jobs), r.Register(m.duration), r.Register(all))
}

// Execute implements [Executor].
func (m *measured) Execute(ctx context.Context, job *foiblev1.Assign) (result *foiblev1.JobResult, err error) {
	m.busy.Inc()
	outcome, began := "failed", time.Now() // of a panic too
	defer func() {
		m.busy.Dec()
		m.jobs.WithLabelValues(outcome).Inc()
		m.duration.WithLabelValues(kind(job)).Observe(time.Since(began).Seconds())
	}()
	result, err = m.Executor.Execute(ctx, job)
	switch {
	case ctx.Err() != nil:
		outcome = "stopped"
	case err == nil:
		outcome = "done"
	}
	return result, err
}

// traced makes a span of each job of an executor.
type traced struct {
	Executor
	tracer trace.Tracer
}

// Traced is an executor with a span for each job, below that of the job in the coordinator.
func Traced(e Executor, provider trace.TracerProvider) Executor {
	return &traced{e, provider.Tracer("foible.dev/foible/worker")}
}

// Execute implements [Executor].
func (t *traced) Execute(ctx context.Context, job *foiblev1.Assign) (*foiblev1.JobResult, error) {
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": job.GetTraceParent()})
	ctx, span := t.tracer.Start(ctx, "execute "+kind(job), trace.WithAttributes(
		attribute.String("foible.sweep", job.GetSweepId()), attribute.Int("foible.job", int(job.GetJob())),
		attribute.Int("foible.attempt", int(job.GetAttempt())), attribute.String("foible.stimulus", job.GetInfer().GetStimulus()),
		attribute.Int("foible.parameter_sets", max(codec.InferJobSize(job.GetInfer()), len(job.GetScore().GetScored()))),
	))
	defer span.End()
	result, err := t.Executor.Execute(ctx, job)
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	return result, err
}
