package coordinator

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// begin makes the span of a job that is given out, from then until its result is recorded or it is given back, and tells
// the worker of it.
func (l *lease) begin(tracer trace.Tracer, assign *foiblev1.Assign) {
	ctx, span := tracer.Start(context.Background(), "job", trace.WithAttributes(
		attribute.String("foible.sweep", l.run.id), attribute.Int("foible.job", l.job), attribute.Int("foible.attempt", l.delivery.Attempt()),
		attribute.String("foible.kind", kind(assign.GetScore() != nil)), attribute.String("foible.stimulus", assign.GetInfer().GetStimulus()),
	))
	l.span = span
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	assign.TraceParent = carrier["traceparent"]
}

// end ends the span, with the reason why the job is given back, if it is.
func (l *lease) end(reason string) {
	if reason != "" {
		l.span.SetStatus(codes.Error, reason)
	}
	l.span.End()
}
