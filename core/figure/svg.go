package figure

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// fontStack names fonts with the metrics of Liberation Sans before any other.
const fontStack = "font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif;"

func writeSVG(w io.Writer, f *Figure) error {
	canvas := vgsvg.New(f.width, f.height)
	f.draw(draw.New(canvas))
	var buf bytes.Buffer
	if _, err := canvas.WriteTo(&buf); err != nil {
		return fmt.Errorf("write svg: %w", err)
	}
	svg := buf.String()
	svg = svg[strings.Index(svg, "<svg "):]
	open := strings.Index(svg, ">")
	var out strings.Builder
	out.WriteString(svg[:open])
	fmt.Fprintf(&out, "\n\trole=\"img\">\n<title>%s</title>\n<desc>%s</desc>",
		html.EscapeString(f.title), html.EscapeString(f.description))
	out.WriteString(strings.ReplaceAll(svg[open+1:], "font-family:Liberation Sans;font-variant:normal;", fontStack))
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("write svg: %w", err)
	}
	return nil
}
