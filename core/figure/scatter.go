package figure

import (
	"fmt"
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

// Panel is one scatter plot, of all stimuli or of a category.
type Panel struct {
	Category  string
	Points    []ScatterPoint
	R         float64 // correlation; NaN = undefined
	Low, High float64 // its interval; none unless Low < High
	N         int     // points that R is over
	Ceiling   float64 // the r that the people's noise leaves to a perfect model; 0 = not shown
}

// ScatterPoint is one stimulus, judgement step and goal.
type ScatterPoint struct {
	Model  float64 // the model's probability
	Human  float64 // mean judgement
	SE     float64 // its standard error; 0 = not known
	Series string  // the model's name, which gives colour and marker
	MCSE   float64 // Monte-Carlo standard error of the model's probability; 0 = none
}

// Scatter shows people's judgements against a model's inferences: square panels
// from 0 to 1 that share their axes, with the identity line, ±1 standard error
// of people and model. Above each panel are r, its interval, n and the ceiling on r.
// Points that are not finite are left out.
func Scatter(title string, panels []Panel) *Figure {
	cols, width := 3, sheet.Page
	switch n := len(panels); {
	case n <= 2:
		cols, width = max(1, n), sheet.Column
	case n == 4 || n > 6:
		cols = 4
	}
	if len(panels) == 0 {
		panels = []Panel{{}}
	}
	var outside []float64
	var series []string
	most := 0
	judged, inferred := "human judgements", "inferred by model"
	for _, p := range panels {
		most = max(most, len(p.Points))
		for _, pt := range p.Points {
			if finite(pt.Model, pt.Human) {
				outside = append(outside, pt.Model, pt.Human)
				if pt.SE > 0 {
					judged = "human judgements, ±1 SE"
				}
				if pt.MCSE > 0 {
					inferred = "inferred by model, ±1 Monte-Carlo SE"
				}
				if !slices.Contains(series, pt.Series) {
					series = append(series, pt.Series)
				}
			}
		}
	}
	plots := make([]*plot.Plot, len(panels))
	for i, p := range panels {
		left := i%cols == 0
		q := panel.New()
		panel.Probability(&q.X, true, outside...)
		panel.Probability(&q.Y, left, outside...)
		if left {
			q.Y.Label.Text = judged
		}
		q.Add(panel.Headings{Title: p.Category, Below: p.lines()}, p.points(most > crowd))
		plots[i] = q
	}
	inner := width - 2*sheet.Margin
	var blocks []sheet.Block
	if title != "" {
		blocks = append(blocks, sheet.Caption(title, inner))
	}
	blocks = append(blocks, panel.Grid{Panels: panel.Tile(plots, cols), Across: inferred, DataHeight: func(w vg.Length) vg.Length { return w }}.Block(inner))
	var entries []panel.Entry
	for _, s := range series {
		if s != "" {
			entries = append(entries, panel.Entry{Sample: dotSample(look.Of(s), most > crowd), Width: 5, Text: s})
		}
	}
	if len(entries) > 0 {
		blocks = append(blocks, panel.Flow(entries, inner))
	}
	return stack(width, titled(title, "People against model"), describeScatter(panels), blocks...)
}

// identity is the line on which model and people agree.
func identity(c draw.Canvas, x, y func(float64) vg.Length) {
	c.StrokeLine2(look.Stroke(look.Grey, 0.5, 3, 2), x(0), y(0), x(1), y(1))
}

// crowd is the number of points from where on markers are small and hollow.
const crowd = 100

// points draws the identity line, the standard errors, and all markers on top.
func (p Panel) points(crowded bool) panel.Painter {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		var errors [][2]vg.Point
		var series []string
		at := make(map[string][]vg.Point)
		for _, pt := range p.Points {
			if !finite(pt.Model, pt.Human) {
				continue
			}
			if at[pt.Series] == nil {
				series = append(series, pt.Series)
			}
			at[pt.Series] = append(at[pt.Series], vg.Point{X: x(pt.Model), Y: y(pt.Human)})
			if finite(pt.SE) && pt.SE > 0 {
				errors = append(errors, [2]vg.Point{
					{X: x(pt.Model), Y: max(c.Min.Y, y(pt.Human-pt.SE))},
					{X: x(pt.Model), Y: min(c.Max.Y, y(pt.Human+pt.SE))},
				})
			}
			if finite(pt.MCSE) && pt.MCSE > 0 {
				errors = append(errors, [2]vg.Point{
					{X: max(c.Min.X, x(pt.Model-pt.MCSE)), Y: y(pt.Human)},
					{X: min(c.Max.X, x(pt.Model+pt.MCSE)), Y: y(pt.Human)},
				})
			}
		}
		if len(series) == 0 {
			panel.Notice("no data").Plot(c, nil)
			return
		}
		identity(c, x, y)
		panel.Bars(c, look.Stroke(look.Fade(look.Black, 0.25), 0.4), errors)
		for _, name := range series {
			dots(c, look.Of(name), at[name], crowded)
		}
	}
}

// dots are a model's markers: small and hollow in a crowd.
func dots(c draw.Canvas, s look.Look, at []vg.Point, crowded bool) {
	if crowded {
		look.Marks{Marker: s.Marker, Radius: 1.3, Outline: s.Color}.Draw(c, at)
		return
	}
	look.Marks{Marker: s.Marker, Radius: 1.8, Fill: look.Fade(s.Color, 0.45), Outline: s.Color}.Draw(c, at)
}

// dotSample is an example of dots.
func dotSample(s look.Look, crowded bool) panel.Sample {
	return func(c draw.Canvas, x0, x1, y vg.Length) {
		dots(c, s, []vg.Point{{X: (x0 + x1) / 2, Y: y}}, crowded)
	}
}

// lines are what is said of a panel above it: r with its interval; n and the ceiling.
func (p Panel) lines() []string {
	r := "r undefined"
	if correlation(p.R) && p.N > 0 {
		r = "r = " + number(p.R)
		if bounded(p.Low, p.High) {
			r += " " + interval(p.Low, p.High)
		}
	}
	n := "n = " + words.Thousands(max(0, p.N))
	if known(p.Ceiling) {
		n += ", ceiling on r " + number(p.Ceiling)
	}
	return []string{r, n}
}

func describeScatter(panels []Panel) string {
	var b strings.Builder
	b.WriteString("Mean judgement against model inference, with one standard error of the people.")
	for _, p := range panels {
		fmt.Fprintf(&b, " %s: %s.", look.Clean(p.Category), strings.Join(p.lines(), ", "))
	}
	return b.String()
}
