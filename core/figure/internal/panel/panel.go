// Package panel has what a panel of a figure is made of: axes and their ticks, headings, marks between axes, grids of panels of
// one size, and the legend.
package panel

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"foible.dev/foible/core/figure/internal/look"
	"foible.dev/foible/core/figure/internal/sheet"
	"foible.dev/foible/core/words"
)

// New is an empty plot in the house style.
func New() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.Width = 0.5
		a.Label.TextStyle.Font = look.Ink(look.Medium, look.Black).Font
		a.Label.Padding = 1.5
		a.Tick.Label.Font = look.Ink(look.Small, look.Black).Font
		a.Tick.Width = 0.5
		a.Tick.Length = 2.5
	}
	return p
}

// Span sets an axis to a range and its ticks to values, labelled where label is
// not empty. A tick without a label is as long as one with.
func Span(a *plot.Axis, lo, hi float64, values []float64, label func(float64) string) {
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

// Unlabelled is span's label for an axis that shares a neighbour's labels.
func Unlabelled(float64) string { return "" }

// Decimal labels ticks of a step that is a multiple of 0.01, as 0, .5, 1.
func Decimal(v float64) string {
	return words.Unpadded(strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64))
}

// Probability spans an axis from 0 to 1 with a little room for markers; wider
// only if values lie outside.
func Probability(a *plot.Axis, labelled bool, values ...float64) {
	lo, hi := -0.04, 1.04
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			lo, hi = min(lo, v-0.04), max(hi, v+0.04)
		}
	}
	label := Decimal
	if !labelled {
		label = Unlabelled
	}
	Span(a, lo, hi, []float64{0, 0.25, 0.5, 0.75, 1}, func(v float64) string {
		if v == 0.25 || v == 0.75 {
			return ""
		}
		return label(v)
	})
}

// Ticks are multiples of a round step from lo to hi, about four to seven.
func Ticks(lo, hi float64) []float64 {
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

// Painter draws in the data area of a panel; x and y map data to the canvas.
type Painter func(c draw.Canvas, x, y func(float64) vg.Length)

// Plot implements plot.Plotter.
func (f Painter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	f(c, x, y)
}

// Heading is a panel's title, above it on the left, cut to the panel's width.
func Heading(title string) Headings { return Headings{Title: title} }

// Headings are a panel's title in bold and lines of text below it, all above
// the data. They begin overhang left of the data and are cut to the width from there.
type Headings struct {
	Title    string
	Below    []string
	Overhang vg.Length
}

// Plot implements plot.Plotter.
func (h Headings) Plot(c draw.Canvas, _ *plot.Plot) {
	plain := look.Ink(look.Small, look.Black)
	head := look.Bold(plain)
	at := vg.Point{X: c.Min.X - h.Overhang, Y: c.Max.Y + 4 + vg.Length(len(h.Below))*look.Line}
	width := c.Max.X - at.X
	look.Write(c, head, 0, at, look.Shorten(head, h.Title, width))
	for _, text := range h.Below {
		at.Y -= look.Line
		look.Write(c, plain, 0, at, look.Shorten(plain, text, width))
	}
}

// GlyphBoxes implements plot.GlyphBoxer: space above, none at the sides.
func (h Headings) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	height := 4 + vg.Length(1+len(h.Below))*look.Line
	return []plot.GlyphBox{{Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: height}}}}
}

// Notice is a text in the middle of a panel that has nothing else to show.
type Notice string

// Plot implements plot.Plotter.
func (n Notice) Plot(c draw.Canvas, _ *plot.Plot) {
	s := look.Ink(look.Small, look.Grey)
	look.Write(c, s, 0.5, c.Center(), look.Shorten(s, string(n), c.Max.X-c.Min.X))
}

// Bars strokes lines between pairs of points, as one path.
func Bars(c draw.Canvas, s draw.LineStyle, pairs [][2]vg.Point) {
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

// Band fills between two curves over the same places.
func Band(c draw.Canvas, clr color.Color, low, high []vg.Point) {
	outline := make([]vg.Point, 0, len(low)+len(high))
	outline = append(outline, high...)
	for i := len(low) - 1; i >= 0; i-- {
		outline = append(outline, low[i])
	}
	if len(outline) > 2 {
		c.FillPolygon(clr, outline)
	}
}

// Grid is rows of panels with data areas of one size. A nil panel leaves its
// place empty.
type Grid struct {
	Panels [][]*plot.Plot
	// Across is the label of all horizontal axes, centred under the panels, or, if Under is not 0, under
	// the first Under columns.
	Across string
	Under  int
	// DataHeight is the height of the data areas, given their width.
	DataHeight func(width vg.Length) vg.Length
}

// Tile arranges panels in rows, filling up the last with nil.
func Tile(panels []*plot.Plot, cols int) [][]*plot.Plot {
	var rows [][]*plot.Plot
	for i := 0; i < len(panels); i += cols {
		row := make([]*plot.Plot, cols)
		copy(row, panels[i:])
		rows = append(rows, row)
	}
	return rows
}

func (g Grid) tiles() draw.Tiles {
	return draw.Tiles{Rows: len(g.Panels), Cols: len(g.Panels[0]), PadX: 6, PadY: 6}
}

// Block lays the grid out over a width.
func (g Grid) Block(width vg.Length) sheet.Block {
	label := look.Ink(look.Medium, look.Black)
	foot := vg.Length(look.Medium + 3)
	trial := draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: width, Y: width}}}
	cells := plot.Align(g.Panels, g.tiles(), trial)
	first := g.Panels[0][0].DataCanvas(cells[0][0])
	data := first.Size()
	rows, cols := vg.Length(len(g.Panels)), len(g.Panels[0])
	if g.Under > 0 {
		cols = min(cols, g.Under)
	}
	middle := (first.Min.X + cells[0][cols-1].Max.X) / 2
	height := width - rows*data.Y + rows*g.DataHeight(data.X)
	return sheet.Block{Height: height + foot, Draw: func(c draw.Canvas) {
		look.Write(c, label, 0.5, vg.Point{X: c.Min.X + middle, Y: c.Min.Y + 2}, g.Across)
		c.Min.Y += foot
		for i, row := range plot.Align(g.Panels, g.tiles(), c) {
			for j, cell := range row {
				if p := g.Panels[i][j]; p != nil {
					p.Draw(cell)
				}
			}
		}
	}}
}
