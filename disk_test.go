//go:build linux

package main_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"foible/internal/smalldisk"
)

// eventually waits until a command's standard output and error match a pattern, and returns the call.
func (c *testCluster) eventually(pattern string, args ...string) call {
	c.t.Helper()
	for late := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		got := c.host.do(c.t, c.dir, append(args, c.flags...)...)
		if regexp.MustCompile(pattern).MatchString(got.stdout + got.stderr) {
			return got
		}
		if time.Now().After(late) {
			c.t.Fatalf("after two minutes, foible %s does not say %q but, with exit code %d,\n%s%s\nThe coordinator says\n%s",
				strings.Join(args, " "), pattern, got.code, got.stdout, got.stderr, c.coordinator.stderr.String())
		}
	}
}

// A full disk pauses a sweep, which goes on when there is room: nothing is lost, nothing is done twice, and everybody is
// told meanwhile.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	succeed(t, dir, slices.Concat([]string{"fit", "--out", "want"}, sweepArgs)...)
	want := filepath.Join(dir, "want")

	t.Run("fit", func(t *testing.T) {
		disk := smalldisk.New(t, 16)
		out := filepath.Join(disk.Dir, "out")
		fit := func() *process {
			return start(t, dir, slices.Concat([]string{"fit", "--workers", "1", "--out", out}, sweepArgs)...)
		}
		full := "the disk of " + out + "/.foible is full; goes on when there is room"
		p := fit()
		p.says(`cells [1-9]\d*/`)
		disk.Fill()
		p.says("paused by the coordinator: " + full + "\n")
		disk.Free()
		p.says("goes on when there is room\ncells ")
		disk.Fill()
		p.says("(?s)room\ncells .*room\n")
		p.signal(syscall.SIGTERM)
		if code := p.wait(); code != 130 || !strings.HasSuffix(p.stderr.String(), "\nStopped; nothing recorded is lost. The same command goes on from here.\n") {
			t.Errorf("interrupted on the full disk: exit code %d\n%s", code, p.stderr.String())
		}
		p = fit()
		p.says("Waiting: " + full + `\.\n`)
		disk.Free()
		if code := p.wait(); code != 0 || !regexp.MustCompile(`; [1-9]\d* were there already\n`).MatchString(p.stderr.String()) {
			t.Errorf("started on the full disk: exit code %d\n%s", code, p.stderr.String())
		}
		if strings.Contains(p.stderr.String(), "[WARN]") || strings.Contains(p.stderr.String(), "[ERROR]") {
			t.Errorf("it shows lines of the log:\n%s", p.stderr.String())
		}
		sameOutputs(t, want, out)
	})

	t.Run("coordinator and worker", func(t *testing.T) {
		disk := smalldisk.New(t, 16)
		data, metrics := filepath.Join(disk.Dir, "data"), freeAddress(t)
		address := freeAddress(t)
		c := &testCluster{t: t, dir: dir, flags: []string{"--coordinator", address, "--token-file", data}}
		c.args = []string{"coordinator", "--listen", address, "--data", data, "--metrics", metrics, "--web", "off"}
		c.start()
		w := c.worker()
		id := c.submit()
		watching := start(t, dir, append([]string{"watch", id}, c.flags...)...)
		c.waitFor(id, sweepCells/5)
		disk.Fill()

		reason := "the disk of " + data + " is full; goes on when there is room"
		c.eventually(id+`: paused by the coordinator, \d+ of \d+ cells done\npaused by the coordinator: `+reason, "status", id)
		if got := c.do("list").stdout; !strings.Contains(got, "Sweeps are paused by the coordinator: "+reason+".\n") {
			t.Errorf("list says\n%s", got)
		}
		var told struct{ State, Stalled string }
		if err := json.Unmarshal([]byte(c.do("status", id, "--json").stdout), &told); err != nil || told.State != "running" || told.Stalled != reason {
			t.Errorf("status in JSON says %+v, %v", told, err)
		}
		if got := do(t, dir, append([]string{"health"}, c.flags...)...); got.code != 1 || !strings.Contains(got.stderr, "answers, but its store does not accept writes: "+reason) {
			t.Errorf("health: exit code %d\n%s", got.code, got.stderr)
		}
		c.do("health", "--live")
		if got := get(t, "http://"+metrics+"/metrics"); !strings.Contains(got, "\nfoible_store_writable 0\n") {
			t.Errorf("metrics say\n%s", got)
		}
		if got := do(t, dir, append([]string{"pause", id}, c.flags...)...); got.code != 1 || !strings.Contains(got.stderr, "cannot store anything now: "+reason) {
			t.Errorf("pause: exit code %d\n%s", got.code, got.stderr)
		}
		watching.says("paused by the coordinator: " + reason)
		c.coordinator.says("sweeps are paused: the store does not accept writes: ")
		jobs := strings.Count(w.stderr.String(), "job done")
		time.Sleep(3 * time.Second) // in which a worker that is given jobs does several
		if more := strings.Count(w.stderr.String(), "job done") - jobs; more > 1 {
			t.Errorf("a worker of one slot has done %d jobs while nothing could be stored", more)
		}

		disk.Free()
		c.coordinator.says("the store accepts writes; sweeps go on")
		c.do("health")
		c.eventually("running, |succeeded, ", "status", id)
		if got := c.do("status", id).stdout; !regexp.MustCompile(` 0 failed, \d+ tried again; 0 leases lost, `).MatchString(got) {
			t.Errorf("status says\n%s", got)
		}

		disk.Fill()
		c.eventually("paused by the coordinator|succeeded", "status", id)
		c.coordinator.signal(syscall.SIGTERM)
		if code := c.coordinator.wait(); code != 0 { // it was up to 53 s, and services are killed after 30
			t.Errorf("interrupted on the full disk: exit code %d\n%s", code, c.coordinator.stderr.String())
		}
		c.coordinator = start(t, dir, c.args...)
		c.coordinator.says("sweeps are paused: the store does not accept writes: ")
		if got := do(t, dir, append([]string{"status"}, c.flags...)...); got.code != 1 || !strings.Contains(got.stderr, "cannot store anything now: "+reason) {
			t.Errorf("status while it waits: exit code %d\n%s", got.code, got.stderr)
		}
		if got := do(t, dir, append([]string{"health"}, c.flags...)...); got.code != 1 || !strings.Contains(got.stderr, reason) {
			t.Errorf("health while it waits: exit code %d\n%s", got.code, got.stderr)
		}
		disk.Free()
		c.coordinator.says("listening")
		c.waitFor(id, sweepCells)
		if code := watching.wait(); code != 0 {
			t.Errorf("watch: exit code %d\n%s", code, watching.stderr.String())
		}
		c.do("results", id, "--out", "got")
		sameOutputs(t, want, filepath.Join(dir, "got"))
		for _, p := range []*process{c.coordinator, w} {
			if strings.Contains(p.stderr.String(), "queue server") {
				t.Errorf("%s shows what the queue's server says:\n%s", p.name, p.stderr.String())
			}
		}
	})
}

// The first start in an empty directory on a full disk ends with a message that names the disk; the same command starts when there is
// room, whatever was left there.
func TestFirstStartOnAFullDisk(t *testing.T) {
	dir, disk := t.TempDir(), smalldisk.New(t, 16)
	data, out := disk.Path("data"), disk.Path("out")
	coordinator := []string{"coordinator", "--listen", freeAddress(t), "--data", data, "--web", "off"}
	fit := slices.Concat([]string{"fit", "--out", out}, sweepArgs)
	disk.Fill()
	for _, test := range []struct {
		args []string
		want string
	}{
		{coordinator, "foible: the disk of the directory " + data + " is full; make room there, or name another with --data\n"},
		{fit, "foible: the disk of the directory " + out + " is full; make room there, or name another with --out\n"},
	} {
		if got := do(t, dir, test.args...); got.code != 1 || got.stderr != test.want {
			t.Errorf("foible %s: exit code %d\n%s", test.args[0], got.code, got.stderr)
		}
	}
	disk.Free()
	p := start(t, dir, coordinator...)
	p.says("listening")
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		t.Errorf("with room, the coordinator ends with exit code %d\n%s", code, p.stderr.String())
	}
	succeed(t, dir, fit...)
}
