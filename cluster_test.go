//go:build unix

package main_test

import (
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"foible/internal/await"
)

// A sweep of a few seconds on one core, of an exact model and of one that is sampled: twelve parameter sets and one on
// eight stimuli, and the best of each once more for the report.
const (
	fitCells    = (12 + 1) * 8
	reportCells = 2 * 8
	sweepCells  = fitCells + reportCells
)

var sweepArgs = []string{
	"block-words", "--models", "boltzmann,full", "--mc-se", "0.1", "--posterior-se", "0.2", "--runs", "2",
	"--set", "alpha=0.25,0.5,0.75,1,1.25,1.5,1.75,2,2.5,3,4,8", "--set", "value=on_policy",
	"--set", "goal_noise=0.1", "--set", "budget_r=2", "--set", "budget_q=0.5", "--set", "search_noise=0.1", "--set", "action_noise=0.1",
}

// The same sweep has the same outputs, byte by byte, however many processes
// made them and whatever became of these.
func TestSameOutputs(t *testing.T) {
	dir := t.TempDir()
	fit := func(out string, args ...string) []string {
		return slices.Concat([]string{"fit", "--out", out}, sweepArgs, args)
	}
	succeed(t, dir, fit("one", "--workers", "1")...)
	want := outputs(t, filepath.Join(dir, "one"))
	for _, model := range []string{"full", "boltzmann"} {
		for _, stage := range []string{"fit", "report"} {
			if !regexp.MustCompile(`(?m)^` + model + `,(.*,)?` + stage + `,|^` + stage + `,(.*,)?` + model + `,`).MatchString(want["fits.csv"]) {
				t.Errorf("fits.csv has no %s of %s:\n%s", stage, model, want["fits.csv"])
			}
		}
	}
	same := func(t *testing.T, out string) {
		t.Helper()
		got := outputs(t, filepath.Join(dir, out))
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if text, ok := got[name]; !ok {
				t.Errorf("%s: no %s", out, name)
			} else if text != want[name] {
				t.Errorf("%s: %s differs", out, name)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d files, not %d", out, len(got), len(want))
		}
	}

	t.Run("five worker slots", func(t *testing.T) {
		succeed(t, dir, fit("five", "--workers", "5")...)
		same(t, "five")
	})

	t.Run("fit interrupted", func(t *testing.T) {
		p := start(t, dir, fit("interrupted", "--workers", "1")...)
		p.says(`cells [1-9]\d*/`)
		p.signal(syscall.SIGINT)
		if code := p.wait(); code != 130 {
			t.Fatalf("exit code %d:\n%s", code, p.stderr.String())
		}
		if !strings.HasSuffix(p.stderr.String(), "\nStopped; nothing recorded is lost. The same command goes on from here.\n") {
			t.Errorf("it said\n%s", p.stderr.String())
		}
		again := succeed(t, dir, fit("interrupted", "--workers", "1")...)
		if !regexp.MustCompile(`; [1-9]\d* were there already\n`).MatchString(again.stderr) {
			t.Errorf("it has not gone on:\n%s", again.stderr)
		}
		same(t, "interrupted")
	})

	t.Run("fit killed", func(t *testing.T) {
		p := start(t, dir, fit("killed", "--workers", "1")...)
		p.says(`cells [1-9]\d*/`)
		p.kill()
		again := succeed(t, dir, fit("killed")...)
		if !regexp.MustCompile(`; [1-9]\d* were there already\n`).MatchString(again.stderr) {
			t.Errorf("it has not gone on:\n%s", again.stderr)
		}
		same(t, "killed")
	})

	t.Run("a worker drained", func(t *testing.T) {
		c := newCluster(t, dir, "drained-data", "30s") // no lease runs out, so no job is done twice
		a, b := c.worker(), c.worker()
		id := c.submit()
		c.waitFor(id, sweepCells/5)
		a.signal(syscall.SIGTERM)
		if code := a.wait(); code != 0 {
			t.Errorf("the drained worker's exit code is %d", code)
		}
		a.says("draining: jobs_held=")
		a.says("drained\n")
		c.coordinator.says(`worker drains: .*released=0`) // it had the time to finish
		c.waitFor(id, sweepCells)
		if got := c.do("status", id).stdout; !strings.Contains(got, " 0 failed, 0 tried again; 0 leases lost, 0 repeated results refused\n") {
			t.Errorf("status says\n%s", got)
		}
		c.do("results", id, "--out", "drained")
		same(t, "drained")
		for _, p := range []*process{b, c.coordinator} {
			p.signal(syscall.SIGTERM)
			if code := p.wait(); code != 0 {
				t.Errorf("%s: exit code %d", p.name, code)
			}
		}
	})

	t.Run("a worker and the coordinator killed", func(t *testing.T) {
		c := newCluster(t, dir, "killed-data", "2s")
		a := c.worker()
		c.worker()
		id := c.submit()

		c.waitFor(id, sweepCells/5)
		if got := do(t, dir, append([]string{"results", id, "--out", "early"}, c.flags...)...); got.code != 1 || !strings.Contains(got.stderr, "still running") {
			t.Errorf("results of a running sweep: exit code %d\n%s", got.code, got.stderr)
		}
		a.kill()
		c.waitFor(id, 2*sweepCells/5)
		c.coordinator.kill()
		c.start()
		c.worker()
		if done, _ := c.progress(id); done < 2*sweepCells/5 {
			t.Errorf("%d cells are left after the coordinator was killed, of %d", done, 2*sweepCells/5)
		}
		c.do("results", id, "--out", "partial", "--partial")
		if !strings.Contains(outputs(t, filepath.Join(dir, "partial"))["manifest.json"], `"complete": false`) {
			t.Error("the partial outputs do not say that they are")
		}
		c.waitFor(id, fitCells+1) // in the report
		c.coordinator.kill()
		c.start()
		if done, _ := c.progress(id); done <= fitCells {
			t.Errorf("%d cells are left after the coordinator was killed in the report", done)
		}
		c.waitFor(id, sweepCells)
		c.do("results", id, "--out", "cluster")
		same(t, "cluster")
	})
}

// testCluster is a coordinator with its workers.
type testCluster struct {
	t           *testing.T
	host        host
	dir         string
	args        []string // of the coordinator
	flags       []string // by which others find it and are let in
	coordinator *process
}

func newCluster(t *testing.T, dir, data, lease string) *testCluster {
	address := freeAddress(t)
	c := &testCluster{t: t, dir: dir, flags: []string{"--coordinator", address, "--token-file", data}}
	c.args = []string{"coordinator", "--listen", address, "--data", data, "--lease", lease}
	c.start()
	return c
}

func (c *testCluster) start() {
	c.t.Helper()
	c.coordinator = c.host.start(c.t, c.dir, c.args...)
	c.coordinator.says("listening")
}

func (c *testCluster) worker() *process {
	c.t.Helper()
	return c.workerOn(c.host)
}

func (c *testCluster) workerOn(h host) *process {
	c.t.Helper()
	p := h.start(c.t, c.dir, append([]string{"worker", "--slots", "1", "--log-level", "debug"}, c.flags...)...)
	p.says("connected")
	return p
}

func (c *testCluster) do(args ...string) call {
	c.t.Helper()
	return c.host.succeed(c.t, c.dir, append(args, c.flags...)...)
}

func (c *testCluster) submit() string {
	c.t.Helper()
	return strings.TrimSpace(c.do(append([]string{"submit"}, sweepArgs...)...).stdout)
}

var statusLine = regexp.MustCompile(`: ([a-z ]+), (\d+) of (\d+) cells done\n`)

// progress asks how many cells are done, and in which state the sweep is.
func (c *testCluster) progress(id string) (done int, state string) {
	c.t.Helper()
	said := c.do("status", id).stdout
	m := statusLine.FindStringSubmatch(said)
	if m == nil || m[3] != fmt.Sprint(sweepCells) {
		c.t.Fatalf("status says\n%s", said)
	}
	done, _ = strconv.Atoi(m[2])
	return done, m[1]
}

// waitFor waits until so many cells are done; of all of them, until they have been compared with people.
func (c *testCluster) waitFor(id string, cells int) {
	c.t.Helper()
	for deadline := time.Now().Add(await.Patience); ; time.Sleep(50 * time.Millisecond) {
		done, state := c.progress(id)
		switch {
		case cells < sweepCells && done == sweepCells:
			c.t.Fatal("the sweep is too short for this test")
		case cells < sweepCells && done >= cells, state == "succeeded":
			return
		case time.Now().After(deadline):
			c.t.Fatalf("%d cells are done, not %d; the coordinator says\n%s", done, cells, c.coordinator.stderr.String())
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

var created = regexp.MustCompile(`"created": "[^"]+"`)

// outputs reads an output directory, without what is hidden and without the time of creation.
func outputs(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch hidden := strings.HasPrefix(d.Name(), "."); {
		case hidden && d.IsDir():
			return fs.SkipDir
		case hidden, d.IsDir():
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(created.FindAllString(files["manifest.json"], -1)) != 1 {
		t.Fatalf("manifest.json has no time of creation:\n%s", files["manifest.json"])
	}
	files["manifest.json"] = created.ReplaceAllString(files["manifest.json"], "")
	for _, name := range []string{"fits.csv", "fits_by_category.csv", "fits_by_stimulus.csv", "posteriors.csv", "degeneracy.csv", "intervals.csv", "sweep.yaml", "report.html", "fits.parquet", "posteriors.parquet", "tables/fits.tex", "figures/sensitivity.svg", "figures/sensitivity.pdf"} {
		if files[name] == "" {
			t.Errorf("%s has no %s", dir, name)
		}
	}
	return files
}

// sameOutputs compares two output directories, byte by byte.
func sameOutputs(t *testing.T, want, got string) {
	t.Helper()
	wanted, found := outputs(t, want), outputs(t, got)
	if len(found) != len(wanted) {
		t.Errorf("%s: %d files, not %d", got, len(found), len(wanted))
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if found[name] != wanted[name] {
			t.Errorf("%s: %s differs", got, name)
		}
	}
}
