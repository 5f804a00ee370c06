// Package picture draws states as small SVG figures: [Canvas] is the page,
// [Colour] gives goals their colours.
package picture

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// Font is the font list of every text. Text stays text.
const Font = "Helvetica, Arial, 'DejaVu Sans', sans-serif"

// Canvas is one SVG document. Elements are drawn in the order of the calls;
// lengths are points, y points down. The same calls give the same bytes.
type Canvas struct {
	b strings.Builder
}

// New is an empty white page. The title is what a screen reader says of it.
func New(width, height float64, title string) *Canvas {
	c := &Canvas{}
	w, h := number(width), number(height)
	fmt.Fprintf(&c.b, `<svg xmlns="http://www.w3.org/2000/svg" width="%spt" height="%spt" viewBox="0 0 %s %s" role="img" font-family="%s">`+"\n",
		w, h, w, h, escape(Font))
	fmt.Fprintf(&c.b, "<title>%s</title>\n", escape(title))
	fmt.Fprintf(&c.b, `<rect width="%s" height="%s" fill="#ffffff"/>`+"\n", w, h)
	return c
}

// Group moves the origin to (x, y) until the matching [Canvas.End]. A title
// names what the group shows; empty = none.
func (c *Canvas) Group(x, y, scale float64, title string) {
	fmt.Fprintf(&c.b, `<g transform="translate(%s %s)`, number(x), number(y))
	if scale != 1 {
		fmt.Fprintf(&c.b, " scale(%s)", number(scale))
	}
	c.b.WriteString(`">`)
	if title != "" {
		fmt.Fprintf(&c.b, "<title>%s</title>", escape(title))
	}
	c.b.WriteByte('\n')
}

// End closes the innermost group.
func (c *Canvas) End() { c.b.WriteString("</g>\n") }

// Rect draws a rectangle; style is SVG attributes, as in all that follow.
func (c *Canvas) Rect(x, y, width, height float64, style string) {
	fmt.Fprintf(&c.b, `<rect x="%s" y="%s" width="%s" height="%s" %s/>`+"\n",
		number(x), number(y), number(width), number(height), style)
}

// Circle draws a circle round (x, y).
func (c *Canvas) Circle(x, y, radius float64, style string) {
	fmt.Fprintf(&c.b, `<circle cx="%s" cy="%s" r="%s" %s/>`+"\n", number(x), number(y), number(radius), style)
}

// Path draws SVG path data.
func (c *Canvas) Path(data, style string) {
	fmt.Fprintf(&c.b, `<path d="%s" %s/>`+"\n", data, style)
}

// Text writes a line with its baseline at y, centred on x, size in points.
func (c *Canvas) Text(x, y, size float64, style, text string) {
	fmt.Fprintf(&c.b, `<text x="%s" y="%s" font-size="%s" text-anchor="middle" %s>%s</text>`+"\n",
		number(x), number(y), number(size), style, escape(text))
}

// String is the finished document.
func (c *Canvas) String() string { return c.b.String() + "</svg>\n" }

// Line is the data of an open path through points.
func Line(points ...[2]float64) string {
	var b strings.Builder
	for i, p := range points {
		command := "L"
		if i == 0 {
			command = "M"
		}
		b.WriteString(command + number(p[0]) + " " + number(p[1]))
	}
	return b.String()
}

// Polygon is the data of a closed path through points.
func Polygon(points ...[2]float64) string { return Line(points...) + "Z" }

// number prints at most two decimals and no trailing zeros.
func number(x float64) string {
	s := strconv.FormatFloat(x, 'f', 2, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

func escape(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}
