// Package disk says whether a directory can be written to, and if not, why, in words for
// people; and on which kind of network file system it is.
package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// probeBytes must be free on a disk that was full.
const probeBytes = 1 << 20

// TryWriting writes a file to a directory, and removes it; its error says why that cannot be done.
func TryWriting(dir string) (err error) {
	path := filepath.Join(dir, "probe")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, probeBytes))
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(path))
}

// Trouble says, to people, why nothing can be written to a directory, and when it will go on.
func Trouble(dir string, err error) string {
	for _, known := range []struct {
		errno syscall.Errno
		text  string
	}{
		{syscall.ENOSPC, "the disk of %s is full; goes on when there is room"},
		{syscall.EDQUOT, "the disk quota of %s is used up; goes on when there is room"},
		{syscall.EROFS, "the disk of %s is read-only; goes on when it can be written to"},
		{syscall.EIO, "the disk of %s fails with input/output errors; goes on when it can be written to"},
		{syscall.EACCES, "permission to write to %s is denied; goes on when it is given"},
		{syscall.EPERM, "permission to write to %s is denied; goes on when it is given"},
	} {
		if errors.Is(err, known.errno) || strings.Contains(err.Error(), known.errno.Error()) {
			return fmt.Sprintf(known.text, dir)
		}
	}
	return fmt.Sprintf("writing to %s fails (%v); goes on when that can be done", dir, err)
}
