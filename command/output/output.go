// Package output writes the directory of a command's output as a whole: after
// a crash or on a full disk, the earlier output is still there. It refuses a
// directory that belongs to something else. Read [Write] first.
package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/tables"
	"foible.dev/foible/core/tabular"
	"foible.dev/foible/core/words"
	"foible.dev/foible/internal/replace"
)

// Where things are in an output directory, besides what is for users.
const (
	WrittenFile  = ".foible-output.json" // whose output the directory has, and its files; see written
	stagingDir   = ".foible-new"         // files that are being written
	readyDir     = ".foible-ready"       // all files of an output, which take the place of the earlier ones
	manifestFile = "manifest.json"
)

// Owner identifies what an output describes: outputs of one owner replace each other.
type Owner struct {
	Command string `json:"command"` // that writes it: fit (as results does), infer, simulate, recover, report
	Of      string `json:"of"`      // the sweep, or what else tells it from others of the command
	About   string `json:"about"`   // in words: the sweep block-words-0123abcd
}

// written is what writtenFile says.
type written struct {
	Owner
	Files []string `json:"files"` // with slashes, ascending; none yet if the command has not come to its end
}

// readWritten is not ok where a directory has no output that says whose it is.
func readWritten(dir string) (w written, ok bool, err error) {
	text, err := os.ReadFile(filepath.Join(dir, WrittenFile))
	if errors.Is(err, fs.ErrNotExist) {
		return w, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &w)
	}
	return w, err == nil, err
}

// save writes writtenFile; who may read the directory may read it.
func (w *written) save(dir string) error {
	text, err := json.MarshalIndent(w, "", "  ")
	if err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	return replace.Content(filepath.Join(dir, WrittenFile), info.Mode().Perm()&0o644, append(text, '\n'))
}

// Free says why a directory may not be the output directory of an owner: it holds the output of another, or files that might
// be replaced; with overwrite, these are. What an earlier command did not finish is finished.
func Free(dir string, o Owner, overwrite bool) error {
	if err := finish(dir, os.Rename); err != nil {
		return cli.CannotWrite(dir, "--out", err)
	}
	before, ok, err := readWritten(dir)
	switch {
	case err != nil:
		return fmt.Errorf("%s in the directory %s cannot be read: %w; name another with --out, or remove it", WrittenFile, words.Quoted(dir), cli.Cause(err))
	case overwrite || ok && before.Command == o.Command && before.Of == o.Of:
		return nil
	case ok:
		return fmt.Errorf("the directory %s holds the output of `foible %s`, %s, and this is %s; name another with --out, or replace what it holds with --overwrite",
			words.Quoted(dir), before.Command, before.About, o.About)
	}
	if found := inTheWay(dir); len(found) > 0 {
		return fmt.Errorf("the directory %s holds %s, and does not say which sweep that belongs to; name another with --out, or replace what it holds with --overwrite",
			words.Quoted(dir), words.List(found))
	}
	return nil
}

// Claim makes a directory that is free the output directory of an owner from now on, before there is an output.
func Claim(dir string, o Owner, overwrite bool) error {
	if err := Free(dir, o, overwrite); err != nil {
		return err
	}
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		var w written
		if w, _, err = readWritten(dir); err == nil && w.Owner != o { // a disk that is full is no reason not to go on
			w.Owner = o // its files are known until others take their place
			err = w.save(dir)
		}
	}
	if err != nil {
		return cli.CannotWrite(dir, "--out", err)
	}
	return nil
}

// inTheWay are things in a directory that commands write too, such as the tables of an earlier version, or a user's study.
func inTheWay(dir string) []string {
	names := []string{"study.yaml", "sweep.yaml", manifestFile, "report.html", "comparison.html", "figures", "tables"}
	for i := range tabular.Tables {
		names = append(names, tabular.Tables[i].Name+".csv", tabular.Tables[i].Name+".parquet")
	}
	return slices.DeleteFunc(names, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err != nil
	})
}

// Dir is what a command writes into a directory that is free. Files are written to a directory of their own, and
// take the place of the earlier ones together, by commit: a crash or a full disk before leaves the directory as it was, one
// within is made good by the next command, and until then there is no manifest.json. It implements [tabular.TableOutput].
type Dir struct {
	dir    string
	owner  Owner
	create func(path string) (*os.File, error)
	rename func(from, to string) error

	mu    sync.Mutex // guards what follows
	files []string
}

// Write commits what write writes, unless there is an error. Files are opened by create; nil means os.Create.
func Write(dir string, o Owner, create func(path string) (*os.File, error), write func(*Dir) error) error {
	if create == nil {
		create = os.Create
	}
	out := &Dir{dir: dir, owner: o, create: create, rename: os.Rename}
	err := finish(dir, out.rename)
	if err == nil {
		err = os.RemoveAll(filepath.Join(dir, stagingDir)) // of a command that came to no end
	}
	if err == nil {
		err = write(out)
	}
	if err == nil {
		err = out.commit()
	}
	if err != nil {
		_ = os.RemoveAll(filepath.Join(dir, stagingDir))
		return cli.CannotWrite(dir, "--out", err)
	}
	return nil
}

// Create implements [tabular.Output].
func (o *Dir) Create(name string) (io.WriteCloser, error) {
	path := filepath.Join(o.dir, stagingDir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	o.mu.Lock()
	o.files = append(o.files, name)
	o.mu.Unlock()
	return o.create(path)
}

// CreateTable implements [tabular.TableOutput]: tables are written as Parquet next to the CSV.
func (o *Dir) CreateTable(name string, columns []tabular.Column) (tabular.Rows, error) {
	f, err := o.Create(name + ".parquet")
	if err != nil {
		return nil, err
	}
	return tables.Create(f, columns), nil
}

// commit lets what has been written take the place of the output that the directory has. Other files stay.
func (o *Dir) commit() error {
	slices.Sort(o.files)
	w := written{o.owner, slices.Compact(o.files)}
	for _, name := range w.Files {
		path := filepath.Join(o.dir, filepath.FromSlash(name))
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			return &fs.PathError{Op: "replace", Path: path, Err: errors.New("it is a directory")}
		}
	}
	staging, ready := filepath.Join(o.dir, stagingDir), filepath.Join(o.dir, readyDir)
	if err := w.save(staging); err != nil {
		return err
	}
	if err := o.rename(staging, ready); err != nil {
		return err
	}
	return finish(o.dir, o.rename)
}

// finish moves the files of an output that is ready to their places, and removes those of the earlier one that it does not
// have. It does so too where a command did not come to the end of it; where nothing is ready, it does nothing.
func finish(dir string, rename func(from, to string) error) error {
	ready := filepath.Join(dir, readyDir)
	next, ok, err := readWritten(ready)
	if err != nil {
		return err
	}
	if !ok { // all is in its place, but perhaps the directory is not removed
		return os.RemoveAll(ready)
	}
	before, _, err := readWritten(dir)
	if err != nil {
		return err
	}
	_, err = os.Lstat(filepath.Join(ready, manifestFile))
	obsolete := err == nil || slices.Contains(before.Files, manifestFile) && !slices.Contains(next.Files, manifestFile)
	if err := remove(dir, manifestFile, obsolete); err != nil {
		return err
	}
	for _, name := range append(slices.DeleteFunc(slices.Clone(next.Files), func(name string) bool { return name == manifestFile }), manifestFile, WrittenFile) {
		if name == WrittenFile {
			for _, old := range before.Files {
				if err := remove(dir, old, !slices.Contains(next.Files, old)); err != nil {
					return err
				}
			}
		}
		if err := place(dir, ready, name, rename); err != nil {
			return err
		}
	}
	return os.RemoveAll(ready)
}

// place moves a file of an output that is ready to its place, unless it is there already.
func place(dir, ready, name string, rename func(from, to string) error) error {
	from, to := filepath.Join(ready, filepath.FromSlash(name)), filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return rename(from, to)
}

// remove removes a file of an output, if it is due, and directories that are empty then.
func remove(dir, name string, due bool) error {
	if !due {
		return nil
	}
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for parent := filepath.Dir(filepath.FromSlash(name)); parent != "."; parent = filepath.Dir(parent) {
		if os.Remove(filepath.Join(dir, parent)) != nil {
			break
		}
	}
	return nil
}

// NextTo is a directory that does not exist yet, next to another: it has the other's name and a number.
func NextTo(dir string) string {
	for n := 2; ; n++ {
		next := fmt.Sprintf("%s-%d", strings.TrimRight(dir, "/"), n)
		if _, err := os.Lstat(next); errors.Is(err, fs.ErrNotExist) {
			return next
		}
	}
}
