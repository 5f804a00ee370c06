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

	"foible/core/report"
)

// RowGroup is the number of rows of a row group. A table in the making holds no more.
const RowGroup = 32_768

// Create begins a table on a file, which is closed with it. Real numbers are
// doubles, whole ones 64-bit integers, texts UTF-8 strings.
func Create(file io.WriteCloser, columns []report.Column) report.Rows {
	return &rows{
		file: file,
		// Gzip is the same portable code everywhere; Snappy's assembly may choose other bytes.
		writer: parquet.NewGenericWriter[any](file, schema(columns), parquet.MaxRowsPerRowGroup(RowGroup),
			parquet.Compression(&parquet.Gzip), parquet.CreatedBy("foible", "1.0.0", "0")),
		row: make(parquet.Row, len(columns)),
	}
}

// schema is of columns in their order, any of which may have nulls.
func schema(columns []report.Column) *parquet.Schema {
	types := map[report.Kind]reflect.Type{
		report.Real: reflect.TypeFor[float64](), report.Whole: reflect.TypeFor[int64](), report.Text: reflect.TypeFor[string](),
	}
	var fields []reflect.StructField
	for i, c := range columns {
		tag := c.Name + ",optional"
		if c.Kind == report.Text {
			tag += ",dict"
		}
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("C%d", i), Type: types[c.Kind], Tag: reflect.StructTag(fmt.Sprintf("parquet:%q", tag))})
	}
	return parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface())
}

type rows struct {
	file   io.Closer
	writer *parquet.GenericWriter[any]
	row    parquet.Row
}

// Row implements [report.Rows].
func (r *rows) Row(values []any) error {
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			r.row[i] = parquet.NullValue().Level(0, 0, i)
		case string:
			r.row[i] = parquet.ByteArrayValue([]byte(v)).Level(0, 1, i)
		case int64:
			r.row[i] = parquet.Int64Value(v).Level(0, 1, i)
		case float64:
			r.row[i] = parquet.DoubleValue(v).Level(0, 1, i)
		default:
			panic(fmt.Sprintf("tables: no column holds %T", v))
		}
	}
	_, err := r.writer.WriteRows([]parquet.Row{r.row})
	return err
}

// Close implements [report.Rows].
func (r *rows) Close() error { return errors.Join(r.writer.Close(), r.file.Close()) }
