// Package look has how figures look: colours, type, and the colour, marker and dash of each model, which are the same in every
// figure.
package look

import (
	"hash/fnv"
	"image/color"
	"math"
	"strings"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Okabe and Ito's colours for all eyes (Color Universal Design, 2008), yellow
// left out: it does not show on white.
var (
	orange     = color.NRGBA{0xE6, 0x9F, 0x00, 0xFF}
	skyBlue    = color.NRGBA{0x56, 0xB4, 0xE9, 0xFF}
	green      = color.NRGBA{0x00, 0x9E, 0x73, 0xFF}
	blue       = color.NRGBA{0x00, 0x72, 0xB2, 0xFF}
	vermillion = color.NRGBA{0xD5, 0x5E, 0x00, 0xFF}
	purple     = color.NRGBA{0xCC, 0x79, 0xA7, 0xFF}

	Black     = color.NRGBA{0, 0, 0, 0xFF} // people
	LightGrey = color.NRGBA{0x99, 0x99, 0x99, 0xFF}
	Grey      = color.NRGBA{0x66, 0x66, 0x66, 0xFF}
	Pale      = color.NRGBA{0xD9, 0xD9, 0xD9, 0xFF}
	White     = color.NRGBA{0xFF, 0xFF, 0xFF, 0xFF}
)

// Fade is a colour at an opacity in [0, 1].
func Fade(c color.NRGBA, opacity float64) color.NRGBA {
	c.A = uint8(math.Round(255 * opacity))
	return c
}

// Look is how a model looks in every figure.
type Look struct {
	Color  color.NRGBA
	Marker marker
	Dashes []vg.Length
}

// models are the looks of the models that Foible knows.
var models = map[string]Look{
	"full":            {vermillion, Circle, nil},
	"boltzmann":       {blue, square, []vg.Length{5, 2}},
	"goal-lesioned":   {green, triangle, []vg.Length{1.5, 1.5}},
	"plan-lesioned":   {purple, diamond, []vg.Length{6, 1.5, 1.5, 1.5}},
	"action-lesioned": {orange, nabla, []vg.Length{3, 1.5}},
}

// Of is the look of a model. Models without one of their own get one from
// a hash of their name, so that it is the same in every figure: 32 looks, none
// of them like those above.
func Of(model string) Look {
	if s, ok := models[model]; ok {
		return s
	}
	h := fnv.New32a()
	h.Write([]byte(model))
	n := h.Sum32()
	markers := []marker{pentagon, hexagon, cross, star}
	dashes := [][]vg.Length{{8, 2}, {4, 1, 1, 1, 1, 1}, {2, 2}, {8, 2, 2, 2}}
	return Look{
		[]color.NRGBA{skyBlue, LightGrey}[n%2],
		markers[n/2%4],
		dashes[n/8%4],
	}
}

// marker is a closed shape about a point, a polygon unless it is the circle.
type marker []vg.Point // in radii

var (
	Circle   = marker(nil)
	square   = polygon(4, 0.5, 1.2, 1)
	diamond  = polygon(4, 0, 1.25, 1)
	triangle = polygon(3, 0.5, 1.3, 1)
	nabla    = polygon(3, 0, 1.3, 1)
	pentagon = polygon(5, 0.5, 1.15, 1)
	hexagon  = polygon(6, 0, 1.1, 1)
	star     = polygon(5, 0.5, 1.4, 0.45)
	cross    = polygon(4, 0.5, 1.35, 0.4)
)

// polygon has n corners at a radius, the first at a turn (in steps between
// corners) from straight down, and waists between them at a share of the
// radius; 1 is none.
func polygon(n int, turn, radius, waist float64) marker {
	var m marker
	corner := func(at, r float64) {
		sin, cos := math.Sincos(2*math.Pi*(at+turn)/float64(n) - math.Pi/2)
		m = append(m, vg.Point{X: vg.Length(r * cos), Y: vg.Length(r * sin)})
	}
	for i := range n {
		corner(float64(i), radius)
		if waist < 1 {
			corner(float64(i)+0.5, radius*waist)
		}
	}
	return m
}

// add appends the marker at a point to a path.
func (m marker) add(p *vg.Path, at vg.Point, radius vg.Length) {
	if m == nil {
		p.Move(vg.Point{X: at.X + radius, Y: at.Y})
		p.Arc(at, radius, 0, 2*math.Pi)
		p.Close()
		return
	}
	for i, corner := range m {
		pt := at.Add(corner.Scale(radius))
		if i == 0 {
			p.Move(pt)
			continue
		}
		p.Line(pt)
	}
	p.Close()
}

// Type sizes in points.
const (
	Small  = 7
	Medium = 8
)

var sans = font.Font{Typeface: "Liberation", Variant: "Sans"}

// Ink is a text style, aligned left on the base line.
func Ink(size vg.Length, c color.Color) text.Style {
	return text.Style{Color: c, Font: font.From(sans, size), Handler: plot.DefaultTextHandler}
}

func Bold(s text.Style) text.Style {
	s.Font.Weight = stdfont.WeightBold
	return s
}

// Line is the height of a line of small type.
const Line = vg.Length(9)

// Write puts one line of text with its base line at pt, moved left by its
// width times align.
func Write(c draw.Canvas, s text.Style, align float64, pt vg.Point, txt string) {
	txt = Clean(txt)
	face := s.Handler.Cache().Lookup(s.Font, s.Font.Size)
	pt.X -= vg.Length(align) * face.Width(txt)
	c.SetColor(s.Color)
	c.FillString(face, pt, txt)
}

// Wrap breaks a text into lines of a width, and cuts it after a number of lines.
func Wrap(s text.Style, txt string, width vg.Length, most int) []string {
	var lines []string
	for _, word := range strings.Fields(Clean(txt)) {
		n := len(lines)
		if n > 0 && (n == most || s.Width(lines[n-1]+" "+word) <= width) {
			lines[n-1] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	for i := range lines {
		lines[i] = Shorten(s, lines[i], width)
	}
	return lines
}

// Clean makes a user's text fit for one line of a figure.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < 0x20 || r == 0x7F || r == 0xFFFE || r == 0xFFFF:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// Shorten cuts a text to a width and marks the cut.
func Shorten(s text.Style, txt string, width vg.Length) string {
	txt = Clean(txt)
	if s.Width(txt) <= width {
		return txt
	}
	runes := []rune(txt)
	for len(runes) > 1 && s.Width(string(runes)+"…") > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

// Stroke is a line style.
func Stroke(c color.Color, width vg.Length, dashes ...vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: width, Dashes: dashes}
}

// Marks are markers that look alike.
type Marks struct {
	Marker  marker
	Radius  vg.Length
	Fill    color.Color // nil = none
	Outline color.Color
}

// Draw draws a mark at each point, all as one path.
func (m Marks) Draw(c draw.Canvas, at []vg.Point) {
	var p vg.Path
	for _, pt := range at {
		m.Marker.add(&p, pt, m.Radius)
	}
	if len(p) == 0 {
		return
	}
	if m.Fill != nil {
		c.SetColor(m.Fill)
		c.Fill(p)
	}
	c.SetLineStyle(Stroke(m.Outline, 0.5))
	c.Stroke(p)
}
