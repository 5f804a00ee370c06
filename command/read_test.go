//go:build unix

package command

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/domains"
)

// writtenSample is a sample study in a directory of its own.
func writtenSample(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "study")
	if err := writeSample(&domains.All[0], dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// replaced puts something else in the place of a file.
func replaced(t *testing.T, path string, put func(path string) error) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.RemoveAll(path), put(path)); err != nil {
		t.Fatal(err)
	}
}

// notFiles are what may stand in the place of a file, and what is said of it.
func notFiles(t *testing.T) map[string]struct {
	put  func(path string) error
	want string
} {
	t.Helper()
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	type row = struct {
		put  func(path string) error
		want string
	}
	return map[string]row{
		"sparse": {func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 20<<30)) }, "it has 20 GiB, and the limit is"},
		"fifo":   {func(path string) error { return syscall.Mkfifo(path, 0o600) }, "it is a FIFO, and must be a regular file"},
		"socket": {func(path string) error {
			short := filepath.Join(os.TempDir(), fmt.Sprint("foible-", os.Getpid())) // the name of a socket is short
			l, err := net.Listen("unix", short)
			if err != nil {
				return err
			}
			t.Cleanup(func() { _ = l.Close() })
			return os.Rename(short, path)
		}, "it is a socket, and must be a regular file"},
		"directory":    {func(path string) error { return os.Mkdir(path, 0o700) }, "it is a directory, and must be a regular file"},
		"device":       {func(path string) error { return os.Symlink("/dev/zero", path) }, ""},
		"link outside": {func(path string) error { return os.Symlink(outside, path) }, ""},
	}
}

// allocated is how many MB a function allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) >> 20
}

// Whatever stands in the place of a study's files, check says so in a moment, and takes no memory for it; nothing that
// lies outside of the study is read.
func TestCheckOfFilesThatAreNone(t *testing.T) {
	for kind, c := range notFiles(t) {
		for _, name := range []string{"study.yaml", "stimuli.csv", "responses.csv", "domain.pddl", "sweep.yaml"} {
			t.Run(kind+" "+name, func(t *testing.T) {
				dir := writtenSample(t)
				if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
				replaced(t, filepath.Join(dir, name), c.put)
				want := c.want
				if want == "" {
					want = "it is a link that leads out of the directory"
				}
				var out bytes.Buffer
				e := &terminal.Terminal{Out: &out, Err: &out}
				var err error
				if used := allocated(func() { err = Check(t.Context(), e, dir, input.SweepChoice{}, time.Second) }); used > 200 {
					t.Errorf("%d MB were allocated", used)
				}
				if err == nil || !strings.Contains(out.String()+err.Error(), want) || !strings.Contains(out.String()+err.Error(), name) {
					t.Errorf("%v\n%s\nwant %q", err, out.String(), want)
				}
				if strings.Contains(out.String(), "secret") {
					t.Error("what lies outside was read")
				}
			})
		}
	}
}

// A link within the study is followed, and so is the study's own name.
func TestLinksWithinAStudy(t *testing.T) {
	dir := writtenSample(t)
	if err := errors.Join(
		os.Rename(filepath.Join(dir, "responses.csv"), filepath.Join(dir, "data.csv")),
		os.Symlink("data.csv", filepath.Join(dir, "responses.csv")),
		os.Symlink(dir, dir+"-link"),
	); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, dir + "-link", filepath.Join(dir+"-link", "study.yaml")} {
		fsys, err := input.OpenStudy(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, found := domains.Load(fsys); found.Err() != nil {
			t.Errorf("%s: %v", name, found.Err())
		}
	}
}

// Other files that a user names are read within limits too.
func TestNamedFilesThatAreNone(t *testing.T) {
	study := writtenSample(t)
	for kind, c := range notFiles(t) {
		path := filepath.Join(t.TempDir(), "named")
		replaced(t, path, c.put)
		want := c.want
		switch kind {
		case "device":
			want = "it is a device, and must be a regular file"
		case "link outside": // whoever names it means it
			continue
		}
		fsys, err := input.OpenStudy(study)
		if err != nil {
			t.Fatal(err)
		}
		errs := map[string]error{}
		used := allocated(func() {
			_, errs["--sweep"] = (&input.SweepChoice{File: path}).Config(fsys, &domains.All[0])
			if kind != "directory" { // which may be a coordinator's
				_, errs["--token-file"] = (connect.Target{TokenFile: path}).Token("user")
			}
			_, errs["--coordinator-file"] = (connect.Target{AddressFile: path}).Current()
			_, errs["--tls-ca"] = (connect.Target{Address: "127.0.0.1:1", TLSCA: path}).Access("user")
		})
		for flag, err := range errs {
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), flag) {
				t.Errorf("%s of a %s: %v, want %q", flag, kind, err, want)
			}
		}
		if used > 50 {
			t.Errorf("%s: %d MB were allocated", kind, used)
		}
	}
}
