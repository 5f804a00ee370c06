package picture

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// Font is the font list of every text. Text stays text.
const Font = "Helvetica, Arial, 'DejaVu Sans', sans-serif"

// SVG is the picture as a document.
func (p *Picture) SVG() string {
	w, h := number(p.Width), number(p.Height)
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%spt" height="%spt" viewBox="0 0 %s %s" role="img" font-family="%s">`,
		w, h, w, h, escape(Font)) + "\n" + p.elements() + "</svg>\n"
}

// Nested is the picture as an svg element within another document, over a rectangle with its top left corner at (x, y).
func (p *Picture) Nested(x, y, width, height float64) string {
	return fmt.Sprintf("<svg x=\"%.5g\" y=\"%.5g\" width=\"%.5g\" height=\"%.5g\" viewBox=\"0 0 %s %s\" font-family=\"%s\">\n%s</svg>",
		x, y, width, height, number(p.Width), number(p.Height), escape(Font), p.elements())
}

// elements are those of the document.
func (p *Picture) elements() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<title>%s</title>\n", escape(p.Title))
	fmt.Fprintf(&b, `<rect width="%s" height="%s" fill="#ffffff"/>`+"\n", number(p.Width), number(p.Height))
	p.svg(&b)
	return b.String()
}

func (l *List) svg(b *strings.Builder) {
	for _, item := range l.Items {
		item.svg(b)
	}
}

func (g *Group) svg(b *strings.Builder) {
	fmt.Fprintf(b, `<g transform="translate(%s %s)`, number(g.X), number(g.Y))
	if g.Scale != 0 && g.Scale != 1 {
		fmt.Fprintf(b, " scale(%s)", number(g.Scale))
	}
	b.WriteString(`">`)
	if g.Title != "" {
		fmt.Fprintf(b, "<title>%s</title>", escape(g.Title))
	}
	b.WriteByte('\n')
	g.List.svg(b)
	b.WriteString("</g>\n")
}

func (r Rect) svg(b *strings.Builder) {
	fmt.Fprintf(b, `<rect x="%s" y="%s" width="%s" height="%s"`, number(r.X), number(r.Y), number(r.Width), number(r.Height))
	if r.Radius > 0 {
		fmt.Fprintf(b, ` rx="%s"`, number(r.Radius))
	}
	b.WriteString(r.attributes() + "/>\n")
}

func (c Circle) svg(b *strings.Builder) {
	fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="%s"%s/>`+"\n", number(c.X), number(c.Y), number(c.Radius), c.attributes())
}

func (p Path) svg(b *strings.Builder) {
	b.WriteString(`<path d="`)
	for _, s := range p.Line {
		switch s.Kind {
		case MoveTo:
			b.WriteString("M" + s.To.text())
		case LineTo:
			b.WriteString("L" + s.To.text())
		case CurveTo:
			b.WriteString("C" + s.Control[0].text() + " " + s.Control[1].text() + " " + s.To.text())
		case ClosePath:
			b.WriteByte('Z')
		}
	}
	fmt.Fprintf(b, `"%s/>`+"\n", p.attributes())
}

func (t Text) svg(b *strings.Builder) {
	fmt.Fprintf(b, `<text x="%s" y="%s" font-size="%s" text-anchor="middle"`, number(t.X), number(t.Y), number(t.Size))
	if t.Bold {
		b.WriteString(` font-weight="bold"`)
	}
	fmt.Fprintf(b, `%s>%s</text>`+"\n", Style{Fill: t.Fill}.attributes(), escape(t.Text))
}

// attributes of an element, each after a space.
func (s Style) attributes() string {
	var b strings.Builder
	set := func(name, value string) { fmt.Fprintf(&b, ` %s="%s"`, name, escape(value)) }
	if s.Fill != "" {
		set("fill", s.Fill)
	}
	if s.Stroke != "" {
		set("stroke", s.Stroke)
		set("stroke-width", number(s.Width))
	}
	if s.StrokeOpacity != 0 {
		set("stroke-opacity", number(s.StrokeOpacity))
	}
	if len(s.Dashes) > 0 {
		lengths := make([]string, len(s.Dashes))
		for i, d := range s.Dashes {
			lengths[i] = number(d)
		}
		set("stroke-dasharray", strings.Join(lengths, " "))
	}
	if s.StrokeBeneath {
		set("paint-order", "stroke")
	}
	if s.RoundCorners {
		set("stroke-linejoin", "round")
	}
	if s.RoundEnds {
		set("stroke-linecap", "round")
	}
	return b.String()
}

func (p Point) text() string { return number(p[0]) + " " + number(p[1]) }

// number writes a length, to a hundredth and without trailing zeros.
func number(x float64) string { return strconv.FormatFloat(hundredth(x), 'f', -1, 64) }

func escape(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}
