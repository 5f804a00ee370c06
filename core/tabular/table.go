package tabular

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Output makes files; names are relative and slash-separated. Create is called for one file after the
// other, but several files may be written, and closed, at once. See also [TableOutput].
type Output interface {
	Create(name string) (io.WriteCloser, error)
}

// TableOutput is an [Output] that keeps tables in another form as well, next to
// the CSV; the name is that of the CSV without its ending.
type TableOutput interface {
	Output
	CreateTable(name string, columns []Column) (Rows, error)
}

// Rows takes the rows of a table, many at once, by column. They are the caller's
// again after the call.
type Rows interface {
	Write(columns []Values) error
	Close() error
}

// Values are those of a column in some rows: one a row in the field of its kind,
// which is zero where the field of the CSV is empty. Numbers are finite.
type Values struct {
	Null  []bool // the field of the CSV is empty
	Real  []float64
	Whole []int64
	Text  []string
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

// blockRows is the number of rows that are written at once.
const blockRows = 1024

// Writer is a CSV file with a fixed number of columns, and what the output keeps
// next to it. Different tables may be written at once.
type Writer struct {
	name    string
	columns []Column
	file    io.WriteCloser
	other   Rows     // the table in another form; nil if the output keeps none
	block   []Values // rows that are not written yet, by column
	rows    int      // of block
	csv     []byte   // not written yet
}

// Create makes one of [Tables]: its file is called name.csv. Its caller adds rows, then closes it.
func Create(out Output, name string) (*Writer, error) {
	names := tableOf(name).Columns
	t := &Writer{name: name + ".csv", block: make([]Values, len(names))}
	for i, column := range names {
		t.columns = append(t.columns, columnOf(column))
		t.csv = append(appendText(t.csv, column), separator(i, len(names)))
	}
	var err error
	if t.file, err = out.Create(t.name); err != nil {
		return nil, err
	}
	if out, ok := out.(TableOutput); ok {
		if t.other, err = out.CreateTable(name, t.columns); err != nil {
			return nil, errors.Join(err, t.file.Close())
		}
	}
	return t, nil
}

// Row adds a row, a value for each column; nil is an empty field, and so is an empty text. A number that is not
// finite is refused.
func (t *Writer) Row(values ...any) error {
	if len(values) != len(t.columns) {
		panic(fmt.Sprintf("tabular: %d values for the %d columns of %s", len(values), len(t.columns), t.name))
	}
	for i, v := range values {
		if err := t.block[i].add(&t.columns[i], v); err != nil {
			for k := range t.block[:i] {
				t.block[k].cut(t.rows)
			}
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	if t.rows++; t.rows < blockRows {
		return nil
	}
	return t.flush()
}

// add appends a value as the column's kind has it; 0 for -0.
func (c *Values) add(column *Column, v any) error {
	var number float64
	var whole int64
	var text string
	fits := false
	switch v := v.(type) {
	case nil:
		fits = true
	case string:
		text, fits = v, column.Kind == Text
	case int:
		number, whole, fits = float64(v), int64(v), column.Kind != Text
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("a value is %v", v)
		}
		if v != 0 {
			number = v
		}
		whole = int64(v)
		fits = column.Kind == Real || column.Kind == Whole && v == math.Trunc(v)
	}
	if !fits {
		panic(fmt.Sprintf("tabular: column %s cannot hold %v", column.Name, reflect.TypeOf(v)))
	}
	c.Null = append(c.Null, v == nil || column.Kind == Text && text == "")
	switch column.Kind {
	case Real:
		c.Real = append(c.Real, number)
	case Whole:
		c.Whole = append(c.Whole, whole)
	case Text:
		c.Text = append(c.Text, text)
	}
	return nil
}

// cut keeps the first rows.
func (c *Values) cut(rows int) {
	c.Null = c.Null[:rows]
	c.Real, c.Whole, c.Text = c.Real[:min(rows, len(c.Real))], c.Whole[:min(rows, len(c.Whole))], c.Text[:min(rows, len(c.Text))]
}

// flush writes the rows that are not written yet.
func (t *Writer) flush() error {
	var other error
	var writing sync.WaitGroup
	if t.other != nil && t.rows > 0 {
		writing.Go(func() { other = t.other.Write(t.block) })
	}
	err := t.writeCSV()
	writing.Wait()
	err = cmp.Or(err, other)
	for i := range t.block {
		t.block[i].cut(0)
	}
	t.rows = 0
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	return nil
}

// writeCSV writes rows as encoding/csv would.
func (t *Writer) writeCSV() error {
	for row := range t.rows {
		for i := range t.block {
			if of := &t.block[i]; !of.Null[row] {
				switch t.columns[i].Kind {
				case Real:
					t.csv = appendNumber(t.csv, of.Real[row])
				case Whole:
					t.csv = strconv.AppendInt(t.csv, of.Whole[row], 10)
				case Text:
					t.csv = appendText(t.csv, of.Text[row])
				}
			}
			t.csv = append(t.csv, separator(i, len(t.block)))
		}
	}
	_, err := t.file.Write(t.csv)
	t.csv = t.csv[:0]
	return err
}

// separator is what follows field i of n.
func separator(i, n int) byte {
	if i == n-1 {
		return '\n'
	}
	return ','
}

// appendNumber appends the shortest decimal that reads back as the same number.
func appendNumber(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'g', -1, 64) }

// appendText appends a text, in quotes where a CSV needs them.
func appendText(b []byte, text string) []byte {
	first, _ := utf8.DecodeRuneInString(text)
	if text != `\.` && !strings.ContainsAny(text, "\n\r\",") && !unicode.IsSpace(first) {
		return append(b, text...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(text, `"`, `""`)...)
	return append(b, '"')
}

// Close writes the rows that are not written yet, and closes the files.
func (t *Writer) Close() error {
	err := t.flush()
	if t.other != nil {
		err = errors.Join(err, t.other.Close())
	}
	return errors.Join(err, t.file.Close())
}
