//go:build unix

package commands_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"foible.dev/foible/e2e/harness"
	"foible.dev/foible/internal/await"
)

// A sweep whose contenders get up to 16 times the runs: those of full remain alike, one of plan-lesioned is left early.
var toppedUpArgs = []string{
	"doors-keys-gems", "--models", "full,plan-lesioned", "--method", "sips", "--particles", "10",
	"--set", "goal_noise=0", "--set", "budget_r=2", "--set", "budget_q=0.9,0.95", "--set", "search_noise=0.5", "--set", "action_noise=0.01,0.1,0.12",
}

// What topping up comes to does not depend on processes, nor on what becomes of them, and a setting that is topped up is
// as in a fit of so many runs.
func TestTopUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := slices.Concat(toppedUpArgs, []string{"--runs", "3", "--top-up", "16"})
	harness.Succeed(t, dir, slices.Concat([]string{"fit", "--out", "one", "--workers", "1"}, args)...)
	want := harness.Outputs(t, filepath.Join(dir, "one"))
	checkContenders(t, filepath.Join(dir, "one", "manifest.json"))
	same := func(out string) {
		t.Helper()
		got := harness.Outputs(t, filepath.Join(dir, out))
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if got[name] != want[name] {
				t.Errorf("%s: %s differs", out, name)
			}
		}
	}

	harness.Succeed(t, dir, slices.Concat([]string{"fit", "--out", "three", "--workers", "3"}, args)...)
	same("three")

	const fitted = (6 + 3) * 8
	c := harness.NewCluster(t, dir, "data", "2s")
	a := c.Worker()
	c.Worker()
	id := strings.TrimSpace(c.Do(append([]string{"submit"}, args...)...).Stdout)
	waitForCells(t, c, id, fitted+10)
	a.Kill()
	c.Coordinator.Kill()
	c.Start()
	waitForCells(t, c, id, fitted+80)
	c.Coordinator.Kill()
	c.Start()
	c.Worker()
	c.Do("watch", id)
	c.Do("results", id, "--out", "killed")
	same("killed")

	harness.Succeed(t, dir, slices.Concat([]string{"fit", "--out", "longer", "--runs", "12"}, toppedUpArgs)...)
	longer := strings.Split(harness.Outputs(t, filepath.Join(dir, "longer"))["fits.csv"], "\n")
	rows := 0
	for row := range strings.Lines(want["fits.csv"]) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(row), "top_up,"); ok && strings.Contains(row, ",12,10,") {
			rows++
			if !slices.Contains(longer, "fit,"+rest) {
				t.Errorf("a fit of 12 runs has not\n%s", rest)
			}
		}
	}
	if rows < 2 {
		t.Errorf("%d settings had 12 runs", rows)
	}
}

// checkContenders reads from a manifest which models were topped up, and how far.
func checkContenders(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		TopUp map[string]struct {
			Times     int `json:"times_the_runs"`
			Separated bool
		} `json:"top_up"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	if full, lesioned := manifest.TopUp["full"], manifest.TopUp["plan-lesioned"]; full.Separated || full.Times != 16 || !lesioned.Separated || lesioned.Times != 2 {
		t.Errorf("topped up: %+v", manifest.TopUp)
	}
}

// waitForCells waits until so many cells of a sweep are done, while it runs.
func waitForCells(t *testing.T, c *harness.Cluster, id string, cells int) {
	t.Helper()
	for deadline := time.Now().Add(await.Patience); ; time.Sleep(20 * time.Millisecond) {
		var s struct {
			Done  int `json:"cells_done"`
			State string
		}
		if err := json.Unmarshal([]byte(c.Do("status", id, "--json").Stdout), &s); err != nil {
			t.Fatal(err)
		}
		switch {
		case s.State != "running":
			t.Fatal("the sweep is too short for this test")
		case s.Done >= cells:
			return
		case time.Now().After(deadline):
			t.Fatalf("%d cells are done, not %d", s.Done, cells)
		}
	}
}
