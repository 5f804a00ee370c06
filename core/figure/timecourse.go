package figure

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"foible.dev/foible/core/figure/internal/look"
	"foible.dev/foible/core/figure/internal/panel"
	"foible.dev/foible/core/figure/internal/sheet"
	"foible.dev/foible/core/optional"
)

// CoursePanel is one goal of a stimulus over time. A step is the number of
// actions seen; 0 is the initial state.
type CoursePanel struct {
	Goal   string
	True   bool // the agent's own goal, which the heading says
	Human  []HumanPoint
	Models []Course
}

// HumanPoint is the people's judgement at a judgement step.
type HumanPoint struct {
	Step int
	Mean float64 // NaN = nobody answered
	SE   float64 // standard error of the mean; 0 = not known
}

// Course is a model's inference after each step.
type Course struct {
	Model       string
	Probability []float64 // [step]; NaN = undefined, a gap
}

// MistakeCourse is how probable mistakes are behind each action; [k] is the
// action that leads to step k + 1.
type MistakeCourse struct {
	Model          string
	Confused, Slip []float64 // probabilities
	OffPath        optional.Value[[]float64]
	Unknown        string // why OffPath is not known, if so
}

// TimeCourse shows one stimulus: a small panel for each goal, all on the same
// axes, people in black with a ribbon of ±1 standard error, models as lines in
// their colours with markers at the judgement steps, which rules and tick marks
// show. Below are the mistakes of models that know them, a strip for each kind.
func TimeCourse(title string, panels []CoursePanel, mistakes ...MistakeCourse) *Figure {
	cols, rows, width := len(panels), 1, sheet.Page
	if cols <= 2 {
		cols, width = max(1, cols), sheet.Column
	} else {
		rows = (cols + 4) / 5
		cols = (cols + rows - 1) / rows
	}
	if len(panels) == 0 {
		panels = []CoursePanel{{}}
	}
	judged, last := steps(panels)
	for _, m := range mistakes {
		last = max(last, len(m.Confused))
	}
	var outside []float64
	for _, p := range panels {
		for _, h := range p.Human {
			outside = append(outside, h.Mean)
		}
		for _, m := range p.Models {
			outside = append(outside, m.Probability...)
		}
	}
	plots := make([]*plot.Plot, len(panels))
	for i, p := range panels {
		left, bottom := i%cols == 0, i+cols >= len(panels)
		q := panel.New()
		panel.Probability(&q.Y, left, outside...)
		stepAxis(&q.X, judged, last, bottom, dataWidth(width, cols))
		if left {
			q.Y.Label.Text = "probability of goal"
		}
		name := p.Goal
		if p.True {
			name += " (true goal)"
		}
		q.Add(panel.Heading(name), rules(judged), p.ribbon(), p.courses(judged), p.people())
		plots[i] = q
	}
	inner := width - 2*sheet.Margin
	var blocks []sheet.Block
	if title != "" {
		blocks = append(blocks, sheet.Caption(title, inner))
	}
	blocks = append(blocks, panel.Grid{Panels: panel.Tile(plots, cols), Across: "actions seen", DataHeight: func(w vg.Length) vg.Length { return max(64, min(w, 1.3*vg.Inch)) }}.Block(inner))
	if len(mistakes) > 0 {
		blocks = append(blocks, strips(mistakes, cols, judged, last, width))
	}
	if entries := courseLegend(panels); len(entries) > 0 {
		blocks = append(blocks, panel.Flow(entries, inner))
	}
	if len(mistakes) > 0 {
		blocks = append(blocks, sheet.Remark(remarkMistakes(mistakes), inner))
	}
	return stack(width, titled(title, "Time course"), describeCourse(panels, judged)+describeMistakes(mistakes), blocks...)
}

// stepAxis spans an axis of steps, from 0 to the last.
func stepAxis(a *plot.Axis, judged []int, last int, labelled bool, width vg.Length) {
	a.Min, a.Max = -0.04*float64(last), 1.04*float64(last)
	a.Tick.Marker = stepTicks{judged, last, labelled, a.Tick.Label.Width, width}
}

// steps are the judgement steps of all panels, ascending, and the last step of
// anything drawn, at least 1.
func steps(panels []CoursePanel) (judged []int, last int) {
	last = 1
	for _, p := range panels {
		for _, h := range p.Human {
			judged = append(judged, h.Step)
			last = max(last, h.Step)
		}
		for _, m := range p.Models {
			last = max(last, len(m.Probability)-1)
		}
	}
	slices.Sort(judged)
	return slices.Compact(judged), last
}

// dataWidth is about the width of a panel's data area.
func dataWidth(width vg.Length, cols int) vg.Length {
	return (width - 2*sheet.Margin - 28) / vg.Length(cols) * 0.9
}

// stepTicks marks the judgement steps, and labels every one, or every second, or third, as there is room; with
// less than two, it also marks the first and last step.
type stepTicks struct {
	judged   []int
	last     int
	labelled bool
	measure  func(string) vg.Length
	width    vg.Length
}

// Ticks implements plot.Ticker.
func (s stepTicks) Ticks(lo, hi float64) []plot.Tick {
	at := s.judged
	if len(at) < 2 {
		at = append([]int{0, s.last}, at...)
		slices.Sort(at)
		at = slices.Compact(at)
	}
	stride := 1
	for stride < len(at) && s.crowded(at, stride, lo, hi) {
		stride++
	}
	var ticks []plot.Tick
	for i, step := range at {
		label := " "
		if s.labelled && i%stride == 0 {
			label = strconv.Itoa(step)
		}
		ticks = append(ticks, plot.Tick{Value: float64(step), Label: label})
	}
	return ticks
}

// crowded reports whether the labels of every stride-th step would touch.
func (s stepTicks) crowded(at []int, stride int, lo, hi float64) bool {
	free := vg.Length(math.Inf(-1))
	for i := 0; i < len(at); i += stride {
		label := strconv.Itoa(at[i])
		middle := vg.Length((float64(at[i])-lo)/(hi-lo)) * s.width
		half := s.measure(label)/2 + 1.5
		if middle-half < free {
			return true
		}
		free = middle + half
	}
	return false
}

// rules marks the judgement steps.
func rules(judged []int) panel.Painter {
	return func(c draw.Canvas, x, _ func(float64) vg.Length) {
		var pairs [][2]vg.Point
		for _, step := range judged {
			at := x(float64(step))
			pairs = append(pairs, [2]vg.Point{{X: at, Y: c.Min.Y}, {X: at, Y: c.Max.Y}})
		}
		panel.Bars(c, look.Stroke(look.Pale, 0.4), pairs)
	}
}

// answered are the steps that somebody judged, in order.
func (p CoursePanel) answered() []HumanPoint {
	var points []HumanPoint
	for _, h := range p.Human {
		if finite(h.Mean) {
			points = append(points, h)
		}
	}
	slices.SortStableFunc(points, func(a, b HumanPoint) int { return a.Step - b.Step })
	return points
}

// ribbon is the people's standard error; bars where a step stands by itself.
func (p CoursePanel) ribbon() panel.Painter {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		held := func(v float64) vg.Length { return max(c.Min.Y, min(c.Max.Y, y(v))) }
		var low, high []vg.Point
		for _, h := range p.answered() {
			if finite(h.SE) && h.SE > 0 {
				low = append(low, vg.Point{X: x(float64(h.Step)), Y: held(h.Mean - h.SE)})
				high = append(high, vg.Point{X: x(float64(h.Step)), Y: held(h.Mean + h.SE)})
			}
		}
		if len(low) == 1 {
			panel.Bars(c, look.Stroke(look.Black, 0.6), [][2]vg.Point{{low[0], high[0]}})
			return
		}
		panel.Band(c, look.Fade(look.Black, 0.2), low, high)
	}
}

func (p CoursePanel) people() panel.Painter {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		var at []vg.Point
		for _, h := range p.answered() {
			at = append(at, vg.Point{X: x(float64(h.Step)), Y: y(h.Mean)})
		}
		if len(at) > 1 {
			c.StrokeLines(look.Stroke(look.Black, 1), at)
		}
		look.Marks{Marker: look.Circle, Radius: 1.6, Fill: look.Black, Outline: look.Black}.Draw(c, at)
		if len(at) == 0 && len(p.Models) == 0 {
			panel.Notice("no data").Plot(c, nil)
		}
	}
}

func (p CoursePanel) courses(judged []int) panel.Painter {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		for _, m := range p.Models {
			s := look.Of(m.Model)
			var run, marked []vg.Point
			flush := func() {
				if len(run) == 1 {
					marked = append(marked, run[0])
				} else {
					c.StrokeLines(look.Stroke(s.Color, 1, s.Dashes...), run)
				}
				run = nil
			}
			for step, v := range m.Probability {
				if !finite(v) {
					flush()
					continue
				}
				at := vg.Point{X: x(float64(step)), Y: y(v)}
				run = append(run, at)
				if _, ok := slices.BinarySearch(judged, step); ok {
					marked = append(marked, at)
				}
			}
			flush()
			look.Marks{Marker: s.Marker, Radius: 1.5, Fill: look.White, Outline: s.Color}.Draw(c, marked)
		}
	}
}

// courseLegend names the people, then the models in order of first appearance.
func courseLegend(panels []CoursePanel) []panel.Entry {
	var entries []panel.Entry
	var models []string
	people, errors := false, false
	for _, p := range panels {
		for _, h := range p.answered() {
			people = true
			errors = errors || finite(h.SE) && h.SE > 0
		}
		for _, m := range p.Models {
			if !slices.Contains(models, m.Model) {
				models = append(models, m.Model)
			}
		}
	}
	if people {
		name := "people, mean"
		if errors {
			name += " ± 1 SE"
		}
		entries = append(entries, panel.Entry{Sample: peopleSample(errors), Width: panel.SampleWidth, Text: name})
	}
	for _, m := range models {
		entries = append(entries, panel.Entry{Sample: panel.LineSample(look.Of(m), look.White), Width: panel.SampleWidth, Text: m})
	}
	return entries
}

func peopleSample(errors bool) panel.Sample {
	return func(c draw.Canvas, x0, x1, y vg.Length) {
		if errors {
			low := []vg.Point{{X: x0, Y: y - 2.5}, {X: x1, Y: y - 2.5}}
			high := []vg.Point{{X: x0, Y: y + 2.5}, {X: x1, Y: y + 2.5}}
			panel.Band(c, look.Fade(look.Black, 0.2), low, high)
		}
		c.StrokeLine2(look.Stroke(look.Black, 1), x0, y, x1, y)
		look.Marks{Marker: look.Circle, Radius: 1.6, Fill: look.Black, Outline: look.Black}.Draw(c, []vg.Point{{X: (x0 + x1) / 2, Y: y}})
	}
}

func describeCourse(panels []CoursePanel, judged []int) string {
	var b strings.Builder
	b.WriteString("Probability of each goal after each action: human judgements at steps")
	for _, step := range judged {
		fmt.Fprintf(&b, " %d", step)
	}
	b.WriteString(", and inferred by models.")
	for _, p := range panels {
		fmt.Fprintf(&b, " %s:", look.Clean(p.Goal))
		if p.True {
			b.WriteString(" the true goal;")
		}
		if at := p.answered(); len(at) > 0 {
			fmt.Fprintf(&b, " people end at %s;", number(at[len(at)-1].Mean))
		}
		for _, m := range p.Models {
			if n := len(m.Probability); n > 0 && finite(m.Probability[n-1]) {
				fmt.Fprintf(&b, " %s ends at %s;", look.Clean(m.Model), number(m.Probability[n-1]))
			}
		}
	}
	return b.String()
}
