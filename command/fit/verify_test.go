package fit

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"foible.dev/foible/command/input"
	"foible.dev/foible/command/sweeps"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/sweep"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"foible.dev/foible/worker"
)

// fitVerified fits a small grid, and returns what it says and its tables.
func fitVerified(t *testing.T, verify float64, around func(worker.Executor) worker.Executor) (said string, tables map[string]string, err error) {
	t.Helper()
	dir := t.TempDir()
	text := &bytes.Buffer{}
	e := &terminal.Terminal{Out: &bytes.Buffer{}, Err: text}
	err = Fit(t.Context(), e, Options{Out: dir, Workers: 2, Verify: verify, around: around, Sweep: input.SweepChoice{
		Models: []string{"full", "boltzmann"}, Method: sweep.SIPS, Runs: 2, Particles: 5, Seed: "1", Set: []string{"budget_r=2", "budget_q=0.9", "search_noise=0.5", "action_noise=0.1", "alpha=1,2"},
	}})
	tables = map[string]string{}
	files, globErr := filepath.Glob(filepath.Join(dir, "*.csv"))
	if globErr != nil || len(files) == 0 {
		t.Fatalf("no tables, %v; fit: %v", globErr, err)
	}
	for _, file := range files {
		content, readErr := os.ReadFile(file)
		if readErr != nil {
			t.Fatal(readErr)
		}
		tables[filepath.Base(file)] = string(content)
	}
	return text.String(), tables, err
}

// forgetful gives other numbers each time that it is asked.
type forgetful struct {
	worker.Executor
	asked *atomic.Int64
}

// Execute implements [worker.Executor].
func (f forgetful) Execute(ctx context.Context, job *foiblev1.Assign) (*foiblev1.JobResult, error) {
	result, err := f.Executor.Execute(ctx, job)
	for _, cell := range result.GetInfer().GetCells() {
		if p := cell.GetPosterior(); len(p) > 1 && p[0] > 1e-9 {
			by := 1e-12 * float64(f.asked.Add(1))
			p[0], p[1] = p[0]-by, p[1]+by
		}
	}
	return result, err
}

// Verifying changes no table, and says who computed the cells twice. A worker whose numbers change fails the fit.
func TestFitVerified(t *testing.T) {
	said, plain, err := fitVerified(t, 0, nil)
	if err != nil || strings.Contains(said, "computed twice") {
		t.Fatalf("%v; it says %q", err, said)
	}
	said, tables, err := fitVerified(t, 1, nil)
	if err != nil || !strings.Contains(said, " cells computed twice, with the same numbers, by the same worker, as there was no other") {
		t.Errorf("%v; it says %q", err, said)
	}
	for name, content := range plain {
		if tables[name] != content {
			t.Errorf("%s is not what it is without --verify", name)
		}
	}
	_, tables, err = fitVerified(t, 1, func(science worker.Executor) worker.Executor { return forgetful{science, &atomic.Int64{}} })
	if err == nil || !strings.Contains(tables["failures.csv"], "the worker on local, asked twice, computed different numbers for stimulus ") {
		t.Errorf("%v; failures are %q", err, tables["failures.csv"])
	}
}

// A share is a number from 0 to 1.
func TestVerifyIsAShare(t *testing.T) {
	e := &terminal.Terminal{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}
	for _, share := range []float64{-0.1, 1.1, math.NaN()} {
		if err := Fit(t.Context(), e, Options{Verify: share}); err == nil || !strings.Contains(err.Error(), "must be a share of the cells, from 0 to 1") {
			t.Errorf("fit --verify %v: %v", share, err)
		}
		if err := sweeps.Submit(t.Context(), e, sweeps.SubmitOptions{Verify: share}); err == nil || !strings.Contains(err.Error(), "must be a share of the cells, from 0 to 1") {
			t.Errorf("submit --verify %v: %v", share, err)
		}
	}
}
