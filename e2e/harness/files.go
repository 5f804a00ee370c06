//go:build unix

package harness

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"
)

// Exposed lists what others can read below a directory, or a file; what is in a directory that they cannot enter counts too.
func Exposed(t *testing.T, root string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 && info.Mode()&fs.ModeSymlink == 0 {
			found = append(found, fmt.Sprintf("%s %v", path, info.Mode()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
