package study

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/words"
)

// columns are the columns that a file has to have and may have. Cells of required columns
// have text, unless they may be blank.
type columns struct{ required, optional, blank []string }

func (c columns) all() []string { return slices.Concat(c.required, c.optional) }

// table is a file of records under named columns.
type table struct {
	file   string
	header map[string]int // the known columns present
	head   pddl.Pos       // of the first column's name
	other  []string       // names of columns that are not known
	rows   []row
	bad    []row // with cells missing or too many; reported
}

// row is one record. In a table's rows every required cell is there.
type row struct {
	table *table
	cells []cell
}

func (t *table) has(column string) bool { _, ok := t.header[column]; return ok }

// cell is the cell in a known column; it is empty where the file has no such
// column or the record ends before it.
func (r row) cell(column string) cell {
	if i, ok := r.table.header[column]; ok && i < len(r.cells) {
		return r.cells[i]
	}
	return cell{pos: r.pos()}
}

func (r row) pos() pddl.Pos { return r.cells[0].pos }

// readTable reads a file of cells separated by commas, semicolons or tabs, as
// its header line shows (or Excel's line "sep=;" before it). Records it cannot
// read are reported and left out. It is nil without a usable header.
func readTable(r *report, file string, src []byte, known columns, l limits) *table {
	text, err := decode(file, src)
	if err != nil {
		r.errorf(err.Pos, "", "%s", err.Message)
		return nil
	}
	text, separator := separatorOf(text, known, l)
	records, errs, beyond := split(file, text, separator, l)
	if beyond != nil {
		r.errorf(beyond.Pos, "", "%s", beyond.Message)
		return nil
	}
	for _, err := range errs {
		r.row("records that cannot be read", err.Message+err.Pos.String(), Finding{Severity: Error, Pos: err.Pos, Message: err.Message})
	}
	if len(records) == 0 {
		if len(errs) == 0 {
			r.errorf(pddl.Pos{File: file, Line: 1, Column: 1}, "", "an empty file: the columns are %s", strings.Join(known.all(), ", "))
		}
		return nil
	}
	t := &table{file: file, header: map[string]int{}, head: records[0][0].pos}
	if !t.readHeader(r, records[0], known) {
		return nil
	}
	for _, cells := range records[1:] {
		if t.fits(r, records[0], cells, separator) && t.filled(r, cells, known) {
			t.rows = append(t.rows, row{t, cells})
		} else {
			t.bad = append(t.bad, row{t, cells})
		}
	}
	return t
}

var excelSeparator = regexp.MustCompile(`^\s*"?(?i:sep)=([,;\t])"?[,;\t ]*(\n|$)`)

// separatorOf is the separator under which the header has most of the known
// columns. Excel's sep line is blanked, so that positions stay.
func separatorOf(text string, known columns, l limits) (string, rune) {
	if m := excelSeparator.FindStringSubmatchIndex(text); m != nil {
		separator := rune(text[m[2]])
		return strings.Repeat("\n", strings.Count(text[:m[1]], "\n")) + text[m[1]:], separator
	}
	header, _, _ := strings.Cut(strings.TrimLeft(text, "\n\t ,;"), "\n")
	best, most := ',', -1
	for _, separator := range []rune{',', ';', '\t'} {
		records, _, _ := split("", header, separator, l)
		if len(records) == 0 {
			continue
		}
		score := len(records[0])
		for _, c := range records[0] {
			if slices.Contains(known.all(), columnName(c.text)) {
				score += 1000
			}
		}
		if score > most {
			best, most = separator, score
		}
	}
	return text, best
}

// columnName is a name without regard to case, spaces and hyphens.
func columnName(text string) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(text))
}

// readHeader finds the known columns; false if a required one is missing. A column whose
// name is misspelt is an error, and is read as what it was meant for.
func (t *table) readHeader(r *report, header []cell, known columns) bool {
	ok := true
	var unknown []int // indexes into the header
	for i, c := range header {
		name := columnName(c.text)
		first, twice := t.header[name]
		switch {
		case c.text == "":
		case !slices.Contains(known.all(), name):
			unknown = append(unknown, i)
		case twice:
			r.errorf(c.pos, "", "column %s is there twice, as number %d and %d", quote(name), first+1, i+1)
			ok = false
		default:
			t.header[name] = i
		}
	}
	var missing []string
	for _, name := range known.all() {
		if !t.has(name) {
			missing = append(missing, name)
		}
	}
	for _, i := range unknown {
		c := header[i]
		meant := words.Nearest(columnName(c.text), missing)
		if meant == "" {
			t.other = append(t.other, c.text)
			continue
		}
		r.errorf(c.pos, "", "unknown column %s; did you mean %s?", quote(c.text), quote(meant))
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == meant })
		t.header[meant] = i
	}
	for _, name := range known.required {
		if slices.Contains(missing, name) {
			r.errorf(t.head, "", "no column %s (the columns are %s)", quote(name), strings.Join(names(header), ", "))
			ok = false
		}
	}
	return ok
}

func names(header []cell) []string {
	var all []string
	for _, c := range header {
		if c.text != "" {
			all = append(all, c.text)
		}
	}
	return all
}

// fits reports cells that stand under no column. Row names, in a first column
// without a name, are none of them.
func (t *table) fits(r *report, header, cells []cell, separator rune) bool {
	for i, c := range cells {
		if c.text == "" || i < len(header) && (header[i].text != "" || i == 0) {
			continue
		}
		hint := ""
		if separator == ',' {
			hint = "; with decimal commas, separate the cells by semicolons"
		}
		r.row("rows with more cells than columns", "", Finding{
			Severity: Error, Pos: c.pos,
			Message: fmt.Sprintf("%s stands under no column%s", quote(c.text), hint),
		})
		return false
	}
	return true
}

// filled reports required cells without text.
func (t *table) filled(r *report, cells []cell, known columns) bool {
	ok := true
	for _, name := range known.required {
		if t.header[name] >= len(cells) {
			last := cells[len(cells)-1]
			r.row("rows with fewer cells than columns", "", Finding{
				Severity: Error, Pos: last.pos,
				Message: fmt.Sprintf("the row ends before column %s, after %s", quote(name), words.Count(len(cells), "cell")),
			})
			return false
		}
		c := row{t, cells}.cell(name)
		if c.text == "" && !slices.Contains(known.blank, name) {
			r.row("cells without text", name, Finding{Severity: Error, Pos: c.pos, Message: "no value in column " + quote(name)})
			ok = false
		}
	}
	return ok
}
