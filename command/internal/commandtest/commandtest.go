// Package commandtest helps the tests of commands: it reads what they have
// written, and makes sweeps with hostile names.
package commandtest

import (
	"bytes"
	"encoding/csv"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/tabular"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// hostile is a reason that clears a terminal, sets its title, and writes over what stands before it; forged is a line of its own.
const (
	forged  = "foible: all is well"
	Hostile = "\x1b[2J\x1b]0;title\x07\u009b31m\r" + forged + "\n" + forged + "\nmemory \x00\x7f\xff\u202egnp"
)

// HostileSweep is a running sweep in which everything that others name is hostile.
func HostileSweep() *foiblev1.Sweep {
	m := proto.CloneOf(Shown())
	m.SweepId, m.Stalled, m.WaitsFor, m.Damage = "lamps-"+Hostile, Hostile, Hostile, Hostile
	p := m.GetProgress()
	p.Failures, p.Troubles = []string{Hostile}, []string{Hostile}
	p.FailedCells = []*foiblev1.FailedCells{{Model: "full", Reason: Hostile, Cells: 3}, {Model: "boltzmann", Reason: Hostile, Cells: 224}}
	p.Stimuli[0].Name = Hostile
	return m
}

// CheckPlain runs what writes, and looks at all of it.
func CheckPlain(t *testing.T, what string, write func(e *terminal.Terminal)) {
	t.Helper()
	var got bytes.Buffer
	write(&terminal.Terminal{Out: terminal.Plain(&got), Err: terminal.Plain(&got)})
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

// Files are the contents of a directory.
func Files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == ".foible-output.json" {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, path))
		all[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	CheckTables(t, all)
	return all
}

// CheckTables checks that tables have the columns which [tabular.Tables] declare for their names, and no number that is none.
func CheckTables(t *testing.T, files map[string]string) {
	t.Helper()
	for path, content := range files {
		name, ok := strings.CutSuffix(path, ".csv")
		if !ok || strings.HasPrefix(path, "study/") || strings.HasPrefix(path, ".foible") {
			continue
		}
		header, _, _ := strings.Cut(content, "\n")
		at := slices.IndexFunc(tabular.Tables, func(table tabular.Table) bool { return table.Name == name })
		if at < 0 {
			t.Errorf("the table %s is not declared", path)
		} else if want := strings.Join(tabular.Tables[at].Columns, ","); header != want {
			t.Errorf("%s has the columns\n%s\nwant\n%s", path, header, want)
		}
		if strings.Contains(content, "NaN") || strings.Contains(content, "Inf") {
			t.Errorf("%s has a number that is none", path)
		}
	}
}

// Table reads rows as maps by column.
func Table(t *testing.T, content string) []map[string]string {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(content)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, r := range records[1:] {
		row := map[string]string{}
		for i, column := range records[0] {
			row[column] = r[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// Output are the files of a directory but for what coordinators keep in it.
func Output(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := Files(t, dir)
	maps.DeleteFunc(all, func(name, _ string) bool { return strings.HasPrefix(name, ".foible/") || name == ".foible-output.json" })
	return all
}

// Shown is a sweep at work.
func Shown() *foiblev1.Sweep {
	part := func(name string, done, cells, jobsDone, jobs int64) *foiblev1.PartProgress {
		return &foiblev1.PartProgress{Name: name, Cells: cells, CellsDone: done, Jobs: jobs, JobsDone: jobsDone}
	}
	p := &foiblev1.Progress{
		Cells: 1024, CellsDone: 411, Jobs: 99, JobsDone: 41, JobsLeased: 8, Workers: 2, Slots: 8, CellsPerSecond: 12.3,
		Retries: 3, LeasesLost: 2, Duplicates: 1, JobsFailed: 1, Failures: []string{"stimulus 1-2: out of memory"},
		Stages: []*foiblev1.PartProgress{
			part("fit", 411, 992, 40, 90), part("fit_scores", 0, 0, 1, 6), part("report", 0, 32, 0, 16), part("report_scores", 0, 0, 0, 1),
		},
		Models: []*foiblev1.PartProgress{part("full", 400, 800, 0, 0), part("boltzmann", 11, 224, 0, 0)},
		Best: []*foiblev1.Fit{{
			ParameterSet: &foiblev1.ParameterSet{
				Model: "full", GoalNoise: proto.Float64(0.2), BudgetR: proto.Int32(2), BudgetQ: proto.Float64(0.95),
				SearchNoise: proto.Float64(0.5), ActionNoise: proto.Float64(0.1),
			},
			Overall: &foiblev1.Correlation{N: 545, PearsonR: proto.Float64(0.9104)},
		}},
	}
	for i, name := range []string{"1-1", "1-2", "1-3", "1-4", "2-1", "2-2", "2-3", "2-4", "3-1", "3-2", "3-3", "3-4"} {
		p.Stimuli = append(p.Stimuli, part(name, int64(5*i), 64, 0, 0))
	}
	return &foiblev1.Sweep{
		SweepId: "lamps-0123abcd", State: foiblev1.SweepState_SWEEP_STATE_RUNNING, CreateTime: timestamppb.New(Moment),
		EtaLow: durationpb.New(45 * time.Second), EtaHigh: durationpb.New(110 * time.Second), Progress: p,
	}
}

// Moment is when the sweep of [Shown] was created.
var Moment = time.Date(2021, 7, 26, 9, 0, 0, 0, time.UTC)
