package figure

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// sample draws a legend's example between x0 and x1 at height y.
type sample func(c draw.Canvas, x0, x1, y vg.Length)

// sampleWidth is the length of a legend's example.
const sampleWidth = vg.Length(22)

// entry is an example and what it stands for.
type entry struct {
	sample sample
	width  vg.Length // of the example
	text   string
}

// lineSample is a model's line with its marker.
func lineSample(s style, fill color.Color) sample {
	return func(c draw.Canvas, x0, x1, y vg.Length) {
		c.StrokeLine2(stroke(s.color, 1, s.dashes...), x0, y, x1, y)
		markers(c, s.marker, []vg.Point{{X: (x0 + x1) / 2, Y: y}}, 1.8, fill, s.color)
	}
}

// flow sets entries side by side, in as many lines as the width needs.
func flow(entries []entry, width vg.Length) block {
	s := ink(small, black)
	const between = vg.Length(10)
	type place struct {
		x    vg.Length
		line int
	}
	places := make([]place, len(entries))
	texts := make([]string, len(entries))
	at := place{}
	for i, e := range entries {
		texts[i] = shorten(s, e.text, width-e.width-4)
		w := e.width + 4 + s.Width(texts[i])
		if at.x > 0 && at.x+w > width {
			at = place{0, at.line + 1}
		}
		places[i] = at
		at.x += w + between
	}
	return block{vg.Length(at.line+1) * line, func(c draw.Canvas) {
		for i, e := range entries {
			base := c.Max.Y - vg.Length(places[i].line)*line - small + 0.5
			x := c.Min.X + places[i].x
			e.sample(c, x, x+e.width, base+2.5)
			write(c, s, 0, vg.Point{X: x + e.width + 4, Y: base}, texts[i])
		}
	}}
}

// caption is a line of bold type at the head of a figure.
func caption(title string, width vg.Length) block {
	s := bold(ink(medium, black))
	return block{medium + 2, func(c draw.Canvas) {
		write(c, s, 0, vg.Point{X: c.Min.X, Y: c.Min.Y + 2.5}, shorten(s, title, width))
	}}
}

// remark is small grey type under a figure, in as many lines as it needs.
func remark(txt string, width vg.Length) block {
	s := ink(small, grey)
	lines := wrap(s, txt, width)
	return block{line * vg.Length(len(lines)), func(c draw.Canvas) {
		for i, l := range lines {
			write(c, s, 0, vg.Point{X: c.Min.X, Y: c.Max.Y - vg.Length(i)*line - small + 0.5}, l)
		}
	}}
}
