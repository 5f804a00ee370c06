//go:build unix

package commands_test

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/e2e/harness"
	"foible.dev/foible/internal/await"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"foible.dev/foible/worker"
)

// unable is a worker without the means for any job.
type unable struct{}

// Execute implements [worker.Executor].
func (unable) Execute(context.Context, *foiblev1.Assign) (*foiblev1.JobResult, error) {
	return nil, worker.Computation(errors.New("it is beyond this machine"))
}

// failAll lets a sweep fail in every job, by a worker of this process.
func failAll(t *testing.T, c *harness.Cluster, id string) {
	t.Helper()
	tokens, err := access.OpenTokens(filepath.Join(c.Dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := access.NewClient(func() (access.Token, error) { return tokens.Show(access.Worker) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient(c.Flags[1], client.Options()...)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	cfg := worker.DefaultConfig()
	cfg.Conn, cfg.Executor, cfg.Slots, cfg.Host = conn, unable{}, 2, "unable"
	cfg.Version = strings.Fields(harness.Succeed(t, c.Dir, "version").Stdout)[1]
	w, err := worker.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- w.Run(ctx) }()
	said := ""
	await.Until(t, "the sweep to fail", func() bool {
		said = c.Do("status", id).Stdout
		return strings.Contains(said, ": failed in part, ")
	}, func() string { return said })
	stop()
	if err := await.Value(t, stopped, "the worker to stop"); err != nil {
		t.Errorf("worker: %v", err)
	}
}

// A sweep that has failed is tried again, over the death of the coordinator, and has the outputs of a fit of which nothing
// failed. When it is deleted nothing is left of it.
func TestRetryAndDelete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := harness.NewCluster(t, dir, "data", "2s")
	says := func(got harness.Call, code int, want string) {
		t.Helper()
		if got.Code != code || !strings.Contains(got.Stdout+got.Stderr, want) {
			t.Errorf("exit code %d, want %d with %q:\n%s%s", got.Code, code, want, got.Stdout, got.Stderr)
		}
	}
	ask := func(args ...string) harness.Call { return harness.Do(t, dir, append(args, c.Flags...)...) }

	id := c.Submit()
	says(ask("retry", id), 1, "nothing of it has failed so far; it is still running")
	failAll(t, c, id)
	says(ask("watch", id), 3, "` writes what there is, and why, and `foible retry ")
	says(ask("status", id), 0, "it is beyond this machine")
	says(ask("retry", id+"x"), 1, "did you mean \""+id+"\"?")
	says(ask("retry", "none"), 1, "the coordinator has no sweep \"none\"; `foible list")
	says(ask("retry"), 2, "name a sweep")
	says(ask("retry", id), 0, " failed jobs are tried again.")
	c.Coordinator.Kill()
	c.Start()
	says(ask("delete", id, "--yes"), 1, "sweep "+id+" is running; end it with `foible cancel")
	c.Worker()
	says(ask("watch", id), 0, "The sweep has succeeded")
	says(ask("retry", id), 1, "nothing of it has failed")
	c.Do("results", id, "--out", "again")
	harness.Succeed(t, dir, slices.Concat([]string{"fit", "--out", "fresh"}, harness.SweepArgs)...)
	got, want := harness.Outputs(t, filepath.Join(dir, "again")), harness.Outputs(t, filepath.Join(dir, "fresh"))
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s differs from that of a fit of which nothing failed", name)
		}
	}

	other := strings.TrimSpace(c.Do(slices.Concat([]string{"submit", "--seed", "5"}, harness.SweepArgs)...).Stdout)
	says(ask("cancel", other), 0, ": cancelled, ")
	says(ask("delete"), 2, "name a sweep")
	says(ask("delete", id, other), 2, "what is deleted cannot be had back: say --yes to delete 2 sweeps")
	says(ask("delete", id, other+"x", "--yes"), 1, "did you mean \""+other+"\"?")
	says(ask("list"), 0, id)
	says(ask("delete", id, other, id, "--yes"), 0, id+": deleted\n"+other+": deleted\n")
	says(ask("status", id), 1, "the coordinator has no sweep")
	c.Coordinator.Kill()
	c.Start()
	says(ask("list"), 0, "The coordinator has no sweeps yet")
	if left, err := filepath.Glob(filepath.Join(dir, "data", "jetstream", "*", "streams", "*"+id)); err != nil || len(left) > 0 {
		t.Errorf("%q are left, %v", left, err)
	}
	if again := c.Do(slices.Concat([]string{"submit"}, harness.SweepArgs)...); strings.Contains(again.Stderr, "there already") || strings.TrimSpace(again.Stdout) != id {
		t.Errorf("submitted again:\n%s%s", again.Stdout, again.Stderr)
	}
}
