package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"foible.dev/foible/core/figure/internal/look"
	"foible.dev/foible/core/figure/internal/panel"
	"foible.dev/foible/core/figure/internal/sheet"
	"foible.dev/foible/core/words"
)

// Curve is one model's fits, in any order.
type Curve struct {
	Model  string
	Points []Point
	Chosen int // index into Points of the reported parameter set, -1 for none
}

// Point is the fit of one parameter set.
type Point struct {
	R         float64 // correlation with the people; NaN = undefined, or over other points than the others
	Low, High float64 // its interval; none unless Low < High
	Label     string  // the parameter set in words, for the figure's description of the chosen one
}

// SensitivityOptions are the details of a sensitivity plot.
type SensitivityOptions struct {
	Title    string
	Interval string    // what the intervals are; default "95% interval"
	Ceiling  float64   // the r that the people's noise leaves to a perfect model; 0 = not drawn
	Wide     bool      // 6.9 inches in place of 3.3
	Reach    []float64 // r that the axis has to reach, so that figures side by side share it
}

// maxDrawn is the number of parameter sets up to which a curve passes through
// each of them; maxMarked that up to which each has a marker.
const (
	maxDrawn  = 200
	maxMarked = 30
)

// Sensitivity shows whether a model fits well at its best parameters only: one
// curve a model, its parameter sets ordered by r, their rank scaled to [0, 1]
// so that grids of different size compare, a band for the interval, and the
// chosen set marked. A model with one parameter set is a point with an error
// bar. A curve of more than 200 parameter sets is drawn through 200 groups of
// neighbouring ranks, at the means of their r and bounds, and through its first
// and last set. Parameter sets without an r to compare are left out and counted.
func Sensitivity(curves []Curve, o SensitivityOptions) *Figure {
	if o.Interval == "" {
		o.Interval = "95% interval"
	}
	width := sheet.Column
	if o.Wide {
		width = sheet.Page
	}
	ranked := make([]ranking, len(curves))
	single := 0
	for i, c := range curves {
		ranked[i] = rank(c)
		if len(ranked[i].points) == 1 {
			single++
		}
	}
	place := 0
	curvesDrawn := 0
	for i := range ranked {
		r := &ranked[i]
		if len(r.points) > 0 {
			curvesDrawn++
		}
		if len(r.points) == 1 {
			place++
			r.x[0] = float64(place) / float64(single+1)
		}
	}

	p := panel.New()
	panel.Span(&p.X, -0.03, 1.03, []float64{0, 0.25, 0.5, 0.75, 1}, panel.Decimal)
	across := "rank of parameter set (0 = worst, 1 = best)"
	if curvesDrawn > 0 && single == curvesDrawn {
		panel.Span(&p.X, -0.03, 1.03, nil, panel.Unlabelled)
		across = "one parameter set a model"
	}
	p.Y.Label.Text = "correlation with people, r"
	lo, hi := correlations(ranked, o.Ceiling, o.Reach...)
	panel.Span(&p.Y, lo, hi, panel.Ticks(max(lo, -1), min(hi, 1)), panel.Decimal)
	if curvesDrawn == 0 {
		p.Add(panel.Notice("no parameter set has a correlation"))
	}
	for _, layer := range []func(ranking) panel.Painter{ranking.band, ranking.line, ranking.mark} {
		for _, r := range ranked {
			p.Add(layer(r))
		}
	}
	for i, r := range ranked {
		p.Add(r.spots(i))
	}
	if known(o.Ceiling) {
		p.Add(ceilingLine(o.Ceiling))
	}

	inner := width - 2*sheet.Margin
	blocks := []sheet.Block{}
	if o.Title != "" {
		blocks = append(blocks, sheet.Caption(o.Title, inner))
	}
	plots := panel.Grid{Panels: panel.Tile([]*plot.Plot{p}, 1), Across: across, DataHeight: func(w vg.Length) vg.Length { return min(0.72*w, 2.6*vg.Inch) }}
	blocks = append(blocks, plots.Block(inner))
	if len(curves) > 0 {
		blocks = append(blocks, fits(ranked, inner))
		if n := note(ranked, o.Interval); n != "" {
			blocks = append(blocks, sheet.Remark(n, inner))
		}
	}
	return stack(width, titled(o.Title, "Sensitivity to parameters"), describeSensitivity(ranked, o), blocks...)
}

// note explains the marks that are drawn.
func note(ranked []ranking, intervals string) string {
	var parts []string
	if slices.ContainsFunc(ranked, func(r ranking) bool { return r.chosen >= 0 }) {
		parts = append(parts, "Outlined marker: chosen set.")
	}
	if slices.ContainsFunc(ranked, func(r ranking) bool {
		return slices.ContainsFunc(r.points, func(p Point) bool { return bounded(p.Low, p.High) })
	}) {
		parts = append(parts, "Bands, bars and brackets: "+intervals+".")
	}
	return strings.Join(parts, " ")
}

// ranking is a curve ready to draw.
type ranking struct {
	model     string
	style     look.Look
	points    []Point   // with a defined r, ascending
	index     []int     // of each in the curve's Points
	x         []float64 // scaled rank of each
	chosen    int       // index into points, or -1
	undefined int
}

// rank orders a curve by r; equal ones keep their order.
func rank(c Curve) ranking {
	r := ranking{model: c.Model, style: look.Of(c.Model), chosen: -1}
	order := make([]int, 0, len(c.Points))
	for i, p := range c.Points {
		if correlation(p.R) {
			order = append(order, i)
		}
	}
	r.undefined = len(c.Points) - len(order)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(c.Points[i].R, c.Points[j].R) })
	for at, i := range order {
		if i == c.Chosen {
			r.chosen = at
		}
		p := c.Points[i]
		if !correlation(p.Low) || !correlation(p.High) {
			p.Low, p.High = 0, 0
		}
		r.points, r.index = append(r.points, p), append(r.index, i)
		r.x = append(r.x, float64(at)/float64(max(1, len(order)-1)))
	}
	return r
}

// correlations is the range of the vertical axis: all r, bounds, the ceiling and what else it has to reach,
// with room for markers, and no less than 0.1 so that a flat curve looks flat.
func correlations(ranked []ranking, ceiling float64, reach ...float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	take := func(v float64) { lo, hi = min(lo, v), max(hi, v) }
	for _, r := range ranked {
		for _, p := range r.points {
			take(p.R)
			if bounded(p.Low, p.High) {
				take(p.Low)
				take(p.High)
			}
		}
	}
	if known(ceiling) {
		take(ceiling)
	}
	for _, v := range reach {
		take(v)
	}
	if lo > hi {
		return 0, 1
	}
	room := max(0.06*(hi-lo), 0.05-(hi-lo)/2, 0.01)
	return max(lo-room, -1.02), min(hi+room, 1.02)
}

// thinned is the curve as drawn: its own points up to 200, else its ends and
// the means of 200 groups of neighbouring ranks between them.
func (r ranking) thinned() (x []float64, points []Point) {
	n := len(r.points)
	if n <= maxDrawn {
		return r.x, r.points
	}
	x, points = append(x, r.x[0]), append(points, r.points[0])
	for g := range maxDrawn {
		from, to := g*n/maxDrawn, (g+1)*n/maxDrawn
		var at, sum, low, high, bounds float64
		for i := from; i < to; i++ {
			p := r.points[i]
			at += r.x[i]
			sum += p.R
			if bounded(p.Low, p.High) {
				low += p.Low
				high += p.High
				bounds++
			}
		}
		k := float64(to - from)
		mean := Point{R: sum / k}
		if bounds > 0 {
			mean.Low, mean.High = low/bounds, high/bounds
		}
		x, points = append(x, at/k), append(points, mean)
	}
	return append(x, r.x[n-1]), append(points, r.points[n-1])
}

func (r ranking) band() panel.Painter {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		xs, points := r.thinned()
		var low, high []vg.Point
		flush := func() {
			panel.Band(c, look.Fade(r.style.Color, 0.2), low, high)
			low, high = nil, nil
		}
		for i, p := range points {
			if !bounded(p.Low, p.High) {
				flush()
				continue
			}
			low = append(low, vg.Point{X: x(xs[i]), Y: y(p.Low)})
			high = append(high, vg.Point{X: x(xs[i]), Y: y(p.High)})
		}
		flush()
	}
}

func (r ranking) line() panel.Painter {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		xs, points := r.thinned()
		var at []vg.Point
		for i, p := range points {
			at = append(at, vg.Point{X: x(xs[i]), Y: y(p.R)})
		}
		if len(at) > 1 {
			c.StrokeLines(look.Stroke(r.style.Color, 1, r.style.Dashes...), at)
		}
		if len(r.points) > 1 && len(r.points) <= maxMarked {
			look.Marks{Marker: r.style.Marker, Radius: 1.5, Fill: r.style.Color, Outline: r.style.Color}.Draw(c, at)
		}
	}
}

// mark draws the chosen set, and the only one.
func (r ranking) mark() panel.Painter {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		i, radius := r.chosen, vg.Length(3)
		if len(r.points) == 1 {
			i, radius = 0, 2.2
			if p := r.points[0]; bounded(p.Low, p.High) {
				at := x(r.x[0])
				panel.Bars(c, look.Stroke(r.style.Color, 1), [][2]vg.Point{
					{{X: at, Y: y(p.Low)}, {X: at, Y: y(p.High)}},
					{{X: at - 2, Y: y(p.Low)}, {X: at + 2, Y: y(p.Low)}},
					{{X: at - 2, Y: y(p.High)}, {X: at + 2, Y: y(p.High)}},
				})
			}
		}
		if i < 0 {
			return
		}
		outline := r.style.Color
		if i == r.chosen {
			outline = look.Black
		}
		look.Marks{Marker: r.style.Marker, Radius: radius, Fill: r.style.Color, Outline: outline}.Draw(c, []vg.Point{{X: x(r.x[i]), Y: y(r.points[i].R)}})
	}
}

// ceilingLine is a level line with its value.
func ceilingLine(ceiling float64) panel.Painter {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		at := y(ceiling)
		c.StrokeLine2(look.Stroke(look.Grey, 0.6, 1, 1.5), c.Min.X, at, c.Max.X, at)
		look.Write(c, look.Ink(look.Small, look.Grey), 0, vg.Point{X: c.Min.X + 3, Y: at - 7}, "ceiling on r "+number(ceiling))
	}
}

// fits is the legend: a line for each model with the fit of its chosen set.
func fits(ranked []ranking, width vg.Length) sheet.Block {
	s, head := look.Ink(look.Small, look.Black), look.Ink(look.Small, look.Grey)
	rows := make([][3]string, len(ranked))
	title := [3]string{"model", "r of chosen set", "sets"}
	second, third := s.Width(title[1]), s.Width(title[2])
	for i, r := range ranked {
		rows[i] = [3]string{look.Clean(r.model), r.chosenFit(), r.count()}
	}
	for _, row := range rows {
		second = max(second, s.Width(row[1]))
		third = max(third, s.Width(row[2]))
	}
	first := panel.SampleWidth + 4 + s.Width(title[0])
	for _, row := range rows {
		first = max(first, panel.SampleWidth+4+s.Width(row[0]))
	}
	first = min(first, width-second-third-16)
	rest := width - first - third - 16
	return sheet.Block{Height: look.Line * vg.Length(len(rows)+1), Draw: func(c draw.Canvas) {
		put := func(i int, st text.Style, cells [3]string) {
			base := c.Max.Y - vg.Length(i)*look.Line - look.Small + 0.5
			look.Write(c, st, 0, vg.Point{X: c.Min.X + panel.SampleWidth + 4, Y: base}, look.Shorten(st, cells[0], first-panel.SampleWidth-4))
			look.Write(c, st, 0, vg.Point{X: c.Min.X + first + 8, Y: base}, look.Shorten(st, cells[1], rest))
			look.Write(c, st, 1, vg.Point{X: c.Max.X, Y: base}, cells[2])
		}
		put(0, head, title)
		for i, row := range rows {
			y := c.Max.Y - vg.Length(i+1)*look.Line - look.Small + 3
			panel.LineSample(ranked[i].style, ranked[i].style.Color)(c, c.Min.X, c.Min.X+panel.SampleWidth, y)
			put(i+1, s, row)
		}
	}}
}

func (r ranking) chosenFit() string {
	i := r.chosen
	if i < 0 && len(r.points) == 1 {
		i = 0
	}
	if i < 0 {
		if len(r.points) == 0 {
			return "undefined"
		}
		return "none chosen"
	}
	p := r.points[i]
	if !bounded(p.Low, p.High) {
		return number(p.R)
	}
	return number(p.R) + " " + interval(p.Low, p.High)
}

func (r ranking) count() string {
	n := words.Thousands(len(r.points))
	if r.undefined > 0 {
		n += fmt.Sprintf(" (+%d left out)", r.undefined)
	}
	return n
}

func describeSensitivity(ranked []ranking, o SensitivityOptions) string {
	var b strings.Builder
	b.WriteString("Correlation of each parameter set with people, ordered by r within each model; band: " + look.Clean(o.Interval) + ".")
	for _, r := range ranked {
		fmt.Fprintf(&b, " %s: %s sets", look.Clean(r.model), r.count())
		if n := len(r.points); n > 0 {
			fmt.Fprintf(&b, ", r from %s to %s", number(r.points[0].R), number(r.points[n-1].R))
		}
		if r.chosen >= 0 {
			fmt.Fprintf(&b, ", chosen %s", r.chosenFit())
			if label := r.points[r.chosen].Label; label != "" {
				fmt.Fprintf(&b, " (%s)", look.Clean(label))
			}
		}
		if len(r.points) > maxDrawn {
			fmt.Fprintf(&b, ", drawn as the means of %d groups of neighbouring ranks", maxDrawn)
		}
		b.WriteString(".")
	}
	if known(o.Ceiling) {
		fmt.Fprintf(&b, " Ceiling on r %s.", number(o.Ceiling))
	}
	return b.String()
}
