package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	foiblev1 "foible.dev/foible/proto/foible/v1"
	"foible.dev/foible/worker"
)

type execute func(ctx context.Context, job *foiblev1.Assign) (*foiblev1.JobResult, error)

// Execute implements worker.Executor.
func (do execute) Execute(ctx context.Context, job *foiblev1.Assign) (*foiblev1.JobResult, error) {
	return do(ctx, job)
}

// Each job is counted once, by how it ended, also one that panics.
func TestMeasured(t *testing.T) {
	registry := prometheus.NewRegistry()
	ctx, stop := context.WithCancel(t.Context())
	next := 0
	e, err := worker.Measured(execute(func(context.Context, *foiblev1.Assign) (*foiblev1.JobResult, error) {
		switch next++; next {
		case 1, 2:
			return &foiblev1.JobResult{}, nil
		case 3:
			return nil, errors.New("no")
		case 4:
			panic("no")
		}
		stop()
		return nil, ctx.Err()
	}), 3, registry)
	if err != nil {
		t.Fatal(err)
	}
	infer := &foiblev1.Assign{Work: &foiblev1.Assign_Infer{}}
	for range 5 {
		func() {
			defer func() { _ = recover() }()
			_, _ = e.Execute(ctx, infer)
		}()
	}
	err = testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP foible_worker_jobs_total Jobs that have ended, by outcome.
# TYPE foible_worker_jobs_total counter
foible_worker_jobs_total{outcome="done"} 2
foible_worker_jobs_total{outcome="failed"} 2
foible_worker_jobs_total{outcome="stopped"} 1
# HELP foible_worker_slots Jobs that can run at once.
# TYPE foible_worker_slots gauge
foible_worker_slots 3
# HELP foible_worker_slots_busy Jobs that run now.
# TYPE foible_worker_slots_busy gauge
foible_worker_slots_busy 0
`), "foible_worker_jobs_total", "foible_worker_slots", "foible_worker_slots_busy")
	if err != nil {
		t.Error(err)
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v %v", err, problems)
	}
}

// A job is a span below that of the coordinator.
func TestTraced(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	e := worker.Traced(execute(func(context.Context, *foiblev1.Assign) (*foiblev1.JobResult, error) {
		return nil, errors.New("no")
	}), sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)))
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	_, _ = e.Execute(t.Context(), &foiblev1.Assign{TraceParent: "00-" + trace + "-" + parent + "-01", Work: &foiblev1.Assign_Score{Score: &foiblev1.ScoreJob{}}})
	ended := spans.Ended()
	if len(ended) != 1 {
		t.Fatalf("%d spans", len(ended))
	}
	s := ended[0]
	if s.Name() != "execute score" || s.SpanContext().TraceID().String() != trace || s.Parent().SpanID().String() != parent || s.Status().Description != "no" {
		t.Errorf("span %q of trace %s below %s: %v", s.Name(), s.SpanContext().TraceID(), s.Parent().SpanID(), s.Status())
	}
}
