// Package files reads what others wrote within limits: files of a study, and
// bundles, which are studies in one archive. Whoever wrote them may be mistaken
// or hostile, so that no file may take up the reader's memory or make it wait.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"foible.dev/foible/core/words"
)

// Limits bound what is read of a file system.
type Limits struct {
	FileBytes  int64 // of one file
	TotalBytes int64 // of all files that are read
	Files      int   // in a bundle
}

// StudyLimits are those of a study, wherever it is read.
func StudyLimits() Limits {
	return Limits{FileBytes: 64 << 20, TotalBytes: 64 << 20, Files: 20_000}
}

// ErrLimit is what an error wraps that says which limit a file or a bundle exceeds.
var ErrLimit = errors.New("limit exceeded")

// limitError is an ErrLimit in words that need no context.
type limitError string

func (e limitError) Error() string        { return string(e) }
func (e limitError) Is(target error) bool { return target == ErrLimit }

// Limitf is an error that wraps ErrLimit and has a text of its own.
func Limitf(format string, args ...any) error { return limitError(fmt.Sprintf(format, args...)) }

// Read reads a regular file of at most limit bytes. It does not open what is no
// regular file, because to open a FIFO waits for another process. The error says
// what is wrong without the file's name. Of an [FS], what is read counts.
func Read(fsys fs.FS, name string, limit int64) ([]byte, error) {
	if f, ok := fsys.(*FS); ok {
		return f.read(name, min(limit, f.limits.FileBytes))
	}
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, plain(err)
	}
	if err := checkFile(info, limit); err != nil {
		return nil, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, plain(err)
	}
	defer func() { _ = f.Close() }()
	if info, err = f.Stat(); err != nil { // it may have been replaced
		return nil, plain(err)
	}
	if err := checkFile(info, limit); err != nil {
		return nil, err
	}
	content := make([]byte, 0, info.Size()+1) // the byte more finds the end without growing
	for {
		n, err := f.Read(content[len(content):cap(content)])
		content = content[:len(content)+n]
		switch {
		case int64(len(content)) > limit:
			return nil, tooLarge(int64(len(content)), limit)
		case errors.Is(err, io.EOF):
			return content, nil
		case err != nil:
			return nil, plain(err)
		case len(content) == cap(content): // it grows while it is read
			content = append(content, 0)[:len(content)]
		}
	}
}

// checkFile says why a file is not read.
func checkFile(info fs.FileInfo, limit int64) error {
	if kind := kindOf(info.Mode()); kind != "" {
		return fmt.Errorf("it is %s, and must be a regular file", kind)
	}
	if info.Size() > limit {
		return tooLarge(info.Size(), limit)
	}
	return nil
}

// kindOf names what is no regular file; "" for a regular file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "not a file"
}

func tooLarge(size, limit int64) error {
	return Limitf("it has %s, and the limit is %s", words.Bytes(size), words.Bytes(limit))
}

// plain is an error without the path, which its reader knows.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	if strings.HasSuffix(err.Error(), "path escapes from parent") { // as [os.Root] says; it has no error to compare with
		return errors.New("it is a link that leads out of the directory")
	}
	return err
}

// FS is a file system that reads no more than limits allow. It is not
// safe for concurrent use.
type FS struct {
	fsys   fs.FS
	limits Limits
	sizes  map[string]int64 // bytes of the files that were read, by name
	total  int64
}

// Below has the files of a directory. It panics if that is not a valid path.
func Below(fsys fs.FS, dir string) fs.FS {
	below, err := fs.Sub(fsys, dir)
	if err != nil {
		panic(err)
	}
	return below
}

// Limited puts limits before a file system.
func Limited(fsys fs.FS, limits Limits) *FS {
	return &FS{fsys: fsys, limits: limits, sizes: map[string]int64{}}
}

// Open implements [fs.FS]. Of a file, all of its bytes count at once; a directory can only be listed.
func (f *FS) Open(name string) (fs.File, error) {
	info, err := fs.Stat(f.fsys, name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return f.fsys.Open(name)
	}
	if err = checkFile(info, f.limits.FileBytes); err == nil {
		err = f.count(name, info.Size())
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	opened, err := f.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	return &file{File: opened, left: info.Size()}, nil
}

// file is an open file that has no more bytes than it had at first.
type file struct {
	fs.File
	left int64
}

// Read implements [fs.File].
func (f *file) Read(p []byte) (int, error) {
	n, err := f.File.Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	if f.left == 0 && err == nil && len(p) > 0 {
		err = io.EOF
	}
	return n, err
}

// ReadFile implements [fs.ReadFileFS]. A file that is read again counts once.
func (f *FS) ReadFile(name string) ([]byte, error) {
	content, err := f.read(name, f.limits.FileBytes)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return content, nil
}

func (f *FS) read(name string, limit int64) ([]byte, error) {
	content, err := Read(f.fsys, name, limit)
	if err != nil {
		return nil, err
	}
	return content, f.count(name, int64(len(content)))
}

// count counts the bytes of a file, once.
func (f *FS) count(name string, bytes int64) error {
	total := f.total - f.sizes[name] + bytes
	if total > f.limits.TotalBytes {
		return Limitf("with it, the files have %s, and the limit is %s", words.Bytes(total), words.Bytes(f.limits.TotalBytes))
	}
	f.sizes[name], f.total = bytes, total
	return nil
}

// ReadDir implements [fs.ReadDirFS].
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(f.fsys, name) }
