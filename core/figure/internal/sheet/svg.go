package sheet

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"foible.dev/foible/core/figure/internal/look"
	"foible.dev/foible/core/picture"
)

// fontStack names fonts with the metrics of Liberation Sans before any other.
const fontStack = "font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif;"

// WriteSVG writes the sheet as SVG.
func (f *Sheet) WriteSVG(w io.Writer) error {
	canvas := &svgCanvas{Canvas: vgsvg.New(f.Width, f.Height)}
	f.Draw(draw.New(canvas))
	var buf bytes.Buffer
	if _, err := canvas.WriteTo(&buf); err != nil {
		return fmt.Errorf("write svg: %w", err)
	}
	svg := canvas.withPictures(buf.String())
	svg = svg[strings.Index(svg, "<svg "):]
	open := strings.Index(svg, ">")
	var out strings.Builder
	out.WriteString(svg[:open])
	fmt.Fprintf(&out, "\n\trole=\"img\">\n<title>%s</title>\n<desc>%s</desc>",
		html.EscapeString(f.Title), html.EscapeString(f.Description))
	out.WriteString(strings.ReplaceAll(svg[open+1:], "font-family:Liberation Sans;font-variant:normal;", fontStack))
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("write svg: %w", err)
	}
	return nil
}

// svgCanvas takes pictures as they are.
type svgCanvas struct {
	*vgsvg.Canvas
	pictures []string
}

// mark stands for the n-th picture until the document is done. No text of a
// figure has its first character.
func mark(n int) string { return fmt.Sprintf("\x01picture %d\x01", n) }

func (c *svgCanvas) embed(p *picture.Picture, at vg.Rectangle) {
	face := look.Ink(look.Small, look.Black)
	c.FillString(face.Handler.Cache().Lookup(face.Font, face.Font.Size), at.Min, mark(len(c.pictures)))
	nested := p.Nested(at.Min.X.Points(), -at.Max.Y.Points(), at.Size().X.Points(), at.Size().Y.Points())
	c.pictures = append(c.pictures, `<g transform="scale(1, -1)">`+nested+"</g>\n") // the y axis of the canvas points up
}

// withPictures puts the pictures in place of their marks.
func (c *svgCanvas) withPictures(svg string) string {
	var out strings.Builder
	for i, p := range c.pictures {
		before, after, _ := strings.Cut(svg, mark(i))
		out.WriteString(before[:strings.LastIndex(before, "<text ")])
		out.WriteString(p)
		_, svg, _ = strings.Cut(after, "</text>\n")
	}
	out.WriteString(svg)
	return out.String()
}
