package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// outputOf are the files of a directory but for what coordinators keep in it.
func outputOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := files(t, dir)
	maps.DeleteFunc(all, func(name, _ string) bool { return strings.HasPrefix(name, stateDir+"/") || name == writtenFile })
	return all
}

// write writes files of a content into a directory, as their owner.
func write(dir string, o owner, rename func(from, to string) error, content string, names ...string) error {
	out := &output{dir: dir, owner: o, create: os.Create, rename: rename}
	for _, name := range names {
		f, err := out.Create(name)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(f, content); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return out.commit()
}

var one, two = owner{"fit", "a", "the sweep a"}, owner{"fit", "b", "the sweep b"}

// A directory with the output of another is refused, unless it may be replaced; so are files of which nobody knows what they
// are of. Replaced are the files of the other output, and not those of users.
func TestOutputOfAnother(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if err := claim(dir, one, false); err != nil {
		t.Fatal(err)
	}
	if err := free(dir, two, false); err == nil { // before there is an output
		t.Error("a directory that another has claimed is free")
	}
	if err := write(dir, one, os.Rename, "one", "fits.txt", "mistakes.txt", "figures/deep/a.svg", "figures/b.svg", "manifest.json"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"notes.txt", "figures/mine.svg"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := free(dir, one, false); err != nil {
		t.Errorf("the same once more: %v", err)
	}
	want := fmt.Sprintf("the directory %s holds the output of `foible fit`, the sweep a, and this is the sweep b; name another with --out, or replace what it holds with --overwrite", dir)
	if err := free(dir, two, false); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if err := claim(dir, two, true); err != nil {
		t.Fatal(err)
	}
	if err := write(dir, two, os.Rename, "two", "fits.txt", "figures/b.svg", "manifest.json"); err != nil {
		t.Fatal(err)
	}
	if got, want := outputOf(t, dir), map[string]string{"fits.txt": "two", "figures/b.svg": "two", "manifest.json": "two", "notes.txt": "mine", "figures/mine.svg": "mine"}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "figures", "deep")); err == nil {
		t.Error("an empty directory is left")
	}
	if err := free(dir, one, false); err == nil {
		t.Error("the directory is still of the first")
	}

	study := t.TempDir() // a user's study, or what an earlier version wrote
	for _, name := range []string{"sweep.yaml", "fits.csv"} {
		if err := os.WriteFile(filepath.Join(study, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want = fmt.Sprintf("the directory %s holds sweep.yaml and fits.csv, and does not say which sweep that belongs to; name another with --out, or replace what it holds with --overwrite", study)
	if err := free(study, one, false); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if err := free(study, one, true); err != nil {
		t.Errorf("though it may be replaced: %v", err)
	}
}

// Wherever a command is killed while it writes its output, the directory has the earlier one, or the next command makes it
// have the later one; between, it has no manifest.json.
func TestOutputIsReplacedAsAWhole(t *testing.T) {
	killed := errors.New("killed")
	earlier := map[string]string{"fits.txt": "one", "mistakes.txt": "one", "figures/a.svg": "one", "manifest.json": "one"}
	later := map[string]string{"fits.txt": "two", "figures/b.svg": "two", "manifest.json": "two"}
	for renames := 0; ; renames++ {
		dir := t.TempDir()
		if err := write(dir, one, os.Rename, "one", slices.Collect(maps.Keys(earlier))...); err != nil {
			t.Fatal(err)
		}
		left := renames
		err := write(dir, two, func(from, to string) error {
			if left--; left < 0 {
				return killed
			}
			return os.Rename(from, to)
		}, "two", slices.Collect(maps.Keys(later))...)
		got := outputOf(t, dir)
		_, whole := got["manifest.json"]
		maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasPrefix(name, ".foible-") })
		if whole && !maps.Equal(got, earlier) && !maps.Equal(got, later) {
			t.Errorf("after %d renames: %v", renames, got)
		}
		if err := free(dir, owner{}, true); err != nil { // as the next command does
			t.Fatal(err)
		}
		got = outputOf(t, dir)
		maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasPrefix(name, stagingDir) })
		want := later
		if renames == 0 {
			want = earlier
		}
		if !maps.Equal(got, want) {
			t.Errorf("after %d renames and another command: %v, want %v", renames, got, want)
		}
		if err := write(dir, two, os.Rename, "two", slices.Collect(maps.Keys(later))...); err != nil {
			t.Errorf("once more: %v", err)
		}
		if err == nil {
			if renames != len(later)+2 {
				t.Errorf("%d renames", renames)
			}
			return
		}
		if !errors.Is(err, killed) {
			t.Fatal(err)
		}
	}
}

// A second sweep is not written among the tables and figures of a first; the command that goes on beyond the edge of a grid
// has a directory of its own.
func TestSecondSweepInTheSameDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	e := &Terminal{Out: &out, Err: io.Discard, Logger: hclog.NewNullLogger()}
	first := FitOptions{Study: "block-words", Out: "o", Workers: 1, Sweep: SweepChoice{Models: []string{"plan-lesioned"}, Set: []string{"goal_noise=0", "action_noise=0.1,0.2"}}}
	if err := Fit(t.Context(), e, first); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), " --workers 1 --out o-2\n") {
		t.Errorf("no command that can be pasted in\n%s", &out)
	}
	before := outputOf(t, "o")
	second := FitOptions{Study: "block-words", Out: "o", Workers: 1, Sweep: SweepChoice{Models: []string{"boltzmann"}, Set: []string{"alpha=1"}}}
	if err := Fit(t.Context(), e, second); err == nil || !strings.Contains(err.Error(), "the directory o holds the output of `foible fit`, the sweep block-words-sample-") {
		t.Errorf("%v", err)
	}
	if err := Fit(t.Context(), e, first); err != nil { // the same again
		t.Error(err)
	}
	if got := outputOf(t, "o"); !maps.Equal(got, before) {
		t.Errorf("the first sweep has become %v", slices.Sorted(maps.Keys(got)))
	}
	second.Overwrite = true
	if err := Fit(t.Context(), e, second); err != nil {
		t.Fatal(err)
	}
	second.Out, second.Overwrite = "fresh", false
	if err := Fit(t.Context(), e, second); err != nil {
		t.Fatal(err)
	}
	got, want := slices.Sorted(maps.Keys(outputOf(t, "o"))), slices.Sorted(maps.Keys(outputOf(t, "fresh")))
	if !slices.Equal(got, want) {
		t.Errorf("the second sweep has left %v, in a directory of its own %v", got, want)
	}
}
