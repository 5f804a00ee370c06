package figure

import (
	"image/color"

	"gonum.org/v1/plot/text"
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

// caption is bold type at the head of a figure, in up to three lines.
func caption(title string, width vg.Length) block {
	s := bold(ink(medium, black))
	return lines(s, wrap(s, title, width, 3), medium+2)
}

// remark is small grey type under a figure.
func remark(txt string, width vg.Length) block {
	s := ink(small, grey)
	return lines(s, wrap(s, txt, width, 6), line)
}

// lines sets lines of text below each other, a height apart.
func lines(s text.Style, txt []string, height vg.Length) block {
	return block{height * vg.Length(len(txt)), func(c draw.Canvas) {
		for i, l := range txt {
			write(c, s, 0, vg.Point{X: c.Min.X, Y: c.Max.Y - vg.Length(i+1)*height + 2.5}, l)
		}
	}}
}
