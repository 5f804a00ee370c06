// Package smalldisk gives tests a file system that is soon full.
package smalldisk

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"foible.dev/foible/internal/await"
)

// Disk is a file system of some megabytes, mounted for one test.
type Disk struct {
	t testing.TB
	// Dir is where it is mounted.
	Dir string
}

// New mounts a file system of a number of megabytes, and unmounts it when the test ends. That needs root: without, the test is skipped,
// and fails where the environment variable CI is set.
func New(t testing.TB, megabytes int) *Disk {
	t.Helper()
	d := &Disk{t, t.TempDir()}
	if out, err := await.Output(t, exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", megabytes), "tmpfs", d.Dir)); err != nil {
		why := fmt.Sprintf("no file system can be mounted: %v %s; that needs root", err, out)
		if os.Getenv("CI") != "" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	t.Cleanup(func() {
		if out, err := await.Output(t, exec.Command("umount", "--lazy", d.Dir)); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
	})
	return d
}

// Path is that of a file or directory on the disk.
func (d *Disk) Path(name string) string { return filepath.Join(d.Dir, name) }

func (d *Disk) filler() string { return d.Path("filler") }

// Fill leaves no byte free.
func (d *Disk) Fill() {
	d.t.Helper()
	f, err := os.OpenFile(d.filler(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}

// Free takes back what Fill took.
func (d *Disk) Free() {
	d.t.Helper()
	if err := os.Remove(d.filler()); err != nil {
		d.t.Fatal(err)
	}
}
