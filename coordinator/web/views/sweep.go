package views

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Sweep is a sweep as a page sees it. Nothing in it changes.
type Sweep struct {
	*foiblev1.Sweep
	Title  string      // of the study
	Few    []score.Few // statistics that a bootstrap does not give of the study
	Inside *Inside
	Fits   Fits
}

// Part is a part of a page, by the name of its template.
type Part struct {
	Key     any    // what tells it from others of its name
	Version string // of what it is made from
	View    func() (any, error)
}

// Parts are those of a sweep's page that are no numbers, by name.
func (l *Sweep) Parts(q Query, draw Drawer) map[string]Part {
	return map[string]Part{
		"coverage":    {nil, strconv.FormatInt(l.GetProgress().GetCellsDone(), 10), func() (any, error) { return newCoverageView(l), nil }},
		"best":        {nil, l.version(), func() (any, error) { return newBestViews(l), nil }},
		"sensitivity": {nil, l.version(), func() (any, error) { return l.sensitivityView(draw) }},
		"profiles":    {nil, l.version(), func() (any, error) { return l.profiles(draw), nil }},
		"fits":        {q, fmt.Sprint(l.version(), l.Fits.waiting), func() (any, error) { return newFitsView(l, q), nil }},
		"failures":    {nil, fmt.Sprint(len(l.Inside.Failures), l.GetProgress().GetCellsFailed()), func() (any, error) { return newFailureViews(l), nil }},
	}
}

// coverageView is a heat map: how far each model is on each stimulus.
type coverageView struct {
	Path   string
	Models []string
	Rows   []coverageRow
}

type coverageRow struct {
	Stimulus, Path string
	Cells          []heat
}

// heat is a part of a whole.
type heat struct {
	Level   int // 0 to 10 for the colour: 0 is nothing, 10 all
	Percent int
	Text    string
}

func newHeat(done, of int) heat {
	h := heat{Percent: 100 * done / max(1, of), Text: fmt.Sprintf("%s of %s", words.Thousands(int64(done)), words.Thousands(int64(of)))}
	h.Level = h.Percent / 10
	if h.Level == 0 && done > 0 {
		h.Level = 1
	}
	return h
}

// reportName stands for the report stage where models are named.
const reportName = "report"

func newCoverageView(l *Sweep) *coverageView {
	v := &coverageView{Path: SweepPath(l.GetSweepId())}
	for _, c := range l.Inside.Coverage {
		v.Models = append(v.Models, cmp.Or(c.Model, reportName))
	}
	for i := range l.Inside.Stimuli {
		id := l.Inside.Stimuli[i].Stimulus
		row := coverageRow{Stimulus: id, Path: v.Path + "/stimuli/" + url.PathEscape(id)}
		for _, c := range l.Inside.Coverage {
			row.Cells = append(row.Cells, newHeat(c.Done[i], c.Sets))
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// bestView is a model's best parameter set so far.
type bestView struct {
	Model, Settings string
	Set             int    // its place, from 1
	R, Interval     string // of the fit stage
	Reported        string // r of the report; "" before that
	MCSE, RMSE      string
	N               string // points; "12 of 16" where some are missing
}

type bestViews struct {
	Best       []bestView
	Interval   string
	Final      bool // the report's parameter sets have been chosen
	Reported   bool
	Incomplete bool // one lacks points
	Few        []string
}

func newBestViews(l *Sweep) *bestViews {
	views := &bestViews{Interval: l.Fits.interval, Final: l.Inside.Chosen != nil}
	for _, few := range l.Few {
		if slices.Contains(l.Inside.Config.Bootstrap.Units, few.What) {
			views.Few = append(views.Few, "No intervals by "+few.What+": "+few.Reason+".")
		}
	}
	for _, f := range l.Fits.best {
		set := &l.Inside.Sets[f.set]
		v := bestView{Model: set.Model, Settings: set.Settings(), Set: f.set + 1, R: words.Decimals(f.r, 3)}
		shown, reported := l.Fits.reported[f.set]
		if reported {
			v.Reported, views.Reported = words.Decimals(shown.r, 3), true
		} else {
			shown = f
		}
		v.Interval, v.MCSE, v.RMSE, v.N = interval(shown), monteCarlo(shown.mcse), words.Decimals(shown.rmse, 3), l.Fits.count(&shown)
		views.Incomplete = views.Incomplete || !shown.complete
		views.Best = append(views.Best, v)
	}
	return views
}

// count is the number of points of a fit, with that of all where it lacks some.
func (f *Fits) count(of *fit) string {
	if of.complete {
		return strconv.Itoa(of.n)
	}
	return fmt.Sprintf("%d of %d", of.n, f.points)
}

func interval(f fit) string {
	if !(f.low < f.high) {
		return ""
	}
	return "[" + words.Decimals(f.low, 3) + ", " + words.Decimals(f.high, 3) + "]"
}

// fitsView is a page of the table of fits.
type fitsView struct {
	Path       string
	Query      Query
	Models     []string
	Columns    []column
	Rows       []fitRow
	Constants  []string // axes that do not vary, as axis=value
	Found, All string
	First      int // number of the first row, from 1
	Last       int
	Previous   string // addresses of pages; "" if there is none
	Next       string
	Message    string // what is wrong with the filter
	Waiting    bool   // more fits are being read
}

type column struct {
	Name, Title string
	Number      bool
	Sorted      string // ascending, descending, or "" if the table is not by this column
	Path        string // address that sorts by it
}

type fitRow struct {
	Set   int
	Model string
	Cells []string
}

func newFitsView(l *Sweep, q Query) *fitsView {
	v := &fitsView{Path: SweepPath(l.GetSweepId()), Query: q, All: words.Thousands(int64(len(l.Fits.fits))), Waiting: l.Fits.waiting}
	for i := range l.Inside.Config.Models {
		v.Models = append(v.Models, l.Inside.Config.Models[i].Model)
	}
	axes, constants := varying(l.Inside, q.Model)
	v.Constants = constants
	chosen, err := q.choose(l.Fits.fits, l.Inside.Sets)
	if err != nil {
		v.Message = Sentence(err.Error())
	}
	v.Found = words.Thousands(int64(len(chosen)))
	q.Page = min(q.Page, max(1, (len(chosen)+pageRows-1)/pageRows))
	first := (q.Page - 1) * pageRows
	last := min(first+pageRows, len(chosen))
	v.First, v.Last = min(first+1, len(chosen)), last
	v.Previous, v.Next = v.pages(q, last < len(chosen))
	v.Columns = v.columns(q, axes)
	for _, f := range chosen[first:last] {
		v.Rows = append(v.Rows, l.row(&f, axes))
	}
	return v
}

func (v *fitsView) pages(q Query, more bool) (previous, next string) {
	at := func(page int) string {
		q.Page = page
		return v.Path + "?" + q.Encode() + "#fits"
	}
	if q.Page > 1 {
		previous = at(q.Page - 1)
	}
	if more {
		next = at(q.Page + 1)
	}
	return previous, next
}

func (v *fitsView) columns(q Query, axes []string) []column {
	all := []column{{Name: "set", Title: "#", Number: true}, {Name: "model", Title: "Model"}}
	for _, axis := range axes {
		all = append(all, column{Name: axis, Title: axis, Number: true})
	}
	all = append(all, column{Name: "r", Title: "r", Number: true}, column{Title: "95% interval"},
		column{Name: "mc_se", Title: "MC SE", Number: true}, column{Name: "rmse", Title: "RMSE", Number: true}, column{Name: "n", Title: "n", Number: true})
	for i := range all {
		c := &all[i]
		if c.Name == "" {
			continue
		}
		by := q
		by.Page, by.Sort, by.Up = 1, c.Name, c.Name == "set" || c.Name == "model"
		if q.Sort == c.Name {
			by.Up = !q.Up
			c.Sorted = map[bool]string{true: "ascending", false: "descending"}[q.Up]
		}
		c.Path = v.Path + "?" + by.Encode() + "#fits"
	}
	return all
}

func (l *Sweep) row(f *fit, axes []string) fitRow {
	set := &l.Inside.Sets[f.set]
	row := fitRow{Set: f.set + 1, Model: set.Model}
	for _, axis := range axes {
		text := ""
		if v, ok := set.Get(axis); ok {
			text = v.String()
		}
		row.Cells = append(row.Cells, text)
	}
	row.Cells = append(row.Cells, words.Decimals(f.r, 3), interval(*f), monteCarlo(f.mcse), words.Decimals(f.rmse, 3), l.Fits.count(f))
	return row
}

// Settings are the values of an axis in a grid; none if the model has not got it.
func Settings(grid *sweep.ModelGrid, axis model.Axis) []model.Setting {
	if values := grid.Axes[axis.Name]; len(values) > 0 {
		return values
	}
	if m, _ := model.ByName(grid.Model); !m.Has(axis.Name) {
		return nil
	}
	return axis.Default
}

// varying are the axes with more than one value in the grid of a model, or of any if it is "", and the others as axis=value.
func varying(in *Inside, name string) (axes, constants []string) {
	for _, axis := range model.Axes {
		values := map[string]bool{}
		for i := range in.Config.Models {
			if grid := &in.Config.Models[i]; name == "" || grid.Model == name {
				for _, v := range Settings(grid, axis) {
					values[v.String()] = true
				}
			}
		}
		switch len(values) {
		case 0:
		case 1:
			for v := range values {
				constants = append(constants, axis.Name+"="+v)
			}
		default:
			axes = append(axes, axis.Name)
		}
	}
	return axes, constants
}

// failureView is a job that failed.
type failureView struct {
	Job     int
	What    string
	Reason  string
	Command string // that does the first of its cells again; "" if there is none
}

type failureViews struct {
	Causes []failureView
	Follow []failureView // comparisons with people, which need what has failed
	More   int64         // jobs that failed and are not listed
	Cells  []string      // why cells could not be computed, by model
}

func newFailureViews(l *Sweep) *failureViews {
	views := &failureViews{More: l.GetProgress().GetJobsFailed()}
	for _, f := range l.GetProgress().GetFailedCells() {
		views.Cells = append(views.Cells, fmt.Sprintf("%s: %s could not be computed: %s", f.GetModel(), words.Count(f.GetCells(), "cell"), f.GetReason()))
	}
	for i := range l.Inside.Failures {
		f := &l.Inside.Failures[i]
		if !f.Cells {
			views.More--
		}
		what := words.Count(int64(len(f.Sets)), "parameter set")
		switch f.Stage {
		case sweep.ReportStage:
			what = "the best parameter sets, for the report"
		case sweep.TopUpStage:
			what += ", topped up"
		}
		if f.Score {
			views.Follow = append(views.Follow, failureView{Job: f.Job, What: what + ", compared with people", Reason: f.Reason})
			continue
		}
		if f.Cells {
			what += " that could not be computed"
		}
		views.Causes = append(views.Causes, failureView{f.Job, what + ", on stimulus " + f.Stimulus, f.Reason, reproduce(l, f)})
	}
	return views
}

// reproduce is the command that does the first cell of a job again, in the directory where the study's is.
func reproduce(l *Sweep, f *Failure) string {
	if len(f.Sets) == 0 {
		return ""
	}
	set, c := &f.Sets[0], &l.Inside.Config
	line := []string{"foible", "infer", l.GetStudyName(), words.Quoted(f.Stimulus), "--model", set.Model}
	for setting := range strings.FieldsSeq(set.Settings()) {
		line = append(line, "--set", words.Quoted(setting))
	}
	line = append(line, "--seed", strconv.FormatUint(c.Seed, 10))
	if m, _ := model.ByName(set.Model); !m.Exact {
		stage := c.Fit
		if f.Stage == sweep.ReportStage {
			stage = c.Report
		}
		line = append(line, "--method", c.Inference.Method, "--runs", strconv.Itoa(stage.Runs))
		if c.Inference.Method == sweep.SIPS {
			line = append(line, "--particles", strconv.Itoa(stage.ParticlesPerGoal))
		}
	}
	return strings.Join(line, " ")
}
