//go:build unix

package main_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/protobuf/proto"

	"foible/coordinator/engine"
	foiblev1 "foible/proto/foible/v1"
)

// otherFoible is the program in another version: it has its fingerprint from its bytes.
func otherFoible(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(foible)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "foible")
	if err := os.WriteFile(path, append(content, '\n'), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// changeSweep changes what a coordinator that does not run has stored of a sweep.
func changeSweep(t *testing.T, data, id string, change func(*foiblev1.Sweep)) {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Config{Dir: data})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	value, revision, err := e.Sweep(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	m := &foiblev1.Sweep{}
	if err := proto.Unmarshal(value, m); err != nil {
		t.Fatal(err)
	}
	change(m)
	if value, err = proto.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if _, err := e.UpdateSweep(t.Context(), id, value, revision); err != nil {
		t.Fatal(err)
	}
}

// Another version of a client is told so, and reads what it would plan alike. What it would plan otherwise nobody takes
// for other cells.
func TestOtherVersion(t *testing.T) {
	dir := t.TempDir()
	c := newCluster(t, dir, "data", "30s")
	c.worker()
	id := strings.TrimSpace(c.do(slices.Concat([]string{"submit"}, short)...).stdout)
	if code := start(t, dir, append([]string{"watch", id}, c.flags...)...).wait(); code != 0 {
		t.Fatalf("watch: exit code %d", code)
	}
	c.do("results", id, "--out", "same")

	same := foible
	foible = otherFoible(t) // tests of this package do not run at the same time
	defer func() { foible = same }()
	other := strings.Fields(succeed(t, dir, "version").stdout)[1]
	if got := c.do("results", id, "--out", "other"); !strings.Contains(got.stderr, "Warning: the coordinator at "+c.flags[1]+" is version ") ||
		!strings.Contains(got.stderr, " of Foible, and this is "+other+"; use the same where you can.\n") || strings.Count(got.stderr, "Warning") > 1 {
		t.Errorf("another version says\n%s", got.stderr)
	}
	sameOutputs(t, filepath.Join(dir, "same"), filepath.Join(dir, "other"))
	foible = same

	c.coordinator.signal(syscall.SIGTERM)
	if code := c.coordinator.wait(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	// As a version would see the sweep that splits it into larger jobs.
	changeSweep(t, filepath.Join(dir, "data"), id, func(m *foiblev1.Sweep) { m.CellsPerJob++ })
	c.start()
	got := do(t, dir, slices.Concat([]string{"results", id, "--out", "wrong"}, c.flags)...)
	if got.code != 1 || !strings.Contains(got.stderr, id+" was made by version ") || !strings.Contains(got.stderr, "use that version, or submit the study again") {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "wrong", "fits.csv")); err == nil {
		t.Error("there are tables all the same")
	}
}
