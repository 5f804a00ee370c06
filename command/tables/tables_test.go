package tables_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"foible.dev/foible/command/tables"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/optional"
	"foible.dev/foible/core/report/fit"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/tabular"
	"foible.dev/foible/internal/await"
)

// folder is a report's output in memory.
type folder map[string]*file

type file struct {
	bytes.Buffer
	closed bool
}

func (f *file) Close() error {
	f.closed = true
	return nil
}

func (d folder) Create(name string) (io.WriteCloser, error) {
	d[name] = &file{}
	return d[name], nil
}

func (d folder) CreateTable(name string, columns []tabular.Column) (tabular.Rows, error) {
	f, err := d.Create(name + ".parquet")
	return tables.Create(f, columns), err
}

// every is a report with every table, and values of every kind in them: texts
// that a CSV quotes, numbers at the ends of what there is, empty fields.
func every(t *testing.T) folder {
	t.Helper()
	st := &study.Study{Name: "odd"}
	var shapes []sweep.Shape
	for i, id := range []string{"a, \"b\"", "ü\nnew line", "001"} {
		s := study.Stimulus{ID: id, Category: []string{"", "plain", "NA"}[i], JudgementSteps: []int{0, 1}, Goals: []study.Goal{{Name: "nan"}, {Name: "1e5"}}}
		s.Human = study.Judgements{Mean: [][]float64{{1.0 / 3, 2.0 / 3}, nil}, N: []int{0, 0}}
		if i == 0 {
			s.Human.Participants, s.Human.N = []string{"p, \"1\"", "NA", "3", "ß", "five"}, []int{5, 0} // the fewest that have a reliability
			for _, p := range []float64{3. / 12, 5. / 12, 4. / 12, 2. / 12, 6. / 12} {
				s.Human.Responses = append(s.Human.Responses, [][]float64{{p, 1 - p}, nil})
			}
		}
		st.Stimuli = append(st.Stimuli, s)
		shapes = append(shapes, sweep.Shape{Stimulus: id, Goals: 2, Actions: 1, JudgementSteps: []int{0, 1}})
	}
	c := sweep.Config{
		Models:    []sweep.ModelGrid{{Model: "full"}, {Model: "boltzmann", Axes: map[string][]model.Setting{"alpha": {{Number: 1e-9}, {Number: 1e6}}}}},
		Bootstrap: sweep.DefaultBootstrap, Seed: 1,
	}
	c.Inference, c.Fit, c.Report = sweep.DefaultsOf(sweep.SIPS)
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.NewPlan(sets, shapes, 4, true)
	if err != nil {
		t.Fatal(err)
	}
	out := folder{}
	r, err := fit.New(out, st, plan, c, fit.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range sets {
		g := &sweep.Gathered{Stage: sweep.FitStage, Index: i, Set: sets[i], Failures: []string{"out of\n\"memory\""}}
		if i > 0 {
			one := result.Correlation{N: 6, PearsonR: 1 / (3 + float64(i)), Defined: i%2 == 0, RMSE: math.SmallestNonzeroFloat64}
			g.Fit = &result.Fit{Overall: one, MCSE: math.Copysign(0, -1), Intervals: []result.Interval{{Unit: "stimuli", Low: -1, High: math.Nextafter(1, 0), Resamples: 500}}}
			for s := range st.Stimuli {
				one.Group = st.Stimuli[s].Category
				g.Fit.ByCategory = append(g.Fit.ByCategory, one)
				one.Group = st.Stimuli[s].ID
				g.Fit.ByStimulus = append(g.Fit.ByStimulus, one)
				cell := &result.Cell{Posterior: [][]float64{{0.1, 0.9}, {0, 1}}, Samples: 64 * (s + 1), LogEvidence: [][]float64{{-1e-300, -1}, {math.Inf(-1), -2}}}
				if s == 1 {
					cell.Undefined = &result.Undefined{Step: 1, Reason: "impossible, at step 1"}
				}
				if s == 2 {
					cell.ESS, cell.Alive, cell.Evidence = []float64{2, 1.5}, []float64{2, 1}, []float64{0, -3}
					cell.Mistakes = &result.Mistakes{Confused: []result.Estimate{{Probability: 0.5, SE: 0.1}}, Slip: make([]result.Estimate, 1), OffPath: optional.Known(make([]result.Estimate, 1))}
				}
				if s == 0 {
					cell.Mistakes = &result.Mistakes{Confused: make([]result.Estimate, 1), Slip: make([]result.Estimate, 1)} // whether off the path is not known
				}
				g.Cells = append(g.Cells, cell)
			}
		}
		if err := r.Add(g); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return out
}

// names are those of the tables, without ending.
func (d folder) names(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(d)) {
		if name, ok := strings.CutSuffix(name, ".csv"); ok {
			names = append(names, name)
		}
	}
	want := []string{
		"cross_validation", "degeneracy", "differences", "failures", "fits", "fits_by_category", "fits_by_stimulus", "intervals",
		"likelihoods", "mistakes", "model_comparison", "posteriors", "reliability", "scores",
	}
	if !slices.Equal(names, want) {
		t.Fatalf("tables %v, want %v", names, want)
	}
	return names
}

// field is a value as the CSV has it; a string is not told from a null.
func field(v parquet.Value) string {
	switch {
	case v.IsNull():
		return ""
	case v.Kind() == parquet.Double:
		return strconv.FormatFloat(v.Double(), 'g', -1, 64)
	case v.Kind() == parquet.Int64:
		return strconv.FormatInt(v.Int64(), 10)
	}
	return string(v.ByteArray())
}

// Every table reads back as its CSV, in columns of the documented types.
func TestTablesReadBack(t *testing.T) {
	out := every(t)
	for _, name := range out.names(t) {
		f := out[name+".parquet"]
		if f == nil || !f.closed {
			t.Errorf("%s.parquet is missing or open", name)
			continue
		}
		want, err := csv.NewReader(bytes.NewReader(out[name+".csv"].Bytes())).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		read, err := parquet.OpenFile(bytes.NewReader(f.Bytes()), int64(f.Len()))
		if err != nil {
			t.Fatal(err)
		}
		var columns []string
		for i, c := range read.Schema().Fields() {
			columns = append(columns, c.Name())
			if !c.Optional() {
				t.Errorf("%s: column %s cannot be null", name, c.Name())
			}
			kind, text := c.Type().Kind(), slices.Contains([]string{"stage", "model", "stimulus", "category", "goal", "value", "part", "other_stage", "other_model", "measure", "participant", "unit", "ci_unit", "outcome", "reason", "complete"}, c.Name())
			if text != (kind == parquet.ByteArray) || kind != parquet.ByteArray && kind != parquet.Int64 && kind != parquet.Double {
				t.Errorf("%s: column %s is %v", name, want[0][i], c.Type())
			}
		}
		got := [][]string{columns}
		for _, group := range read.RowGroups() {
			rows := group.Rows()
			buffer := make([]parquet.Row, 7)
			for {
				n, err := rows.ReadRows(buffer)
				for _, row := range buffer[:n] {
					var record []string
					for _, v := range row {
						record = append(record, field(v))
						if v.Kind() == parquet.ByteArray && len(v.ByteArray()) == 0 {
							t.Errorf("%s has an empty text, which should be null", name)
						}
					}
					got = append(got, record)
				}
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := rows.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if len(got) < 2 || len(got) != len(want) {
			t.Errorf("%s: %d rows, want %d, and more than the heads", name, len(got), len(want))
			continue
		}
		for i := range got {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("%s: row %d is\n%q\nwant\n%q", name, i, got[i], want[i])
			}
		}
	}
	again := every(t)
	for name := range out {
		if !bytes.Equal(out[name].Bytes(), again[name].Bytes()) {
			t.Errorf("%s differs when it is written again", name)
		}
	}
}

// pandas and pyarrow read every table as its CSV. FOIBLE_PYTHON is a Python that
// has them, or 1 for python3; without it, a Python that lacks them is no failure.
func TestPandas(t *testing.T) {
	python, wanted := os.Getenv("FOIBLE_PYTHON"), true
	switch python {
	case "":
		python, wanted = "python3", false
	case "1":
		python = "python3"
	}
	if out, err := await.Output(t, exec.Command(python, "-c", "import pandas, pyarrow.parquet")); err != nil {
		if wanted {
			t.Fatalf("FOIBLE_PYTHON is set, but %s has no pandas or pyarrow: %v\n%s", python, err, out)
		}
		t.Skipf("%s with pandas and pyarrow is not there; `pip install pandas pyarrow`, FOIBLE_PYTHON=1 makes this a failure", python)
	}
	dir := t.TempDir()
	out := every(t)
	for _, name := range out.names(t) {
		for _, end := range []string{".csv", ".parquet"} {
			if err := os.WriteFile(filepath.Join(dir, name+end), out[name+end].Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	said, err := await.Output(t, exec.Command(python, filepath.Join("testdata", "compare.py"), dir))
	if err != nil || !strings.HasPrefix(string(said), "14 tables agree") {
		t.Fatalf("%v\n%s", err, said)
	}
	t.Logf("%s", said)
}

// A large table leaves memory a row group at a time.
func TestRowGroups(t *testing.T) {
	f := &file{}
	rows := tables.Create(f, []tabular.Column{{Name: "n", Kind: tabular.Whole}, {Name: "r"}, {Name: "unit", Kind: tabular.Text}})
	const n = 100_000
	left := 0 // bytes that have left when a row group is full
	for i := 0; i < n; {
		var whole, number, text tabular.Values
		for ; i < n && len(whole.Null) < 1000; i++ {
			for _, of := range []*tabular.Values{&whole, &number, &text} {
				of.Null = append(of.Null, false)
			}
			whole.Whole, number.Real, text.Text = append(whole.Whole, int64(i)), append(number.Real, float64(i)/7), append(text.Text, "stimuli")
		}
		if err := rows.Write([]tabular.Values{whole, number, text}); err != nil {
			t.Fatal(err)
		}
		if left == 0 && i >= tables.RowGroup {
			left = f.Len()
		}
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	read, err := parquet.OpenFile(bytes.NewReader(f.Bytes()), int64(f.Len()))
	if err != nil {
		t.Fatal(err)
	}
	groups := read.RowGroups()
	if len(groups) != 4 || read.NumRows() != n || left < f.Len()/8 {
		t.Errorf("%d row groups of %d rows; %d of %d bytes were written with the first", len(groups), read.NumRows(), left, f.Len())
	}
	for _, g := range groups {
		if g.NumRows() > tables.RowGroup {
			t.Errorf("a row group of %d rows", g.NumRows())
		}
	}
}

func BenchmarkRows(b *testing.B) {
	columns := []tabular.Column{{Name: "model", Kind: tabular.Text}, {Name: "n", Kind: tabular.Whole}}
	for _, name := range strings.Fields("a b c d e f g h i j k l m n o p q r s t") {
		columns = append(columns, tabular.Column{Name: name + "_"})
	}
	block := make([]tabular.Values, len(columns))
	for range 1024 {
		for i, c := range columns {
			block[i].Null = append(block[i].Null, i > 6)
			switch c.Kind {
			case tabular.Text:
				block[i].Text = append(block[i].Text, "full")
			case tabular.Whole:
				block[i].Whole = append(block[i].Whole, 1)
			default:
				block[i].Real = append(block[i].Real, 0)
			}
		}
	}
	rows := tables.Create(&file{}, columns)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		for i := range block[5].Real {
			block[5].Real[i], block[6].Real[i] = float64(1024*n+i), float64(i%10)
		}
		if err := rows.Write(block); err != nil {
			b.Fatal(err)
		}
	}
}
