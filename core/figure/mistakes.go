package figure

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"foible.dev/foible/core/figure/internal/look"
	"foible.dev/foible/core/figure/internal/panel"
	"foible.dev/foible/core/figure/internal/sheet"
	"foible.dev/foible/core/optional"
)

// lanes are the kinds of mistakes, from top to bottom.
var lanes = []struct {
	name string
	of   func(*MistakeCourse) optional.Value[[]float64]
}{
	{"goal confused", func(m *MistakeCourse) optional.Value[[]float64] { return optional.Known(m.Confused) }},
	{"slip", func(m *MistakeCourse) optional.Value[[]float64] { return optional.Known(m.Slip) }},
	{"plan off the path", func(m *MistakeCourse) optional.Value[[]float64] { return m.OffPath }},
}

// laneHeight is that of a lane with the name above it; bars fill a share of it.
const (
	laneHeight = vg.Length(23)
	laneShare  = 0.58
)

// strips has a panel for each model, as wide as those above it, with a lane for
// each kind of mistake.
func strips(mistakes []MistakeCourse, cols int, judged []int, last int, width vg.Length) sheet.Block {
	plots := make([]*plot.Plot, (len(mistakes)+cols-1)/cols*cols)
	for i := range plots {
		left, bottom := i%cols == 0, i+cols >= len(mistakes)
		q := panel.New()
		plots[i] = q
		var ends []float64
		for k := range lanes {
			ends = append(ends, float64(k), float64(k)+laneShare)
		}
		panel.Span(&q.Y, 0, float64(len(lanes)), ends, func(v float64) string {
			switch {
			case !left:
				return ""
			case v == math.Trunc(v):
				return "0"
			}
			return " 1" // as wide as the .5 of a probability, so that panels stand below each other
		})
		stepAxis(&q.X, judged, last, bottom && i < len(mistakes), dataWidth(width, cols))
		if i >= len(mistakes) { // keeps the place, so that the others are as wide as those above
			for _, a := range []*plot.Axis{&q.X, &q.Y} {
				a.Color, a.Tick.Color = look.White, look.White
			}
			continue
		}
		if left {
			q.Y.Label.Text = "mistakes"
		}
		q.Add(panel.Heading(mistakes[i].Model), rules(judged), mistakes[i].lanes())
	}
	return panel.Grid{Panels: panel.Tile(plots, cols), Across: "actions seen", Under: len(mistakes), DataHeight: func(vg.Length) vg.Length { return laneHeight * vg.Length(len(lanes)) }}.Block(width - 2*sheet.Margin)
}

const aboutMistakes = "Mistakes: probability that behind an action is a goal taken for the agent's own, an action other than intended, or a plan that ends off every shortest path to its goal."

// lanes draws each probability as a step over the time of its action, and a
// base line.
func (m *MistakeCourse) lanes() panel.Painter {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		s := look.Of(m.Model)
		for i, lane := range lanes {
			base := float64(len(lanes) - 1 - i)
			at := func(step int, p float64) vg.Point {
				return vg.Point{X: x(float64(step)), Y: y(base + laneShare*max(0, min(1, p)))}
			}
			c.StrokeLine2(look.Stroke(look.LightGrey, 0.4), c.Min.X, y(base), c.Max.X, y(base))
			var top, floor []vg.Point
			flush := func() {
				panel.Band(c, look.Fade(s.Color, 0.35), floor, top)
				if len(top) > 0 {
					c.StrokeLines(look.Stroke(s.Color, 0.8), top)
				}
				top, floor = nil, nil
			}
			ps, known := lane.of(m).Get()
			if !known {
				look.Write(c, look.Ink(look.Small, look.Black), 0, vg.Point{X: c.Min.X + 2, Y: y(base + laneShare/4)}, "not known") // why is said below
			}
			for k, p := range ps {
				if !finite(p) {
					flush()
					continue
				}
				top = append(top, at(k, p), at(k+1, p))
				floor = append(floor, at(k, 0), at(k+1, 0))
			}
			flush()
			look.Write(c, look.Ink(look.Small, look.Black), 0, vg.Point{X: c.Min.X + 2, Y: y(base+laneShare) + 2}, look.Shorten(look.Ink(look.Small, look.Black), lane.name, c.Max.X-c.Min.X-2))
		}
	}
}

// remarkMistakes says what the lanes are, and why some are not known.
func remarkMistakes(mistakes []MistakeCourse) string {
	for _, m := range mistakes {
		if _, known := m.OffPath.Get(); !known && m.Unknown != "" {
			return aboutMistakes + " Plans off the path: " + m.Unknown + "."
		}
	}
	return aboutMistakes
}

func describeMistakes(mistakes []MistakeCourse) string {
	var b strings.Builder
	for _, m := range mistakes {
		fmt.Fprintf(&b, " Mistakes by %s:", look.Clean(m.Model))
		for _, lane := range lanes {
			most, at := math.Inf(-1), 0
			ps, known := lane.of(&m).Get()
			if !known {
				fmt.Fprintf(&b, " %s %s;", lane.name, m.Unknown)
			}
			for k, p := range ps {
				if finite(p) && p > most {
					most, at = p, k+1
				}
			}
			if at > 0 {
				fmt.Fprintf(&b, " %s at most %s, at step %d;", lane.name, number(most), at)
			}
		}
	}
	return b.String()
}
