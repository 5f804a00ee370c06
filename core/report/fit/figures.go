package fit

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"foible.dev/foible/core/diagnose"
	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/report"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/study"
)

// figures draws the sensitivity of every model, and its best parameter set
// against people: over all points, and over time.
func (r *Report) figures() error {
	r.drawn.Add("sensitivity", r.sensitivity())
	for _, m := range model.Models {
		if c := r.best[m.Name]; c != nil {
			r.drawn.Add("scatter-"+m.Name, r.scatter(c))
		}
	}
	for _, m := range model.Models {
		if panels := r.profile(m); panels != nil {
			r.drawn.Add("profile-"+m.Name, figure.Profile(r.title(m.Name+" model"), m.Name, panels))
		}
	}
	for i := range r.study.Stimuli {
		r.drawn.Add("timecourse-"+r.study.Stimuli[i].ID, r.timeCourse(i))
	}
	r.storyboards()
	return r.drawn.Save(r.out)
}

// title is what a figure is called; simulated judgements are never shown as people's.
func (r *Report) title(of string) string {
	title := r.study.Title
	if title == "" {
		title = r.study.Name
	}
	if of != "" {
		title += ": " + of
	}
	if r.study.Simulated != "" && !strings.Contains(strings.ToLower(title), "simulated") {
		title += " (simulated participants)"
	}
	return title
}

func (r *Report) sensitivity() *figure.Figure {
	options := figure.SensitivityOptions{Title: r.title(""), Ceiling: r.ceilings.All.Ceiling}
	if r.unit != "" {
		options.Interval = "95% interval by " + r.unit
	}
	var curves []figure.Curve
	for _, m := range model.Models {
		curve := figure.Curve{Model: m.Name, Chosen: -1}
		for i := range r.scored {
			f := &r.scored[i]
			set := &r.plan.Sets[f.index]
			if set.Model != m.Name {
				continue
			}
			p := figure.Point{R: r.rival(f), Low: f.low, High: f.high}
			if c := r.best[m.Name]; c != nil && c.Index == f.index {
				curve.Chosen, p.Label = len(curve.Points), set.Settings()
			}
			curve.Points = append(curve.Points, p)
		}
		if len(curve.Points) > 0 {
			curves = append(curves, curve)
		}
	}
	return figure.Sensitivity(curves, options)
}

// inWords names a model and its parameters: full model, goal noise 0.1, budget r 2.
func inWords(set *model.ParameterSet) string {
	parameters := strings.NewReplacer("_", " ", "=", " ", " ", ", ").Replace(set.Settings())
	return set.Model + " model, " + parameters
}

// rival is r of the fit stage where it is compared with that of the best of the model,
// over the same points; else NaN.
func (r *Report) rival(f *scored) float64 {
	if c := r.best[r.plan.Sets[f.index].Model]; c == nil || !r.standing.Rival(f.index, c.Index) {
		return math.NaN()
	}
	return f.r
}

func correlation(c *result.Correlation) float64 {
	if !c.Defined {
		return math.NaN()
	}
	return c.PearsonR
}

// scatter has a panel of all points, and one a category.
func (r *Report) scatter(c *chosen) *figure.Figure {
	all := figure.Panel{Category: "All", R: correlation(&c.Fit.Overall), N: c.Fit.Overall.N, Ceiling: r.ceilings.All.Ceiling}
	if len(c.Fit.Intervals) > 0 {
		all.Low, all.High = c.Fit.Intervals[0].Low, c.Fit.Intervals[0].High
	}
	panels := []figure.Panel{all}
	for i := range c.Fit.ByCategory {
		group := &c.Fit.ByCategory[i]
		panels = append(panels, figure.Panel{Category: group.Group, R: correlation(group), N: group.N, Ceiling: r.ceilings.ByCategory[group.Group].Ceiling})
	}
	for i := range r.study.Stimuli {
		st := &r.study.Stimuli[i]
		for _, p := range r.points(c, i) {
			panels[0].Points = append(panels[0].Points, p)
			for k := range panels[1:] {
				if panels[k+1].Category == st.Category {
					panels[k+1].Points = append(panels[k+1].Points, p)
				}
			}
		}
	}
	return figure.Scatter(r.title(inWords(&c.Set)), panels)
}

func (r *Report) points(c *chosen, stimulus int) []figure.ScatterPoint {
	cell := c.Cells[stimulus]
	if cell == nil {
		return nil
	}
	var points []figure.ScatterPoint
	st := &r.study.Stimuli[stimulus]
	shape := &r.plan.Stimuli[stimulus]
	errors := shape.Errors(cell)
	for j, row := range shape.Predict(cell).Rows {
		for goal, p := range row {
			if human := humanPoint(st, j, goal); !math.IsNaN(human.Mean) {
				at := figure.ScatterPoint{Model: p, Human: human.Mean, SE: human.SE, Series: c.Set.Model}
				if j < len(errors) {
					at.MCSE = errors[j][goal]
				}
				points = append(points, at)
			}
		}
	}
	return points
}

// profile has a panel for each axis of a model with more than one value; nil
// unless one has three.
func (r *Report) profile(m model.Model) []figure.ProfilePanel {
	var panels []figure.ProfilePanel
	most := 0
	for _, axis := range diagnose.Profiles(m, r.correlations(m.Name)) {
		p := figure.ProfilePanel{Axis: axis.Axis, Best: axis.Best, Mean: axis.Mean, Chosen: -1}
		for _, v := range axis.Values {
			p.Labels = append(p.Labels, v.String())
			if v.Word == "" {
				p.Values = append(p.Values, v.Number)
			}
		}
		if c := r.best[m.Name]; c != nil {
			v, _ := c.Set.Get(axis.Axis)
			p.Chosen = slices.Index(axis.Values, v)
		}
		most = max(most, len(axis.Values))
		panels = append(panels, p)
	}
	if most < 3 {
		return nil
	}
	return panels
}

// correlations are the parameter sets of a model that were scored, each with its r.
func (r *Report) correlations(name string) iter.Seq2[*model.ParameterSet, float64] {
	return func(yield func(*model.ParameterSet, float64) bool) {
		for i := range r.scored {
			if set := &r.plan.Sets[r.scored[i].index]; set.Model == name && !yield(set, r.rival(&r.scored[i])) {
				return
			}
		}
	}
}

// timeCourse shows the best parameter set of every model on one stimulus.
func (r *Report) timeCourse(stimulus int) *figure.Figure {
	st := &r.study.Stimuli[stimulus]
	panels := make([]figure.CoursePanel, len(st.Goals))
	for goal := range panels {
		panels[goal] = figure.CoursePanel{Goal: st.Goals[goal].Name, True: goal == st.TrueGoal}
		for j := range st.JudgementSteps {
			panels[goal].Human = append(panels[goal].Human, humanPoint(st, j, goal))
		}
		for _, m := range model.Models {
			c := r.best[m.Name]
			if c == nil || c.Cells[stimulus] == nil || c.Cells[stimulus].Failed() {
				continue
			}
			course := figure.Course{Model: m.Name}
			cell := c.Cells[stimulus]
			for k, row := range cell.Posterior {
				if cell.Judged { // nothing is known between judgement steps
					for len(course.Probability) < st.JudgementSteps[k] {
						course.Probability = append(course.Probability, math.NaN())
					}
				}
				course.Probability = append(course.Probability, row[goal])
			}
			panels[goal].Models = append(panels[goal].Models, course)
		}
	}
	var mistakes []figure.MistakeCourse
	for _, m := range model.Models {
		if c := r.best[m.Name]; c != nil && c.Cells[stimulus] != nil && c.Cells[stimulus].Mistakes != nil {
			mistakes = append(mistakes, report.Mistakes(m.Name, c.Cells[stimulus].Mistakes))
		}
	}
	of := "stimulus " + st.ID
	if st.Category != "" {
		of += fmt.Sprintf(", %s", st.Category)
	}
	return figure.TimeCourse(r.title(of), panels, mistakes...)
}

func humanPoint(st *study.Stimulus, j, goal int) figure.HumanPoint {
	p := figure.HumanPoint{Step: st.JudgementSteps[j], Mean: math.NaN()}
	if j < len(st.Human.Mean) && st.Human.Mean[j] != nil {
		p.Mean = st.Human.Mean[j][goal]
	}
	if j < len(st.Human.SE) && st.Human.SE[j] != nil {
		p.SE = st.Human.SE[j][goal]
	}
	return p
}
