package fit_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/report/fit"
	"foible.dev/foible/core/report/internal/reporttest"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/tabular"
)

// tabled is a folder that keeps tables as CSV of its own making, too.
type tabled struct{ reporttest.Folder }

func (d *tabled) CreateTable(name string, columns []tabular.Column) (tabular.Rows, error) {
	f, err := d.Create(name + ".rows")
	return &lines{f, columns}, err
}

type lines struct {
	io.WriteCloser
	columns []tabular.Column
}

func (l *lines) Write(columns []tabular.Values) error {
	var b strings.Builder
	for row := range columns[0].Null {
		for i, c := range columns {
			switch {
			case c.Null[row]:
			case l.columns[i].Kind == tabular.Text:
				b.WriteString(c.Text[row])
			case l.columns[i].Kind == tabular.Whole:
				fmt.Fprint(&b, c.Whole[row])
			default:
				b.WriteString(strconv.FormatFloat(c.Real[row], 'g', -1, 64))
			}
			b.WriteByte('\t')
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(l.WriteCloser, b.String())
	return err
}

// many is a detailed report of so many parameter sets, added so many at a time, up to
// the first error of adding.
func many(t *testing.T, out tabular.Output, n, chunk int) error {
	t.Helper()
	c := reporttest.Config("optimal")
	alphas := make([]model.Setting, n)
	for i := range alphas {
		alphas[i].Number = float64(i + 1)
	}
	c.Models[0].Axes["alpha"] = alphas
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.NewPlan(sets, reporttest.Shapes(), 256, false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := fit.New(out, reporttest.Tiny(), plan, c, fit.Manifest{Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	var all []*sweep.Gathered
	for i := range sets {
		a, b := reporttest.Cell("optimal", 0), reporttest.Cell("optimal", 1)
		one := result.Correlation{N: 7, PearsonR: float64(i*7919%n) / float64(n), Defined: i%5 > 0, RMSE: 0.1}
		g := &sweep.Gathered{Stage: sweep.FitStage, Index: i, Set: sets[i], Cells: []*result.Cell{&a, &b}}
		if i%11 == 3 {
			g.Failures = []string{"why, " + strconv.Itoa(i)}
		} else {
			g.Fit = &result.Fit{Overall: one, ByCategory: []result.Correlation{one, one}, ByStimulus: []result.Correlation{one, one}}
			if i%3 == 0 {
				g.Fit.Intervals = []result.Interval{{Unit: "stimuli", Low: -0.5, High: 0.5, Resamples: 20}}
			}
		}
		all = append(all, g)
	}
	for part := range slices.Chunk(all, chunk) {
		if err := r.Add(part...); err != nil {
			return err
		}
	}
	return r.Close()
}

// The files of a report are the same however many processors there are, and however
// many parameter sets come at once; what is kept beside a CSV has its rows.
func TestSameFilesHoweverWritten(t *testing.T) {
	files := func(processors, chunk int) map[string]*reporttest.File {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		out := &tabled{}
		if err := many(t, out, 1500, chunk); err != nil {
			t.Fatal(err)
		}
		return out.Files
	}
	want := files(1, 1)
	for _, name := range []string{"fits", "posteriors", "failures"} {
		csv, rows := want[name+".csv"].String(), want[name+".rows"].String()
		if strings.Count(csv, "\n") != strings.Count(rows, "\n")+1 || strings.Count(rows, "\n") < 100 {
			t.Errorf("%s: %d rows, and %d beside", name, strings.Count(csv, "\n")-1, strings.Count(rows, "\n"))
		}
	}
	if got, want := reporttest.Column(t, &reporttest.Folder{Files: want}, "failures.csv", "reason")[1], "why, 14"; got != want {
		t.Errorf("failure %q, want %q", got, want)
	}
	for _, test := range [][2]int{{4, 1}, {4, 256}, {2, 1500}} {
		got := files(test[0], test[1])
		if len(got) != len(want) {
			t.Errorf("%v: files %v", test, slices.Sorted(maps.Keys(got)))
		}
		for name := range want {
			if got[name] == nil || !bytes.Equal(got[name].Bytes(), want[name].Bytes()) {
				t.Errorf("with %d processors and %d at once, %s differs", test[0], test[1], name)
			}
		}
	}
}

// cramped has room for some bytes of one file.
type cramped struct {
	tabled
	name string
	room int
}

func (d *cramped) Create(name string) (io.WriteCloser, error) {
	f, err := d.tabled.Create(name)
	if name == d.name {
		return &short{f, d.room}, err
	}
	return f, err
}

func (d *cramped) CreateTable(name string, columns []tabular.Column) (tabular.Rows, error) {
	f, err := d.Create(name + ".rows")
	return &lines{f, columns}, err
}

type short struct {
	io.WriteCloser
	room int
}

var errFull = errors.New("disk full")

func (s *short) Write(b []byte) (int, error) {
	if s.room -= len(b); s.room < 0 {
		return 0, errFull
	}
	return s.WriteCloser.Write(b)
}

// The error of one table, while others are written, is that of the report.
func TestErrorOfATable(t *testing.T) {
	for _, name := range []string{"fits", "posteriors", "fits_by_stimulus", "intervals"} {
		for _, end := range []string{".csv", ".rows"} {
			out := &cramped{name: name + end, room: 30_000}
			if name == "intervals" {
				out.room = 0 // which is found when it is closed
			}
			synctest.Test(t, func(t *testing.T) { // no goroutine is left
				if err := many(t, out, 1500, 256); !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), name+".csv: ") {
					t.Errorf("%s: %v", name+end, err)
				}
			})
		}
	}
}

// Fields are as encoding/csv writes them.
func TestFieldsOfATable(t *testing.T) {
	st := reporttest.Tiny()
	ids := []string{`\.`, " blank"}
	for i := range st.Stimuli {
		st.Stimuli[i].ID = ids[i]
	}
	out, _ := reporttest.Write(t, st, reporttest.Config("optimal"), reporttest.Jobs{Cells: 1, Order: []int{0, 1, 2}}, nil)
	for _, want := range []string{`1,"\.",0,red,`, `1," blank",1,blue,`} {
		if !strings.Contains(out.Text("posteriors.csv"), want) {
			t.Errorf("no %s in\n%s", want, out.Text("posteriors.csv"))
		}
	}
	if got := reporttest.Column(t, out, "posteriors.csv", "stimulus"); got[0] != ids[0] || got[len(got)-1] != ids[1] {
		t.Errorf("stimuli %q", got)
	}
}
