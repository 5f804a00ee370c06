package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"foible.dev/foible/core/words"
)

// Table is a table for a terminal.
type Table struct {
	Columns []Column
	Rows    [][]string
}

// Column is a column of a table. Where the table is too wide, those that lead are there
// again when the others do not fit next to each other, and one that is below stands in a line
// of its own below each row.
type Column struct {
	Head  string
	Lead  bool
	Left  bool // set flush left
	below bool
}

const (
	columnGap   = 2
	belowIndent = 4
)

// NewTable makes a table whose columns are flush left and whose first one leads. A column
// whose head ends in "↓" is below.
func NewTable(heads ...string) *Table {
	t := &Table{}
	for i, head := range heads {
		head, below := strings.CutSuffix(head, "↓")
		t.Columns = append(t.Columns, Column{Head: head, Lead: i == 0, Left: true, below: below})
	}
	return t
}

// Add a row; cells that are left out at its end are empty.
func (t *Table) Add(cells ...string) {
	row := make([]string, len(t.Columns))
	for i, cell := range cells {
		row[i] = words.Line(cell)
	}
	t.Rows = append(t.Rows, row)
}

// Print writes the table in lines of at most width characters, as far as a single column
// besides the leading ones fits; 0 is no limit.
func (t *Table) Print(w io.Writer, width int) {
	widths := t.widths()
	all, room := -columnGap, width
	for _, n := range widths {
		all += n + columnGap
	}
	narrow := width > 0 && all > width
	var lead, rest, below []int
	for i, c := range t.Columns {
		switch {
		case c.below && narrow:
			below = append(below, i)
		case c.Lead:
			lead = append(lead, i)
			room -= widths[i] + columnGap
		default:
			rest = append(rest, i)
		}
	}
	for first := true; first || len(rest) > 0; first = false {
		if !first {
			fmt.Fprintln(w)
			below = nil
		}
		used, n := 0, 0
		for n < len(rest) && (n == 0 || width == 0 || used+widths[rest[n]] <= room) {
			used += widths[rest[n]] + columnGap
			n++
		}
		t.part(w, width, widths, append(slices.Clone(lead), rest[:n]...), below)
		rest = rest[n:]
	}
}

// headed reports whether a column has a head.
func (t *Table) headed() bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Head != "" })
}

// widths of the columns.
func (t *Table) widths() []int {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = utf8.RuneCountInString(c.Head)
		for _, row := range t.Rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	return widths
}

func (t *Table) part(w io.Writer, width int, widths, columns, below []int) {
	line := func(cell func(column int) string) {
		var b strings.Builder
		for i, c := range columns {
			if i > 0 {
				b.WriteString(strings.Repeat(" ", columnGap))
			}
			text := cell(c)
			pad := strings.Repeat(" ", widths[c]-utf8.RuneCountInString(text))
			if t.Columns[c].Left {
				b.WriteString(text + pad)
			} else {
				b.WriteString(pad + text)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
	under := func(cell func(column int) string) {
		for _, c := range below {
			fmt.Fprintln(w, Wrapped(strings.Repeat(" ", belowIndent)+cell(c), width, belowIndent))
		}
	}
	if head := func(c int) string { return t.Columns[c].Head }; t.headed() {
		line(head)
		under(head)
	}
	for _, row := range t.Rows {
		cell := func(c int) string { return row[c] }
		line(cell)
		under(cell)
	}
}

// hanging is by how much the further lines of a wrapped one are indented.
const hanging = 2

// Wrapped breaks lines at spaces, so that they have at most width characters; 0 is no limit.
// What follows a break is indented. What stands in backquotes is not broken, to be copied.
func Wrapped(text string, width, indent int) string {
	if width <= 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if utf8.RuneCountInString(line) > width {
			begin := line[:len(line)-len(strings.TrimLeft(line, " "))]
			lines[i] = filled(begin, unbroken(line[len(begin):], '`'), width, min(indent, width/2))
		}
	}
	return strings.Join(lines, "\n")
}

// filled are lines of at most width characters. The first begins with begin, and the others are indented.
func filled(begin string, parts []string, width, indent int) string {
	var b strings.Builder
	b.WriteString(begin)
	used := utf8.RuneCountInString(begin)
	for i, part := range parts {
		n := utf8.RuneCountInString(part)
		switch {
		case i == 0:
		case used+1+n <= width:
			b.WriteByte(' ')
			used++
		default:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			used = indent
		}
		b.WriteString(part)
		used += n
	}
	return b.String()
}

// unbroken splits a line at the spaces outside quotes.
func unbroken(line string, quote rune) []string {
	quoted := false
	return strings.FieldsFunc(line, func(r rune) bool {
		if r == quote {
			quoted = !quoted
		}
		return r == ' ' && !quoted
	})
}
