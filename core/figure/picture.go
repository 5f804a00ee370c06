package figure

import (
	"fmt"
	"html"
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// picture is a small SVG document: rect, circle, path (M, L, C, Z), text centred
// on its x, and g that translates and scales, with colours as #rrggbb or none.
// It stands in an SVG figure as it is, and is drawn shape by shape elsewhere.
type picture struct {
	width, height float64 // user units
	font          string  // font-family of the document
	inside        string  // SVG between the tags of the document
	shapes        []shape
	leastType     float64 // size of the smallest text, user units; 0 = no text
}

// shape is a path or a text in user units, y down.
type shape struct {
	path    vg.Path
	fill    *color.NRGBA // nil = none
	stroke  *color.NRGBA
	width   float64 // of the stroke
	dashes  []float64
	round   [2]bool // ends, corners of the stroke
	beneath bool    // the stroke lies under the fill

	text string
	size float64 // of the text
	bold bool
	at   vg.Point // middle of the text's base line
}

// embedder is a canvas that takes a picture as it is.
type embedder interface {
	embed(p *picture, at vg.Rectangle)
}

// rounder is a canvas that can round the ends and corners of lines.
type rounder interface {
	round(ends, corners bool)
}

// bottom is the canvas that parts of it draw on.
func bottom(c vg.Canvas) vg.Canvas {
	for {
		part, ok := c.(draw.Canvas)
		if !ok {
			return c
		}
		c = part.Canvas
	}
}

// drawIn draws the picture over a rectangle of its own proportions.
func (p *picture) drawIn(c draw.Canvas, at vg.Rectangle) {
	if e, ok := bottom(c).(embedder); ok {
		e.embed(p, at)
		return
	}
	scale := at.Size().X / vg.Length(p.width)
	place := func(pt vg.Point) vg.Point { return vg.Point{X: at.Min.X + scale*pt.X, Y: at.Max.Y - scale*pt.Y} }
	for i := range p.shapes {
		p.shapes[i].draw(c, place, scale)
	}
}

func (s *shape) draw(c draw.Canvas, place func(vg.Point) vg.Point, scale vg.Length) {
	if s.size > 0 {
		if s.fill != nil {
			style := ink(vg.Length(s.size)*scale, *s.fill)
			if s.bold {
				style = bold(style)
			}
			write(c, style, 0.5, place(s.at), s.text)
		}
		return
	}
	path := make(vg.Path, len(s.path))
	for i, part := range s.path {
		part.Pos = place(part.Pos)
		control := make([]vg.Point, len(part.Control))
		for j, pt := range part.Control {
			control[j] = place(pt)
		}
		part.Control = control
		path[i] = part
	}
	fill := func() {
		if s.fill != nil {
			c.SetColor(*s.fill)
			c.Fill(path)
		}
	}
	outline := func() {
		if s.stroke == nil || s.width <= 0 {
			return
		}
		dashes := make([]vg.Length, len(s.dashes))
		for i, d := range s.dashes {
			dashes[i] = vg.Length(d) * scale
		}
		c.SetLineStyle(stroke(*s.stroke, vg.Length(s.width)*scale, dashes...))
		r, ok := bottom(c).(rounder)
		if ok {
			r.round(s.round[0], s.round[1])
		}
		c.Stroke(path)
		if ok {
			r.round(false, false)
		}
	}
	if s.beneath {
		outline()
		fill()
		return
	}
	fill()
	outline()
}

// nested is the picture as an svg element within another one, whose y axis
// points up and which has its top left corner at (x, y).
func (p *picture) nested(x, y, width, height vg.Length) string {
	return fmt.Sprintf("<g transform=\"scale(1, -1)\"><svg x=\"%.5g\" y=\"%.5g\" width=\"%.5g\" height=\"%.5g\" viewBox=\"0 0 %g %g\" font-family=\"%s\">\n%s\n</svg></g>\n",
		x.Points(), -y.Points(), width.Points(), height.Points(), p.width, p.height, html.EscapeString(p.font), p.inside)
}
