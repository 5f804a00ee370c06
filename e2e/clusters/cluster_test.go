//go:build unix

package clusters_test

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"foible.dev/foible/e2e/harness"
)

// The same sweep has the same outputs, byte by byte, however many processes
// made them and whatever became of these.
func TestSameOutputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := &sameOutputs{dir: dir}
	harness.Succeed(t, dir, o.fit("one", "--workers", "1")...)
	want := harness.Outputs(t, filepath.Join(dir, "one"))
	o.want = want
	for _, model := range []string{"full", "boltzmann"} {
		for _, stage := range []string{"fit", "report"} {
			if !regexp.MustCompile(`(?m)^` + model + `,(.*,)?` + stage + `,|^` + stage + `,(.*,)?` + model + `,`).MatchString(want["fits.csv"]) {
				t.Errorf("fits.csv has no %s of %s:\n%s", stage, model, want["fits.csv"])
			}
		}
	}
	t.Run("five worker slots", func(t *testing.T) {
		harness.Succeed(t, dir, o.fit("five", "--workers", "5")...)
		o.same(t, "five")
	})
	t.Run("fit interrupted", o.fitInterrupted)
	t.Run("fit killed", o.fitKilled)
	t.Run("a worker drained", o.workerDrained)
	t.Run("a worker and the coordinator killed", o.bothKilled)
}

// sameOutputs compares outputs in a directory with those that are wanted.
type sameOutputs struct {
	dir  string
	want map[string]string // by file
}

// fit is the command line of a fit.
func (o *sameOutputs) fit(out string, args ...string) []string {
	return slices.Concat([]string{"fit", "--out", out}, harness.SweepArgs, args)
}

func (o *sameOutputs) same(t *testing.T, out string) {
	t.Helper()
	got := harness.Outputs(t, filepath.Join(o.dir, out))
	for _, name := range slices.Sorted(maps.Keys(o.want)) {
		if text, ok := got[name]; !ok {
			t.Errorf("%s: no %s", out, name)
		} else if text != o.want[name] {
			t.Errorf("%s: %s differs", out, name)
		}
	}
	if len(got) != len(o.want) {
		t.Errorf("%s: %d files, not %d", out, len(got), len(o.want))
	}
}

func (o *sameOutputs) fitInterrupted(t *testing.T) {
	p := harness.Start(t, o.dir, o.fit("interrupted", "--workers", "1")...)
	p.Says(`cells [1-9]\d*/`)
	p.Signal(syscall.SIGINT)
	if code := p.Wait(); code != 130 {
		t.Fatalf("exit code %d:\n%s", code, p.Stderr.String())
	}
	if !strings.HasSuffix(p.Stderr.String(), "\nStopped; nothing recorded is lost. The same command goes on from here.\n") {
		t.Errorf("it said\n%s", p.Stderr.String())
	}
	again := harness.Succeed(t, o.dir, o.fit("interrupted", "--workers", "1")...)
	if !regexp.MustCompile(`; [1-9]\d* were there already\n`).MatchString(again.Stderr) {
		t.Errorf("it has not gone on:\n%s", again.Stderr)
	}
	o.same(t, "interrupted")
}

func (o *sameOutputs) fitKilled(t *testing.T) {
	p := harness.Start(t, o.dir, o.fit("killed", "--workers", "1")...)
	p.Says(`cells [1-9]\d*/`)
	p.Kill()
	again := harness.Succeed(t, o.dir, o.fit("killed")...)
	if !regexp.MustCompile(`; [1-9]\d* were there already\n`).MatchString(again.Stderr) {
		t.Errorf("it has not gone on:\n%s", again.Stderr)
	}
	o.same(t, "killed")
}

func (o *sameOutputs) workerDrained(t *testing.T) {
	c := harness.NewCluster(t, o.dir, "drained-data", "30s") // no lease runs out, so no job is done twice
	a, b := c.Worker(), c.Worker()
	id := c.Submit()
	c.WaitFor(id, harness.SweepCells/5)
	a.Signal(syscall.SIGTERM)
	if code := a.Wait(); code != 0 {
		t.Errorf("the drained worker's exit code is %d", code)
	}
	a.Says("draining: jobs_held=")
	a.Says("drained\n")
	c.Coordinator.Says(`worker drains: .*released=0`) // it had the time to finish
	c.WaitFor(id, harness.SweepCells)
	if got := c.Do("status", id).Stdout; !strings.Contains(got, " 0 failed, 0 tried again; 0 leases lost, 0 repeated results refused\n") {
		t.Errorf("status says\n%s", got)
	}
	c.Do("results", id, "--out", "drained")
	o.same(t, "drained")
	for _, p := range []*harness.Process{b, c.Coordinator} {
		p.Signal(syscall.SIGTERM)
		if code := p.Wait(); code != 0 {
			t.Errorf("%s: exit code %d", p.Name, code)
		}
	}
}

func (o *sameOutputs) bothKilled(t *testing.T) {
	c := harness.NewCluster(t, o.dir, "killed-data", "2s")
	a := c.Worker()
	c.Worker()
	id := c.Submit()

	c.WaitFor(id, harness.SweepCells/5)
	if got := harness.Do(t, o.dir, append([]string{"results", id, "--out", "early"}, c.Flags...)...); got.Code != 1 || !strings.Contains(got.Stderr, "still running") {
		t.Errorf("results of a running sweep: exit code %d\n%s", got.Code, got.Stderr)
	}
	a.Kill()
	c.WaitFor(id, 2*harness.SweepCells/5)
	c.Coordinator.Kill()
	c.Start()
	c.Worker()
	if done, _ := c.Progress(id); done < 2*harness.SweepCells/5 {
		t.Errorf("%d cells are left after the coordinator was killed, of %d", done, 2*harness.SweepCells/5)
	}
	c.Do("results", id, "--out", "partial", "--partial")
	if !strings.Contains(harness.Outputs(t, filepath.Join(o.dir, "partial"))["manifest.json"], `"complete": false`) {
		t.Error("the partial outputs do not say that they are")
	}
	c.WaitFor(id, harness.FitCells+1) // in the report
	c.Coordinator.Kill()
	c.Start()
	if done, _ := c.Progress(id); done <= harness.FitCells {
		t.Errorf("%d cells are left after the coordinator was killed in the report", done)
	}
	c.WaitFor(id, harness.SweepCells)
	c.Do("results", id, "--out", "cluster")
	o.same(t, "cluster")
}
