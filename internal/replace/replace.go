// Package replace is how files are replaced at once: who reads sees the old content or the
// new one, whole, also after a crash.
package replace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File gives a file the content that write writes, and a mode. The content is on the disk when
// it returns nil; otherwise the file is as it was.
func File(path string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	err = write(f)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Content is File with a content that is known.
func Content(path string, mode fs.FileMode, content []byte) error {
	return File(path, mode, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}
