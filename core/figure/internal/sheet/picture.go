package sheet

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"foible.dev/foible/core/figure/internal/look"
	"foible.dev/foible/core/picture"
)

// embedder is a canvas that takes a picture as it is.
type embedder interface {
	embed(p *picture.Picture, at vg.Rectangle)
}

// rounder is a canvas that can round the ends and corners of lines.
type rounder interface {
	round(ends, corners bool)
}

// Bottom is the canvas that parts of it draw on.
func Bottom(c vg.Canvas) vg.Canvas {
	for {
		part, ok := c.(draw.Canvas)
		if !ok {
			return c
		}
		c = part.Canvas
	}
}

// Still is the picture of a scene, which may have none.
type Still struct {
	*picture.Picture
	shapes                   []picture.Shape
	Width, Height, LeastType float64 // user units; 0 = no type
}

// StillOf a picture that may be nil. The error is of a colour.
func StillOf(p *picture.Picture) (Still, error) {
	if p == nil {
		return Still{}, nil
	}
	s := Still{Picture: p}
	var err error
	s.shapes, err = p.Shapes()
	s.Width, s.Height, s.LeastType = p.Size()
	return s, err
}

// DrawIn draws the picture over a rectangle of its own proportions.
func (p *Still) DrawIn(c draw.Canvas, at vg.Rectangle) {
	if e, ok := Bottom(c).(embedder); ok {
		e.embed(p.Picture, at)
		return
	}
	o := onto{at, at.Size().X / vg.Length(p.Width)}
	for i := range p.shapes {
		o.draw(c, &p.shapes[i])
	}
}

// onto places a picture, whose y points down, over a rectangle.
type onto struct {
	rectangle vg.Rectangle
	scale     vg.Length
}

func (o onto) point(p picture.Point) vg.Point {
	return vg.Point{X: o.rectangle.Min.X + o.scale*vg.Length(p[0]), Y: o.rectangle.Max.Y - o.scale*vg.Length(p[1])}
}

func (o onto) path(l picture.Line) vg.Path {
	var path vg.Path
	for _, s := range l {
		switch s.Kind {
		case picture.MoveTo:
			path.Move(o.point(s.To))
		case picture.LineTo:
			path.Line(o.point(s.To))
		case picture.CurveTo:
			path.CubeTo(o.point(s.Control[0]), o.point(s.Control[1]), o.point(s.To))
		case picture.ClosePath:
			path.Close()
		}
	}
	return path
}

func (o onto) draw(c draw.Canvas, s *picture.Shape) {
	if s.Size > 0 {
		if s.Fill != nil {
			style := look.Ink(vg.Length(s.Size)*o.scale, *s.Fill)
			if s.Bold {
				style = look.Bold(style)
			}
			look.Write(c, style, 0.5, o.point(s.At), s.Text)
		}
		return
	}
	path := o.path(s.Line)
	if s.StrokeBeneath {
		o.outline(c, s, path)
	}
	if s.Fill != nil {
		c.SetColor(*s.Fill)
		c.Fill(path)
	}
	if !s.StrokeBeneath {
		o.outline(c, s, path)
	}
}

func (o onto) outline(c draw.Canvas, s *picture.Shape, path vg.Path) {
	if s.Stroke == nil || s.Width <= 0 {
		return
	}
	dashes := make([]vg.Length, len(s.Dashes))
	for i, d := range s.Dashes {
		dashes[i] = vg.Length(d) * o.scale
	}
	c.SetLineStyle(look.Stroke(*s.Stroke, vg.Length(s.Width)*o.scale, dashes...))
	r, ok := Bottom(c).(rounder)
	if ok {
		r.round(s.RoundEnds, s.RoundCorners)
	}
	c.Stroke(path)
	if ok {
		r.round(false, false)
	}
}
