package web

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"foible.dev/foible/core/diagnose"
	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/words"
)

// drawing is a figure as it was drawn once.
type drawing struct {
	mu                 sync.Mutex // guards what follows; held while it is drawn, so that it is drawn once
	svg                []byte     // nil: it has not been drawn
	spots              []figure.Spot
	width, height      float64
	title, description string
}

// draw is the drawing of a name at a version of what it is drawn from. Pages ask for what they show by its version, so
// that a figure fits what stands around it though the sweep goes on.
func (s *Server) draw(name, version string, drawn func() (*figure.Figure, error)) (*drawing, error) {
	d := s.drawings.get(name+"?"+version, func() *drawing { return &drawing{} })
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.svg != nil {
		return d, nil
	}
	f, err := drawn()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := f.WriteSVG(&b); err != nil {
		return nil, err
	}
	d.svg, d.spots, d.title, d.description = b.Bytes(), f.Spots(), f.Title(), f.Description()
	d.width, d.height = f.Size()
	return d, nil
}

// drawn is the drawing that a page has asked for by its version; nil if it is not kept any more.
func (s *Server) drawn(name, version string) *drawing {
	d, ok := s.drawings.find(name + "?" + version)
	if !ok {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.svg == nil {
		return nil
	}
	return d
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

func newFigureView(name, path, version string, d *drawing) *figureView {
	return &figureView{
		Name: name, Path: path, Version: version, Width: int(math.Ceil(d.width)), Height: int(math.Ceil(d.height)),
		ExactWidth: d.width, ExactHeight: d.height, Title: d.title, Description: d.description,
	}
}

// version of what figures of a sweep are drawn from.
func (l *look) version() string { return fmt.Sprintf("%d-%t", l.fits.version, l.in.Chosen != nil) }

func (l *look) figure(name string) string { return sweepPath(l.GetSweepId()) + "/figures/" + name }

// curves are the fits by model. The chosen sets are the report's, once there are any.
func (l *look) curves() (curves []figure.Curve, fits [][]fit) {
	for _, m := range model.Models {
		c := figure.Curve{Model: m.Name, Chosen: -1}
		var of []fit
		for f := range l.of(m.Name) {
			if slices.Contains(l.in.Chosen, f.set) {
				c.Chosen = len(of)
			}
			c.Points = append(c.Points, figure.Point{R: f.compared(), Low: f.low, High: f.high})
			of = append(of, f)
		}
		if len(of) > 0 {
			if c.Chosen >= 0 {
				c.Points[c.Chosen].Label = l.in.Sets[of[c.Chosen].set].Settings()
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
func (l *look) of(model string) iter.Seq[fit] {
	return func(yield func(fit) bool) {
		for _, f := range l.fits.fits {
			if l.in.Sets[f.set].Model == model && !yield(f) {
				return
			}
		}
	}
}

func (l *look) sensitivity() *figure.Figure {
	curves, _ := l.curves()
	o := figure.SensitivityOptions{Title: l.title}
	if l.fits.interval != "" {
		o.Interval = "95% interval by " + l.fits.interval
	}
	return figure.Sensitivity(curves, o)
}

// sensitivity is the plot with its places, each of which says which parameter set it is.
func (s *Server) sensitivity(l *look) (*figureView, error) {
	path := l.figure("sensitivity")
	d, err := s.draw(path, l.version(), func() (*figure.Figure, error) { return l.sensitivity(), nil })
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

func (l *look) spot(at figure.Spot, f fit) spotView {
	set := &l.in.Sets[f.set]
	label := fmt.Sprintf("%s #%d: r = %s", set.Model, f.set+1, words.Decimals(f.r, 3))
	if in := interval(f); in != "" {
		label += " " + in
	}
	label += "; " + strings.ReplaceAll(set.Settings(), " ", ", ")
	return spotView{
		X: strconv.FormatFloat(at.X, 'f', 1, 64), Y: strconv.FormatFloat(at.Y, 'f', 1, 64), Label: label,
		Path: sweepPath(l.GetSweepId()) + "?" + fitsQuery{Filter: fmt.Sprintf("#%d", f.set+1), Sort: "r", Page: 1}.Encode() + "#fits",
	}
}

// profile is what each axis does to a model's fit; errNothing if none varies.
func (l *look) profile(m model.Model) (*figure.Figure, error) {
	chosen := -1
	for _, i := range l.in.Chosen {
		if l.in.Sets[i].Model == m.Name {
			chosen = i
		}
	}
	var panels []figure.ProfilePanel
	for _, axis := range diagnose.Profiles(m, func(yield func(*model.ParameterSet, float64) bool) {
		for f := range l.of(m.Name) {
			if !yield(&l.in.Sets[f.set], f.compared()) {
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
				if of, _ := l.in.Sets[chosen].Get(axis.Axis); of == v {
					p.Chosen = k
				}
			}
		}
		panels = append(panels, p)
	}
	if panels == nil {
		return nil, errNothing
	}
	return figure.Profile(l.title+": "+m.Name, m.Name, panels), nil
}

// profiles are the figures of models with an axis that varies.
func (s *Server) profiles(l *look) []*figureView {
	var views []*figureView
	for _, m := range model.Models {
		path := l.figure("profile-" + m.Name)
		d, err := s.draw(path, l.version(), func() (*figure.Figure, error) { return l.profile(m) })
		if err == nil {
			views = append(views, newFigureView(m.Name, path, l.version(), d))
		}
	}
	return views
}

// errNothing is of a figure that would have nothing to show.
var errNothing = errors.New("nothing to show")

// sweepFigure answers with a figure of a sweep, or its numbers, by the name of a file.
func (s *Server) sweepFigure(w http.ResponseWriter, r *http.Request, v *visitor) {
	l, err := s.look(r.Context(), r.PathValue("sweep"))
	if err != nil {
		s.failed(w, r, v, err)
		return
	}
	kind := path.Ext(r.PathValue("figure"))
	name := strings.TrimSuffix(r.PathValue("figure"), kind)
	version := l.version()
	var table func(io.Writer) error
	var draw func() (*figure.Figure, error)
	switch modelName, isProfile := strings.CutPrefix(name, "profile-"); {
	case name == "sensitivity":
		table, draw = l.writeFits, func() (*figure.Figure, error) { return l.sensitivity(), nil }
	case name == "coverage":
		table, draw = l.writeCoverage, func() (*figure.Figure, error) { return l.coverage(), nil }
		version = fmt.Sprint(l.GetProgress().GetCellsDone())
	case isProfile:
		m, _ := model.ByName(modelName) // one that is not there has nothing to show
		table, draw = func(to io.Writer) error { return l.writeProfile(to, m) }, func() (*figure.Figure, error) { return l.profile(m) }
	default:
		http.NotFound(w, r)
		return
	}
	s.serve(w, r, v, file{name: l.GetSweepId() + "-" + name, path: l.figure(name), version: version, kind: kind, draw: draw, table: table})
}

// coverage is the heat map of a sweep's progress.
func (l *look) coverage() *figure.Figure {
	h := figure.HeatMap{Title: l.title, What: "cells done"}
	for _, c := range l.in.Coverage {
		h.Columns = append(h.Columns, cmp.Or(c.Model, reportName))
	}
	for i := range l.in.Stimuli {
		h.Rows = append(h.Rows, l.in.Stimuli[i].Stimulus)
		parts := make([]float64, len(l.in.Coverage))
		for j, c := range l.in.Coverage {
			parts[j] = float64(c.Done[i]) / float64(max(1, c.Sets))
		}
		h.Parts = append(h.Parts, parts)
	}
	return figure.Heat(h)
}

// file is a figure, or its numbers, to be served.
type file struct {
	name, path, version string
	kind                string // .svg, .pdf, .csv
	draw                func() (*figure.Figure, error)
	table               func(io.Writer) error
}

var contentTypes = map[string]string{".svg": "image/svg+xml", ".pdf": "application/pdf", ".csv": "text/csv; charset=utf-8"}

// serve answers with a file. One that a page asks for by its version stays as it is.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, v *visitor, f file) {
	if contentTypes[f.kind] == "" {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	if version := r.FormValue("v"); version == "" {
		h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", fileName(f.name)+f.kind))
	} else if version == f.version || s.drawn(f.path, version) != nil {
		f.version = version
		h.Set("Cache-Control", "private, max-age=86400, immutable")
	}
	content, err := s.content(f)
	if errors.Is(err, errNothing) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		s.failed(w, r, v, err)
		return
	}
	h.Set("Content-Type", contentTypes[f.kind])
	h.Set("Content-Security-Policy", drawingPolicy)
	_, _ = w.Write(content) // who has gone need not have it
}

func (s *Server) content(f file) ([]byte, error) {
	var b bytes.Buffer
	switch f.kind {
	case ".csv":
		err := f.table(&b)
		return b.Bytes(), err
	case ".pdf":
		drawn, err := f.draw()
		if err == nil {
			err = drawn.WritePDF(&b)
		}
		return b.Bytes(), err
	}
	d, err := s.draw(f.path, f.version, f.draw)
	if err != nil {
		return nil, err
	}
	return d.svg, nil
}

// fileName is a name without what files' names should not have.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, s)
}

// writeFits writes all fits, a row a parameter set.
func (l *look) writeFits(to io.Writer) error {
	out := csv.NewWriter(to)
	header := []string{"model", "parameter_set"}
	for _, axis := range model.Axes {
		header = append(header, axis.Name)
	}
	_ = out.Write(append(header, "n", "complete", "pearson_r", "ci_low", "ci_high", "mc_se", "rmse")) // Flush has the error
	fits := slices.Clone(l.fits.fits)
	slices.SortFunc(fits, func(a, b fit) int { return a.set - b.set })
	for _, f := range fits {
		set := &l.in.Sets[f.set]
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

func (l *look) writeCoverage(to io.Writer) error {
	out := csv.NewWriter(to)
	_ = out.Write([]string{"stimulus", "model", "cells", "cells_done"})
	for _, c := range l.in.Coverage {
		for i, done := range c.Done {
			_ = out.Write([]string{l.in.Stimuli[i].Stimulus, cmp.Or(c.Model, reportName), strconv.Itoa(c.Sets), strconv.Itoa(done)})
		}
	}
	out.Flush()
	return out.Error()
}

func (l *look) writeProfile(to io.Writer, m model.Model) error {
	out := csv.NewWriter(to)
	_ = out.Write([]string{"model", "axis", "axis_value", "highest_r", "mean_r"})
	for _, axis := range diagnose.Profiles(m, func(yield func(*model.ParameterSet, float64) bool) {
		for f := range l.of(m.Name) {
			if !yield(&l.in.Sets[f.set], f.compared()) {
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
