package sheet

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"regexp"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// WritePDF writes the sheet as PDF.
func (f *Sheet) WritePDF(w io.Writer) error {
	canvas := newPDF(f.Width, f.Height)
	canvas.doc.SetTitle(f.Title, true)
	canvas.doc.SetSubject(f.Description, true)
	f.Draw(draw.New(canvas))
	var buf bytes.Buffer
	if err := canvas.doc.Output(&buf); err != nil {
		return fmt.Errorf("write pdf: %w", err)
	}
	if _, err := w.Write(undated(buf.Bytes())); err != nil {
		return fmt.Errorf("write pdf: %w", err)
	}
	return nil
}

var dates = regexp.MustCompile(`/(CreationDate|ModDate) \(D:\d{14}\)`)

// undated blanks the optional dates of a document, byte for byte, since its
// table of contents counts bytes.
func undated(doc []byte) []byte {
	return dates.ReplaceAllFunc(doc, func(date []byte) []byte {
		return bytes.Repeat([]byte{' '}, len(date))
	})
}

// pdfCanvas draws on a page. It differs from vgpdf's in that any character of
// the font can be written, no temporary files are made, and the same drawing
// gives the same bytes.
type pdfCanvas struct {
	doc           *fpdf.Fpdf
	width, height vg.Length
	states        []pdfState
	fonts         map[string]bool // by name: known to doc
}

type pdfState struct {
	at         affine
	color      color.Color
	line       vg.Length
	dashes     []float64
	dashOffset float64
	ends       string // of lines, as fpdf calls them
	corners    string
}

func newPDF(width, height vg.Length) *pdfCanvas {
	doc := fpdf.NewCustom(&fpdf.InitType{
		UnitStr: "pt",
		Size:    fpdf.SizeType{Wd: width.Points(), Ht: height.Points()},
	})
	doc.SetCreationDate(time.Unix(0, 0))
	doc.SetModificationDate(time.Unix(0, 0))
	doc.SetCatalogSort(true)
	doc.SetMargins(0, 0, 0)
	doc.SetAutoPageBreak(false, 0)
	doc.AddPage()
	c := &pdfCanvas{
		doc: doc, width: width, height: height,
		states: []pdfState{{at: affine{1, 0, 0, 1, 0, 0}, ends: "butt", corners: "miter"}},
		fonts:  make(map[string]bool),
	}
	vg.Initialize(c)
	return c
}

func (c *pdfCanvas) Size() (width, height vg.Length) { return c.width, c.height }

func (c *pdfCanvas) state() *pdfState { return &c.states[len(c.states)-1] }

func (c *pdfCanvas) SetLineWidth(w vg.Length) { c.state().line = w }

func (c *pdfCanvas) SetLineDash(pattern []vg.Length, offset vg.Length) {
	s := c.state()
	s.dashes = make([]float64, len(pattern))
	for i, d := range pattern {
		s.dashes[i] = d.Points()
	}
	s.dashOffset = offset.Points()
}

func (c *pdfCanvas) round(ends, corners bool) {
	s := c.state()
	s.ends, s.corners = "butt", "miter"
	if ends {
		s.ends = "round"
	}
	if corners {
		s.corners = "round"
	}
}

func (c *pdfCanvas) SetColor(clr color.Color) { c.state().color = clr }

func (c *pdfCanvas) Rotate(radians float64) {
	sin, cos := math.Sincos(radians)
	c.state().at = c.state().at.times(affine{cos, sin, -sin, cos, 0, 0})
}

func (c *pdfCanvas) Translate(pt vg.Point) {
	c.state().at = c.state().at.times(affine{1, 0, 0, 1, pt.X.Points(), pt.Y.Points()})
}

func (c *pdfCanvas) Scale(x, y float64) {
	c.state().at = c.state().at.times(affine{x, 0, 0, y, 0, 0})
}

func (c *pdfCanvas) Push() { c.states = append(c.states, *c.state()) }

func (c *pdfCanvas) Pop() { c.states = c.states[:len(c.states)-1] }

func (c *pdfCanvas) Stroke(p vg.Path) {
	s := c.state()
	if s.line <= 0 {
		return
	}
	c.paint()
	c.doc.SetLineWidth(s.line.Points())
	c.doc.SetDashPattern(s.dashes, s.dashOffset)
	c.doc.SetLineCapStyle(s.ends)
	c.doc.SetLineJoinStyle(s.corners)
	c.path(p)
	c.doc.DrawPath("D")
}

func (c *pdfCanvas) Fill(p vg.Path) {
	c.paint()
	c.path(p)
	c.doc.DrawPath("F")
}

// DrawImage panics: figures are vector drawings.
func (c *pdfCanvas) DrawImage(vg.Rectangle, image.Image) {
	panic("figure: no images in a figure")
}

func (c *pdfCanvas) FillString(face font.Face, pt vg.Point, s string) {
	name := face.Name()
	if !c.fonts[name] {
		var ttf bytes.Buffer
		if _, err := face.Face.WriteSourceTo(nil, &ttf); err != nil {
			c.doc.SetError(fmt.Errorf("font %s: %w", name, err))
			return
		}
		c.doc.AddUTF8FontFromBytes(name, "", ttf.Bytes())
		c.fonts[name] = true
	}
	c.paint()
	c.doc.SetFont(name, "", face.Font.Size.Points())
	at := c.state().at
	x, y := c.point(pt)
	c.doc.TransformBegin()
	c.doc.TransformRotate(math.Atan2(at[1], at[0])*180/math.Pi, x, y)
	c.doc.Text(x, y, strings.Map(basic, s))
	c.doc.TransformEnd()
}

// basic replaces characters beyond the 16 bits that fpdf can write.
func basic(r rune) rune {
	if r > 0xFFFF {
		return '\uFFFD'
	}
	return r
}

// paint sets the current colour for fills, lines and text.
func (c *pdfCanvas) paint() {
	clr := c.state().color
	if clr == nil {
		clr = color.Black
	}
	n := color.NRGBAModel.Convert(clr).(color.NRGBA)
	r, g, b := int(n.R), int(n.G), int(n.B)
	c.doc.SetFillColor(r, g, b)
	c.doc.SetDrawColor(r, g, b)
	c.doc.SetTextColor(r, g, b)
	c.doc.SetAlpha(float64(n.A)/255, "Normal")
}

// point is a point of the drawing on the page, whose origin is top left. It is
// as precise as fpdf writes the ends of lines, so that curves end there too.
func (c *pdfCanvas) point(pt vg.Point) (x, y float64) {
	x, y = c.state().at.apply(pt.X.Points(), pt.Y.Points())
	return math.Round(100*x) / 100, math.Round(100*(c.height.Points()-y)) / 100
}

func (c *pdfCanvas) path(p vg.Path) {
	for _, part := range p {
		x, y := c.point(part.Pos)
		switch part.Type {
		case vg.MoveComp:
			c.doc.MoveTo(x, y)
		case vg.LineComp:
			c.doc.LineTo(x, y)
		case vg.ArcComp:
			c.arc(part)
		case vg.CurveComp:
			x0, y0 := c.point(part.Control[0])
			if len(part.Control) == 1 {
				c.doc.CurveTo(x0, y0, x, y)
				continue
			}
			x1, y1 := c.point(part.Control[1])
			c.doc.CurveBezierCubicTo(x0, y0, x1, y1, x, y)
		case vg.CloseComp:
			c.doc.ClosePath()
		}
	}
}

// arc appends an arc in Bezier curves of at most a quarter circle, after a line
// to its start.
func (c *pdfCanvas) arc(part vg.PathComp) {
	at := func(angle, out float64) vg.Point { // out: along the tangent, in radii
		sin, cos := math.Sincos(angle)
		return vg.Point{
			X: part.Pos.X + part.Radius*vg.Length(cos-out*sin),
			Y: part.Pos.Y + part.Radius*vg.Length(sin+out*cos),
		}
	}
	c.doc.LineTo(c.point(at(part.Start, 0)))
	n := math.Ceil(math.Abs(part.Angle) / (math.Pi / 2))
	step := part.Angle / max(n, 1)
	k := 4.0 / 3 * math.Tan(step/4)
	for i := range int(n) {
		from := part.Start + float64(i)*step
		x0, y0 := c.point(at(from, k))
		x1, y1 := c.point(at(from+step, -k))
		x, y := c.point(at(from+step, 0))
		c.doc.CurveBezierCubicTo(x0, y0, x1, y1, x, y)
	}
}

// affine maps (x, y) to (a x + c y + e, b x + d y + f).
type affine [6]float64

func (m affine) apply(x, y float64) (float64, float64) {
	return m[0]*x + m[2]*y + m[4], m[1]*x + m[3]*y + m[5]
}

// times is m after n.
func (m affine) times(n affine) affine {
	e, f := m.apply(n[4], n[5])
	return affine{
		m[0]*n[0] + m[2]*n[1], m[1]*n[0] + m[3]*n[1],
		m[0]*n[2] + m[2]*n[3], m[1]*n[2] + m[3]*n[3],
		e, f,
	}
}
