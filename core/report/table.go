package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// TableOutput is an [Output] that keeps tables in another form as well, beside
// the CSV; the name is that of the CSV without its ending.
type TableOutput interface {
	Output
	CreateTable(name string, columns []Column) (Rows, error)
}

// Rows takes the rows of a table. A row has a value a column: nil where the
// field of the CSV is empty, or else a string, an int64 or a finite float64, as
// the column's kind is. It is the caller's again after the call.
type Rows interface {
	Row(values []any) error
	Close() error
}

// Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
}

// Kind is the type of the values of a column.
type Kind int

// Kinds of columns.
const (
	Real  Kind = iota // float64
	Whole             // int64
	Text              // string
)

// kinds are those of all columns that do not hold real numbers. A name means
// the same in every table.
var kinds = map[string]Kind{
	"stage": Text, "model": Text, "stimulus": Text, "category": Text, "goal": Text, "value": Text,
	"part": Text, "other_stage": Text, "other_model": Text, "measure": Text, "participant": Text, "unit": Text, "ci_unit": Text, "outcome": Text, "reason": Text,
	"parameter_set": Whole, "budget_r": Whole, "runs": Whole, "particles_per_goal": Whole, "samples": Whole, "n": Whole,
	"other_parameter_set": Whole, "splits": Whole, "judgements": Whole, "participants": Whole, "resamples": Whole, "step": Whole, "failed_runs": Whole, "undefined_stimuli": Whole,
	"axis": Text, "true_word": Text, "fitted_word": Text, "true_model": Text, "fitted_model": Text, "criterion": Text,
	"dataset": Whole, "datasets": Whole, "true_parameter_set": Whole, "values": Whole, "count": Whole,
}

// table is a CSV file with a fixed number of columns, and what the output keeps beside it.
type table struct {
	name    string
	columns []Column
	file    io.WriteCloser
	csv     *csv.Writer
	record  []string
	beside  Rows // nil if there is nothing
	values  []any
}

func newTable(out Output, name string, names []string) (*table, error) {
	t := &table{name: name}
	for _, column := range names {
		t.columns = append(t.columns, Column{column, kinds[column]})
	}
	var err error
	if t.file, err = out.Create(name); err != nil {
		return nil, err
	}
	t.csv = csv.NewWriter(t.file)
	if out, ok := out.(TableOutput); ok {
		if t.beside, err = out.CreateTable(strings.TrimSuffix(name, ".csv"), t.columns); err != nil {
			return nil, errors.Join(err, t.file.Close())
		}
	}
	if err := t.csv.Write(names); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

// row writes a row; nil is an empty field. A number that is not finite is refused.
func (t *table) row(values ...any) error {
	if len(values) != len(t.columns) {
		panic(fmt.Sprintf("report: %d values for the %d columns of %s", len(values), len(t.columns), t.name))
	}
	t.record, t.values = t.record[:0], t.values[:0]
	for i, v := range values {
		v = t.columns[i].typed(v)
		text, err := field(v)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		t.record, t.values = append(t.record, text), append(t.values, v)
	}
	if t.beside != nil {
		if err := t.beside.Row(t.values); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return t.csv.Write(t.record)
}

// typed is a value as the column's kind has it; nil for an empty text, and 0 for -0.
func (c *Column) typed(v any) any {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		switch {
		case c.Kind == Text && v == "":
			return nil
		case c.Kind == Text:
			return v
		}
	case int:
		switch c.Kind {
		case Whole:
			return int64(v)
		case Real:
			return float64(v)
		}
	case float64:
		switch {
		case v == 0 && c.Kind == Real:
			return 0.0
		case c.Kind == Real:
			return v
		case c.Kind == Whole && v == math.Trunc(v):
			return int64(v)
		}
	}
	panic(fmt.Sprintf("report: column %s cannot hold %T(%v)", c.Name, v, v))
}

func (t *table) close() error {
	t.csv.Flush()
	err := t.csv.Error()
	if t.beside != nil {
		err = errors.Join(err, t.beside.Close())
	}
	return errors.Join(err, t.file.Close())
}
