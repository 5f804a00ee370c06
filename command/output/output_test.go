package output

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/command/internal/commandtest"
)

// write writes files of a content into a directory, as their owner.
func write(dir string, o Owner, rename func(from, to string) error, content string, names ...string) error {
	out := &Dir{dir: dir, owner: o, create: os.Create, rename: rename}
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

var one, two = Owner{"fit", "a", "the sweep a"}, Owner{"fit", "b", "the sweep b"}

// A directory with the output of another is refused, unless it may be replaced; so are files of which nobody knows what they
// are of. Replaced are the files of the other output, and not those of users.
func TestOutputOfAnother(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if err := Claim(dir, one, false); err != nil {
		t.Fatal(err)
	}
	if err := Free(dir, two, false); err == nil { // before there is an output
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
	if err := Free(dir, one, false); err != nil {
		t.Errorf("the same once more: %v", err)
	}
	want := fmt.Sprintf("the directory %s holds the output of `foible fit`, the sweep a, and this is the sweep b; name another with --out, or replace what it holds with --overwrite", dir)
	if err := Free(dir, two, false); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if err := Claim(dir, two, true); err != nil {
		t.Fatal(err)
	}
	if err := write(dir, two, os.Rename, "two", "fits.txt", "figures/b.svg", "manifest.json"); err != nil {
		t.Fatal(err)
	}
	if got, want := commandtest.Output(t, dir), map[string]string{"fits.txt": "two", "figures/b.svg": "two", "manifest.json": "two", "notes.txt": "mine", "figures/mine.svg": "mine"}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "figures", "deep")); err == nil {
		t.Error("an empty directory is left")
	}
	if err := Free(dir, one, false); err == nil {
		t.Error("the directory is still of the first")
	}

	study := t.TempDir() // a user's study, or what an earlier version wrote
	for _, name := range []string{"sweep.yaml", "fits.csv"} {
		if err := os.WriteFile(filepath.Join(study, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want = fmt.Sprintf("the directory %s holds sweep.yaml and fits.csv, and does not say which sweep that belongs to; name another with --out, or replace what it holds with --overwrite", study)
	if err := Free(study, one, false); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if err := Free(study, one, true); err != nil {
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
		got := commandtest.Output(t, dir)
		_, whole := got["manifest.json"]
		maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasPrefix(name, ".foible-") })
		if whole && !maps.Equal(got, earlier) && !maps.Equal(got, later) {
			t.Errorf("after %d renames: %v", renames, got)
		}
		if err := Free(dir, Owner{}, true); err != nil { // as the next command does
			t.Fatal(err)
		}
		got = commandtest.Output(t, dir)
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
