package slurm

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
	"syscall"

	"github.com/gofrs/flock"
	"google.golang.org/protobuf/encoding/protojson"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/secrets"
	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/core/words"
	"foible.dev/foible/domains"
	"foible.dev/foible/internal/replace"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// sweepDir is the directory by which all nodes know a sweep under Slurm. It is absolute.
type sweepDir string

// What a sweepDir holds.
const (
	recordFile        = "slurm.json"     // a sweepRecord
	stateFile         = "state"          // a dirState
	addressFile       = "address"        // of the coordinator, once it listens
	programFile       = "foible"         // what coordinator and workers run, whatever becomes of the one that submitted them
	studyFile         = "study.zip"      // bundle of the study
	sweepFile         = "sweep.json"     // configuration of the sweep, resolved
	logsDir           = "logs"           // one file a worker, and the coordinator's
	resultsDir        = "results"        // tables and figures, when the sweep has ended
	dataDir           = "data"           // of the coordinator, unless it is elsewhere
	workerScript      = "worker.sh"      // what sbatch is given
	coordinatorScript = "coordinator.sh" // for a coordinator that is a job
	accessDir         = "access"         // tokens, as in a coordinator's data directory
	lockFile          = ".lock"          // held by the command that works on it
)

func (d sweepDir) path(name ...string) string {
	return filepath.Join(append([]string{string(d)}, name...)...)
}

// target is the coordinator of the moment.
func (d sweepDir) target() connect.Target {
	return connect.Target{AddressFile: d.path(addressFile), TokenFile: string(d)}
}

// dirState says what is expected of coordinator and workers, which look at it again and again.
type dirState string

const (
	stateRunning dirState = "running"
	stateStopped dirState = "stopped" // by a user; leave
	stateEnded   dirState = "ended"   // nothing is left to do; leave
)

func (d sweepDir) state() (dirState, error) {
	text, err := os.ReadFile(d.path(stateFile))
	if err != nil {
		return "", err
	}
	switch s := dirState(strings.TrimSpace(string(text))); s {
	case stateRunning, stateStopped, stateEnded:
		return s, nil
	}
	return "", fmt.Errorf("%s: it says %q, not %s, %s or %s", d.path(stateFile), text, stateRunning, stateStopped, stateEnded)
}

func (d sweepDir) setState(s dirState) error {
	return replace.Content(d.path(stateFile), d.mode(0o644), []byte(s+"\n"))
}

// shared reports whether others may read what is in the directory, but for its tokens.
func (d sweepDir) shared() bool {
	info, err := os.Stat(string(d))
	return err == nil && info.Mode().Perm()&0o005 != 0
}

// mode is a mode for something in the directory, without what others may do if the directory is not shared.
func (d sweepDir) mode(of fs.FileMode) fs.FileMode {
	if d.shared() {
		return of
	}
	return of &^ 0o077
}

// keepPrivate makes this process, and the jobs that it submits, create files that others cannot read, unless the directory
// is shared.
func (d sweepDir) keepPrivate() {
	if !d.shared() {
		secrets.KeepPrivate()
	}
}

// sweepRecord is what is known of a sweep under Slurm.
type sweepRecord struct {
	Sweep   string `json:"sweep"` // its id
	Study   string `json:"study"`
	Version string `json:"version"`
	Name    string `json:"name"` // with which the names of all jobs begin; no other sweep has it
	Data    string `json:"data"`
	Listen  string `json:"listen"`
	AsJob   bool   `json:"coordinator_job"`
	Workers int    `json:"workers"` // asked for
	// JobOptions are those of the jobs that are submitted from now on.
	JobOptions
	// Jobs are all that were submitted, in order. One without an id was being submitted, and may exist.
	Jobs []submittedJob `json:"jobs"`
}

// submittedJob is a job, or an array of them.
type submittedJob struct {
	Name        string   `json:"name"`
	ID          string   `json:"id"`
	Workers     int      `json:"workers"`
	Coordinator bool     `json:"coordinator,omitempty"`
	Options     []string `json:"sbatch_options"` // with which it was submitted
}

// job finds the job of a name; nil if it was not submitted for this sweep.
func (r *sweepRecord) job(name string) *submittedJob {
	for i := range r.Jobs {
		if r.Jobs[i].Name == name {
			return &r.Jobs[i]
		}
	}
	return nil
}

// names are those of the jobs with workers, or of all.
func (r *sweepRecord) names(workersOnly bool) []string {
	var names []string
	for _, j := range r.Jobs {
		if !j.Coordinator || !workersOnly {
			names = append(names, j.Name)
		}
	}
	return names
}

func (d sweepDir) record() (*sweepRecord, error) {
	text, err := os.ReadFile(d.path(recordFile))
	if err != nil {
		return nil, err
	}
	r := &sweepRecord{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", d.path(recordFile), err)
	}
	return r, nil
}

func (d sweepDir) setRecord(r *sweepRecord) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return replace.Content(d.path(recordFile), d.mode(0o644), append(text, '\n'))
}

// errLocked says that another process holds the lock of a directory.
var errLocked = errors.New("another command works")

// lock makes other commands on the directory wait, and brings the record, if
// there is one, up to date. It does nothing on a file system without locks.
func (d sweepDir) lock(r *sweepRecord) (unlock func(), err error) {
	l := flock.New(d.path(lockFile))
	ok, err := l.TryLock()
	switch {
	case errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOLCK):
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", words.Quoted(string(d)), cli.Cause(err))
	case !ok:
		return nil, fmt.Errorf("%w on %s; wait for it", errLocked, words.Quoted(string(d)))
	}
	fresh, err := d.record()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		_ = l.Unlock()
		return nil, err
	}
	if err == nil {
		*r = *fresh
	}
	return func() { _ = l.Unlock() }, nil
}

// claim makes the directory of a new sweep, or takes an empty one, and locks
// it. Release unlocks it, and removes what is in it if nothing came of it.
// Others can read what is in it, but for its tokens, if it is to be shared.
func (d sweepDir) claim(data string, share bool) (release func(keep bool) error, err error) {
	was, err := os.Stat(string(d))
	there := err == nil
	_, err = os.Stat(data)
	dataThere := err == nil
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	if err := d.mustBeEmpty(); err != nil {
		return nil, err
	}
	mode := fs.FileMode(0o700)
	if share {
		mode = 0o755
	}
	if err := os.Chmod(string(d), mode); err != nil {
		return nil, err
	}
	d.keepPrivate()
	unlock, err := d.lock(&sweepRecord{})
	if err != nil {
		return nil, err
	}
	if err := d.mustBeEmpty(); err != nil { // still
		unlock()
		return nil, err
	}
	return func(keep bool) error {
		defer unlock()
		if keep {
			return nil
		}
		var errs []error
		if !dataThere {
			errs = append(errs, os.RemoveAll(data))
		}
		if !there {
			return errors.Join(append(errs, os.RemoveAll(string(d)))...)
		}
		errs = append(errs, os.Chmod(string(d), was.Mode().Perm()))
		entries, err := os.ReadDir(string(d))
		errs = append(errs, err)
		for _, entry := range entries {
			errs = append(errs, os.RemoveAll(d.path(entry.Name())))
		}
		return errors.Join(errs...)
	}, nil
}

func (d sweepDir) mustBeEmpty() error {
	entries, err := os.ReadDir(string(d))
	if err == nil && slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return entry.Name() != lockFile }) {
		err = fmt.Errorf("%s is not empty; name a new directory with --dir", words.Quoted(string(d)))
	}
	return err
}

// findDir is the directory named, the current one, or the only one in it.
func findDir(name string) (sweepDir, *sweepRecord, error) {
	if name == "" {
		found, err := filepath.Glob(filepath.Join("*", recordFile))
		if _, here := os.Stat(recordFile); err != nil || here == nil {
			found = []string{recordFile}
		}
		switch len(found) {
		case 0:
			return "", nil, fmt.Errorf("here is no directory of a sweep under Slurm; name the one that `foible cluster slurm submit` made with --dir")
		case 1:
			name = filepath.Dir(found[0])
		default:
			return "", nil, fmt.Errorf("here are %d directories of sweeps under Slurm; name one with --dir: %s", len(found), strings.ReplaceAll(strings.Join(found, ", "), "/"+recordFile, ""))
		}
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return "", nil, err
	}
	d := sweepDir(path)
	r, err := d.record()
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s is no directory of a sweep under Slurm; name the one that `foible cluster slurm submit` made with --dir", words.Quoted(name))
	}
	return d, r, err
}

const dirPrefix = "foible-slurm-"

// fill writes what coordinator and workers need.
func (d sweepDir) fill(s *domains.Study, config *foiblev1.SweepConfig, r *sweepRecord) error {
	for _, name := range []string{logsDir, accessDir} {
		mode := d.mode(0o755)
		if name == accessDir {
			mode = 0o700
		}
		if err := os.MkdirAll(d.path(name), mode); err != nil {
			return err
		}
	}
	sweep, err := protojson.MarshalOptions{Multiline: true}.Marshal(config)
	if err != nil {
		return err
	}
	if err := d.copyProgram(); err != nil {
		return err
	}
	for _, f := range []struct {
		name    string
		content []byte
	}{{studyFile, s.Bundle}, {sweepFile, sweep}} {
		if err := replace.Content(d.path(f.name), d.mode(0o644), f.content); err != nil {
			return err
		}
	}
	if err := d.writeScripts(r); err != nil {
		return err
	}
	return d.setRecord(r)
}

// writeScripts writes the batch scripts of workers and coordinator.
func (d sweepDir) writeScripts(r *sweepRecord) error {
	return errors.Join(
		replace.Content(d.path(workerScript), d.mode(0o755), d.script("worker", r)),
		replace.Content(d.path(coordinatorScript), d.mode(0o755), d.script("coordinator", r)),
	)
}

// script is a batch script. The program takes its place, and so gets the signals that Slurm sends to it.
func (d sweepDir) script(what string, r *sweepRecord) []byte {
	options := sbatchOptions(r, d, what == "coordinator")
	for i := range options {
		options[i] = words.Quoted(options[i])
	}
	cpus := ""
	if what == "worker" { // Slurm says how many cores the job has got
		cpus = fmt.Sprintf("export GOMAXPROCS=${SLURM_CPUS_PER_TASK:-%d}\n", r.CPUs)
	}
	return fmt.Appendf(nil, "#!/bin/sh\n# A %s of the sweep %s. It is submitted with\n#   sbatch %s %s\n%sexec %s cluster slurm %s --dir %s\n",
		what, r.Sweep, strings.Join(options, " "), words.Quoted(d.path(what+".sh")), cpus, words.Quoted(d.path(programFile)), what, words.Quoted(string(d)))
}

// copyProgram keeps this program where all nodes see it.
func (d sweepDir) copyProgram() error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	return replace.File(d.path(programFile), d.mode(0o755), func(to io.Writer) error {
		_, err := io.Copy(to, from)
		return err
	})
}

// sweep reads back the study and the configuration.
func (d sweepDir) sweep() (*domains.Study, *foiblev1.SweepConfig, error) {
	bundle, err := os.ReadFile(d.path(studyFile))
	if err != nil {
		return nil, nil, err
	}
	s, err := domains.Open(bundle)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", d.path(studyFile), err)
	}
	text, err := os.ReadFile(d.path(sweepFile))
	if err != nil {
		return nil, nil, err
	}
	config := &foiblev1.SweepConfig{}
	if err := protojson.Unmarshal(text, config); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", d.path(sweepFile), err)
	}
	return s, config, nil
}

// copyTokens takes over the tokens of the coordinator's data directory, which other nodes may not see.
func (d sweepDir) copyTokens(data string) error {
	for _, kind := range []access.Kind{access.Worker, access.User} {
		text, err := os.ReadFile(access.TokenFile(data, kind))
		if err != nil {
			return err
		}
		path := access.TokenFile(string(d), kind)
		if known, err := os.ReadFile(path); err == nil && string(known) == string(text) {
			continue
		}
		if err := replace.Content(path, 0o600, text); err != nil {
			return err
		}
	}
	return nil
}
