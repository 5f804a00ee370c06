package picture

import (
	"cmp"
	"image/color"
	"math"
)

// Shape is an item as it lies on the page, without groups: a line or a text. Lengths are those of the page.
type Shape struct {
	Line Line

	Text string
	Size float64 // of the text; 0 = a line
	Bold bool
	At   Point // middle of the text's base line

	Fill          *color.NRGBA // nil = none
	Stroke        *color.NRGBA
	Width         float64 // of the stroke, as all that follow
	Dashes        []float64
	StrokeBeneath bool // it lies under the fill
	RoundCorners  bool
	RoundEnds     bool
}

// Shapes are those of the page, the lowest first; the page itself is one. The error is of a colour.
func (p *Picture) Shapes() ([]Shape, error) {
	var to flattened
	at := placement{scale: 1}
	Rect{Width: p.Width, Height: p.Height, Style: Style{Fill: "#ffffff"}}.shapes(&to, at)
	p.shapes(&to, at)
	return to.all, to.err
}

// Size is that of the page, and of its smallest text; 0 = there is none.
func (p *Picture) Size() (width, height, text float64) {
	shapes, _ := p.Shapes()
	for i := range shapes {
		if s := shapes[i].Size; s > 0 && (text == 0 || s < text) {
			text = s
		}
	}
	return hundredth(p.Width), hundredth(p.Height), text
}

// flattened are the shapes so far.
type flattened struct {
	all []Shape
	err error // the first
}

// placement maps points of a group to those of the page.
type placement struct{ scale, x, y float64 }

func (p placement) point(x, y float64) Point { return Point{p.x + p.scale*x, p.y + p.scale*y} }

func (l *List) shapes(to *flattened, at placement) {
	for _, item := range l.Items {
		item.shapes(to, at)
	}
}

func (g *Group) shapes(to *flattened, at placement) {
	at.x += at.scale * hundredth(g.X)
	at.y += at.scale * hundredth(g.Y)
	at.scale *= hundredth(cmp.Or(g.Scale, 1))
	g.List.shapes(to, at)
}

// kappa is where a Bézier curve through a quarter of the unit circle has its control points.
const kappa = 0.5522847498

func (r Rect) shapes(to *flattened, at placement) {
	x, y, w, h := hundredth(r.X), hundredth(r.Y), hundredth(r.Width), hundredth(r.Height)
	round := min(hundredth(r.Radius), w/2, h/2)
	if round <= 0 {
		to.line(Closed(at.point(x, y), at.point(x+w, y), at.point(x+w, y+h), at.point(x, y+h)), r.Style, at)
		return
	}
	k := round * (1 - kappa)
	var l Line
	l = l.MoveTo(at.point(x+round, y))
	l = l.LineTo(at.point(x+w-round, y))
	l = l.CurveTo(at.point(x+w-k, y), at.point(x+w, y+k), at.point(x+w, y+round))
	l = l.LineTo(at.point(x+w, y+h-round))
	l = l.CurveTo(at.point(x+w, y+h-k), at.point(x+w-k, y+h), at.point(x+w-round, y+h))
	l = l.LineTo(at.point(x+round, y+h))
	l = l.CurveTo(at.point(x+k, y+h), at.point(x, y+h-k), at.point(x, y+h-round))
	l = l.LineTo(at.point(x, y+round))
	l = l.CurveTo(at.point(x, y+k), at.point(x+k, y), at.point(x+round, y))
	to.line(l.Close(), r.Style, at)
}

func (c Circle) shapes(to *flattened, at placement) {
	x, y, r := hundredth(c.X), hundredth(c.Y), hundredth(c.Radius)
	k := kappa * r
	var l Line
	l = l.MoveTo(at.point(x+r, y))
	l = l.CurveTo(at.point(x+r, y+k), at.point(x+k, y+r), at.point(x, y+r))
	l = l.CurveTo(at.point(x-k, y+r), at.point(x-r, y+k), at.point(x-r, y))
	l = l.CurveTo(at.point(x-r, y-k), at.point(x-k, y-r), at.point(x, y-r))
	l = l.CurveTo(at.point(x+k, y-r), at.point(x+r, y-k), at.point(x+r, y))
	to.line(l.Close(), c.Style, at)
}

func (p Path) shapes(to *flattened, at placement) {
	place := func(p Point) Point { return at.point(hundredth(p[0]), hundredth(p[1])) }
	l := make(Line, len(p.Line))
	for i, s := range p.Line {
		l[i] = Segment{Kind: s.Kind, To: place(s.To), Control: [2]Point{place(s.Control[0]), place(s.Control[1])}}
	}
	to.line(l, p.Style, at)
}

func (t Text) shapes(to *flattened, at placement) {
	to.all = append(to.all, Shape{
		Text: t.Text, Bold: t.Bold, Size: at.scale * hundredth(t.Size),
		At: at.point(hundredth(t.X), hundredth(t.Y)), Fill: to.colour(cmp.Or(t.Fill, "#000000")),
	})
}

// line appends a line that is placed, in a style that is not.
func (to *flattened) line(l Line, style Style, at placement) {
	s := Shape{
		Line: l, Fill: to.colour(cmp.Or(style.Fill, "#000000")), Stroke: to.colour(cmp.Or(style.Stroke, "none")), Width: at.scale * hundredth(style.Width),
		StrokeBeneath: style.StrokeBeneath, RoundCorners: style.RoundCorners, RoundEnds: style.RoundEnds,
	}
	if s.Stroke != nil && style.StrokeOpacity != 0 {
		s.Stroke.A = uint8(math.Round(255 * min(1, max(0, hundredth(style.StrokeOpacity)))))
	}
	for _, d := range style.Dashes {
		s.Dashes = append(s.Dashes, at.scale*hundredth(d))
	}
	to.all = append(to.all, s)
}

func (to *flattened) colour(name string) *color.NRGBA {
	if name == "none" {
		return nil
	}
	c, err := Colour(name)
	if err != nil && to.err == nil {
		to.err = err
	}
	return &c
}

// hundredth rounds to a hundredth; 0 for -0.
func hundredth(x float64) float64 { return math.RoundToEven(100*x)/100 + 0 }
