package fit

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hashicorp/go-hclog"

	"foible.dev/foible/command/input"
	"foible.dev/foible/command/internal/commandtest"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/words"
)

// A disk that is full while results are gathered is told with the directory.
func TestFitOnAFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("a file that has no room is a device of Linux")
	}
	dir := t.TempDir()
	e := &terminal.Terminal{Out: io.Discard, Err: io.Discard, Logger: hclog.NewNullLogger()}
	o := Options{Out: dir, Workers: 2, Sweep: input.SweepChoice{Models: []string{"boltzmann"}, Set: []string{"alpha=1"}}}
	if err := Fit(t.Context(), e, o); err != nil {
		t.Fatal(err)
	}
	before := commandtest.Output(t, dir)
	o.create = func(path string) (*os.File, error) {
		if filepath.Base(path) == "posteriors.csv" {
			return os.OpenFile("/dev/full", os.O_WRONLY, 0)
		}
		return os.Create(path)
	}
	o.Sweep.Set, o.Overwrite = []string{"alpha=1,2"}, true
	err := Fit(t.Context(), e, o)
	if after := commandtest.Output(t, dir); !maps.Equal(before, after) {
		t.Errorf("a disk that was full has left %v, not %v", slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
	}
	if want := "the disk of the directory " + words.Quoted(dir) + " is full; make room there, or name another with --out"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
