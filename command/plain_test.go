package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/report"
	"foible.dev/foible/core/study"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// hostile is a reason that clears a terminal, sets its title, and writes over what stands before it; forged is a line of its own.
const (
	forged  = "foible: all is well"
	hostile = "\x1b[2J\x1b]0;title\x07\u009b31m\r" + forged + "\n" + forged + "\nmemory \x00\x7f\xff\u202egnp"
)

// hostileSweep is a running sweep in which everything that others name is hostile.
func hostileSweep() *foiblev1.Sweep {
	m := proto.CloneOf(shown())
	m.SweepId, m.Stalled, m.WaitsFor, m.Damage = "lamps-"+hostile, hostile, hostile, hostile
	p := m.GetProgress()
	p.Failures, p.Troubles = []string{hostile}, []string{hostile}
	p.FailedCells = []*foiblev1.FailedCells{{Model: "full", Reason: hostile, Cells: 3}, {Model: "boltzmann", Reason: hostile, Cells: 224}}
	p.Stimuli[0].Name = hostile
	return m
}

// What commands print holds nothing that a terminal obeys, and each reason stays in the line that names it.
func TestNothingCommandsTheTerminal(t *testing.T) {
	stalled := hostileSweep()
	stalled.Damage, stalled.WaitsFor = "", ""
	waiting := hostileSweep()
	waiting.Damage, waiting.Stalled = "", ""
	failed := hostileSweep()
	failed.State, failed.Damage = foiblev1.SweepState_SWEEP_STATE_FAILED, ""
	sweeps := map[string]*foiblev1.Sweep{"damaged": hostileSweep(), "stalled": stalled, "waiting": waiting, "failed": failed}
	for name, m := range sweeps {
		for what, write := range map[string]func(e *Terminal){
			"status":  func(e *Terminal) { printSweep(e, m) },
			"list":    func(e *Terminal) { printSweeps(e, []*foiblev1.Sweep{m, m}) },
			"lines":   func(e *Terminal) { newLines(e.Err).show(m) },
			"summary": func(e *Terminal) { e.say("%s", summary(1, m, 0)) },
			"screen": func(e *Terminal) {
				s := newScreen(m.GetSweepId())
				s.width, s.height, s.sweep = 4000, 100, m
				_, _ = io.WriteString(beneath(e.Out), s.View().Content)
			},
		} {
			checkPlain(t, name+": "+what, write)
		}
	}
	for what, write := range map[string]func(e *Terminal){
		"an error": func(e *Terminal) { e.PrintError(errors.New(strings.ReplaceAll(hostile, "\n", ""))) },
		"a finding": func(e *Terminal) {
			e.print("%s", study.Finding{Pos: pddl.Pos{File: "a\x1b[1m.csv", Line: 1}, Message: hostile})
		},
		"failures of results": func(e *Terminal) {
			printFailures(e, []report.Failure{{Model: "full", Reason: hostile, Cells: 1, Of: 2}})
		},
	} {
		checkPlain(t, what, write)
	}
}

// checkPlain runs what writes, and looks at all of it.
func checkPlain(t *testing.T, what string, write func(e *Terminal)) {
	t.Helper()
	var got bytes.Buffer
	write(&Terminal{Out: Plain(&got), Err: Plain(&got)})
	if got.Len() == 0 {
		t.Errorf("%s: nothing is printed", what)
	}
	if i := strings.IndexFunc(got.String(), func(r rune) bool {
		return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
	}); i >= 0 {
		t.Errorf("%s: a terminal obeys what stands at byte %d of %q", what, i, &got)
	}
	for line := range strings.Lines(got.String()) {
		if strings.HasPrefix(line, forged) {
			t.Errorf("%s: a line is forged:\n%s", what, &got)
		}
	}
}

// What is escaped in JSON means the same as before.
func TestPlainKeepsJSON(t *testing.T) {
	m := hostileSweep()
	var got bytes.Buffer
	checkPlain(t, "status --json", func(e *Terminal) {
		if err := e.printJSON(newSweepJSON(m)); err != nil {
			t.Error(err)
		}
	})
	if err := (&Terminal{Out: Plain(&got)}).printJSON(map[string]string{"reason": m.GetStalled()}); err != nil {
		t.Fatal(err)
	}
	var read map[string]string
	if err := json.Unmarshal(got.Bytes(), &read); err != nil || read["reason"] != strings.ToValidUTF8(hostile, "\ufffd") {
		t.Errorf("%v: %q", err, read)
	}
}

// Characters arrive whole, however they are cut into writes.
func TestPlainOfParts(t *testing.T) {
	const text = "é – 目 😀\x1b\n\u202e ende"
	for size := 1; size <= len(text); size++ {
		var got bytes.Buffer
		w := Plain(&got)
		for rest := text; rest != ""; {
			n, err := io.WriteString(w, rest[:min(size, len(rest))])
			if err != nil || n != min(size, len(rest)) {
				t.Fatal(n, err)
			}
			rest = rest[n:]
		}
		if want := "é – 目 😀\\u001b\n\\u202e ende"; got.String() != want {
			t.Errorf("in parts of %d bytes: %q, want %q", size, &got, want)
		}
	}
}
