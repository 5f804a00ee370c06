// Package memdir gives tests directories in memory. A store that syncs each write waits for nothing there: what such tests
// take on a disk is mostly the disk's time, the more so the busier it is.
package memdir

import (
	"os"
	"testing"
)

// room is how much memory there must be for files, in bytes: tests should not fail for the lack of it.
const room = 2 << 30

// New makes a directory that is removed when the test ends. It is in memory where the system offers that and has room,
// else where other temporary files are.
func New(t testing.TB) string {
	t.Helper()
	if free("/dev/shm") < room {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "foible-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
