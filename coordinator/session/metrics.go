package session

import (
	"github.com/prometheus/client_golang/prometheus"

	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Outcomes of a result, as labels.
const (
	outcomeRecorded  = "recorded"
	outcomeFailed    = "failed"    // recorded as a failure
	outcomeDuplicate = "duplicate" // the job had a result
	outcomeRetry     = "retry"     // a failure; the job is sent again
	outcomeAgain     = "again"     // noted; the job is computed twice
	outcomeRefused   = "refused"   // it does not answer its job, or the job is not wanted
)

// Metrics count what is sent to workers, and what they send.
type Metrics struct {
	given    prometheus.Counter
	results  *prometheus.CounterVec   // by outcome
	duration *prometheus.HistogramVec // by kind
}

// NewMetrics returns metrics that are not registered.
func NewMetrics() *Metrics {
	m := &Metrics{
		given: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "foible_jobs_given_out_total", Help: "Jobs given to workers, each attempt counted.",
		}),
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "foible_results_total", Help: "Results that workers have sent, by what became of them.",
		}, []string{"outcome"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "foible_job_duration_seconds", Help: "Time from giving a job out to its result, by kind of job.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 11), // 1 ms to 17 min
		}, []string{"kind"}),
	}
	for _, outcome := range []string{outcomeRecorded, outcomeFailed, outcomeDuplicate, outcomeRetry, outcomeAgain, outcomeRefused} {
		m.results.WithLabelValues(outcome)
	}
	return m
}

// Collectors lists the metrics for a registry.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.given, m.results, m.duration}
}

// outcome is what became of a result, as a label.
func outcome(verdict foiblev1.Verdict, result *foiblev1.JobResult) string {
	switch {
	case verdict == foiblev1.Verdict_VERDICT_DUPLICATE:
		return outcomeDuplicate
	case verdict == foiblev1.Verdict_VERDICT_REFUSED:
		return outcomeRefused
	case verdict == foiblev1.Verdict_VERDICT_RETRY:
		return outcomeRetry
	case verdict == foiblev1.Verdict_VERDICT_AGAIN:
		return outcomeAgain
	case result.GetFailure() != nil:
		return outcomeFailed
	}
	return outcomeRecorded
}
