package study

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"foible.dev/foible/core/files"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/words"
)

// Read reads a study and reports everything wrong with it, in the order of
// files and lines. The study holds what could be read; it is nil only if
// nothing could. Without an error among the findings every field is as
// documented.
func Read(fsys fs.FS, src Source) (*Study, Findings) { return read(fsys, src, studyLimits) }

func read(fsys fs.FS, src Source, l limits) (*Study, Findings) {
	r := &reader{fsys: fsys, src: src, limits: l, doubted: map[string]bool{}, entries: map[string]listing{}}
	stimuli := r.readStimuli()
	r.readTasks(stimuli)
	r.readHuman(stimuli)
	findings := r.done()
	if len(stimuli) == 0 {
		return nil, findings
	}
	s := &Study{
		Name: src.Name, Title: src.Title, Domain: src.Domain,
		Simulated:          src.Simulated,
		Observation:        src.Observation,
		ParticipantsLinked: src.ParticipantsLinked,
	}
	for _, d := range stimuli {
		s.Stimuli = append(s.Stimuli, d.Stimulus)
	}
	return s, findings
}

// reader is the state of one Read.
type reader struct {
	report
	fsys   fs.FS
	src    Source
	limits limits

	pddl    int64              // bytes of PDDL that were read
	entries map[string]listing // of directories that were listed

	// doubted are the ids of stimuli whose row is unusable.
	doubted map[string]bool
}

// listing is what a directory holds, or why that is not known.
type listing struct {
	entries []fs.DirEntry
	err     error
}

// draft is a stimulus being read. What depends on a part that is in doubt is
// not reported.
type draft struct {
	Stimulus
	goalsDoubtful, stepsDoubtful bool
	steps                        []pddl.Pos // of JudgementSteps
	stepsPos                     pddl.Pos   // of their cell
}

// file reads the file that a field of the study file names, for a stimulus if
// there is one, of at most a number of bytes. at is what refers to it.
func (r *reader) file(field, name string, limit int64, at pddl.Pos, stimulus string) ([]byte, bool) {
	if !fs.ValidPath(name) {
		r.errorf(at, stimulus, "%s: %s is not a path inside the study's directory", field, quote(name))
		return nil, false
	}
	src, err := files.Read(r.fsys, name, limit)
	switch {
	case err == nil:
		return src, true
	case errors.Is(err, fs.ErrNotExist):
		r.errorf(at, stimulus, "%s: there is no file %s%s", field, name, r.sibling(name))
	default:
		r.errorf(at, stimulus, "%s: cannot read %s: %v", field, name, err)
	}
	return nil, false
}

// pddlFile reads a file of PDDL or of a plan, of at most a number of bytes. For all of them together, there is a limit too.
func (r *reader) pddlFile(field, name string, limit int64, at pddl.Pos, stimulus string) ([]byte, bool) {
	src, ok := r.file(field, name, limit, at, stimulus)
	if !ok {
		return nil, false
	}
	before := r.pddl
	if r.pddl += int64(len(src)); r.pddl <= r.limits.pddlTotal {
		return src, true
	}
	if before <= r.limits.pddlTotal { // what comes after is not read, and that has been said
		r.errorf(at, stimulus, "%s: with %s, the domain, the problems and the plans have more than %s, which is the limit", field, name, words.Bytes(r.limits.pddlTotal))
	}
	return nil, false
}

// sibling suggests a file that differs only in case or extension.
func (r *reader) sibling(name string) string {
	dir := path.Dir(name)
	list, listed := r.entries[dir]
	if !listed {
		list.entries, list.err = fs.ReadDir(r.fsys, dir)
		r.entries[dir] = list
	}
	entries, err := list.entries, list.err
	if err != nil {
		if dir == "." || !errors.Is(err, fs.ErrNotExist) {
			return ""
		}
		return " (nor a folder " + dir + ")"
	}
	stem := func(s string) string { return strings.TrimSuffix(path.Base(s), path.Ext(s)) }
	for _, e := range entries {
		if !e.IsDir() && strings.EqualFold(stem(e.Name()), stem(name)) {
			return "; did you mean " + path.Join(dir, e.Name()) + "?"
		}
	}
	return ""
}

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// template checks a file name with {stimulus} in it.
func (r *reader) template(field, name string) (string, bool) {
	if name == "" {
		r.errorf(r.src.where(field), "", "%s names no file", field)
		return "", false
	}
	for _, p := range placeholder.FindAllString(name, -1) {
		if p != "{stimulus}" {
			r.errorf(r.src.where(field), "", "%s: unknown placeholder %s; {stimulus} stands for the stimulus", field, p)
			return "", false
		}
	}
	return path.Clean(name), true
}

func fill(template, stimulus string) string {
	return strings.ReplaceAll(template, "{stimulus}", stimulus)
}
