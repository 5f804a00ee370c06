// Package picture has pictures of states: a small page in points, as a list of plain values that say what to draw, in order.
// Domains make a [Picture]; SVG is written from it by [Picture.SVG], and package figure draws its [Shape] values in a PDF.
//
// Lengths are points, y points down, and they count to a hundredth of a point, in every format. Equal pictures give equal bytes.
package picture

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"
)

// Picture is a white page with what is drawn on it.
type Picture struct {
	Width, Height float64
	Title         string // what a screen reader says of it
	List
}

// New is an empty page.
func New(width, height float64, title string) *Picture {
	return &Picture{Width: width, Height: height, Title: title}
}

// List is what to draw, the lowest first.
type List struct{ Items []Item }

// Item is a Rect, a Circle, a Path, a Text or a *Group.
type Item interface {
	svg(b *strings.Builder)
	shapes(to *flattened, at placement)
}

// Rect is a rectangle with its top left corner at (X, Y).
type Rect struct {
	X, Y, Width, Height float64
	Radius              float64 // of the corners
	Style
}

// Circle is a circle round (X, Y).
type Circle struct {
	X, Y, Radius float64
	Style
}

// Path is a line of straight and curved parts, or several.
type Path struct {
	Line Line
	Style
}

// Text is one line of text, centred on X, with its base line at Y.
type Text struct {
	X, Y, Size float64
	Text       string
	Bold       bool
	Fill       string // as in Style
}

// Group is a part of a picture with an origin of its own at (X, Y), and a scale of its own; 0 is 1.
type Group struct {
	X, Y, Scale float64
	Title       string // names what the group shows; "" = none
	List
}

// Style is how a shape is painted. Colours are "#rrggbb", "none" or, as in SVG, "": black inside, and no outline.
type Style struct {
	Fill          string
	Stroke        string
	Width         float64 // of the stroke
	StrokeOpacity float64 // 0 = 1
	Dashes        []float64
	StrokeBeneath bool // the stroke lies under the fill
	RoundCorners  bool // of the stroke
	RoundEnds     bool
}

// Add appends items.
func (l *List) Add(items ...Item) { l.Items = append(l.Items, items...) }

// Group appends a group, to which the caller adds. The origin is at (x, y).
func (l *List) Group(x, y float64, title string) *Group {
	g := &Group{X: x, Y: y, Title: title}
	l.Add(g)
	return g
}

// Rect appends a rectangle.
func (l *List) Rect(x, y, width, height float64, style Style) {
	l.Add(Rect{X: x, Y: y, Width: width, Height: height, Style: style})
}

// Circle appends a circle.
func (l *List) Circle(x, y, radius float64, style Style) {
	l.Add(Circle{X: x, Y: y, Radius: radius, Style: style})
}

// Path appends a path.
func (l *List) Path(line Line, style Style) { l.Add(Path{Line: line, Style: style}) }

// Point is x and y.
type Point [2]float64

// Kind is what a segment of a line is.
type Kind int

// Kinds of segments.
const (
	MoveTo    Kind = iota // begins a line at To
	LineTo                // a straight line to To
	CurveTo               // a cubic Bézier curve to To
	ClosePath             // a straight line to where the line began
)

// Segment is a part of a line, from where the last one ended.
type Segment struct {
	Kind    Kind
	Control [2]Point // of a curve
	To      Point
}

// Line is a line, or several, of segments. The first is of kind MoveTo.
type Line []Segment

// Open is an open line through points.
func Open(points ...Point) Line {
	var l Line
	for i, p := range points {
		if i == 0 {
			l = l.MoveTo(p)
		} else {
			l = l.LineTo(p)
		}
	}
	return l
}

// Closed is a closed line through points.
func Closed(points ...Point) Line { return Open(points...).Close() }

// MoveTo begins a line.
func (l Line) MoveTo(to Point) Line { return append(l, Segment{Kind: MoveTo, To: to}) }

// LineTo goes on with a straight line.
func (l Line) LineTo(to Point) Line { return append(l, Segment{Kind: LineTo, To: to}) }

// CurveTo goes on with a cubic Bézier curve.
func (l Line) CurveTo(control0, control1, to Point) Line {
	return append(l, Segment{Kind: CurveTo, Control: [2]Point{control0, control1}, To: to})
}

// Close goes back to where the line began.
func (l Line) Close() Line { return append(l, Segment{Kind: ClosePath}) }

// Colour is a colour "#rrggbb".
func Colour(s string) (color.NRGBA, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 16, 32)
	if err != nil || len(s) != 7 || s[0] != '#' {
		return color.NRGBA{}, fmt.Errorf("colour %q is not #rrggbb", s)
	}
	return color.NRGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 0xFF}, nil
}
