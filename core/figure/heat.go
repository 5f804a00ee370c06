package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"foible.dev/foible/core/figure/internal/look"
	"foible.dev/foible/core/figure/internal/panel"
	"foible.dev/foible/core/figure/internal/sheet"
)

// HeatMap is parts of wholes in rows and columns.
type HeatMap struct {
	Title   string
	Rows    []string
	Columns []string
	Parts   [][]float64 // [row][sheet.Column], in [0, 1]; NaN = not known
	What    string      // what they are parts of, e.g. "cells done"
}

// Lengths of a heat map.
const (
	heatRow    = vg.Length(11)
	widestRow  = vg.Length(90) // of the names of rows
	leastHeat  = vg.Length(20) // width of a column
	mostHeat   = vg.Length(64)
	heatMargin = vg.Length(0.5) // between cells
)

// Heat shows how far each part of a whole has come: a cell for each row and
// column, the darker the more of it is there, with the percentage in it.
// Percentages are rounded down, so that 100 is all.
func Heat(h HeatMap) *Figure {
	s := look.Ink(look.Small, look.Black)
	var left vg.Length
	for _, name := range h.Rows {
		left = max(left, s.Width(look.Clean(name)))
	}
	left = min(left, widestRow) + 5
	width := sheet.Column
	if left+vg.Length(len(h.Columns))*mostHeat > sheet.Column {
		width = sheet.Page
	}
	inner := width - 2*sheet.Margin
	cell := min(mostHeat, max(leastHeat, (inner-left)/vg.Length(max(1, len(h.Columns)))))
	blocks := []sheet.Block{}
	if h.Title != "" {
		blocks = append(blocks, sheet.Caption(h.Title, inner))
	}
	blocks = append(blocks, sheet.Block{Height: look.Line + heatRow*vg.Length(max(1, len(h.Rows))), Draw: func(c draw.Canvas) { h.draw(c, left, cell) }})
	blocks = append(blocks, sheet.Remark("Percent of "+look.Clean(h.What)+".", inner))
	return stack(width, titled(h.Title, "Heat map"), h.describe(), blocks...)
}

func (h *HeatMap) draw(c draw.Canvas, left, width vg.Length) {
	s := look.Ink(look.Small, look.Black)
	if len(h.Rows) == 0 || len(h.Columns) == 0 {
		panel.Notice("nothing to show").Plot(c, nil)
		return
	}
	for j, name := range h.Columns {
		x := c.Min.X + left + (vg.Length(j)+0.5)*width
		look.Write(c, s, 0.5, vg.Point{X: x, Y: c.Max.Y - look.Small + 0.5}, look.Shorten(s, name, width-2))
	}
	for i, name := range h.Rows {
		top := c.Max.Y - look.Line - vg.Length(i)*heatRow
		look.Write(c, s, 0, vg.Point{X: c.Min.X, Y: top - heatRow + 3}, look.Shorten(s, name, left-4))
		for j := range h.Columns {
			x := c.Min.X + left + vg.Length(j)*width
			h.cell(c, vg.Rectangle{Min: vg.Point{X: x + heatMargin, Y: top - heatRow + heatMargin}, Max: vg.Point{X: x + width - heatMargin, Y: top - heatMargin}}, at(h.Parts[i], j))
		}
	}
}

func (h *HeatMap) cell(c draw.Canvas, at vg.Rectangle, part float64) {
	c.SetColor(warmth(part))
	c.Fill(at.Path())
	s := look.Ink(look.Small, look.Black)
	if part > 0.85 {
		s.Color = look.White
	}
	look.Write(c, s, 0.5, vg.Point{X: (at.Min.X + at.Max.X) / 2, Y: at.Min.Y + 2.5}, percent(part))
}

// warmth goes from nearly white to a dark blue, in lightness too.
func warmth(part float64) color.NRGBA {
	if !finite(part) {
		return look.White
	}
	from, to := color.NRGBA{0xEE, 0xF1, 0xF3, 0xFF}, color.NRGBA{0x00, 0x69, 0xA5, 0xFF}
	p := min(1, max(0, part))
	mix := func(a, b uint8) uint8 { return uint8(math.Round((1-p)*float64(a) + p*float64(b))) }
	return color.NRGBA{mix(from.R, to.R), mix(from.G, to.G), mix(from.B, to.B), 0xFF}
}

// percent is rounded down: 100 is all.
func percent(part float64) string {
	if !finite(part) {
		return "–"
	}
	return fmt.Sprint(int(100*min(1, max(0, part)) + 1e-9))
}

func (h *HeatMap) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Percent of %s.", look.Clean(h.What))
	for j, name := range h.Columns {
		parts := make([]float64, len(h.Rows))
		for i := range h.Rows {
			parts[i] = at(h.Parts[i], j)
		}
		if len(parts) > 0 {
			fmt.Fprintf(&b, " %s: %s to %s.", look.Clean(name), percent(slices.Min(parts)), percent(slices.Max(parts)))
		}
	}
	return b.String()
}
