package files_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"foible.dev/foible/core/files"
)

// allocated is how many bytes a function allocates, whether or not they are let go.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// What is no regular file of a bounded size is refused by name and kind, at once and without memory for it.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ten", "0123456789")
	write("eleven", "0123456789a")
	write("empty", "")
	write("sparse", "")
	if err := os.Truncate(filepath.Join(dir, "sparse"), 20<<30); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := errors.Join(
		syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600),
		os.Mkdir(filepath.Join(dir, "dir"), 0o700),
		os.Symlink("/dev/zero", filepath.Join(dir, "zero")),
		os.Symlink(outside, filepath.Join(dir, "out")),
		os.Symlink("../"+filepath.Base(filepath.Dir(outside)), filepath.Join(dir, "up")),
		os.Symlink("ten", filepath.Join(dir, "link")),
	); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	const leads = "it is a link that leads out of the directory"
	for name, want := range map[string]string{
		"ten": "", "link": "", "empty": "",
		"eleven": "it has 11 B, and the limit is 10 B",
		"sparse": "it has 20 GiB, and the limit is 10 B",
		"fifo":   "it is a FIFO, and must be a regular file",
		"socket": "it is a socket, and must be a regular file",
		"dir":    "it is a directory, and must be a regular file",
		"zero":   leads, "out": leads, "up/secret": leads,
		"none": "no such file or directory",
	} {
		used := allocated(func() {
			content, err := files.Read(root.FS(), name, 10)
			if got := fmt.Sprint(err); err != nil && got != want || err == nil && want != "" {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
			if f, opened := files.Limited(root.FS(), files.Limits{FileBytes: 10, TotalBytes: 100, Files: 9}).Open(name); name != "dir" && (opened == nil) != (err == nil) {
				t.Errorf("%s: read %v, opened %v", name, err, opened)
			} else if opened == nil {
				_ = f.Close()
			}
			if errors.Is(err, files.ErrLimit) != strings.Contains(want, "limit") {
				t.Errorf("%s: whether %v is ErrLimit", name, err)
			}
			if err == nil && name != "empty" && string(content) != "0123456789" {
				t.Errorf("%s holds %q", name, content)
			}
		})
		if used > 1<<20 {
			t.Errorf("%s: %d bytes were allocated", name, used)
		}
	}
	if _, err := files.Read(os.DirFS("/dev"), "zero", 10); err == nil || err.Error() != "it is a device, and must be a regular file" {
		t.Errorf("a device: %v", err)
	}
	if _, err := files.Read(root.FS(), "none", 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// endless says that it is small, and never ends.
type endless struct{ fs.FS }

type endlessFile struct{ fs.File }

func (e endless) Open(name string) (fs.File, error) {
	f, err := e.FS.Open(name)
	return endlessFile{f}, err
}

func (endlessFile) Read(p []byte) (int, error) { return len(p), nil }

// A file that grows while it is read, or that is not as large as it says, is cut off at the limit.
func TestFileThatGrows(t *testing.T) {
	small := fstest.MapFS{"f": {Data: []byte("x")}}
	if _, err := files.Read(endless{small}, "f", 1000); !errors.Is(err, files.ErrLimit) {
		t.Error(err)
	}
}

// All files together have a limit, and a file that is read again counts once.
func TestTotal(t *testing.T) {
	fsys := files.Limited(fstest.MapFS{"a": {Data: make([]byte, 60)}, "b": {Data: make([]byte, 40)}, "c": {Data: make([]byte, 1)}}, files.Limits{FileBytes: 60, TotalBytes: 100, Files: 9})
	for _, name := range []string{"a", "b", "a", "b"} {
		if content, err := fs.ReadFile(fsys, name); err != nil {
			t.Errorf("%s: %d bytes, %v", name, len(content), err)
		}
	}
	if _, err := files.Read(fsys, "c", 60); !errors.Is(err, files.ErrLimit) || err.Error() != "with it, the files have 101 B, and the limit is 100 B" {
		t.Error(err)
	}
	if _, err := fsys.Open("c"); !errors.Is(err, files.ErrLimit) {
		t.Errorf("opened: %v", err)
	}
	f, err := fsys.Open("b")
	if err != nil {
		t.Fatal(err)
	}
	if content, err := io.ReadAll(f); err != nil || len(content) != 40 {
		t.Errorf("%d bytes, %v", len(content), err)
	}
}

// archive makes an archive of entries, each as edit leaves its header.
func archive(t *testing.T, names []string, content []byte, edit func(*zip.FileHeader)) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range names {
		h := &zip.FileHeader{Name: name, Method: zip.Store}
		if edit != nil {
			edit(h)
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A bundle is refused if it could be larger inside than it is, has too many files, or names that are no paths.
func TestBundle(t *testing.T) {
	limits := files.Limits{FileBytes: 1 << 20, TotalBytes: 3 << 20, Files: 100}
	many := make([]string, 200_000)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	deflated := func(h *zip.FileHeader) { h.Method = zip.Deflate }
	for name, c := range map[string]struct {
		bundle []byte
		want   string
		limit  bool
	}{
		"good":       {archive(t, []string{"study.yaml", "plans/1.plan"}, []byte("x"), nil), "", false},
		"empty":      {archive(t, nil, nil, nil), "", false},
		"no archive": {[]byte("no archive"), "no zip archive", false},
		"zip bomb":   {archive(t, []string{"bomb"}, make([]byte, 100<<20), deflated), "bomb is compressed", false},
		"small file": {archive(t, []string{"a"}, []byte("x"), deflated), "a is compressed", false},
		"encrypted":  {archive(t, []string{"a"}, []byte("x"), func(h *zip.FileHeader) { h.Flags = 1 }), "encrypted", false},
		"large":      {make([]byte, 4<<20), "the bundle has 4 MiB, and the limit is 3 MiB", true},
		"large file": {archive(t, []string{"a"}, make([]byte, 2<<20), nil), "a: it has 2 MiB, and the limit is 1 MiB", true},
		"many files": {archive(t, many[:101], nil, nil), "the bundle has 101 files, and the limit is 100", true},
		"twice":      {archive(t, []string{"a", "a"}, nil, nil), `"a" twice`, false},
		"up":         {archive(t, []string{"../a"}, nil, nil), "no path", false},
		"absolute":   {archive(t, []string{"/a"}, nil, nil), "no path", false},
		"directory":  {archive(t, []string{"a/"}, nil, nil), "no path", false},
		"link":       {archive(t, []string{"a"}, []byte("/etc/passwd"), func(h *zip.FileHeader) { h.SetMode(fs.ModeSymlink | 0o777) }), "no path", false},
		"overlapping": {
			overlapping(t, 50, 100<<10), "more than 3 MiB together", true,
		},
	} {
		_, err := files.Bundle(c.bundle, limits)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) || errors.Is(err, files.ErrLimit) != c.limit {
			t.Errorf("%s: %v", name, err)
		}
	}
	bundle := archive(t, many, nil, nil)
	limits.TotalBytes = 64 << 20
	if used := allocated(func() {
		if _, err := files.Bundle(bundle, limits); !errors.Is(err, files.ErrLimit) {
			t.Error(err)
		}
	}); used > 1<<20 {
		t.Errorf("%d bytes were allocated for the directory of an archive that was refused", used)
	}
}

// overlapping is an archive of n files that all have the same bytes.
func overlapping(t *testing.T, n, size int) []byte {
	t.Helper()
	one := archive(t, []string{"00"}, make([]byte, size), nil)
	at := bytes.Index(one, []byte("PK\x01\x02"))
	end := bytes.Index(one, []byte("PK\x05\x06"))
	out := bytes.Clone(one[:at])
	for i := range n {
		out = append(out, bytes.Replace(one[at:end], []byte("00"), fmt.Appendf(nil, "%02d", i), 1)...)
	}
	tail := bytes.Clone(one[end:])
	for _, field := range []int{8, 10} {
		tail[field] = byte(n)
	}
	directory := n * (end - at)
	tail[12], tail[13] = byte(directory), byte(directory>>8)
	return append(out, tail...)
}

// What is packed is opened again.
func TestPack(t *testing.T) {
	bundle, err := files.Pack(fstest.MapFS{"a": {Data: []byte("A")}, "b/c": {Data: []byte("C")}}, []string{"a", "b/c"})
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := files.Bundle(bundle, files.StudyLimits())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "A", "b/c": "C"} {
		if got, err := fs.ReadFile(fsys, name); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
}
