package compare

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/report"
	"foible.dev/foible/core/report/fit"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

// Finished is what the report of a sweep left: its tables, sweep.yaml and manifest.json.
type Finished struct {
	Name  string // that tells it from the others
	Files fs.FS
}

// finished is what a comparison needs of a sweep.
type finished struct {
	name     string
	manifest fit.Manifest
	settings []report.Setting // of sweep.yaml, in its order
	fits     map[string][]fitted
	best     map[string]*fitted          // by model, as it is reported
	points   map[string]map[site]float64 // of the best, by model
	places   []site                      // judged, in the order of the study
	human    map[site]float64
	se       map[site]float64 // standard errors of human, where known
}

// fitted is a row of fits.csv; what the row does not have is nil.
type fitted struct {
	stage, model    string
	set             int
	axes            map[string]string // those that it has
	runs, particles *int
	n               int
	r, low, high    *float64
	mcse, rmse      *float64
	unit            string // of low and high
}

// site is where people and models are compared.
type site struct {
	stimulus string
	step     int
	goal     string
}

// read reads what a report left.
func (f Finished) read() (*finished, error) {
	s := &finished{
		name: f.Name, fits: map[string][]fitted{}, best: map[string]*fitted{}, points: map[string]map[site]float64{},
		human: map[site]float64{}, se: map[site]float64{},
	}
	for _, part := range []struct {
		name string
		read func(io.Reader) error
	}{
		{"manifest.json", func(r io.Reader) error { return json.NewDecoder(r).Decode(&s.manifest) }},
		{"sweep.yaml", func(r io.Reader) (err error) { s.settings, err = report.ReadSettings(r); return err }},
		{"fits.csv", s.readFits},
		{"posteriors.csv", s.readPoints},
	} {
		file, err := f.Files.Open(part.name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s has no %s: name the output directories of `foible fit` or `foible results`", f.Name, part.name)
		}
		if err == nil {
			err = errors.Join(part.read(file), file.Close())
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", f.Name, part.name, err)
		}
	}
	return s, nil
}

// record is a row of a table, by column.
type record struct {
	columns map[string]int
	fields  []string
	err     error // of the first field that is not what it has to be
}

// rowsOf calls use with every row of a table that has to have some columns.
func rowsOf(r io.Reader, need []string, use func(*record)) error {
	table := csv.NewReader(r)
	table.ReuseRecord = true
	head, err := table.Read()
	if err != nil {
		return err
	}
	row := &record{columns: map[string]int{}}
	for i, name := range head {
		row.columns[name] = i
	}
	for _, name := range need {
		if _, ok := row.columns[name]; !ok {
			return fmt.Errorf("no column %s", name)
		}
	}
	for {
		if row.fields, err = table.Read(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if use(row); row.err != nil {
			line, _ := table.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, row.err)
		}
	}
}

// text is a field; "" where there is no such column.
func (r *record) text(column string) string {
	if i, ok := r.columns[column]; ok {
		return r.fields[i]
	}
	return ""
}

// number is a field; nil where it is empty.
func (r *record) number(column string) *float64 {
	text := r.text(column)
	if text == "" {
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%s: %q is not a number", column, text)
	}
	return &v
}

// whole is a field; nil where it is empty.
func (r *record) whole(column string) *int {
	text := r.text(column)
	if text == "" {
		return nil
	}
	v, err := strconv.Atoi(text)
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%s: %q is not a whole number", column, text)
	}
	return &v
}

// readFits reads the fits of the fit stage, and finds the best as they are reported.
func (s *finished) readFits(r io.Reader) error {
	var all []fitted
	err := rowsOf(r, []string{"stage", "model", "parameter_set", "n", "pearson_r"}, func(row *record) {
		f := fitted{
			stage: row.text("stage"), model: row.text("model"), axes: map[string]string{}, unit: row.text("ci_unit"),
			runs: row.whole("runs"), particles: row.whole("particles_per_goal"), r: row.number("pearson_r"),
			low: row.number("ci_low"), high: row.number("ci_high"), mcse: row.number("mc_se"), rmse: row.number("rmse"),
		}
		for column, to := range map[string]*int{"parameter_set": &f.set, "n": &f.n} {
			if v := row.whole(column); v != nil {
				*to = *v
			}
		}
		for _, axis := range model.AxisNames() {
			if text := row.text(axis); text != "" {
				f.axes[axis] = text
			}
		}
		all = append(all, f)
		if f.stage == sweep.FitStage {
			s.fits[f.model] = append(s.fits[f.model], f)
		}
	})
	if err != nil {
		return err
	}
	s.rank(all)
	return nil
}

// rank finds the best of each model. The numbers of parameter sets may be those within a
// model, as earlier versions had them, so that each model has a standing of its own.
func (s *finished) rank(all []fitted) {
	standings := map[string]*sweep.Standing{}
	points := 0
	for i := range all {
		points = max(points, all[i].n)
	}
	for i := range all {
		f := &all[i]
		if standings[f.model] == nil {
			standings[f.model] = sweep.NewStanding(points)
		}
		if fit := f.fit(); f.stage == sweep.ReportStage && fit.Overall.Defined {
			standings[f.model].Report(f.model, f.set, fit)
		} else if f.stage != sweep.ReportStage {
			standings[f.model].Add(f.model, f.set, f.round(), fit)
		}
	}
	for i := range all {
		f := &all[i]
		set, ok := standings[f.model].Best(f.model)
		if !ok || f.set != set || f.r == nil {
			continue
		}
		_, reported := standings[f.model].Reported(set)
		place, _ := standings[f.model].Place(set)
		if reported == (f.stage == sweep.ReportStage) && (reported || place.Round == f.round()) {
			s.best[f.model] = f
		}
	}
}

// fit is what a row says of a fit.
func (f *fitted) fit() *result.Fit {
	fit := &result.Fit{Overall: result.Correlation{N: f.n, Defined: f.r != nil}}
	if f.r != nil {
		fit.Overall.PearsonR = *f.r
	}
	if f.mcse != nil {
		fit.MCSE = *f.mcse
	}
	return fit
}

// round orders the rounds of fits: those of topping up by their runs, which grow.
func (f *fitted) round() int {
	if f.stage == sweep.TopUpStage && f.runs != nil {
		return *f.runs
	}
	return 0
}

// readPoints reads what the best infer where people judged.
func (s *finished) readPoints(r io.Reader) error {
	err := rowsOf(r, []string{"stage", "model", "parameter_set", "stimulus", "step", "goal", "probability", "human"}, func(row *record) {
		human, step := row.number("human"), row.whole("step")
		if human == nil || step == nil {
			return
		}
		p := site{row.text("stimulus"), *step, row.text("goal")}
		if _, ok := s.human[p]; !ok {
			s.places = append(s.places, p)
			s.human[p] = *human
			if se := row.number("human_se"); se != nil {
				s.se[p] = *se
			}
		}
		named, set := row.text("model"), row.whole("parameter_set")
		best, probability := s.best[named], row.number("probability")
		if best == nil || probability == nil || set == nil || best.set != *set || best.stage != row.text("stage") {
			return
		}
		if s.points[best.model] == nil {
			s.points[best.model] = map[site]float64{}
		}
		s.points[best.model][p] = *probability
	})
	// A parameter set may tell of places that an earlier one does not.
	ids := s.stimuli()
	slices.SortStableFunc(s.places, func(a, b site) int {
		return cmp.Or(cmp.Compare(slices.Index(ids, a.stimulus), slices.Index(ids, b.stimulus)), cmp.Compare(a.step, b.step))
	})
	return err
}

// stimuli that people judged, in the order of the study.
func (s *finished) stimuli() []string {
	var ids []string
	for _, p := range s.places {
		if !slices.Contains(ids, p.stimulus) {
			ids = append(ids, p.stimulus)
		}
	}
	return ids
}

// text is the best parameter set in words: the axes it has, in the order of tables.
func (f *fitted) text() string {
	var parts []string
	for _, axis := range model.AxisNames() {
		if v, ok := f.axes[axis]; ok {
			parts = append(parts, axis+"="+v)
		}
	}
	return strings.Join(parts, " ")
}

// axisValue is a setting of an axis as a table holds it; nil if it has none.
func axisValue(axis, text string) (any, error) {
	if text == "" {
		return nil, nil
	}
	if a, _ := model.AxisByName(axis); len(a.Words) > 0 {
		return text, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("%s: %q is not a number", axis, text)
	}
	return v, nil
}
