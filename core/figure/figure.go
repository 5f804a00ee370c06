// Package figure draws the figures of a report for a journal column: vector, 3.3
// or 6.9 inches wide, type of 7 points or larger, Okabe-Ito colours, and never
// colour only.
//
// Read [Figure] first, then the functions that make one: [Sensitivity],
// [Profile], [Scatter], [TimeCourse], [Storyboard], [Recovery] and [Confusions]. They take plain numbers. A
// model has the same colour, marker and dash in all of them; people are black. Data that are empty,
// undefined or not finite give a figure that says so.
package figure

import (
	"io"

	"gonum.org/v1/plot/vg"

	"foible.dev/foible/core/figure/internal/look"
	"foible.dev/foible/core/figure/internal/sheet"
)

// Figure is a finished drawing. Writing it has no effect on it, and the same
// figure gives the same bytes each time.
type Figure struct {
	sheet *sheet.Sheet
}

// WriteSVG writes the figure as an SVG element without an XML declaration, so
// that it can stand in a page. Text stays text, set in the Liberation Sans that
// it was measured with or else in a sans-serif of the same metrics; a title and
// a description go with it.
func (f *Figure) WriteSVG(w io.Writer) error {
	return f.sheet.WriteSVG(w)
}

// WritePDF writes the figure as one page with its fonts embedded and no date.
func (f *Figure) WritePDF(w io.Writer) error {
	return f.sheet.WritePDF(w)
}

// stack makes a figure of blocks from top to bottom.
func stack(width vg.Length, title, description string, blocks ...sheet.Block) *Figure {
	return &Figure{sheet.Stack(width, title, description, blocks...)}
}

// titled is a figure's own title, or else what kind of figure it is.
func titled(title, kind string) string {
	if title == "" {
		return kind
	}
	return kind + ": " + look.Clean(title)
}
