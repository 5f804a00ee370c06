package fit

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/report"
	"foible.dev/foible/core/report/recovery"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/words"
)

//go:embed page.html
var pageText string

var pageTemplate = report.Template(pageText)

// page is what report.html shows. Numbers are text, in the form of a journal.
type page struct {
	report.Page
	FitsCaption       string
	Axes              []string // columns of Fits
	Unit              string   // of the intervals of Fits; "": none
	Fits              []fitRow
	Ceiling           bool // the ceiling of people is known
	Categories        *report.Matrix
	Intervals         *report.Matrix
	Comparisons       []*report.Matrix // of models with each other
	DegeneracyCaption string
	Degeneracy        *report.Matrix

	Scatter, Sensitivity      *report.Plate // of the model with the highest r; nil if there is none
	Others, Profiles, Courses []*report.Plate
	Recovery                  *recovery.Section // nil if there is none
}

// fitRow is a model's best parameter set.
type fitRow struct {
	Model         string
	Values        []string // by axis
	R, Low, High  string
	MCSE, RMSE, N string
	Interval      string
	Highest       bool // no other model has a higher r
}

// writePage writes report.html: the same bytes for the same sweep, whenever and
// wherever it was run.
func (r *Report) writePage(w io.Writer) error {
	return pageTemplate.Execute(w, r.page())
}

func (r *Report) page() *page {
	about := "Goal inferences of models, fitted to the judgements of people. Domain: " + r.study.Domain
	if r.study.Simulated != "" {
		about = "Goal inferences of models, fitted to the judgements of simulated participants. Domain: " + r.study.Domain
	}
	p := &page{
		Page: report.Page{
			Title: r.title(""), About: about + ". Study: " + r.study.Name + ".",
			Version: r.Manifest.Version, SweepID: r.Manifest.SweepID, Seed: r.config.Seed,
			Warnings: r.cautions(), Methods: r.methods(), Grid: r.grid(), Citations: r.citations(),
		},
		Ceiling: r.ceilings.All.Ceiling > 0,
	}
	p.Axes, p.Fits = r.fitRows()
	for i, axis := range p.Axes {
		p.Axes[i] = strings.ReplaceAll(axis, "_", " ")
	}
	p.FitsCaption, p.Unit = r.fitsCaption()
	p.Categories, p.Intervals, p.Degeneracy = r.byCategory(), r.intervalsOfBest(), r.degenerate()
	p.Comparisons = r.comparisons()
	p.DegeneracyCaption = r.degeneracyCaption()
	r.placeFigures(p)
	if r.Recovered != nil {
		p.Recovery = r.Recovered.Section(&p.Page, r.plan.Models())
	}
	if r.Manifest.StudyHash != "" {
		p.AddInput("the study", r.Manifest.StudyHash)
	}
	p.AddInputs(r.Manifest.Inputs)
	return p
}

// fitRows are the best parameter sets, and the axes that some of them have.
func (r *Report) fitRows() (axes []string, rows []fitRow) {
	best := r.chosen()
	for _, axis := range model.Axes {
		if slices.ContainsFunc(best, func(c *chosen) bool { _, ok := c.Set.Get(axis.Name); return ok }) {
			axes = append(axes, axis.Name)
		}
	}
	highest := r.highest()
	for _, c := range best {
		f := &c.Fit.Overall
		row := fitRow{Model: c.Set.Model, R: words.Decimals(f.PearsonR, 3), MCSE: "exact", RMSE: words.Decimals(f.RMSE, 3), N: r.count(c), Highest: c == highest, Interval: words.None}
		if !f.Defined {
			row.R = words.None
		}
		if m, _ := model.ByName(c.Set.Model); !m.Exact {
			row.MCSE = words.Decimals(c.Fit.MCSE, 4)
			if c.Fit.MCSEUnknown {
				row.MCSE = "not known"
			}
		}
		if len(c.Fit.Intervals) > 0 {
			row.Low, row.High = words.Decimals(c.Fit.Intervals[0].Low, 3), words.Decimals(c.Fit.Intervals[0].High, 3)
			row.Interval = "[" + row.Low + ", " + row.High + "]"
		}
		for _, axis := range axes {
			text := words.None
			if v, ok := c.Set.Get(axis); ok {
				text = report.SettingText(v.String())
			}
			row.Values = append(row.Values, text)
		}
		rows = append(rows, row)
	}
	return axes, rows
}

// highest is the reported parameter set of the highest r, among those with the most points;
// nil if there is none.
func (r *Report) highest() *chosen {
	var highest *chosen
	for _, c := range r.chosen() {
		f := &c.Fit.Overall
		if f.Defined && (highest == nil || cmp.Or(cmp.Compare(f.N, highest.Fit.Overall.N), cmp.Compare(f.PearsonR, highest.Fit.Overall.PearsonR)) > 0) {
			highest = c
		}
	}
	return highest
}

// count is the number of points of a fit, with that of all where it lacks some.
func (r *Report) count(c *chosen) string {
	n, all := c.Fit.Overall.N, r.standing.Points()
	if n == all {
		return words.Thousands(n)
	}
	return words.Thousands(n) + " of " + words.Thousands(all)
}

// lacking says whether the best of some model has not all points.
func (r *Report) lacking() bool {
	return slices.ContainsFunc(r.chosen(), func(c *chosen) bool { return c.Fit.Overall.N < r.standing.Points() })
}

// fitsCaption says what the numbers of the fits are; unit is of their intervals, "" if there are none.
func (r *Report) fitsCaption() (caption, unit string) {
	caption = "The best parameter set of each model: r over all points with its Monte-Carlo standard error, the root mean squared error, and the number n of points."
	if r.plan.Report {
		caption = "The best parameter set of each model, chosen in the fit stage and run again with other seeds in the report stage, which the numbers are of: r over all points with its Monte-Carlo standard error, the root mean squared error, and the number n of points."
	}
	for _, c := range r.chosen() {
		if len(c.Fit.Intervals) > 0 {
			unit = c.Fit.Intervals[0].Unit
			break
		}
	}
	if unit != "" {
		caption += fmt.Sprintf(" Intervals are of %s resampled%s.", resampledThings(unit), overTheSame(r.config.Bootstrap.Resamples))
	}
	if r.highest() != nil {
		caption += " Bold: the highest r."
	}
	if r.lacking() {
		caption += " An r of fewer points than all is not to be compared with others, and is not bold if another has more points."
	}
	if c := r.ceilings.All; c.Ceiling > 0 {
		caption += fmt.Sprintf(" Reliability of the mean judgements: %s; ceiling on r: %s.", words.Decimals(c.Means, 3), words.Decimals(c.Ceiling, 3))
	}
	return caption, unit
}

func resampledThings(unit string) string {
	if unit == "both" {
		return "participants and stimuli"
	}
	return unit
}

func overTheSame(resamples int) string { return fmt.Sprintf(" %s times", words.Thousands(resamples)) }

// byCategory is r by category of the best; nil where there are not two.
func (r *Report) byCategory() *report.Matrix {
	m := &report.Matrix{Label: "r by category", Caption: "r by category of the stimuli.", Columns: categoriesOf(r.study)}
	best := r.chosen()
	if len(m.Columns) < 2 || len(best) == 0 {
		return nil
	}
	for _, c := range best {
		line := report.Row{Name: c.Set.Model}
		for _, category := range m.Columns {
			text := words.None
			for i := range c.Fit.ByCategory {
				if of := &c.Fit.ByCategory[i]; of.Group == category && of.Defined {
					text = words.Decimals(of.PearsonR, 3)
				}
			}
			line.Cells = append(line.Cells, text)
		}
		m.Rows = append(m.Rows, line)
	}
	if r.ceilings.All.Ceiling > 0 {
		m.Caption = "r by category of the stimuli; the reliability of the people's means, and its square root, the ceiling on r that a perfect model would reach with them."
		reliability, ceiling := report.Row{Name: "reliability"}, report.Row{Name: "ceiling on r"}
		for _, category := range m.Columns {
			rel, of := words.None, words.None
			if c := r.ceilings.ByCategory[category]; c.Ceiling > 0 {
				rel, of = words.Decimals(c.Means, 3), words.Decimals(c.Ceiling, 3)
			}
			reliability.Cells, ceiling.Cells = append(reliability.Cells, rel), append(ceiling.Cells, of)
		}
		m.Rows = append(m.Rows, reliability, ceiling)
	}
	for i, category := range m.Columns {
		if category == "" {
			m.Columns[i] = "no category"
		}
	}
	return m
}

// intervalsOfBest are all intervals of the best; nil where there are not two units.
func (r *Report) intervalsOfBest() *report.Matrix {
	m := &report.Matrix{Label: "intervals of r", Caption: "95% bootstrap intervals of r, by what is resampled."}
	var units []string
	for _, unit := range r.config.Bootstrap.Units {
		if slices.ContainsFunc(r.chosen(), func(c *chosen) bool {
			return slices.ContainsFunc(c.Fit.Intervals, func(in result.Interval) bool { return in.Unit == unit })
		}) {
			units = append(units, unit)
			m.Columns = append(m.Columns, resampledThings(unit))
		}
	}
	if len(units) < 2 {
		return nil
	}
	for _, c := range r.chosen() {
		line := report.Row{Name: c.Set.Model}
		for _, unit := range units {
			text := words.None
			for _, in := range c.Fit.Intervals {
				if in.Unit == unit {
					text = fmt.Sprintf("[%s, %s]", words.Decimals(in.Low, 3), words.Decimals(in.High, 3))
				}
			}
			line.Cells = append(line.Cells, text)
		}
		m.Rows = append(m.Rows, line)
	}
	return m
}

// degenerate says of the best parameter sets on which stimuli goals became
// impossible or posteriors undefined, and how filters fared; nil without a fit.
func (r *Report) degenerate() *report.Matrix {
	best := r.chosen()
	if len(best) == 0 {
		return nil
	}
	filters := slices.ContainsFunc(best, func(c *chosen) bool {
		return slices.ContainsFunc(c.Cells, func(cell *result.Cell) bool { return cell != nil && len(cell.ESS) > 0 })
	})
	m := &report.Matrix{Columns: []string{"A goal became impossible", "Undefined from some step on", "Parameter sets of the fit stage with undefined stimuli"}}
	if filters {
		m.Columns = append(m.Columns, "Runs that failed", "Least effective sample size")
	}
	for _, c := range best {
		var impossible, undefined []string
		failed, ess := 0, math.Inf(1)
		for i, cell := range c.Cells {
			if cell == nil {
				continue
			}
			st := &r.study.Stimuli[i]
			if cell.Undefined != nil {
				undefined = append(undefined, fmt.Sprintf("%s (%s)", st.ID, outcomeOf(cell.Undefined)))
			}
			if len(cell.Posterior) > 0 && possible(cell) < len(st.Goals) {
				impossible = append(impossible, st.ID)
			}
			failed += cell.FailedRuns
			if len(cell.ESS) > 0 {
				ess = min(ess, slices.Min(cell.ESS))
			}
		}
		sets, degenerate := 0, 0
		for i := range r.scored {
			if f := &r.scored[i]; r.plan.Sets[f.index].Model == c.Set.Model {
				sets++
				if f.undefined > 0 {
					degenerate++
				}
			}
		}
		line := report.Row{Name: c.Set.Model, Cells: []string{orNone(impossible), orNone(undefined), fmt.Sprintf("%s of %s", words.Thousands(degenerate), words.Thousands(sets))}}
		if filters {
			text := words.None
			if !math.IsInf(ess, 1) {
				text = strconv.FormatFloat(ess, 'f', 1, 64)
			}
			line.Cells = append(line.Cells, words.Thousands(failed), text)
		}
		m.Rows = append(m.Rows, line)
	}
	return m
}

func (r *Report) degeneracyCaption() string {
	return fmt.Sprintf("Of the best parameter sets: the stimuli, of %d, on which a goal got probability 0 for good, and those that have no posterior from some step on.", len(r.study.Stimuli))
}

// orNone joins what may be nothing.
func orNone(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

// grid is what was swept, by model.
func (r *Report) grid() []report.GridRow {
	var rows []report.GridRow
	for _, m := range model.Models {
		for _, grid := range r.config.Models {
			if grid.Model != m.Name {
				continue
			}
			rows = append(rows, report.NewGridRow(&grid, r.Manifest.Parameters[m.Name]))
		}
	}
	return rows
}

// placeFigures puts the figures that were drawn into the page, in the order of the page.
func (r *Report) placeFigures(p *page) {
	plate := func(name, caption string, narrow bool) *report.Plate {
		svg, ok := r.drawn.SVG(name)
		if !ok {
			return nil
		}
		plate := p.Place(svg, caption)
		plate.Narrow = narrow
		return plate
	}
	scatter := func(c *chosen) *plateOf {
		people := "People's mean judgements"
		if r.study.Simulated != "" {
			people = "Mean judgements of the simulated participants"
		}
		caption := fmt.Sprintf("%s against what %s infers (%s): a point is a goal at a judgement step of a stimulus. Dashed: identity.", people, c.Set.Model, c.Set.Settings())
		if slices.ContainsFunc(r.study.Stimuli, func(st study.Stimulus) bool { return st.Human.SE != nil }) {
			caption += " Bars: ±1 standard error."
		}
		if c.Fit.MCSE > 0 {
			caption += " Across: ±1 Monte-Carlo standard error of the model."
		}
		if r.ceilings.All.Ceiling > 0 {
			caption += " Ceiling on r: what a perfect model would reach with these judgements, the square root of their reliability."
		} else {
			caption += fmt.Sprintf(" There is no ceiling: it needs the answers of %d participants to each stimulus.", score.FewestUnits)
		}
		return &plateOf{"scatter-" + c.Set.Model, caption}
	}
	highest := r.highest()
	if highest != nil {
		of := scatter(highest)
		p.Scatter = plate(of.name, of.caption, false)
	}
	sensitivity := "How r depends on the parameters: the parameter sets of each model, ordered by r; those that have no posterior at some points of the best are left out."
	if r.plan.Report {
		sensitivity += " All r are of the fit stage."
	}
	p.Sensitivity = plate("sensitivity", sensitivity, true)
	for _, c := range r.chosen() {
		if c == highest {
			continue
		}
		of := scatter(c)
		if f := plate(of.name, of.caption, false); f != nil {
			p.Others = append(p.Others, f)
		}
	}
	for _, m := range model.Models {
		if f := plate("profile-"+m.Name, fmt.Sprintf("Profile of r of %s: the highest r and the mean r over all other parameters, at each value of an axis.", m.Name), false); f != nil {
			p.Profiles = append(p.Profiles, f)
		}
	}
	for i := range r.study.Stimuli {
		st := &r.study.Stimuli[i]
		of := st.ID
		if st.Category != "" {
			of += ", " + st.Category
		}
		if f := plate("timecourse-"+st.ID, fmt.Sprintf("Stimulus %s: the probability of each goal by step, as judged and as inferred by the best parameter set of each model; judgement steps are marked.", of), false); f != nil {
			f.Story = plate("storyboard-"+st.ID, fmt.Sprintf("Stimulus %s: what was seen at each judgement step, and the probability of each goal there.", of), false)
			p.Courses = append(p.Courses, f)
		}
	}
}

type plateOf struct{ name, caption string }
