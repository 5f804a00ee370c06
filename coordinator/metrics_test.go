package coordinator_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/internal/await"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// measured starts a coordinator with a registry.
func measured(t testing.TB) (*cluster, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewRegistry()
	return newCluster(t, func(cfg *coordinator.Config) { cfg.Metrics = registry }), registry
}

// What happens is counted, once, under names that promtool accepts.
func TestMetrics(t *testing.T) {
	c, registry := measured(t)
	m := c.request(6, 3)
	failing := "s01"
	id := c.submit(m)
	held := make(chan struct{})
	began := make(chan struct{}, 100)
	c.work(2, func(ctx context.Context, job *foiblev1.Assign) error {
		began <- struct{}{}
		select {
		case <-held:
		case <-ctx.Done():
			return ctx.Err()
		}
		if job.GetInfer().GetStimulus() == failing && job.GetAttempt() == 1 {
			return context.DeadlineExceeded
		}
		return nil
	})
	await.Value(t, began, "the first job to begin")
	await.Value(t, began, "the second job to begin")
	for _, want := range []struct {
		name string
		of   string
	}{
		{"foible_workers", "foible_workers 1"},
		{"foible_slots", "foible_slots 2"},
		{"foible_sweep_jobs_leased", `foible_sweep_jobs_leased{sweep="` + id + `"} 2`},
		{"foible_sweeps", `foible_sweeps{state="running"} 1`},
	} {
		if text := scrape(t, registry); !strings.Contains(text, "\n"+want.of+"\n") {
			t.Errorf("%s is not %s:\n%s", want.name, want.of, grep(text, want.name))
		}
	}
	close(held)
	sweep := c.wait(id)
	jobs, retries := sweep.GetProgress().GetJobs(), sweep.GetProgress().GetRetries()
	if retries == 0 {
		t.Error("no job was tried again")
	}
	var text string
	for name, want := range map[string]int64{
		`foible_results_total{outcome="recorded"}`: jobs,
		`foible_results_total{outcome="retry"}`:    retries,
		`foible_results_total{outcome="failed"}`:   0,
		"foible_jobs_given_out_total":              jobs + retries,
		"foible_jobs_given_out_again_total":        retries,
		"foible_cells_recorded_total":              sweep.GetProgress().GetCells(),
	} {
		// A sweep may be seen to have ended before its last result is counted.
		eventually(t, fmt.Sprintf("%s %d", name, want), func() bool {
			text = scrape(t, registry)
			return strings.Contains(text, fmt.Sprintf("\n%s %d\n", name, want))
		})
	}
	if strings.Contains(text, id) {
		t.Errorf("a sweep that has ended has metrics:\n%s", grep(text, id))
	}
	problems, err := testutil.GatherAndLint(registry)
	if err != nil {
		t.Fatal(err)
	}
	if len(problems) > 0 {
	}
}

// BenchmarkScrape scrapes while 64 slots are at work.
func BenchmarkScrape(b *testing.B) {
	c, registry := measured(b)
	m := c.request(400, 16)
	m.Stimuli = long(16, 1)
	id := c.submit(m)
	c.work(64, nil)
	var took []time.Duration
	for d := await.Begin(); c.sweep(id).GetState() == foiblev1.SweepState_SWEEP_STATE_RUNNING; d.Check(b, "the end of the sweep") {
		start := time.Now()
		scrape(b, registry)
		took = append(took, time.Since(start))
		time.Sleep(20 * time.Millisecond)
	}
	slices.Sort(took)
	n := len(took)
	b.ReportMetric(float64(took[n/2].Microseconds()), "median-µs/scrape")
	b.ReportMetric(float64(took[9*n/10].Microseconds()), "90%-µs/scrape")
	b.ReportMetric(0, "ns/op")
}

// scrape is what Prometheus reads.
func scrape(t testing.TB, registry *prometheus.Registry) string {
	t.Helper()
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

// grep are the lines that contain a text.
func grep(text, what string) string {
	var found []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, what) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}
