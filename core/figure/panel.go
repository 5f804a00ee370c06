package figure

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"foible.dev/foible/core/words"
)

// newPanel is an empty plot in the house style.
func newPanel() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.Width = 0.5
		a.Label.TextStyle.Font = ink(medium, black).Font
		a.Label.Padding = 1.5
		a.Tick.Label.Font = ink(small, black).Font
		a.Tick.Width = 0.5
		a.Tick.Length = 2.5
	}
	return p
}

// span sets an axis to a range and its ticks to values, labelled where label is
// not empty. A tick without a label is as long as one with.
func span(a *plot.Axis, lo, hi float64, values []float64, label func(float64) string) {
	a.Min, a.Max = lo, hi
	ticks := make(plot.ConstantTicks, 0, len(values))
	for _, v := range values {
		text := label(v)
		if text == "" {
			text = " "
		}
		ticks = append(ticks, plot.Tick{Value: v, Label: text})
	}
	a.Tick.Marker = ticks
}

// unlabelled is span's label for an axis that shares a neighbour's labels.
func unlabelled(float64) string { return "" }

// decimal labels ticks of a step that is a multiple of 0.01, as 0, .5, 1.
func decimal(v float64) string {
	return words.Unpadded(strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64))
}

// probability spans an axis from 0 to 1 with a little room for markers; wider
// only if values lie outside.
func probability(a *plot.Axis, labelled bool, values ...float64) {
	lo, hi := -0.04, 1.04
	for _, v := range values {
		if finite(v) {
			lo, hi = min(lo, v-0.04), max(hi, v+0.04)
		}
	}
	label := decimal
	if !labelled {
		label = unlabelled
	}
	span(a, lo, hi, []float64{0, 0.25, 0.5, 0.75, 1}, func(v float64) string {
		if v == 0.25 || v == 0.75 {
			return ""
		}
		return label(v)
	})
}

// ticks are multiples of a round step from lo to hi, about four to seven.
func ticks(lo, hi float64) []float64 {
	step := 0.5
	for _, s := range []float64{0.2, 0.1, 0.05, 0.02} {
		if (hi-lo)/s <= 7 {
			step = s
		}
	}
	for (hi-lo)/step > 8 {
		step *= 2
	}
	var values []float64
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+1e-9; i++ {
		values = append(values, i*step)
	}
	return values
}

// painter draws in the data area of a panel; x and y map data to the canvas.
type painter func(c draw.Canvas, x, y func(float64) vg.Length)

// Plot implements plot.Plotter.
func (f painter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	f(c, x, y)
}

// heading is a panel's title, above it on the left, cut to the panel's width.
func heading(title string) headings { return headings{title: title} }

// headings are a panel's title in bold and lines of text below it, all above
// the data. They begin overhang left of the data and are cut to the width from there.
type headings struct {
	title    string
	below    []string
	overhang vg.Length
}

// Plot implements plot.Plotter.
func (h headings) Plot(c draw.Canvas, _ *plot.Plot) {
	plain := ink(small, black)
	head := bold(plain)
	at := vg.Point{X: c.Min.X - h.overhang, Y: c.Max.Y + 4 + vg.Length(len(h.below))*line}
	width := c.Max.X - at.X
	write(c, head, 0, at, shorten(head, h.title, width))
	for _, text := range h.below {
		at.Y -= line
		write(c, plain, 0, at, shorten(plain, text, width))
	}
}

// GlyphBoxes implements plot.GlyphBoxer: space above, none at the sides.
func (h headings) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	height := 4 + vg.Length(1+len(h.below))*line
	return []plot.GlyphBox{{Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: height}}}}
}

// notice is a text in the middle of a panel that has nothing else to show.
type notice string

// Plot implements plot.Plotter.
func (n notice) Plot(c draw.Canvas, _ *plot.Plot) {
	s := ink(small, grey)
	write(c, s, 0.5, c.Center(), shorten(s, string(n), c.Max.X-c.Min.X))
}

// stroke is a line style.
func stroke(c color.Color, width vg.Length, dashes ...vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: width, Dashes: dashes}
}

// markers fills a marker at each point, as one path, and outlines it.
func markers(c draw.Canvas, m marker, at []vg.Point, radius vg.Length, fill, outline color.Color) {
	var p vg.Path
	for _, pt := range at {
		m.add(&p, pt, radius)
	}
	if len(p) == 0 {
		return
	}
	c.SetColor(fill)
	c.Fill(p)
	rings(c, m, at, radius, outline)
}

// rings outlines a marker at each point, as one path.
func rings(c draw.Canvas, m marker, at []vg.Point, radius vg.Length, clr color.Color) {
	var p vg.Path
	for _, pt := range at {
		m.add(&p, pt, radius)
	}
	if len(p) == 0 {
		return
	}
	c.SetLineStyle(stroke(clr, 0.5))
	c.Stroke(p)
}

// bars strokes lines between pairs of points, as one path.
func bars(c draw.Canvas, s draw.LineStyle, pairs [][2]vg.Point) {
	var p vg.Path
	for _, pair := range pairs {
		p.Move(pair[0])
		p.Line(pair[1])
	}
	if len(p) == 0 {
		return
	}
	c.SetLineStyle(s)
	c.Stroke(p)
}

// band fills between two curves over the same places.
func band(c draw.Canvas, clr color.Color, low, high []vg.Point) {
	outline := make([]vg.Point, 0, len(low)+len(high))
	outline = append(outline, high...)
	for i := len(low) - 1; i >= 0; i-- {
		outline = append(outline, low[i])
	}
	if len(outline) > 2 {
		c.FillPolygon(clr, outline)
	}
}

// grid is rows of panels with data areas of one size. A nil panel leaves its
// place empty.
type grid struct {
	panels [][]*plot.Plot
	// across is the label of all horizontal axes, centred under the panels, or the
	// first columns.
	across string
	under  int
	// dataHeight is the height of the data areas, given their width.
	dataHeight func(width vg.Length) vg.Length
}

// tile arranges panels in rows, filling up the last with nil.
func tile(panels []*plot.Plot, cols int) [][]*plot.Plot {
	var rows [][]*plot.Plot
	for i := 0; i < len(panels); i += cols {
		row := make([]*plot.Plot, cols)
		copy(row, panels[i:])
		rows = append(rows, row)
	}
	return rows
}

func (g grid) tiles() draw.Tiles {
	return draw.Tiles{Rows: len(g.panels), Cols: len(g.panels[0]), PadX: 6, PadY: 6}
}

// block lays the grid out over a width.
func (g grid) block(width vg.Length) block {
	label := ink(medium, black)
	foot := vg.Length(medium + 3)
	trial := draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: width, Y: width}}}
	cells := plot.Align(g.panels, g.tiles(), trial)
	first := g.panels[0][0].DataCanvas(cells[0][0])
	data := first.Size()
	rows, cols := vg.Length(len(g.panels)), len(g.panels[0])
	if g.under > 0 {
		cols = min(cols, g.under)
	}
	middle := (first.Min.X + cells[0][cols-1].Max.X) / 2
	height := width - rows*data.Y + rows*g.dataHeight(data.X)
	return block{height + foot, func(c draw.Canvas) {
		write(c, label, 0.5, vg.Point{X: c.Min.X + middle, Y: c.Min.Y + 2}, g.across)
		c.Min.Y += foot
		for i, row := range plot.Align(g.panels, g.tiles(), c) {
			for j, cell := range row {
				if p := g.panels[i][j]; p != nil {
					p.Draw(cell)
				}
			}
		}
	}}
}
