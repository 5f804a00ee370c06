//go:build linux

package clusters_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"foible.dev/foible/e2e/harness"
	"foible.dev/foible/internal/smalldisk"
)

// eventually waits until a command's standard output and error match a pattern, and returns the call.
func eventually(t *testing.T, c *harness.Cluster, pattern string, args ...string) harness.Call {
	t.Helper()
	for late := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		got := c.Host.Do(t, c.Dir, append(args, c.Flags...)...)
		if regexp.MustCompile(pattern).MatchString(got.Stdout + got.Stderr) {
			return got
		}
		if time.Now().After(late) {
			t.Fatalf("after two minutes, foible %s does not say %q but, with exit code %d,\n%s%s\nThe coordinator says\n%s",
				strings.Join(args, " "), pattern, got.Code, got.Stdout, got.Stderr, c.Coordinator.Stderr.String())
		}
	}
}

// A full disk pauses a sweep, which goes on when there is room: nothing is lost, nothing is done twice, and everybody is
// told meanwhile.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	harness.Succeed(t, dir, slices.Concat([]string{"fit", "--out", "want"}, harness.SweepArgs)...)
	t.Run("fit", func(t *testing.T) { fullDiskOfFit(t, dir) })
	t.Run("coordinator and worker", func(t *testing.T) { fullDiskOfCoordinator(t, dir) })
}

// fullDiskOfFit compares a fit on a disk that is full for a time with the outputs in want.
func fullDiskOfFit(t *testing.T, dir string) {
	disk := smalldisk.New(t, 16)
	out := filepath.Join(disk.Dir, "out")
	fit := func() *harness.Process {
		return harness.Start(t, dir, slices.Concat([]string{"fit", "--workers", "1", "--out", out}, harness.SweepArgs)...)
	}
	full := "the disk of " + out + "/.foible is full; goes on when there is room"
	p := fit()
	p.Says(`cells [1-9]\d*/`)
	disk.Fill()
	p.Says("paused by the coordinator: " + full)
	disk.Free()
	p.Says("(?s)is full.*ETA")
	disk.Fill()
	p.Says("(?s)is full.*ETA.*is full")
	p.Signal(syscall.SIGTERM)
	if code := p.Wait(); code != 130 || !strings.HasSuffix(p.Stderr.String(), "\nStopped; nothing recorded is lost. The same command goes on from here.\n") {
		t.Errorf("interrupted on the full disk: exit code %d\n%s", code, p.Stderr.String())
	}
	p = fit()
	p.Says("Waiting: " + full + `\.\n`)
	disk.Free()
	if code := p.Wait(); code != 0 || !regexp.MustCompile(`; [1-9]\d* were there already\n`).MatchString(p.Stderr.String()) {
		t.Errorf("started on the full disk: exit code %d\n%s", code, p.Stderr.String())
	}
	if strings.Contains(p.Stderr.String(), "[WARN]") || strings.Contains(p.Stderr.String(), "[ERROR]") {
		t.Errorf("it shows lines of the log:\n%s", p.Stderr.String())
	}
	harness.SameOutputs(t, filepath.Join(dir, "want"), out)
}

// fullDiskOfCoordinator does so with a coordinator and a worker.
func fullDiskOfCoordinator(t *testing.T, dir string) {
	disk := smalldisk.New(t, 16)
	data, metrics := filepath.Join(disk.Dir, "data"), harness.FreeAddress(t)
	address := harness.FreeAddress(t)
	c := &harness.Cluster{T: t, Dir: dir, Flags: []string{"--coordinator", address, "--token-file", data}}
	c.Args = []string{"coordinator", "--listen", address, "--data", data, "--metrics", metrics, "--web", "off"}
	c.Start()
	w := c.Worker()
	id := c.Submit()
	watching := harness.Start(t, dir, append([]string{"watch", id}, c.Flags...)...)
	c.WaitFor(id, harness.SweepCells/5)
	disk.Fill()

	reason := "the disk of " + data + " is full; goes on when there is room"
	everybodyIsTold(t, c, id, metrics, reason)
	watching.Says("paused by the coordinator: " + reason)
	c.Coordinator.Says("sweeps are paused: the store does not accept writes: ")
	jobs := strings.Count(w.Stderr.String(), "job done")
	time.Sleep(3 * time.Second) // in which a worker that is given jobs does several
	if more := strings.Count(w.Stderr.String(), "job done") - jobs; more > 1 {
		t.Errorf("a worker of one slot has done %d jobs while nothing could be stored", more)
	}

	disk.Free()
	c.Coordinator.Says("the store accepts writes; sweeps go on")
	c.Do("health")
	eventually(t, c, "running, |succeeded, ", "status", id)
	if got := c.Do("status", id).Stdout; !regexp.MustCompile(` 0 failed, \d+ tried again; 0 leases lost, `).MatchString(got) {
		t.Errorf("status says\n%s", got)
	}

	stopAndWait(t, c, disk, id, reason)
	disk.Free()
	c.Coordinator.Says("listening")
	c.WaitFor(id, harness.SweepCells)
	if code := watching.Wait(); code != 0 {
		t.Errorf("watch: exit code %d\n%s", code, watching.Stderr.String())
	}
	c.Do("results", id, "--out", "got")
	harness.SameOutputs(t, filepath.Join(dir, "want"), filepath.Join(dir, "got"))
	for _, p := range []*harness.Process{c.Coordinator, w} {
		if strings.Contains(p.Stderr.String(), "queue server") {
			t.Errorf("%s shows what the queue's server says:\n%s", p.Name, p.Stderr.String())
		}
	}
}

// everybodyIsTold expects commands and metrics to say why a sweep is paused.
func everybodyIsTold(t *testing.T, c *harness.Cluster, id, metrics, reason string) {
	t.Helper()
	eventually(t, c, id+`: paused by the coordinator, \d+ of \d+ cells done\npaused by the coordinator: `+reason, "status", id)
	if got := c.Do("list").Stdout; !strings.Contains(got, "Sweeps are paused by the coordinator: "+reason+".\n") {
		t.Errorf("list says\n%s", got)
	}
	var told struct{ State, Stalled string }
	if err := json.Unmarshal([]byte(c.Do("status", id, "--json").Stdout), &told); err != nil || told.State != "running" || told.Stalled != reason {
		t.Errorf("status in JSON says %+v, %v", told, err)
	}
	if got := harness.Do(t, c.Dir, append([]string{"health"}, c.Flags...)...); got.Code != 1 || !strings.Contains(got.Stderr, "answers, but its store does not accept writes: "+reason) {
		t.Errorf("health: exit code %d\n%s", got.Code, got.Stderr)
	}
	c.Do("health", "--live")
	if got := harness.Get(t, "http://"+metrics+"/metrics"); !strings.Contains(got, "\nfoible_store_writable 0\n") {
		t.Errorf("metrics say\n%s", got)
	}
	if got := harness.Do(t, c.Dir, append([]string{"pause", id}, c.Flags...)...); got.Code != 1 || !strings.Contains(got.Stderr, "cannot store anything now: "+reason) {
		t.Errorf("pause: exit code %d\n%s", got.Code, got.Stderr)
	}
}

// stopAndWait stops the coordinator on a full disk, and starts it there: it waits, and says why.
func stopAndWait(t *testing.T, c *harness.Cluster, disk *smalldisk.Disk, id, reason string) {
	t.Helper()
	disk.Fill()
	eventually(t, c, "paused by the coordinator|succeeded", "status", id)
	c.Coordinator.Signal(syscall.SIGTERM)
	if code := c.Coordinator.Wait(); code != 0 { // it was up to 53 s, and services are killed after 30
		t.Errorf("interrupted on the full disk: exit code %d\n%s", code, c.Coordinator.Stderr.String())
	}
	c.Coordinator = harness.Start(t, c.Dir, c.Args...)
	c.Coordinator.Says("sweeps are paused: the store does not accept writes: ")
	if got := harness.Do(t, c.Dir, append([]string{"status"}, c.Flags...)...); got.Code != 1 || !strings.Contains(got.Stderr, "cannot store anything now: "+reason) {
		t.Errorf("status while it waits: exit code %d\n%s", got.Code, got.Stderr)
	}
	if got := harness.Do(t, c.Dir, append([]string{"health"}, c.Flags...)...); got.Code != 1 || !strings.Contains(got.Stderr, reason) {
		t.Errorf("health while it waits: exit code %d\n%s", got.Code, got.Stderr)
	}
}

// The first start in an empty directory on a full disk ends with a message that names the disk; the same command starts when there is
// room, whatever was left there.
func TestFirstStartOnAFullDisk(t *testing.T) {
	dir, disk := t.TempDir(), smalldisk.New(t, 16)
	data, out := disk.Path("data"), disk.Path("out")
	coordinator := []string{"coordinator", "--listen", harness.FreeAddress(t), "--data", data, "--web", "off"}
	fit := slices.Concat([]string{"fit", "--out", out}, harness.SweepArgs)
	disk.Fill()
	for _, test := range []struct {
		args []string
		want string
	}{
		{coordinator, "foible: the disk of the directory " + data + " is full; make room there, or name another with --data\n"},
		{fit, "foible: the disk of the directory " + out + " is full; make room there, or name another with --out\n"},
	} {
		if got := harness.Do(t, dir, test.args...); got.Code != 1 || got.Stderr != test.want {
			t.Errorf("foible %s: exit code %d\n%s", test.args[0], got.Code, got.Stderr)
		}
	}
	disk.Free()
	p := harness.Start(t, dir, coordinator...)
	p.Says("listening")
	p.Signal(syscall.SIGTERM)
	if code := p.Wait(); code != 0 {
		t.Errorf("with room, the coordinator ends with exit code %d\n%s", code, p.Stderr.String())
	}
	harness.Succeed(t, dir, fit...)
}
