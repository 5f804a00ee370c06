// Package published finds the published data that tests measure against.
package published

import (
	"os"
	"path/filepath"
	"testing"
)

// Dir is the data folder: FOIBLE_DATA, or shared/data next to the repository.
// Without one the test is skipped, and fails where CI is set.
func Dir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("FOIBLE_DATA")
	if dir == "" {
		dir = filepath.Join(root(t), "..", "shared", "data")
	}
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("published data: %v (set FOIBLE_DATA)", err)
		}
		t.Skipf("published data: %v (set FOIBLE_DATA)", err)
	}
	return dir
}

// root is the nearest directory above the test that holds go.mod.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		t.Fatal("no go.mod above the working directory")
	}
}
