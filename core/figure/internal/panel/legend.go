package panel

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"foible.dev/foible/core/figure/internal/look"
	"foible.dev/foible/core/figure/internal/sheet"
)

// Sample draws a legend's example between x0 and x1 at height y.
type Sample func(c draw.Canvas, x0, x1, y vg.Length)

// SampleWidth is the length of a legend's example.
const SampleWidth = vg.Length(22)

// Entry is an example and what it stands for.
type Entry struct {
	Sample Sample
	Width  vg.Length // of the example
	Text   string
}

// LineSample is a model's line with its marker.
func LineSample(s look.Look, fill color.Color) Sample {
	return func(c draw.Canvas, x0, x1, y vg.Length) {
		c.StrokeLine2(look.Stroke(s.Color, 1, s.Dashes...), x0, y, x1, y)
		look.Marks{Marker: s.Marker, Radius: 1.8, Fill: fill, Outline: s.Color}.Draw(c, []vg.Point{{X: (x0 + x1) / 2, Y: y}})
	}
}

// Flow sets entries side by side, in as many lines as the width needs.
func Flow(entries []Entry, width vg.Length) sheet.Block {
	s := look.Ink(look.Small, look.Black)
	const between = vg.Length(10)
	type place struct {
		x    vg.Length
		line int
	}
	places := make([]place, len(entries))
	texts := make([]string, len(entries))
	at := place{}
	for i, e := range entries {
		texts[i] = look.Shorten(s, e.Text, width-e.Width-4)
		w := e.Width + 4 + s.Width(texts[i])
		if at.x > 0 && at.x+w > width {
			at = place{0, at.line + 1}
		}
		places[i] = at
		at.x += w + between
	}
	return sheet.Block{Height: vg.Length(at.line+1) * look.Line, Draw: func(c draw.Canvas) {
		for i, e := range entries {
			base := c.Max.Y - vg.Length(places[i].line)*look.Line - look.Small + 0.5
			x := c.Min.X + places[i].x
			e.Sample(c, x, x+e.Width, base+2.5)
			look.Write(c, s, 0, vg.Point{X: x + e.Width + 4, Y: base}, texts[i])
		}
	}}
}
