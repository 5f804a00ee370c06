package figure

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"foible.dev/foible/core/figure/internal/look"
	"foible.dev/foible/core/figure/internal/panel"
	"foible.dev/foible/core/figure/internal/sheet"
	"foible.dev/foible/core/words"
)

// RecoveryPanel compares the true and the fitted values of a parameter.
type RecoveryPanel struct {
	Labels    []string // of the values of the grid, in their order
	Count     [][]int  // [true][fitted] datasets
	Rho       float64  // rank correlation; NaN = undefined
	Low, High float64  // its interval; none unless Low < High
}

// RecoveryAxis is a parameter at each sample size.
type RecoveryAxis struct {
	Axis   string
	Panels []RecoveryPanel // as many as there are sample sizes
}

const (
	mostStacked = 3             // axes up to which they are below each other
	widestValue = vg.Length(40) // of the label of a value
)

// Recovery shows what is fitted to datasets of known values: a dot for each true
// and fitted value of the grid, with an area as the part of the datasets of that
// true value, and the identity line. Values stand at equal distances. The panels
// of an axis differ in the number of participants.
func Recovery(title, model string, participants []int, axes []RecoveryAxis) *Figure {
	below := len(axes) <= mostStacked // axes are rows, sample sizes columns
	cols, width := len(axes), sheet.Page
	if below {
		cols = max(1, len(participants))
		if cols <= mostStacked {
			width = sheet.Column
		}
	}
	style := look.Of(model)
	counts := func(a *RecoveryAxis, size int) *plot.Plot {
		p := &a.Panels[size]
		q := panel.New()
		at, labels := make([]float64, len(p.Labels)), make([]string, len(p.Labels))
		for i := range at {
			at[i], labels[i] = float64(i), look.Shorten(look.Ink(look.Small, look.Black), p.Labels[i], widestValue)
		}
		for _, axis := range []*plot.Axis{&q.X, &q.Y} {
			axis.Min, axis.Max = -0.5, float64(len(at))-0.5
		}
		measure := func(string) vg.Length { return look.Line } // of a label on its side, its height
		q.X.Tick.Marker = valueTicks{at, labels, q.X.Tick.Label.Width, dataWidth(width, cols)}
		q.Y.Tick.Marker = valueTicks{at, labels, measure, dataWidth(width, cols)}
		q.Add(panel.Headings{Title: a.Axis, Below: []string{p.statistic()}, Overhang: 14}, p.dots(style))
		return q
	}
	var rows [][]*plot.Plot
	of := func(n int) string { return "fitted, " + participantsText(n) }
	switch {
	case len(axes) == 0 || len(participants) == 0:
		q := panel.New()
		q.HideAxes()
		q.Add(panel.Notice("no parameter varies"))
		rows = [][]*plot.Plot{{q}}
	case below:
		for i := range axes {
			row := make([]*plot.Plot, cols)
			for k := range participants {
				row[k] = counts(&axes[i], k)
			}
			row[0].Y.Label.Text = "fitted"
			rows = append(rows, row)
		}
	default:
		for k, n := range participants {
			row := make([]*plot.Plot, cols)
			for i := range axes {
				row[i] = counts(&axes[i], k)
			}
			row[0].Y.Label.Text = of(n)
			rows = append(rows, row)
		}
	}
	inner := width - 2*sheet.Margin
	var blocks []sheet.Block
	if title != "" {
		blocks = append(blocks, sheet.Caption(title, inner))
	}
	text := "Area: the part of the datasets of a true value. Dashed: fitted = true. ρ: rank correlation with its 95% interval."
	if below && len(axes) > 0 {
		var sizes []string
		for _, n := range participants {
			sizes = append(sizes, words.Thousands(n))
		}
		text += " From left to right: " + strings.Join(sizes, ", ") + " participants."
	}
	blocks = append(blocks, panel.Grid{Panels: rows, Across: "true", DataHeight: func(w vg.Length) vg.Length {
		if len(axes) == 0 {
			return 40
		}
		return w
	}}.Block(inner), sheet.Remark(text, inner))
	return stack(width, titled(title, "True against fitted parameters"), describeRecovery(model, participants, axes), blocks...)
}

func participantsText(n int) string {
	if n == 1 {
		return "1 participant"
	}
	return words.Thousands(n) + " participants"
}

func (p *RecoveryPanel) statistic() string {
	if !correlation(p.Rho) {
		return "ρ undefined"
	}
	text := "ρ = " + number(p.Rho)
	if bounded(p.Low, p.High) {
		text += " " + interval(p.Low, p.High)
	}
	return text
}

func (p *RecoveryPanel) dots(s look.Look) panel.Painter {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		if len(p.Labels) == 0 {
			return
		}
		last := float64(len(p.Labels)) - 0.5
		c.StrokeLine2(look.Stroke(look.Grey, 0.5, 3, 2), x(-0.5), y(-0.5), x(last), y(last))
		largest := 0.42 * float64(min(x(1)-x(0), y(1)-y(0)))
		for i, row := range p.Count {
			sum := 0
			for _, n := range row {
				sum += n
			}
			for j, n := range row {
				if n > 0 {
					radius := vg.Length(max(0.5, largest*math.Sqrt(float64(n)/float64(sum))))
					look.Marks{Marker: look.Circle, Radius: radius, Fill: look.Fade(s.Color, 0.6), Outline: s.Color}.Draw(c, []vg.Point{{X: x(float64(i)), Y: y(float64(j))}})
				}
			}
		}
	}
}

func describeRecovery(model string, participants []int, axes []RecoveryAxis) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Fitted against true parameter values of %s.", look.Clean(model))
	for _, a := range axes {
		for k, n := range participants {
			fmt.Fprintf(&b, " %s, %s: %s.", look.Clean(a.Axis), participantsText(n), a.Panels[k].statistic())
		}
	}
	return b.String()
}

// Confusion is which model is taken for which.
type Confusion struct {
	Title string
	Parts [][]float64 // [true][fitted], in [0, 1]; NaN = not known
}

// Lengths of confusion matrices.
const (
	confusionRow  = vg.Length(13)
	mostConfusion = vg.Length(64) // width of a cell
)

// Confusions shows matrices of the same models, two side by side, as heat maps
// with the numbers in the cells: rows are true models, columns fitted ones. The
// note says what the numbers are.
func Confusions(title, kind, note string, models []string, matrices []Confusion) *Figure {
	const across = 2
	s := look.Ink(look.Small, look.Black)
	var left vg.Length
	for _, name := range models {
		left = max(left, s.Width(look.Clean(name)))
	}
	left = min(left, widestRow) + 5
	inner := sheet.Page - 2*sheet.Margin
	between := vg.Length(14)
	cell := min(mostConfusion, (inner-left-between)/vg.Length(across*max(1, len(models))))
	head := 3 * look.Line // title, "fitted", names
	if slices.ContainsFunc(models, func(name string) bool { return s.Width(look.Clean(name)) > cell-2 && strings.Contains(name, "-") }) {
		head += look.Line // names in two lines
	}
	var blocks []sheet.Block
	if title != "" {
		blocks = append(blocks, sheet.Caption(title, inner))
	}
	if len(matrices) == 0 || len(models) == 0 {
		blocks = append(blocks, sheet.Block{Height: 40, Draw: func(c draw.Canvas) { panel.Notice("nothing to show").Plot(c, nil) }})
	}
	for first := 0; first < len(matrices) && len(models) > 0; first += across {
		row := matrices[first:min(first+across, len(matrices))]
		blocks = append(blocks, sheet.Block{Height: head + confusionRow*vg.Length(len(models)), Draw: func(c draw.Canvas) {
			for k := range row {
				at := c.Min.X + left + vg.Length(k)*(cell*vg.Length(len(models))+between)
				row[k].draw(c, at, cell, head, models)
			}
			for i, name := range models {
				y := c.Max.Y - head - vg.Length(i+1)*confusionRow + 4
				look.Write(c, s, 0, vg.Point{X: c.Min.X, Y: y}, look.Shorten(s, name, left-4))
			}
			look.Write(c, look.Ink(look.Small, look.Grey), 0, vg.Point{X: c.Min.X, Y: c.Max.Y - head + 3}, "true")
		}})
	}
	if note != "" {
		blocks = append(blocks, sheet.Remark(note, inner))
	}
	return stack(sheet.Page, titled(title, kind), describeConfusions(note, models, matrices), blocks...)
}

func (m *Confusion) draw(c draw.Canvas, left, cell, head vg.Length, models []string) {
	s := look.Ink(look.Small, look.Black)
	width := cell * vg.Length(len(models))
	look.Write(c, look.Bold(s), 0, vg.Point{X: left, Y: c.Max.Y - look.Small + 0.5}, look.Shorten(look.Bold(s), m.Title, width))
	look.Write(c, look.Ink(look.Small, look.Grey), 0.5, vg.Point{X: left + width/2, Y: c.Max.Y - look.Line - look.Small + 0.5}, "fitted")
	for j, name := range models {
		x := left + (vg.Length(j)+0.5)*cell
		first, second, two := strings.Cut(look.Clean(name), "-")
		if two && s.Width(look.Clean(name)) > cell-2 {
			look.Write(c, s, 0.5, vg.Point{X: x, Y: c.Max.Y - 2*look.Line - look.Small + 0.5}, look.Shorten(s, first+"-", cell-2))
			first = second
		} else {
			first = name
		}
		look.Write(c, s, 0.5, vg.Point{X: x, Y: c.Max.Y - head + look.Line - look.Small + 1.5}, look.Shorten(s, first, cell-2))
	}
	for i := range models {
		top := c.Max.Y - head - vg.Length(i)*confusionRow
		for j := range models {
			x := left + vg.Length(j)*cell
			p := at(m.Parts[i], j)
			c.SetColor(warmth(p))
			c.Fill(vg.Rectangle{
				Min: vg.Point{X: x + heatMargin, Y: top - confusionRow + heatMargin}, Max: vg.Point{X: x + cell - heatMargin, Y: top - heatMargin},
			}.Path())
			text, ink := "–", s
			if finite(p) {
				text = number(p)
			}
			if p > 0.85 {
				ink.Color = look.White
			}
			look.Write(c, ink, 0.5, vg.Point{X: x + cell/2, Y: top - confusionRow + 4}, text)
		}
	}
}

func describeConfusions(note string, models []string, matrices []Confusion) string {
	var b strings.Builder
	b.WriteString(look.Clean(note))
	for k := range matrices {
		m := &matrices[k]
		fmt.Fprintf(&b, " %s:", look.Clean(m.Title))
		for i, name := range models {
			text := "not known"
			if p := at(m.Parts[i], i); finite(p) {
				text = number(p)
			}
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, " %s %s", look.Clean(name), text)
		}
		b.WriteString(" on the diagonal.")
	}
	return b.String()
}
