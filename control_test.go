//go:build unix

package main_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"foible/internal/await"
)

// A sweep that is paused, watched over the death of its coordinator, resumed and extended has the outputs of a fit of
// the larger grid; one that is cancelled keeps what it has.
func TestControl(t *testing.T) {
	dir := t.TempDir()
	c := newCluster(t, dir, "data", "2s")
	c.worker()
	id := strings.TrimSpace(c.do(slices.Concat([]string{"submit", "--priority", "20"}, sweepArgs)...).stdout)
	c.waitFor(id, sweepCells/5)

	c.do("pause", id)
	says := func(got call, code int, want string) {
		t.Helper()
		if got.code != code || !strings.Contains(got.stdout+got.stderr, want) {
			t.Errorf("exit code %d, want %d with %q:\n%s%s", got.code, code, want, got.stdout, got.stderr)
		}
	}
	ask := func(args ...string) call { return do(t, dir, append(args, c.flags...)...) }
	says(ask("status", id), 0, ": paused, ")
	says(ask("results", id), 1, "the sweep is paused")
	says(ask("pause", id), 0, "`foible resume ")
	watching := start(t, dir, append([]string{"watch", id}, c.flags...)...)
	watching.says(`cells \d+/\d+, paused`)
	said := ""
	await.Until(t, "the jobs in hand to end", func() bool {
		said = c.do("status", id).stdout
		return strings.Contains(said, " done, 0 with workers")
	}, func() string { return said })
	before, _ := c.progress(id)
	c.coordinator.kill()
	watching.says("The coordinator does not answer; trying until it does")
	c.start()
	time.Sleep(500 * time.Millisecond)
	if done, state := c.progress(id); done != before || state != "paused" {
		t.Errorf("%s after a restart, %d cells done, %d before", state, done, before)
	}
	says(ask("extend", id, "--set", "alpha=0.5"), 1, "it has all of these values already")
	says(ask("extend", id, "--set", "alpha=x"), 2, "not a number")
	extended := ask("extend", id, "--set", "alpha=0.6,6,0.5")
	says(extended, 0, "It has 16 cells more than "+id)
	says(extended, 0, "It begins when "+id+", which it extends and which is paused, has ended")
	larger := strings.TrimSpace(extended.stdout)
	c.do("resume", id)
	if code := watching.wait(); code != 0 {
		t.Errorf("watch: exit code %d\n%s", code, watching.stderr.String())
	}
	says(ask("watch", larger), 0, "The sweep has succeeded")
	says(ask("resume", id), 1, "it has ended")

	c.do("results", larger, "--out", "extended")
	args := slices.Clone(sweepArgs)
	args[slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "alpha=") })] = "alpha=0.25,0.5,0.6,0.75,1,1.25,1.5,1.75,2,2.5,3,4,6,8"
	succeed(t, dir, slices.Concat([]string{"fit", "--out", "fresh"}, args)...)
	got, want := outputs(t, filepath.Join(dir, "extended")), outputs(t, filepath.Join(dir, "fresh"))
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s differs", name)
		}
	}

	other := strings.TrimSpace(c.do(slices.Concat([]string{"submit", "--seed", "5"}, sweepArgs)...).stdout)
	c.waitFor(other, 1)
	watching = start(t, dir, append([]string{"watch", other}, c.flags...)...)
	watching.says("cells ")
	stopped := start(t, dir, append([]string{"watch", other}, c.flags...)...)
	stopped.says("cells ")
	stopped.signal(syscall.SIGINT)
	if code := stopped.wait(); code != 130 || !strings.Contains(stopped.stderr.String(), "The sweep goes on") {
		t.Errorf("watch that was stopped: exit code %d\n%s", code, stopped.stderr.String())
	}
	says(ask("priority", other, "30"), 0, "priority 30; ")
	says(ask("cancel", other), 0, ": cancelled, ")
	if code := watching.wait(); code != 4 || !strings.Contains(watching.stderr.String(), "the sweep was cancelled with ") {
		t.Errorf("watch of a cancelled sweep: exit code %d\n%s", code, watching.stderr.String())
	}
	says(ask("resume", other), 1, "it was cancelled; submit it again")
	says(ask("results", other), 1, "the sweep was cancelled")
	says(ask("results", other, "--partial", "--out", "partial"), 0, "what is not done is missing")
	says(ask("cancel", "none"), 1, "the coordinator has no sweep \"none\"; `foible list")

	var list []map[string]any
	if err := json.Unmarshal([]byte(c.do("list", "--json").stdout), &list); err != nil {
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
	if err := json.Unmarshal([]byte(c.do("status", larger, "--json").stdout), &one); err != nil {
		t.Fatal(err)
	}
	if one["extends"] != id || one["priority"] != 20.0 || one["cells_done"] != float64(sweepCells+16) || one["best"] == nil {
		t.Errorf("status has %v", one)
	}
}
