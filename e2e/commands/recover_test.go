//go:build unix

package commands_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"foible.dev/foible/e2e/harness"
)

var recoverArgs = []string{
	"recover", "--models", "plan-lesioned,boltzmann", "--trajectories", "1", "--datasets", "5", "--participants", "2,4",
}

// A recovery has the same outputs, byte by byte, whether its process was killed on the way, and from a coordinator.
func TestRecoverAnywhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	to := func(out string, args ...string) []string {
		return slices.Concat(recoverArgs, []string{"--out", out}, args)
	}
	harness.Succeed(t, dir, to("one", "--workers", "1")...)
	want := everything(t, filepath.Join(dir, "one"))
	same := func(out string) {
		t.Helper()
		got := everything(t, filepath.Join(dir, out))
		if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
			t.Errorf("%s has other files", out)
		}
		for name, text := range want {
			if got[name] != text {
				t.Errorf("%s: %s differs", out, name)
			}
		}
	}

	p := harness.Start(t, dir, to("killed")...)
	p.Says("Sweep 2 of 2")
	p.Kill()
	harness.Succeed(t, dir, to("killed")...)
	same("killed")

	c := harness.NewCluster(t, dir, "data", "5s")
	c.Worker()
	c.Do(to("there", "--submit")...)
	same("there")
	c.Coordinator.Kill()
}

// everything in an output directory but what is hidden.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	if err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".foible":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		files[name] = string(content)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return files
}
