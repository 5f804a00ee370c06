//go:build unix

package secrets

import (
	"io/fs"
	"os"
	"syscall"
)

// othersRead reports whether users other than the owner can read a file. What the owner's group reads counts if the file
// is this user's own: who has been given it by somebody else, as pods are given a Secret, cannot change that.
func othersRead(info fs.FileInfo) bool {
	mode := info.Mode()
	if !mode.IsRegular() {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	own := ok && int64(s.Uid) == int64(os.Geteuid())
	return mode.Perm()&0o004 != 0 || own && mode.Perm()&0o040 != 0
}

// KeepPrivate makes the files that this process creates from now on readable only by this user.
func KeepPrivate() { syscall.Umask(0o077) }
