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
	"gonum.org/v1/plot/vg/draw"
)

// Widths of a column and of a page of a two-column journal.
const (
	column = 3.3 * vg.Inch
	page   = 6.9 * vg.Inch
)

// Figure is a finished drawing. Writing it has no effect on it, and the same
// figure gives the same bytes each time.
type Figure struct {
	width, height vg.Length
	title         string // one line, for readers and for screen readers
	description   string // what the figure shows, for screen readers
	draw          func(draw.Canvas)
}

// WriteSVG writes the figure as an SVG element without an XML declaration, so
// that it can stand in a page. Text stays text, set in the Liberation Sans that
// it was measured with or else in a sans-serif of the same metrics; a title and
// a description go with it.
func (f *Figure) WriteSVG(w io.Writer) error {
	return writeSVG(w, f)
}

// WritePDF writes the figure as one page with its fonts embedded and no date.
func (f *Figure) WritePDF(w io.Writer) error {
	return writePDF(w, f)
}

// block is a part of a figure of a known height.
type block struct {
	height vg.Length
	draw   func(draw.Canvas)
}

// margin is left free round a figure; gap is between its blocks.
const (
	margin = vg.Length(3)
	gap    = vg.Length(5)
)

// stack makes a figure of blocks from top to bottom.
func stack(width vg.Length, title, description string, blocks ...block) *Figure {
	height := 2 * margin
	for i, b := range blocks {
		if i > 0 {
			height += gap
		}
		height += b.height
	}
	return &Figure{width, height, title, description, func(c draw.Canvas) {
		c.SetColor(white)
		c.Fill(c.Rectangle.Path())
		c = draw.Crop(c, margin, -margin, margin, -margin)
		top := c.Max.Y
		for _, b := range blocks {
			part := c
			part.Max.Y = top
			part.Min.Y = top - b.height
			b.draw(part)
			top -= b.height + gap
		}
	}}
}

// titled is a figure's own title, or else what kind of figure it is.
func titled(title, kind string) string {
	if title == "" {
		return kind
	}
	return kind + ": " + clean(title)
}
