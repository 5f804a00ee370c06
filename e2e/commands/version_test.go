//go:build unix

package commands_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/e2e/harness"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// otherFoible is the program in another version: it has its fingerprint from its bytes.
func otherFoible(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(harness.Foible)
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
	c := harness.NewCluster(t, dir, "data", "30s")
	c.Worker()
	id := strings.TrimSpace(c.Do(slices.Concat([]string{"submit"}, harness.ShortSweep)...).Stdout)
	if code := harness.Start(t, dir, append([]string{"watch", id}, c.Flags...)...).Wait(); code != 0 {
		t.Fatalf("watch: exit code %d", code)
	}
	c.Do("results", id, "--out", "same")

	same := harness.Foible
	harness.Foible = otherFoible(t) // tests of this package do not run at the same time
	defer func() { harness.Foible = same }()
	other := strings.Fields(harness.Succeed(t, dir, "version").Stdout)[1]
	if got := c.Do("results", id, "--out", "other"); !strings.Contains(got.Stderr, "Warning: the coordinator at "+c.Flags[1]+" is version ") ||
		!strings.Contains(got.Stderr, " of Foible, and this is "+other+"; use the same where you can.\n") || strings.Count(got.Stderr, "Warning") > 1 {
		t.Errorf("another version says\n%s", got.Stderr)
	}
	harness.SameOutputs(t, filepath.Join(dir, "same"), filepath.Join(dir, "other"))
	harness.Foible = same

	c.Coordinator.Signal(syscall.SIGTERM)
	if code := c.Coordinator.Wait(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	// As a version would see the sweep that splits it into larger jobs.
	changeSweep(t, filepath.Join(dir, "data"), id, func(m *foiblev1.Sweep) { m.CellsPerJob++ })
	c.Start()
	got := harness.Do(t, dir, slices.Concat([]string{"results", id, "--out", "wrong"}, c.Flags)...)
	if got.Code != 1 || !strings.Contains(got.Stderr, id+" was made by version ") || !strings.Contains(got.Stderr, "use that version, or submit the study again") {
		t.Errorf("exit code %d\n%s%s", got.Code, got.Stdout, got.Stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "wrong", "fits.csv")); err == nil {
		t.Error("there are tables all the same")
	}
}
