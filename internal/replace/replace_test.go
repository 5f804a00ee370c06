package replace_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"foible.dev/foible/internal/replace"
)

// A file has its old content until the new one is complete, and nothing is left of one that is not.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := replace.Content(path, 0o600, []byte("old")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	err := replace.File(path, 0o644, func(w io.Writer) error {
		if _, err := io.WriteString(w, "ne"); err != nil {
			t.Fatal(err)
		}
		if content, err := os.ReadFile(path); err != nil || string(content) != "old" {
			t.Errorf("while it is written: %q, %v", content, err)
		}
		return full
	})
	if !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	if err := replace.Content(path, 0o644, []byte("new")); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if info, _ := os.Stat(path); err != nil || string(content) != "new" || info.Mode() != 0o644 {
		t.Errorf("%q, %v", content, err)
	}
	if err := replace.Content(filepath.Join(dir, "none", "file"), 0o644, nil); err == nil {
		t.Error("a file in a directory that is not there")
	}
}
