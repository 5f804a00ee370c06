package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"
	"strings"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
)

//go:embed elements.html
var elementsText string

var elements = template.Must(template.New("elements").Funcs(template.FuncMap{
	"split": strings.Split, "odd": func(i int) bool { return i%2 == 1 }, // code is between backquotes
	"rows": newRows, "warnings": newWarnings,
}).Parse(elementsText))

// rows are the head and body of a table.
type rows struct {
	First, Class string // head of the first column; class of the cells
	Words        bool   // the cells are words, and so stand to the left
	Columns      []string
	Rows         any // each has a Name, and Cells
}

func newRows(first, class string, columns []string, all any) rows {
	return rows{First: first, Class: class, Words: class == "text" || class == "hash", Columns: columns, Rows: all}
}

// warnings are what is said before a page, under a title.
type warnings struct {
	Title     string
	Sentences []string
}

func newWarnings(title string, sentences []string) warnings { return warnings{title, sentences} }

// Template is that of a page, whose text may use the templates of elements.html: head, style, warnings, plate, rows,
// sentence, methods, inputs and end. A text that is no template panics.
func Template(text string) *template.Template {
	return template.Must(template.Must(elements.Clone()).New("page").Parse(text))
}

// Page is what the pages of a fit and of a recovery have in common. Numbers are text, in the form of a journal.
type Page struct {
	Title, About     string
	Version, SweepID string
	Seed             uint64
	Warnings         []string
	Methods          []string // paragraphs
	Grid             []GridRow
	Inputs           []Input
	Citations        []string // BibTeX

	tables  map[string]int // numbers of tables, from 1
	figures int            // that were placed
}

// Table is what a table is called. Tables are numbered as they are first asked for.
func (p *Page) Table(name string) string {
	if p.tables == nil {
		p.tables = map[string]int{}
	}
	if p.tables[name] == 0 {
		p.tables[name] = len(p.tables) + 1
	}
	return fmt.Sprintf("Table %d", p.tables[name])
}

// Place gives a figure the next number of the page. The figure is SVG as package figure writes it.
func (p *Page) Place(svg, caption string) *Plate {
	p.figures++
	return &Plate{Number: fmt.Sprintf("Figure %d", p.figures), Caption: caption, SVG: labelled(svg)}
}

// AddInput adds a hash to the table of inputs.
func (p *Page) AddInput(name, hash string) { p.Inputs = append(p.Inputs, Input{name, hash}) }

// AddInputs adds the hashes of files, in the order of their names.
func (p *Page) AddInputs(hashes map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(hashes)) {
		p.AddInput(name, hashes[name])
	}
}

// Matrix is a table of texts with a name for each row.
type Matrix struct {
	Label   string // what it is a table of; where the page does not name it, as the next
	Caption string
	Columns []string
	Rows    []Row
}

// Row is a row of a Matrix.
type Row struct {
	Name  string
	Cells []string
}

// GridRow says what was swept of a model.
type GridRow struct{ Model, Sets, Values string }

// NewGridRow says which values the parameters of a model have in a grid, and the number of its parameter sets.
func NewGridRow(grid *sweep.ModelGrid, sets int) GridRow {
	m, _ := model.ByName(grid.Model)
	var axes []string
	for _, name := range m.Axes {
		axes = append(axes, name+": "+valuesText(valuesOf(grid, name)))
	}
	return GridRow{grid.Model, words.Thousands(sets), strings.Join(axes, "; ")}
}

// Input is a file of the study with its SHA-256.
type Input struct{ Name, Hash string }

// Plate is a figure in its place.
type Plate struct {
	Number, Caption string
	Narrow          bool
	SVG             template.HTML
	Story           *Plate // of a stimulus, next to its time course; nil if there is none
}

// maxListed is the number of values of an axis up to which each is listed.
const maxListed = 12

func valuesText(values []model.Setting) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, v.String())
	}
	if len(values) <= maxListed {
		return strings.Join(texts, ", ")
	}
	least, greatest := values[0].Number, values[0].Number
	for _, v := range values {
		least, greatest = min(least, v.Number), max(greatest, v.Number)
	}
	return fmt.Sprintf("%s from %v to %v", words.Count(len(values), "value"), least, greatest)
}

// SettingText is the text of a setting as a reader sees it.
func SettingText(text string) string {
	text = strings.ReplaceAll(text, "_", " ")
	if strings.HasPrefix(text, "-") {
		text = "−" + text[1:]
	}
	return text
}

// labelled is an SVG element of package figure whose title is its label, too.
func labelled(svg string) template.HTML {
	_, title, _ := strings.Cut(svg, "<title>")
	title, _, _ = strings.Cut(title, "</title>") // escaped, quotes too
	return template.HTML(strings.Replace(svg, `role="img">`, `role="img" aria-label="`+title+`">`, 1))
}

// Signed writes a difference of values that cannot exceed 1 in size, with its sign
// also where it is too small to be distinguished from 0: +.154, −.000.
func Signed(v float64) string {
	text := words.Decimals(math.Abs(v), 3)
	switch {
	case v > 0:
		return "+" + text
	case v < 0:
		return "−" + text
	}
	return text
}

// SoftwareCitation is a BibTeX entry of a version of Foible.
func SoftwareCitation(version string) string {
	return `@software{foible,
  author  = {{The Foible authors}},
  title   = {Foible: fits models of other people's mistakes to human judgements},
  version = {` + strings.NewReplacer("{", "", "}", "", "\\", "").Replace(version) + `},
  note    = {Apache License 2.0}
}`
}
