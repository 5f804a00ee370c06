package figure

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"foible.dev/foible/core/figure/internal/look"
	"foible.dev/foible/core/figure/internal/panel"
	"foible.dev/foible/core/figure/internal/sheet"
	"foible.dev/foible/core/words"
)

// ProfilePanel is how r depends on one axis of a model.
type ProfilePanel struct {
	Axis   string
	Labels []string  // of the values, in their order
	Values []float64 // ascending, as many; nil for words
	Best   []float64 // highest r over the other axes, at each value; NaN = undefined
	Mean   []float64 // mean r over the other axes
	Chosen int       // index of the reported value, -1 for none
}

// Profile shows what each axis does to a model's fit: the highest r and the mean
// r over all other axes against the values of the axis, in panels that share the
// axis of r. Values stand where they are on a line, or on a logarithmic one if
// they span a factor of 20; words at equal distances. More than 400 values are
// drawn in 200 groups of neighbours, each at its highest r and its mean one.
func Profile(title, model string, panels []ProfilePanel) *Figure {
	cols, width := min(len(panels), 5), sheet.Page
	if len(panels) <= 2 {
		cols, width = max(1, len(panels)), sheet.Column
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range panels {
		for i := range p.Best {
			for _, r := range []float64{p.Best[i], p.Mean[i]} {
				if correlation(r) {
					lo, hi = min(lo, r), max(hi, r)
				}
			}
		}
	}
	if lo > hi {
		lo, hi = 0, 1
	}
	room := max(0.08*(hi-lo), 0.05-(hi-lo)/2, 0.01)
	lo, hi = max(-1.02, lo-room), min(1.02, hi+room)
	if len(panels) == 0 {
		panels = []ProfilePanel{{Chosen: -1}}
	}
	plots := make([]*plot.Plot, len(panels))
	for i := range panels {
		p := panels[i].thinned()
		q := panel.New()
		label := panel.Decimal
		if i%cols > 0 {
			label = panel.Unlabelled
		} else {
			q.Y.Label.Text = "correlation, r"
		}
		panel.Span(&q.Y, lo, hi, panel.Ticks(max(lo, -1), min(hi, 1)), label)
		at, name := p.places(), p.Axis
		if p.logarithmic() {
			name += " (log)"
		}
		first, last := -1.0, 1.0
		if n := len(at); n > 0 {
			first, last = at[0], at[n-1]
		}
		spread := max(last-first, 1e-9)
		q.X.Min, q.X.Max = first-0.06*spread, last+0.06*spread
		q.X.Tick.Marker = valueTicks{at, p.Labels, q.X.Tick.Label.Width, dataWidth(width, cols)}
		q.Add(panel.Heading(name), p.curves(model, at))
		plots[i] = q
	}
	inner := width - 2*sheet.Margin
	blocks := []sheet.Block{}
	if title != "" {
		blocks = append(blocks, sheet.Caption(title, inner))
	}
	s := look.Of(model)
	mean := s
	mean.Color, mean.Dashes = look.Grey, []vg.Length{2, 1.5}
	blocks = append(
		blocks,
		panel.Grid{Panels: panel.Tile(plots, cols), Across: "value", DataHeight: func(w vg.Length) vg.Length { return max(64, min(w, 1.3*vg.Inch)) }}.Block(inner),
		panel.Flow([]panel.Entry{
			{Sample: panel.LineSample(look.Look{Color: s.Color, Marker: s.Marker}, s.Color), Width: panel.SampleWidth, Text: "highest r over the other parameters"},
			{Sample: panel.LineSample(mean, look.White), Width: panel.SampleWidth, Text: "mean r over the other parameters"},
		}, inner),
	)
	return stack(width, titled(title, "Profile of r"), describeProfile(model, panels), blocks...)
}

// thinned is the panel as drawn.
func (p ProfilePanel) thinned() *ProfilePanel {
	n := len(p.Labels)
	if n <= 2*maxDrawn {
		return &p
	}
	out := ProfilePanel{Axis: p.Axis, Chosen: -1}
	for g := range maxDrawn {
		from, to := g*n/maxDrawn, (g+1)*n/maxDrawn
		at, best, sum, known := (from+to)/2, math.NaN(), 0.0, 0.0
		for i := from; i < to; i++ {
			if correlation(p.Best[i]) && !(best >= p.Best[i]) {
				best, at = p.Best[i], i
			}
			if correlation(p.Mean[i]) {
				sum += p.Mean[i]
				known++
			}
		}
		if from <= p.Chosen && p.Chosen < to {
			out.Chosen = g
		}
		out.Labels = append(out.Labels, p.Labels[at])
		if p.Values != nil {
			out.Values = append(out.Values, p.Values[at])
		}
		out.Best, out.Mean = append(out.Best, best), append(out.Mean, sum/known)
	}
	return &out
}

func (p *ProfilePanel) logarithmic() bool {
	n := len(p.Values)
	return n > 2 && p.Values[0] > 0 && p.Values[n-1]/p.Values[0] >= 20
}

// places are where the values stand on the horizontal axis.
func (p *ProfilePanel) places() []float64 {
	at := make([]float64, len(p.Labels))
	for i := range at {
		switch {
		case len(p.Values) == 0:
			at[i] = float64(i)
		case p.logarithmic():
			at[i] = math.Log(p.Values[i])
		default:
			at[i] = p.Values[i]
		}
	}
	return at
}

// maxProfileMarks is the number of values up to which each has a marker.
const maxProfileMarks = 30

func (p *ProfilePanel) curves(model string, places []float64) panel.Painter {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		s := look.Of(model)
		if len(places) == 0 {
			panel.Notice("no parameter varies").Plot(c, nil)
		}
		through := func(rs []float64, line draw.LineStyle, fill, outline color.Color) {
			var run, all []vg.Point
			flush := func() {
				if len(run) > 1 {
					c.StrokeLines(line, run)
				}
				run = nil
			}
			for i, r := range rs {
				if !correlation(r) {
					flush()
					continue
				}
				pt := vg.Point{X: x(places[i]), Y: y(r)}
				run, all = append(run, pt), append(all, pt)
			}
			flush()
			if len(places) <= maxProfileMarks {
				look.Marks{Marker: s.Marker, Radius: 1.6, Fill: fill, Outline: outline}.Draw(c, all)
			}
		}
		through(p.Mean, look.Stroke(look.Grey, 0.8, 2, 1.5), look.White, look.Grey)
		through(p.Best, look.Stroke(s.Color, 1), s.Color, s.Color)
		if i := p.Chosen; i >= 0 && i < len(p.Best) && correlation(p.Best[i]) {
			look.Marks{Marker: s.Marker, Radius: 3, Fill: s.Color, Outline: look.Black}.Draw(c, []vg.Point{{X: x(places[i]), Y: y(p.Best[i])}})
		}
	}
}

// valueTicks marks values, and labels those for which there is room; of more
// than maxProfileMarks it marks only these.
type valueTicks struct {
	at      []float64
	labels  []string
	measure func(string) vg.Length
	width   vg.Length
}

// Ticks implements plot.Ticker.
func (v valueTicks) Ticks(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	free := vg.Length(math.Inf(-1))
	end := func(i int, sign vg.Length) vg.Length {
		return vg.Length((v.at[i]-lo)/(hi-lo))*v.width + sign*(v.measure(v.label(i))/2+1.5)
	}
	for i := range v.at {
		label := " "
		last := len(v.at) - 1
		if end(i, -1) >= free && (i == last || end(i, 1) <= end(last, -1)) {
			label = v.label(i)
			free = end(i, 1)
		}
		if label != " " || len(v.at) <= maxProfileMarks {
			ticks = append(ticks, plot.Tick{Value: v.at[i], Label: label})
		}
	}
	return ticks
}

func (v valueTicks) label(i int) string {
	if x, err := strconv.ParseFloat(v.labels[i], 64); err == nil && math.Abs(x) < 1 {
		return words.Unpadded(v.labels[i])
	}
	return strings.Replace(v.labels[i], "-", "−", 1)
}

func describeProfile(model string, panels []ProfilePanel) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Highest and mean correlation of %s with people at each value of a parameter, over all values of the others.", look.Clean(model))
	for _, p := range panels {
		if len(p.Labels) == 0 {
			continue
		}
		fmt.Fprintf(&b, " %s:", look.Clean(p.Axis))
		best := -1
		for i, r := range p.Best {
			if correlation(r) && (best < 0 || r > p.Best[best]) {
				best = i
			}
		}
		fmt.Fprintf(&b, " %s values from %s to %s", words.Thousands(len(p.Labels)), look.Clean(p.Labels[0]), look.Clean(p.Labels[len(p.Labels)-1]))
		if best >= 0 {
			fmt.Fprintf(&b, ", highest r %s at %s", number(p.Best[best]), look.Clean(p.Labels[best]))
		}
		b.WriteString(".")
	}
	return b.String()
}
