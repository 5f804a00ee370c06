//go:build unix

package commands_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"foible.dev/foible/e2e/harness"
	"foible.dev/foible/internal/await"
)

// A sweep that is paused, watched over the death of its coordinator, resumed and extended has the outputs of a fit of
// the larger grid; one that is cancelled keeps what it has.
func TestControl(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := harness.NewCluster(t, dir, "data", "2s")
	c.Worker()
	id := strings.TrimSpace(c.Do(slices.Concat([]string{"submit", "--priority", "20"}, harness.SweepArgs)...).Stdout)
	c.WaitFor(id, harness.SweepCells/5)

	c.Do("pause", id)
	says := func(got harness.Call, code int, want string) {
		t.Helper()
		wantSaid(t, got, code, want)
	}
	ask := func(args ...string) harness.Call { return harness.Do(t, dir, append(args, c.Flags...)...) }
	says(ask("status", id), 0, ": paused, ")
	says(ask("results", id), 1, "the sweep is paused")
	says(ask("pause", id), 0, "`foible resume ")
	watching := harness.Start(t, dir, append([]string{"watch", id}, c.Flags...)...)
	watching.Says(`cells \d+/\d+, paused`)
	said := ""
	await.Until(t, "the jobs in hand to end", func() bool {
		said = c.Do("status", id).Stdout
		return strings.Contains(said, " done, 0 with workers")
	}, func() string { return said })
	before, _ := c.Progress(id)
	c.Coordinator.Kill()
	watching.Says("The coordinator does not answer; trying until it does")
	c.Start()
	time.Sleep(500 * time.Millisecond)
	if done, state := c.Progress(id); done != before || state != "paused" {
		t.Errorf("%s after a restart, %d cells done, %d before", state, done, before)
	}
	says(ask("extend", id, "--set", "alpha=0.5"), 1, "it has all of these values already")
	says(ask("extend", id, "--set", "alpha=x"), 2, "not a number")
	extended := ask("extend", id, "--set", "alpha=0.6,6,0.5")
	says(extended, 0, "It has 16 cells more than "+id)
	says(extended, 0, "It begins when "+id+", which it extends and which is paused, has ended")
	larger := strings.TrimSpace(extended.Stdout)
	c.Do("resume", id)
	if code := watching.Wait(); code != 0 {
		t.Errorf("watch: exit code %d\n%s", code, watching.Stderr.String())
	}
	says(ask("watch", larger), 0, "The sweep has succeeded")
	says(ask("resume", id), 1, "it has ended")

	c.Do("results", larger, "--out", "extended")
	args := slices.Clone(harness.SweepArgs)
	args[slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "alpha=") })] = "alpha=0.25,0.5,0.6,0.75,1,1.25,1.5,1.75,2,2.5,3,4,6,8"
	harness.Succeed(t, dir, slices.Concat([]string{"fit", "--out", "fresh"}, args)...)
	got, want := harness.Outputs(t, filepath.Join(dir, "extended")), harness.Outputs(t, filepath.Join(dir, "fresh"))
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s differs", name)
		}
	}

	other := cancelled(t, c)
	var list []map[string]any
	if err := json.Unmarshal([]byte(c.Do("list", "--json").Stdout), &list); err != nil {
		t.Fatal(err)
	}
	states := map[any]any{}
	for _, sweep := range list {
		states[sweep["sweep"]] = sweep["state"]
	}
	if want := map[any]any{id: "succeeded", larger: "succeeded", other: "cancelled"}; !maps.Equal(states, want) {
		t.Errorf("the list has %v, want %v", states, want)
	}
	var one map[string]any
	if err := json.Unmarshal([]byte(c.Do("status", larger, "--json").Stdout), &one); err != nil {
		t.Fatal(err)
	}
	if one["extends"] != id || one["priority"] != 20.0 || one["cells_done"] != float64(harness.SweepCells+16) || one["best"] == nil {
		t.Errorf("status has %v", one)
	}
}

// wantSaid expects a command to end with an exit code, and to say something.
func wantSaid(t *testing.T, got harness.Call, code int, want string) {
	t.Helper()
	if got.Code != code || !strings.Contains(got.Stdout+got.Stderr, want) {
		t.Errorf("exit code %d, want %d with %q:\n%s%s", got.Code, code, want, got.Stdout, got.Stderr)
	}
}

// cancelled submits a sweep, watches it, and cancels it.
func cancelled(t *testing.T, c *harness.Cluster) string {
	t.Helper()
	dir := c.Dir
	says := func(got harness.Call, code int, want string) {
		t.Helper()
		wantSaid(t, got, code, want)
	}
	ask := func(args ...string) harness.Call { return harness.Do(t, dir, append(args, c.Flags...)...) }
	other := strings.TrimSpace(c.Do(slices.Concat([]string{"submit", "--seed", "5"}, harness.SweepArgs)...).Stdout)
	c.WaitFor(other, 1)
	watching := harness.Start(t, dir, append([]string{"watch", other}, c.Flags...)...)
	watching.Says("cells ")
	stopped := harness.Start(t, dir, append([]string{"watch", other}, c.Flags...)...)
	stopped.Says("cells ")
	stopped.Signal(syscall.SIGINT)
	if code := stopped.Wait(); code != 130 || !strings.Contains(stopped.Stderr.String(), "The sweep goes on") {
		t.Errorf("watch that was stopped: exit code %d\n%s", code, stopped.Stderr.String())
	}
	says(ask("priority", other, "30"), 0, "priority 30; ")
	says(ask("cancel", other), 0, ": cancelled, ")
	if code := watching.Wait(); code != 4 || !strings.Contains(watching.Stderr.String(), "the sweep was cancelled with ") {
		t.Errorf("watch of a cancelled sweep: exit code %d\n%s", code, watching.Stderr.String())
	}
	says(ask("resume", other), 1, "it was cancelled; submit it again")
	says(ask("results", other), 1, "the sweep was cancelled")
	says(ask("results", other, "--partial", "--out", "partial"), 0, "what is not done is missing")
	says(ask("cancel", "none"), 1, "the coordinator has no sweep \"none\"; `foible list")
	return other
}
