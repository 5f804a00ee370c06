package study

import (
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"foible.dev/foible/core/files"
	"foible.dev/foible/core/pddl"
)

// generated is a file of a text that is repeated up to a size, made while it is read.
type generated struct {
	name, head, body string
	size             int64
	at               int64
}

func (g *generated) Name() string               { return g.name }
func (g *generated) Size() int64                { return g.size }
func (g *generated) Mode() fs.FileMode          { return 0o600 }
func (g *generated) ModTime() (none time.Time)  { return none }
func (g *generated) IsDir() bool                { return false }
func (g *generated) Sys() any                   { return nil }
func (g *generated) Stat() (fs.FileInfo, error) { return g, nil }
func (g *generated) Close() error               { return nil }
func (g *generated) Read(p []byte) (n int, err error) {
	for n < len(p) && g.at < g.size {
		if g.at < int64(len(g.head)) {
			p[n] = g.head[g.at]
		} else {
			p[n] = g.body[(g.at-int64(len(g.head)))%int64(len(g.body))]
		}
		n, g.at = n+1, g.at+1
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// withFile is a file system in which one file is generated.
type withFile struct {
	fstest.MapFS
	file *generated
}

func (w withFile) Open(name string) (fs.File, error) {
	if name == w.file.name {
		again := *w.file
		return &again, nil
	}
	return w.MapFS.Open(name)
}

func (w withFile) Stat(name string) (fs.FileInfo, error) {
	if name == w.file.name {
		return w.file, nil
	}
	return w.MapFS.Stat(name)
}

var lampsFiles = fstest.MapFS{
	"domain.pddl":     {Data: []byte("(define (domain d) (:predicates (p)) (:action a :parameters () :effect (p)))")},
	"problems/1.pddl": {Data: []byte("(define (problem x) (:domain d) (:init) (:goal (p)))")},
	"plans/1.plan":    {Data: []byte("(a)\n")},
	"stimuli.csv":     {Data: []byte("stimulus,goals,judgement_steps\n1,p q,1\n")},
	"responses.csv":   {Data: []byte("stimulus,participant,step,goal,probability\n1,a,1,p,0.5\n1,a,1,q,0.5\n")},
}

var lampsSource = Source{
	Name: "lamps", Domain: "x", DomainPDDL: "domain.pddl", Stimuli: "stimuli.csv", Problems: "problems/{stimulus}.pddl",
	Plans: "plans/{stimulus}.plan", Responses: "responses.csv",
	Goal: func(string, *pddl.Problem) (string, error) { return "(p)", nil },
}

// A file that is larger than its limit, or that holds more than its limit, is refused where it is too much, within half
// a gigabyte of memory; so is what is at its limit.
func TestLimits(t *testing.T) {
	const mb, gb = 1 << 20, 1 << 30
	const head = "stimulus,participant,step,goal,probability\n"
	for _, c := range []struct {
		name, file, head, body string
		size                   int64
		want                   string
	}{
		{"a line of 1 GB", "responses.csv", head, "x", gb, "responses: cannot read responses.csv: it has 1 GiB, and the limit is 32 MiB"},
		{"a line", "responses.csv", head, "x", 30 * mb, "responses.csv:2:1: error: a cell of more than 64 KiB, which is the limit: is a quote not closed, or a line not ended?"},
		{"a quote", "responses.csv", head + `"`, "x\n", 30 * mb, "responses.csv:2:1: error: a cell of more than 64 KiB"},
		{"a header", "responses.csv", "", "x", 30 * mb, "responses.csv:1:1: error: a cell of more than 64 KiB"},
		{"columns", "responses.csv", head, "1,", 30 * mb, "responses.csv:2:20001: error: a row of more than 10,000 cells, which is the limit"},
		{"rows", "responses.csv", head, "1,a,1,p,0\n", 30 * mb, "the file has more than 2,000,000 cells, which is the limit"},
		{"empty cells", "responses.csv", head, ",", 30 * mb, "responses.csv:2:10001: error: a row of more than 10,000 cells, which is the limit"},
		{"empty lines", "responses.csv", head, "\n", 30 * mb, "the file has more than 2,000,000 cells"},
		{"errors", "responses.csv", head, "a\"\n", 5 * mb, "a quote inside a cell"},
		{"unknown names", "responses.csv", head, "lamp,a,1,p,0\n", 3 * mb, "no stimulus"},
		{"stimuli", "stimuli.csv", "stimulus,goals,judgement_steps\n", "1,p q,1\n", mb, "stimuli, and the limit is 10,000"},
		{"goals", "stimuli.csv", "stimulus,judgement_steps,goals\n1,1,", "p ", 60 << 10, "stimuli.csv:2:5: error: stimulus 1: 30,703 goals, and the limit is 1,000"},
		{"judgement steps", "stimuli.csv", "stimulus,goals,judgement_steps\n1,p,", "1 ", 60 << 10, "judgement steps, and the limit is 1,000"},
		{"a comment of 1 GB", "domain.pddl", ";", "x", gb, "domain_pddl: cannot read domain.pddl: it has 1 GiB, and the limit is 4 MiB"},
		{"a comment", "domain.pddl", ";", "x", 4 * mb, "domain.pddl:"},
		{"atoms", "domain.pddl", "(define (domain d) (:predicates", " a", 4 * mb, "domain.pddl:"},
		{"forms", "problems/1.pddl", "(define (problem d) (:domain d) (:init", " (p)", 4 * mb, "problems/1.pddl:"},
		{"steps", "plans/1.plan", "", "(a)\n", mb, ""},
		{"a long plan", "plans/1.plan", "", "(a)\n", 2 * mb, "plans: cannot read plans/1.plan: it has 2 MiB, and the limit is 1 MiB"},
		{"objects", "problems/1.pddl", "(define (problem d) (:domain d) (:objects", " o", mb, "problems/1.pddl:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := withFile{lampsFiles, &generated{name: c.file, head: c.head, body: c.body, size: c.size}}
			debug.FreeOSMemory()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, found := Read(files.Limited(fsys, files.StudyLimits()), lampsSource)
			runtime.ReadMemStats(&after)
			if used := int64(after.HeapSys-after.HeapReleased) - int64(before.HeapInuse); used > 500<<20 {
				t.Errorf("%d MB were taken up", used>>20)
			} else {
				t.Logf("%d MB", used>>20)
			}
			if c.want == "" { // which are read, and it is Check that tries them
				return
			}
			if text := fmt.Sprint(found); !strings.Contains(text, c.want) || found.Err() == nil {
				t.Errorf("%.500s\nwant %q", text, c.want)
			}
		})
	}
}

// All PDDL together has a limit, and what exceeds it is said once.
func TestPDDLTogether(t *testing.T) {
	l := studyLimits
	l.pddlTotal = int64(len(lampsFiles["domain.pddl"].Data) + 10)
	_, found := read(files.Limited(lampsFiles, files.StudyLimits()), lampsSource, l)
	if text := fmt.Sprint(found.Err()); strings.Count(text, "which is the limit") != 1 || !strings.Contains(text, "problems: with problems/1.pddl, the domain, the problems and the plans have more than 86 B, which is the limit") {
		t.Error(text)
	}
}

// Answers that could be given count too, since they are kept.
func TestAnswersTogether(t *testing.T) {
	var b strings.Builder
	b.WriteString("stimulus,participant,step,goal,probability\n")
	for i := range 20 {
		fmt.Fprintf(&b, "1,person%d,1,p,1\n1,person%[1]d,1,q,0\n", i)
	}
	fsys := fstest.MapFS{}
	for name, f := range lampsFiles {
		fsys[name] = f
	}
	fsys["responses.csv"] = &fstest.MapFile{Data: []byte(b.String())}
	for answers, want := range map[int]bool{20: true, 19: false} {
		l := studyLimits
		l.answers = answers
		_, found := read(fsys, lampsSource, l)
		if text := fmt.Sprint(found); strings.Contains(text, "responses.csv:40:1: error: participants with more than 19 answers") == want {
			t.Errorf("%d answers: %s", answers, text)
		}
	}
}
