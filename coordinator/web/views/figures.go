package views

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"foible.dev/foible/core/diagnose"
	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/words"
)

// Drawing is a figure that has been drawn.
type Drawing struct {
	SVG                []byte
	spots              []figure.Spot
	width, height      float64
	title, description string
}

// Draw draws a figure.
func Draw(f *figure.Figure) (*Drawing, error) {
	var b bytes.Buffer
	if err := f.WriteSVG(&b); err != nil {
		return nil, err
	}
	d := &Drawing{SVG: b.Bytes(), spots: f.Spots(), title: f.Title(), description: f.Description()}
	d.width, d.height = f.Size()
	return d, nil
}

// Drawer is the drawing of a path at a version of what it is drawn from: one that is kept, or a new one.
type Drawer func(path, version string, figure func() (*figure.Figure, error)) (*Drawing, error)

// File is a figure, or its numbers, to be served.
type File struct {
	Name    string // without what a file's name ends in
	Path    string
	Version string // of what it is made from
	Figure  func() (*figure.Figure, error)
	Table   func(io.Writer) error // as CSV
}

// figureView is a figure in a page.
type figureView struct {
	Name          string // for people
	Path          string // without what a file's name ends in
	Version       string
	Width, Height int // points, rounded up
	ExactWidth    float64
	ExactHeight   float64
	Title         string
	Description   string
	Groups        []spotGroup
}

// spotGroup has the places of a model's parameter sets in a figure.
type spotGroup struct {
	Model string
	Spots []spotView
}

type spotView struct {
	X, Y  string
	Label string
	First bool   // by which a keyboard gets to the group: the best set
	Path  string // of the parameter set in the table
}

func newFigureView(name, path, version string, d *Drawing) *figureView {
	return &figureView{
		Name: name, Path: path, Version: version, Width: int(math.Ceil(d.width)), Height: int(math.Ceil(d.height)),
		ExactWidth: d.width, ExactHeight: d.height, Title: d.title, Description: d.description,
	}
}

// version of what figures of a sweep are drawn from.
func (l *Sweep) version() string { return fmt.Sprintf("%d-%t", l.Fits.version, l.Inside.Chosen != nil) }

func (l *Sweep) figure(name string) string { return SweepPath(l.GetSweepId()) + "/figures/" + name }

// curves are the fits by model. The chosen sets are the report's, once there are any.
func (l *Sweep) curves() (curves []figure.Curve, fits [][]fit) {
	for _, m := range model.Models {
		c := figure.Curve{Model: m.Name, Chosen: -1}
		var of []fit
		for f := range l.of(m.Name) {
			if slices.Contains(l.Inside.Chosen, f.set) {
				c.Chosen = len(of)
			}
			c.Points = append(c.Points, figure.Point{R: f.compared(), Low: f.low, High: f.high})
			of = append(of, f)
		}
		if len(of) > 0 {
			if c.Chosen >= 0 {
				c.Points[c.Chosen].Label = l.Inside.Sets[of[c.Chosen].set].Settings()
			}
			curves, fits = append(curves, c), append(fits, of)
		}
	}
	return curves, fits
}

// compared is r where it is compared with that of the best of its model, else NaN.
func (f *fit) compared() float64 {
	if !f.rival {
		return math.NaN()
	}
	return f.r
}

// of are the fits of a model.
func (l *Sweep) of(model string) iter.Seq[fit] {
	return func(yield func(fit) bool) {
		for _, f := range l.Fits.fits {
			if l.Inside.Sets[f.set].Model == model && !yield(f) {
				return
			}
		}
	}
}

func (l *Sweep) sensitivity() *figure.Figure {
	curves, _ := l.curves()
	o := figure.SensitivityOptions{Title: l.Title}
	if l.Fits.interval != "" {
		o.Interval = "95% interval by " + l.Fits.interval
	}
	return figure.Sensitivity(curves, o)
}

// sensitivityView is the plot with its places; each says which parameter set it is.
func (l *Sweep) sensitivityView(draw Drawer) (*figureView, error) {
	path := l.figure("sensitivity")
	d, err := draw(path, l.version(), func() (*figure.Figure, error) { return l.sensitivity(), nil })
	if err != nil {
		return nil, err
	}
	v := newFigureView("Sensitivity", path, l.version(), d)
	curves, fits := l.curves()
	for _, spot := range d.spots {
		if spot.Curve >= len(curves) || spot.Point >= len(fits[spot.Curve]) {
			continue
		}
		model := curves[spot.Curve].Model
		if n := len(v.Groups); n == 0 || v.Groups[n-1].Model != model {
			v.Groups = append(v.Groups, spotGroup{Model: model})
		}
		g := &v.Groups[len(v.Groups)-1]
		g.Spots = append(g.Spots, l.spot(spot, fits[spot.Curve][spot.Point]))
	}
	for _, g := range v.Groups {
		g.Spots[len(g.Spots)-1].First = true
	}
	return v, nil
}

func (l *Sweep) spot(at figure.Spot, f fit) spotView {
	set := &l.Inside.Sets[f.set]
	label := fmt.Sprintf("%s #%d: r = %s", set.Model, f.set+1, words.Decimals(f.r, 3))
	if in := interval(f); in != "" {
		label += " " + in
	}
	label += "; " + strings.ReplaceAll(set.Settings(), " ", ", ")
	return spotView{
		X: strconv.FormatFloat(at.X, 'f', 1, 64), Y: strconv.FormatFloat(at.Y, 'f', 1, 64), Label: label,
		Path: SweepPath(l.GetSweepId()) + "?" + Query{Filter: fmt.Sprintf("#%d", f.set+1), Sort: "r", Page: 1}.Encode() + "#fits",
	}
}

// profile is what each axis does to a model's fit; ErrNothing if none varies.
func (l *Sweep) profile(m model.Model) (*figure.Figure, error) {
	chosen := -1
	for _, i := range l.Inside.Chosen {
		if l.Inside.Sets[i].Model == m.Name {
			chosen = i
		}
	}
	var panels []figure.ProfilePanel
	for _, axis := range diagnose.Profiles(m, func(yield func(*model.ParameterSet, float64) bool) {
		for f := range l.of(m.Name) {
			if !yield(&l.Inside.Sets[f.set], f.compared()) {
				return
			}
		}
	}) {
		p := figure.ProfilePanel{Axis: axis.Axis, Best: axis.Best, Mean: axis.Mean, Chosen: -1}
		for k, v := range axis.Values {
			p.Labels = append(p.Labels, v.String())
			if v.Word == "" {
				p.Values = append(p.Values, v.Number)
			}
			if chosen >= 0 {
				if of, _ := l.Inside.Sets[chosen].Get(axis.Axis); of == v {
					p.Chosen = k
				}
			}
		}
		panels = append(panels, p)
	}
	if panels == nil {
		return nil, ErrNothing
	}
	return figure.Profile(l.Title+": "+m.Name, m.Name, panels), nil
}

// profiles are the figures of models with an axis that varies.
func (l *Sweep) profiles(draw Drawer) []*figureView {
	var views []*figureView
	for _, m := range model.Models {
		path := l.figure("profile-" + m.Name)
		d, err := draw(path, l.version(), func() (*figure.Figure, error) { return l.profile(m) })
		if err == nil {
			views = append(views, newFigureView(m.Name, path, l.version(), d))
		}
	}
	return views
}

// ErrNothing is of a figure that would have nothing to show.
var ErrNothing = errors.New("nothing to show")

// File is a figure of the sweep, or its numbers, by its name; false if there is none.
func (l *Sweep) File(name string) (File, bool) {
	f := File{Name: l.GetSweepId() + "-" + name, Path: l.figure(name), Version: l.version()}
	switch modelName, isProfile := strings.CutPrefix(name, "profile-"); {
	case name == "sensitivity":
		f.Table, f.Figure = l.writeFits, func() (*figure.Figure, error) { return l.sensitivity(), nil }
	case name == "coverage":
		f.Table, f.Figure = l.writeCoverage, func() (*figure.Figure, error) { return l.coverage(), nil }
		f.Version = fmt.Sprint(l.GetProgress().GetCellsDone())
	case isProfile:
		m, _ := model.ByName(modelName) // one that is not there has nothing to show
		f.Table, f.Figure = func(to io.Writer) error { return l.writeProfile(to, m) }, func() (*figure.Figure, error) { return l.profile(m) }
	default:
		return File{}, false
	}
	return f, true
}

// coverage is the heat map of a sweep's progress.
func (l *Sweep) coverage() *figure.Figure {
	h := figure.HeatMap{Title: l.Title, What: "cells done"}
	for _, c := range l.Inside.Coverage {
		h.Columns = append(h.Columns, cmp.Or(c.Model, reportName))
	}
	for i := range l.Inside.Stimuli {
		h.Rows = append(h.Rows, l.Inside.Stimuli[i].Stimulus)
		parts := make([]float64, len(l.Inside.Coverage))
		for j, c := range l.Inside.Coverage {
			parts[j] = float64(c.Done[i]) / float64(max(1, c.Sets))
		}
		h.Parts = append(h.Parts, parts)
	}
	return figure.Heat(h)
}

// writeFits writes all fits, a row a parameter set.
func (l *Sweep) writeFits(to io.Writer) error {
	out := csv.NewWriter(to)
	header := []string{"model", "parameter_set"}
	for _, axis := range model.Axes {
		header = append(header, axis.Name)
	}
	_ = out.Write(append(header, "n", "complete", "pearson_r", "ci_low", "ci_high", "mc_se", "rmse")) // Flush has the error
	fits := slices.Clone(l.Fits.fits)
	slices.SortFunc(fits, func(a, b fit) int { return a.set - b.set })
	for _, f := range fits {
		set := &l.Inside.Sets[f.set]
		row := []string{set.Model, strconv.Itoa(f.set + 1)}
		for _, axis := range model.Axes {
			text := ""
			if v, ok := set.Get(axis.Name); ok {
				text = v.String()
			}
			row = append(row, text)
		}
		low, high := "", ""
		if f.low < f.high {
			low, high = number(f.low), number(f.high)
		}
		_ = out.Write(append(row, strconv.Itoa(f.n), map[bool]string{true: "yes", false: "no"}[f.complete], number(f.r), low, high, number(f.mcse), number(f.rmse)))
	}
	out.Flush()
	return out.Error()
}

// number is empty where there is none.
func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func (l *Sweep) writeCoverage(to io.Writer) error {
	out := csv.NewWriter(to)
	_ = out.Write([]string{"stimulus", "model", "cells", "cells_done"})
	for _, c := range l.Inside.Coverage {
		for i, done := range c.Done {
			_ = out.Write([]string{l.Inside.Stimuli[i].Stimulus, cmp.Or(c.Model, reportName), strconv.Itoa(c.Sets), strconv.Itoa(done)})
		}
	}
	out.Flush()
	return out.Error()
}

func (l *Sweep) writeProfile(to io.Writer, m model.Model) error {
	out := csv.NewWriter(to)
	_ = out.Write([]string{"model", "axis", "axis_value", "highest_r", "mean_r"})
	for _, axis := range diagnose.Profiles(m, func(yield func(*model.ParameterSet, float64) bool) {
		for f := range l.of(m.Name) {
			if !yield(&l.Inside.Sets[f.set], f.compared()) {
				return
			}
		}
	}) {
		for k, v := range axis.Values {
			_ = out.Write([]string{m.Name, axis.Axis, v.String(), number(axis.Best[k]), number(axis.Mean[k])})
		}
	}
	out.Flush()
	return out.Error()
}
