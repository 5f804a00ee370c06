// Package tables writes the tables of a report as Apache Parquet, with typed
// columns, nulls where the CSV is empty, and the same bytes for the same rows on
// every machine. Read [Create] first.
package tables

import (
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/parquet-go/parquet-go"

	"foible.dev/foible/core/tabular"
)

// RowGroup is the number of rows of a row group. A table in the making holds no more.
const RowGroup = 32_768

// pageSize is more than a column of a row group has, so that it is one page however
// many rows are written at once.
const pageSize = 16 * RowGroup

// Create begins a table on a file, which is closed with it. Real numbers are
// doubles, whole ones 64-bit integers, texts UTF-8 strings.
func Create(file io.WriteCloser, columns []tabular.Column) tabular.Rows {
	return &rows{
		file: file,
		// Gzip is the same portable code everywhere; Snappy's assembly may choose other bytes.
		writer: parquet.NewGenericWriter[any](file, schema(columns), parquet.PageBufferSize(pageSize),
			parquet.Compression(&parquet.Gzip), parquet.CreatedBy("foible", "1.0.0", "0")),
	}
}

// schema is the schema of columns in their order. Any column may have nulls.
func schema(columns []tabular.Column) *parquet.Schema {
	types := map[tabular.Kind]reflect.Type{
		tabular.Real: reflect.TypeFor[float64](), tabular.Whole: reflect.TypeFor[int64](), tabular.Text: reflect.TypeFor[string](),
	}
	var fields []reflect.StructField
	for i, c := range columns {
		tag := c.Name + ",optional"
		if c.Kind == tabular.Text {
			tag += ",dict"
		}
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("C%d", i), Type: types[c.Kind], Tag: reflect.StructTag(fmt.Sprintf("parquet:%q", tag))})
	}
	return parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface())
}

type rows struct {
	file   io.Closer
	writer *parquet.GenericWriter[any]
	n      int // rows of the row group in the making
	values []parquet.Value
	text   []byte // of values
}

// Write implements [tabular.Rows].
func (r *rows) Write(columns []tabular.Values) error {
	for from, all := 0, len(columns[0].Null); from < all; {
		to := min(all, from+RowGroup-r.n)
		for i, column := range r.writer.ColumnWriters() {
			if _, err := column.WriteRowValues(r.take(&columns[i], i, from, to)); err != nil {
				return err
			}
		}
		r.n += to - from
		from = to
		if r.n == RowGroup {
			r.n = 0
			if err := r.writer.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// take has some values of a column as Parquet's; good until the next call.
func (r *rows) take(of *tabular.Values, column, from, to int) []parquet.Value {
	r.values, r.text = r.values[:0], r.text[:0]
	for i := from; i < to; i++ {
		v, level := parquet.NullValue(), 1
		switch {
		case of.Null[i]:
			level = 0
		case of.Text != nil:
			at := len(r.text)
			r.text = append(r.text, of.Text[i]...)
			v = parquet.ByteArrayValue(r.text[at:])
		case of.Whole != nil:
			v = parquet.Int64Value(of.Whole[i])
		default:
			v = parquet.DoubleValue(of.Real[i])
		}
		r.values = append(r.values, v.Level(0, level, column))
	}
	return r.values
}

// Close implements [tabular.Rows].
func (r *rows) Close() error { return errors.Join(r.writer.Close(), r.file.Close()) }
