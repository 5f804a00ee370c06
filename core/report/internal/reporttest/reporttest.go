// Package reporttest has what the tests of reports share: a small study with the results of a sweep, outputs in memory, and
// checks of pages.
package reporttest

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/report/fit"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// Folder is a report's output in memory.
type Folder struct {
	Files map[string]*File
	Full  string // this file cannot be made
}

// File is a file of a Folder.
type File struct {
	bytes.Buffer
	Closed bool
}

// Close implements [io.Closer].
func (f *File) Close() error {
	f.Closed = true
	return nil
}

// Create implements [tabular.Output].
func (d *Folder) Create(name string) (io.WriteCloser, error) {
	if name == d.Full {
		return nil, errors.New("disk full")
	}
	if d.Files == nil {
		d.Files = map[string]*File{}
	}
	if d.Files[name] != nil {
		return nil, fmt.Errorf("%s is made twice", name)
	}
	d.Files[name] = &File{}
	return d.Files[name], nil
}

// Text is what a file has; "" if there is none.
func (d *Folder) Text(name string) string {
	if d.Files[name] == nil {
		return ""
	}
	return d.Files[name].String()
}

// Tiny is a study of two stimuli, judged by two participants each.
func Tiny() *study.Study {
	stimulus := func(id, category string, steps []int, goals ...string) study.Stimulus {
		s := study.Stimulus{ID: id, Category: category, JudgementSteps: steps}
		for _, g := range goals {
			s.Goals = append(s.Goals, study.Goal{Name: g})
		}
		return s
	}
	a := stimulus("a", "plain", []int{0, 2}, "red", "green")
	a.Human = study.Judgements{
		Participants: []string{"p1", "p2"},
		Responses:    [][][]float64{{{0.5, 0.5}, {0.5, 0.5}}, {{0.5, 0.5}, {0, 1}}},
		Mean:         [][]float64{{0.5, 0.5}, {0.25, 0.75}},
		SE:           [][]float64{{0, 0}, {0.25, 0.25}},
		N:            []int{2, 2},
	}
	b := stimulus("b", "odd, very", []int{1}, "red", "green", "blue")
	b.Human = study.Judgements{
		Participants: []string{"p1", "p3"},
		Responses:    [][][]float64{{{0.2, 0.6, 0.2}}, {{0.2, 0.6, 0.2}}},
		Mean:         [][]float64{{0.2, 0.6, 0.2}},
		SE:           [][]float64{{0, 0, 0}},
		N:            []int{2},
	}
	return &study.Study{
		Name: "tiny", Title: "Tiny", Domain: "lamps", Simulated: "Drawn by hand.", Stimuli: []study.Stimulus{a, b},
	}
}

// Config is that of a sweep of boltzmann with values of its parameter value.
func Config(values ...string) sweep.Config {
	c := sweep.Config{Fit: sweep.Stage{Runs: 3, ParticlesPerGoal: 4}, Inference: sweep.PaperInference, Bootstrap: sweep.Bootstrap{Resamples: 20, Units: []string{"stimuli", "both"}}, Seed: 7}
	axes := map[string][]model.Setting{"alpha": {{Number: 0.5}}}
	for _, v := range values {
		axes["value"] = append(axes["value"], model.Setting{Word: v})
	}
	c.Models = []sweep.ModelGrid{{Model: "boltzmann", Axes: axes}}
	return c
}

// Shapes are those of the stimuli of Tiny.
func Shapes() []sweep.Shape {
	return []sweep.Shape{
		{Stimulus: "a", Goals: 2, Actions: 2, JudgementSteps: []int{0, 2}},
		{Stimulus: "b", Goals: 3, Actions: 1, JudgementSteps: []int{1}},
	}
}

// Cell is what the tiny sweep infers: [compare.value][stimulus]. The first fits with
// r = 1.85 / sqrt(4.125 x 1.955); the second has no posterior of a after step 0.
func Cell(value string, stimulus int) result.Cell {
	optimal := value == "optimal"
	switch {
	case optimal && stimulus == 0:
		return result.Cell{Posterior: [][]float64{{0.5, 0.5}, {0.25, 0.75}, {0, 1}}, UnreachableFrom: []int{1, -1}}
	case optimal:
		return result.Cell{Posterior: [][]float64{{0.25, 0.25, 0.5}, {0.5, 0.25, 0.25}}, UnreachableFrom: []int{-1, -1, -1}}
	case stimulus == 0:
		return result.Cell{
			Posterior: [][]float64{{0.5, 0.5}}, UnreachableFrom: []int{-1, -1},
			Undefined: &result.Undefined{Step: 1, Reason: "impossible at step 1, action (switch red)"},
		}
	}
	return result.Cell{Posterior: [][]float64{{0.125, 0.375, 0.5}, {0.25, 0.5, 0.25}}, UnreachableFrom: []int{-1, -1, -1}}
}

// Outcomes are the results of all jobs.
func Outcomes(t *testing.T, st *study.Study, c sweep.Config, p *sweep.Plan) []sweep.Outcome {
	t.Helper()
	scorer, err := score.NewScorer(st, c.Bootstrap, c.Seed)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]sweep.Outcome, p.Jobs())
	for number := range all {
		job := p.Job(number)
		for _, set := range job.Sets {
			if !job.Score {
				all[number].Cells = append(all[number].Cells, Cell(set.Value.Word, job.Stimulus))
				continue
			}
			var predictions []result.Prediction
			for i := range p.Stimuli {
				made := Cell(set.Value.Word, i)
				predictions = append(predictions, p.Stimuli[i].Predict(&made))
			}
			fit, err := scorer.Score(predictions)
			if err != nil {
				t.Fatal(err)
			}
			all[number].Fits = append(all[number].Fits, fit)
		}
	}
	return all
}

// Jobs say how a sweep is cut into jobs, and in which order these are done.
type Jobs struct {
	Cells int // of a job
	Order []int
}

// Write makes the report of the fit of a sweep of the tiny study, from the outcomes of its jobs; change, if it is not nil, may change these first.
func Write(t *testing.T, st *study.Study, c sweep.Config, jobs Jobs, change func([]sweep.Outcome)) (*Folder, *fit.Report) {
	t.Helper()
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.NewPlan(sets, Shapes(), jobs.Cells, c.Report.Runs > 0)
	if err != nil {
		t.Fatal(err)
	}
	all := Outcomes(t, st, c, plan)
	if change != nil {
		change(all)
	}
	out := &Folder{}
	r, err := fit.New(out, st, plan, c, fit.Manifest{
		SweepID: "abc", StudyHash: "f00", Inputs: map[string]string{"study.yaml": "f01", "a.plan": "f02"},
		Version: "v1", Complete: true, Created: "2021-07-26T00:00:00Z",
	})
	if err != nil {
		t.Fatal(err)
	}
	gather := sweep.NewGather(plan, r.Add)
	for _, number := range jobs.Order {
		if err := gather.Add(number, all[number]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(gather.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	for name, f := range out.Files {
		if !f.Closed {
			t.Errorf("%s is not closed", name)
		}
		if !strings.HasSuffix(name, ".pdf") && NoNumber.MatchString(f.String()) {
			t.Errorf("%s holds a number that is none:\n%s", name, f.String())
		}
	}
	return out, r
}

// NoNumber is how a number that is none would be printed.
var NoNumber = regexp.MustCompile(`\b(NaN|Inf)\b`)

// SameTable compares a file with a text, which may begin with an empty line.
func SameTable(t *testing.T, out *Folder, name, want string) {
	t.Helper()
	want = strings.TrimPrefix(want, "\n")
	if got := out.Text(name); got != want {
		t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
	}
}

// Column is a column of a table.
func Column(t *testing.T, out *Folder, table, name string) []string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(out.Text(table))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(rows[0], name)
	if at < 0 {
		t.Fatalf("%s has no column %s", table, name)
	}
	var values []string
	for _, row := range rows[1:] {
		values = append(values, row[at])
	}
	return values
}

// FS is what has been written, to be read.
func (d *Folder) FS() fs.FS {
	files := fstest.MapFS{}
	for path, f := range d.Files {
		files[path] = &fstest.MapFile{Data: f.Bytes()}
	}
	return files
}
