package disk

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// set gives a file system its magic number, which on some architectures is of 32 bits or has a sign.
func set[T ~int32 | ~int64 | ~uint32](of *T, magic uint32) { *of = T(magic) }

func TestNetworkFileSystem(t *testing.T) {
	// What is mounted where; other directories are yet to be made.
	mounts := map[string]uint32{
		"/": 0xef53, "/tmp": 0x01021994, "/home": 0x6969, "/home/local": 0xef53, "/scratch": 0x0bd00bd0,
		"/share": 0xff534d42, "/cloud": 0x65735546, ".": 0x47504653,
	}
	statfs := func(dir string, s *syscall.Statfs_t) error {
		if strings.HasPrefix(dir, "/closed") {
			return syscall.EACCES
		}
		magic, ok := mounts[dir]
		if !ok {
			return syscall.ENOENT
		}
		set(&s.Type, magic)
		return nil
	}
	for dir, want := range map[string]string{
		"/": "", "/var/lib/foible": "", "/tmp/foible-data": "", "/home/local/foible-data": "", "/closed/foible-data": "",
		"/home": "NFS", "/home/me/foible-slurm-a/data": "NFS", "/scratch/foible-data": "Lustre", "/share/foible-data": "CIFS",
		"/cloud/foible-data": "FUSE", "foible-data": "GPFS", "foible-slurm-a/data": "GPFS",
	} {
		if got := networkFileSystem(dir, statfs); got != want {
			t.Errorf("%s is on %q, want %q", dir, got, want)
		}
	}
	// This machine's own.
	if kind := NetworkFileSystem(filepath.Join(t.TempDir(), "not", "yet")); kind != "" {
		t.Logf("the directory of tests is on %s", kind)
	}
	if kind := NetworkFileSystem("/proc/1"); kind != "" {
		t.Errorf("/proc is on %s", kind)
	}
}
