// Package sheet has the page that a figure is drawn on: blocks from top to bottom, pictures of states, and how all of it is
// written as SVG and as PDF.
package sheet

import (
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"foible.dev/foible/core/figure/internal/look"
)

// Widths of a column and of a page of a two-column journal.
const (
	Column = 3.3 * vg.Inch
	Page   = 6.9 * vg.Inch
)

// Sheet is a finished drawing. Writing it has no effect on it, and the same
// sheet gives the same bytes each time.
type Sheet struct {
	Width, Height vg.Length
	Title         string // one line, for readers and for screen readers
	Description   string // what the figure shows, for screen readers
	Draw          func(draw.Canvas)
}

// Block is a part of a figure of a known height.
type Block struct {
	Height vg.Length
	Draw   func(draw.Canvas)
}

// Margin is left free round a figure; Gap is between its blocks.
const (
	Margin = vg.Length(3)
	Gap    = vg.Length(5)
)

// Stack is a sheet of blocks from top to bottom.
func Stack(width vg.Length, title, description string, blocks ...Block) *Sheet {
	height := 2 * Margin
	for i, b := range blocks {
		if i > 0 {
			height += Gap
		}
		height += b.Height
	}
	return &Sheet{width, height, title, description, func(c draw.Canvas) {
		c.SetColor(look.White)
		c.Fill(c.Rectangle.Path())
		c = draw.Crop(c, Margin, -Margin, Margin, -Margin)
		top := c.Max.Y
		for _, b := range blocks {
			part := c
			part.Max.Y = top
			part.Min.Y = top - b.Height
			b.Draw(part)
			top -= b.Height + Gap
		}
	}}
}

// Caption is bold type at the head of a figure, in up to three lines.
func Caption(title string, width vg.Length) Block {
	s := look.Bold(look.Ink(look.Medium, look.Black))
	return lines(s, look.Wrap(s, title, width, 3), look.Medium+2)
}

// Remark is small grey type under a figure.
func Remark(txt string, width vg.Length) Block {
	s := look.Ink(look.Small, look.Grey)
	return lines(s, look.Wrap(s, txt, width, 6), look.Line)
}

// lines sets lines of text below each other, a height apart.
func lines(s text.Style, txt []string, height vg.Length) Block {
	return Block{Height: height * vg.Length(len(txt)), Draw: func(c draw.Canvas) {
		for i, l := range txt {
			look.Write(c, s, 0, vg.Point{X: c.Min.X, Y: c.Max.Y - vg.Length(i+1)*height + 2.5}, l)
		}
	}}
}
