// Package fit writes the report of a fit: from the results of a sweep, tables of all parameter sets, and a page and figures
// of the best of each model. Read [Report] first. Files go to a [tabular.Output]; nothing here depends on time,
// machine or the order in which jobs were done.
package fit

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"foible.dev/foible/core/diagnose"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/report"
	"foible.dev/foible/core/report/recovery"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/tabular"
	"foible.dev/foible/core/words"
)

// Report is a report in the making: New, Add for all parameter sets in the
// plan's order, some at a time, Close. Tables are written at the same time as each other;
// the files do not depend on how many sets come at a time.
type Report struct {
	Manifest  Manifest
	Recovered *recovery.Recovered // what report.html is to say of a recovery; nil: nothing
	Story     Storyboard          // set before Close; nil: there are no storyboards
	study     *study.Study
	plan      *sweep.Plan
	config    sweep.Config
	out       tabular.Output

	tables                  []*tabular.Writer
	fits                    *tabular.Writer
	byCategories, byStimuli *tabular.Writer
	bounds                  *tabular.Writer
	beliefs                 *tabular.Writer
	filters                 *tabular.Writer
	failed                  *tabular.Writer // failures.csv; nil until something failed
	failedCells             map[Failure]int
	slips                   *tabular.Writer // mistakes.csv; nil until a cell has them

	ceilings score.Ceilings
	drawn    report.Gallery

	scored   []scored // in the plan's order
	unit     string   // of their intervals; "" where they have none
	standing *sweep.Standing
	best     map[string]*chosen // by model
	all      bool               // every table has every parameter set

	toppedUp map[int]struct{} // indexes in the plan

	warner   *diagnose.Warner
	warnings []diagnose.Warning

	cross          *score.CrossValidator
	few            map[string]string // why statistics are not given, by sweep.Few.What
	tablesOfPeople peopleTables
	people         peopleSide // after Close
}

// scored is what is kept of each parameter set of the fit stage; a large sweep has many.
type scored struct {
	index     int     // in the plan
	r         float64 // NaN where it is not defined
	low, high float64 // of its first interval; 0 without
	undefined int     // stimuli
}

// chosen is a model's best parameter set so far: as it was fitted and, once
// that is known, as it is reported.
type chosen struct {
	round int // in which it was chosen
	*sweep.Gathered
}

// New opens the tables. The manifest's caller fills in what is not in study, plan and config.
func New(out tabular.Output, st *study.Study, plan *sweep.Plan, config sweep.Config, m Manifest) (*Report, error) {
	m.Study, m.Title, m.Domain, m.Simulated = st.Name, st.Title, st.Domain, st.Simulated
	m.Seed, m.Parameters = config.Seed, map[string]int{}
	r := &Report{
		Manifest: m, study: st, plan: plan, config: config, out: out,
		best: map[string]*chosen{}, failedCells: map[Failure]int{},
		all: plan.Detailed(), toppedUp: map[int]struct{}{},
	}
	for _, set := range plan.Sets {
		r.Manifest.Parameters[set.Model]++
	}
	var err error
	if r.ceilings, err = score.NewCeilings(st, config.Seed); err != nil {
		return nil, err
	}
	if r.warner, err = diagnose.NewWarner(st, plan, &r.config); err != nil {
		return nil, err
	}
	unresampled, err := score.NewScorer(st, sweep.Bootstrap{}, config.Seed)
	if err != nil {
		return nil, err
	}
	r.cross = score.NewCrossValidator(unresampled, plan)
	r.standing = sweep.NewStanding(unresampled.Points())
	r.few = map[string]string{}
	for _, few := range score.TooFew(st, config.Bootstrap) {
		r.few[few.What] = few.Reason
	}
	open := func(name string) *tabular.Writer {
		if err != nil {
			return nil
		}
		var t *tabular.Writer
		if t, err = tabular.Create(out, name); err == nil {
			r.tables = append(r.tables, t)
		}
		return t
	}
	r.fits = open("fits")
	r.bounds = open("intervals")
	r.byCategories = open("fits_by_category")
	r.byStimuli = open("fits_by_stimulus")
	r.beliefs = open("posteriors")
	r.filters = open("degeneracy")
	r.tablesOfPeople.open(open)
	if err != nil {
		return nil, errors.Join(err, r.closeTables())
	}
	return r, nil
}

// key are the columns that every table begins with.
func (r *Report) key(g *sweep.Gathered, more ...any) []any {
	return append([]any{g.Stage, g.Set.Model, g.Index + 1}, more...)
}

// Add writes the rows of parameter sets, and keeps what Close needs of them.
func (r *Report) Add(sets ...*sweep.Gathered) error {
	var fitted []*sweep.Gathered
	for _, g := range sets {
		if g.Fit != nil {
			fitted = append(fitted, g)
		}
		if err := r.fail(g); err != nil {
			return err
		}
	}
	for _, g := range fitted {
		r.choose(g)
	}
	all := []func() error{
		func() error { return each(fitted, r.addFit) },
		func() error {
			return each(fitted, func(g *sweep.Gathered) error { r.warner.Add(g); return nil })
		},
		func() error { return each(fitted, r.cross.Add) },
	}
	if r.all {
		all = append(all, func() error { return r.addDetails(fitted...) })
	}
	return together(all...)
}

// choose keeps a parameter set, if it is its model's best so far.
func (r *Report) choose(g *sweep.Gathered) {
	switch g.Stage {
	case sweep.ReportStage:
		if best := r.best[g.Set.Model]; best != nil {
			r.standing.Report(g.Set.Model, g.Index, g.Fit)
			best.Gathered = g.Copy()
		}
		return
	case sweep.FitStage:
		f := scored{index: g.Index, r: correlation(&g.Fit.Overall), undefined: g.Fit.Undefined}
		if len(g.Fit.Intervals) > 0 {
			in := &g.Fit.Intervals[0]
			f.low, f.high, r.unit = in.Low, in.High, in.Unit
		}
		r.scored = append(r.scored, f)
	case sweep.TopUpStage:
		r.toppedUp[g.Index] = struct{}{}
	}
	if r.standing.Add(g.Set.Model, g.Index, g.Round, g.Fit) {
		r.best[g.Set.Model] = &chosen{round: g.Round, Gathered: g.Copy()}
	}
}

// each does something with parameter sets, in their order, up to the first error.
func each(sets []*sweep.Gathered, do func(*sweep.Gathered) error) error {
	for _, g := range sets {
		if err := do(g); err != nil {
			return err
		}
	}
	return nil
}

// together does all at once, to the end; the error is the first by their order.
func together(all ...func() error) error {
	errs := make([]error, len(all))
	var doing sync.WaitGroup
	for i, do := range all {
		doing.Go(func() { errs[i] = do() })
	}
	doing.Wait()
	return cmp.Or(errs...)
}

// addDetails writes what a large sweep has only of its best parameter sets.
func (r *Report) addDetails(sets ...*sweep.Gathered) error {
	var all []func() error
	for _, add := range []func(*sweep.Gathered) error{r.addCategories, r.addStimuli, r.addIntervals, r.addDegeneracy, r.addPosteriors, r.addMistakes} {
		all = append(all, func() error { return each(sets, add) })
	}
	return together(all...)
}

// openOnce opens a table that only some reports have.
func (r *Report) openOnce(t **tabular.Writer, name string) error {
	if *t != nil {
		return nil
	}
	opened, err := tabular.Create(r.out, name)
	if err == nil {
		*t = opened
		r.tables = append(r.tables, opened)
	}
	return err
}

func (r *Report) addFit(g *sweep.Gathered) error {
	f := g.Fit
	row := append(append(make([]any, 0, 32), g.Stage, g.Set.Model, g.Index+1), tabular.Parameters(&g.Set)...)
	runs, particles := r.size(g)
	pearson, rmse := numbers(&f.Overall)
	var low, high, unit any
	if len(f.Intervals) > 0 {
		in := &f.Intervals[0]
		low, high, unit = in.Low, in.High, in.Unit
	}
	return r.fits.Row(append(row, runs, particles, samples(g), f.Overall.N, pearson, low, high, monteCarlo(f), rmse, unit, f.Undefined, yesNo(f.Overall.N >= r.standing.Points()))...)
}

// yesNo is how a table has what is or is not.
func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// monteCarlo is the error of r; nil where it is not known.
func monteCarlo(f *result.Fit) any {
	if f.MCSEUnknown {
		return nil
	}
	return f.MCSE
}

// numbers of a correlation; nil where they are not defined.
func numbers(c *result.Correlation) (pearson, rmse any) {
	if c.Defined {
		pearson = c.PearsonR
	}
	if c.N > 0 {
		rmse = c.RMSE
	}
	return pearson, rmse
}

// unitsWithout are the units by which there are no intervals, for a reason.
func (r *Report) unitsWithout() []string {
	return slices.DeleteFunc(slices.Clone(r.config.Bootstrap.Units), func(unit string) bool { return r.few[unit] == "" })
}

func (r *Report) addIntervals(g *sweep.Gathered) error {
	for _, in := range g.Fit.Intervals {
		if err := r.bounds.Row(g.Stage, g.Set.Model, g.Index+1, in.Unit, in.Low, in.High, in.Resamples, nil); err != nil {
			return err
		}
	}
	for _, unit := range r.unitsWithout() {
		if err := r.bounds.Row(g.Stage, g.Set.Model, g.Index+1, unit, nil, nil, nil, r.few[unit]); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) addCategories(g *sweep.Gathered) error {
	return r.addGroups(r.byCategories, g, g.Fit.ByCategory)
}

func (r *Report) addStimuli(g *sweep.Gathered) error {
	return r.addGroups(r.byStimuli, g, g.Fit.ByStimulus)
}

// addGroups writes the correlations by category or by stimulus.
func (r *Report) addGroups(t *tabular.Writer, g *sweep.Gathered, groups []result.Correlation) error {
	for i := range groups {
		c := &groups[i]
		pearson, rmse := numbers(c)
		if err := t.Row(g.Stage, g.Set.Model, g.Index+1, c.Group, c.N, pearson, rmse); err != nil {
			return err
		}
	}
	return nil
}

// size is how often a cell was run, and with how many particles a goal; an
// exact model once, with none.
func (r *Report) size(g *sweep.Gathered) (runs int, particles any) {
	if m, ok := model.ByName(g.Set.Model); ok && m.Exact {
		return 1, nil
	}
	p := r.plan.ProcedureOf(&r.config, g.Round)
	if p.Method == sweep.Marginal {
		return p.Runs, nil
	}
	return p.Runs, p.ParticlesPerGoal
}

// samples are the searches behind each table of an original goal, on the
// stimulus with the fewest; nil where nothing is sampled in this way.
func samples(g *sweep.Gathered) any {
	least := 0
	for _, cell := range g.Cells {
		if cell != nil && cell.Samples > 0 && (least == 0 || cell.Samples < least) {
			least = cell.Samples
		}
	}
	if least == 0 {
		return nil
	}
	return least
}

// addDegeneracy writes how inference fared on each stimulus, of models that are
// not exact: for sips the least effective sample size and number of goals alive
// after a step, for marginal inference the number of goals that remain possible
// where it is not all of them; the evidence of the whole plan; what went wrong.
func (r *Report) addDegeneracy(g *sweep.Gathered) error {
	for i, cell := range g.Cells {
		if cell == nil {
			continue
		}
		if cell.Failed() { // nothing is known of its inference
			if err := r.filters.Row(r.key(g, r.study.Stimuli[i].ID, nil, nil, nil, nil, nil, outcomeOf(cell.Undefined))...); err != nil {
				return err
			}
			continue
		}
		if m, ok := model.ByName(g.Set.Model); ok && m.Exact {
			continue
		}
		var ess, alive, evidence, outcome any
		if n := len(cell.Evidence); n > 0 {
			evidence = cell.Evidence[n-1]
		}
		if len(cell.ESS) > 0 {
			ess, alive = slices.Min(cell.ESS), slices.Min(cell.Alive)
		} else {
			left := possible(cell)
			if left == len(r.study.Stimuli[i].Goals) && cell.Undefined == nil {
				continue
			}
			alive = left
		}
		if cell.Undefined != nil {
			outcome = outcomeOf(cell.Undefined)
		}
		runs, _ := r.size(g)
		if err := r.filters.Row(r.key(g, r.study.Stimuli[i].ID, runs, cell.FailedRuns, ess, alive, evidence, outcome)...); err != nil {
			return err
		}
	}
	return nil
}

// possible is the number of goals that have not died by the last row of a cell.
func possible(c *result.Cell) int {
	n := 0
	if rows := len(c.Posterior); rows > 0 {
		for goal, p := range c.Posterior[rows-1] {
			if c.LogEvidence != nil && !math.IsInf(c.LogEvidence[rows-1][goal], -1) || c.LogEvidence == nil && p > 0 {
				n++
			}
		}
	}
	return n
}

// addPosteriors writes what a parameter set infers at the steps that its cells
// have, with the people at the judgement steps.
func (r *Report) addPosteriors(g *sweep.Gathered) error {
	for i, cell := range g.Cells {
		if cell == nil {
			continue
		}
		st := &r.study.Stimuli[i]
		for k, row := range cell.Posterior {
			step := k
			if cell.Judged {
				step = st.JudgementSteps[k]
			}
			for goal, p := range row {
				var se, human, humanSE, evidence, outcome any
				if x, ok := cell.Error(k, goal); ok {
					se = x
				}
				if j := slices.Index(st.JudgementSteps, step); j >= 0 && j < len(st.Human.Mean) && st.Human.Mean[j] != nil {
					human = st.Human.Mean[j][goal]
					if j < len(st.Human.SE) && st.Human.SE[j] != nil {
						humanSE = st.Human.SE[j][goal]
					}
				}
				if k < len(cell.LogEvidence) && !math.IsInf(cell.LogEvidence[k][goal], -1) {
					evidence = cell.LogEvidence[k][goal]
				}
				if from := unreachable(cell, goal); from >= 0 && step >= from {
					outcome = "goal cannot be reached"
				}
				if err := r.beliefs.Row(g.Stage, g.Set.Model, g.Index+1, st.ID, step, st.Goals[goal].Name, p, se, human, humanSE, evidence, outcome); err != nil {
					return err
				}
			}
		}
		if u := cell.Undefined; u != nil {
			if err := r.beliefs.Row(r.key(g, st.ID, u.Step, nil, nil, nil, nil, nil, nil, outcomeOf(u))...); err != nil {
				return err
			}
		}
	}
	return nil
}

// addMistakes writes the probabilities of the mistakes behind each action.
func (r *Report) addMistakes(g *sweep.Gathered) error {
	for i, cell := range g.Cells {
		if cell == nil || cell.Mistakes == nil {
			continue
		}
		if err := r.openOnce(&r.slips, "mistakes"); err != nil {
			return err
		}
		m := cell.Mistakes
		for k := range m.Confused {
			confused, slip := m.Confused[k], m.Slip[k]
			var path, pathSE any // empty if not known
			if offPath, known := m.OffPath.Get(); known {
				path, pathSE = offPath[k].Probability, offPath[k].SE
			}
			if err := r.slips.Row(g.Stage, g.Set.Model, g.Index+1, r.study.Stimuli[i].ID, k+1,
				confused.Probability, confused.SE, slip.Probability, slip.SE, path, pathSE); err != nil {
				return err
			}
		}
	}
	return nil
}

func unreachable(c *result.Cell, goal int) int {
	if goal < len(c.UnreachableFrom) {
		return c.UnreachableFrom[goal]
	}
	return -1
}

// Best lists each model's best parameter set as it is reported, in the order of
// [model.Models].
func (r *Report) Best() []Best {
	var all []Best
	for _, c := range r.chosen() {
		fitted, _ := r.standing.Place(c.Index)
		all = append(all, Best{Set: c.Set, Fit: *c.Fit, Number: c.Index + 1, Points: r.standing.Points(), Fitted: fitted.PearsonR})
	}
	return all
}

// Warnings are what the fits have to be warned of, after Close. They are among
// the manifest's.
func (r *Report) Warnings() []diagnose.Warning { return r.warnings }

// Best is a model's best parameter set.
type Best struct {
	Set    model.ParameterSet
	Fit    result.Fit
	Number int     // in the sweep, from 1
	Points int     // that people judged; it lacks some where Fit.Overall.N is less
	Fitted float64 // r by which it was chosen, which is biased upwards by the choice
}

// Close writes what needs all parameter sets: figures, the configuration,
// tables/fits.tex, report.html, the manifest.
func (r *Report) Close() error {
	r.Manifest.Cells = r.plan.Cells()
	if !r.all {
		for _, m := range model.Models {
			if c := r.best[m.Name]; c != nil {
				if err := r.addDetails(c.Gathered); err != nil {
					return errors.Join(err, r.closeTables())
				}
			}
		}
		r.note(fmt.Sprintf("Every table but fits.csv has only the best parameter set of each model: %s are more than %s.", words.Count(r.plan.Cells(), "cell"), words.Thousands(sweep.MaxDetailedCells)))
		if r.plan.Report && r.config.Bootstrap.Resamples > 0 {
			r.note("There are intervals only for the report stage.")
		}
	}
	if err := together(
		func() error { return errors.Join(r.comparePeople(), r.closeTables()) },
		r.figures,
		func() error { r.warnings = r.warner.Warnings(); return nil },
	); err != nil {
		return err
	}
	r.sumUp()
	for _, w := range r.warnings {
		text := w.Text + "."
		if w.Edges != nil {
			text += fmt.Sprintf(" Where a coordinator has the sweep, `foible extend %s", r.Manifest.SweepID)
			for _, edge := range w.Edges {
				text += fmt.Sprintf(" --set %s=%s", edge.Axis, edge.Beyond)
			}
			text += "` goes on there."
		}
		r.Manifest.Warnings = append(r.Manifest.Warnings, text)
	}
	if err := r.write("sweep.yaml", func(w io.Writer) error { return report.WriteConfig(w, &r.config) }); err != nil {
		return err
	}
	if err := r.writeLaTeX(); err != nil {
		return err
	}
	if err := r.write("report.html", r.writePage); err != nil {
		return err
	}
	return report.WriteJSON(r.out, "manifest.json", r.Manifest)
}

// sumUp says in the manifest what was topped up.
func (r *Report) sumUp() {
	for _, m := range r.plan.Models() {
		t, c := TopUp{}, r.best[m.Name]
		for i := range r.toppedUp {
			if m.First <= i && i < m.End {
				t.Contenders++
			}
		}
		if t.Contenders == 0 || c == nil {
			continue
		}
		if r.Manifest.TopUp == nil {
			r.Manifest.TopUp = map[string]TopUp{}
		}
		t.Times = r.plan.Times(c.round)
		t.Separated = !slices.ContainsFunc(r.warnings, func(w diagnose.Warning) bool {
			return w.Model == m.Name && (w.Kind == diagnose.TieWarning || w.Kind == diagnose.FlatWarning)
		})
		r.Manifest.TopUp[m.Name] = t
	}
}

func (r *Report) note(text string) { r.Manifest.Notes = append(r.Manifest.Notes, text) }

func (r *Report) closeTables() error {
	var errs []error
	for _, t := range r.tables {
		errs = append(errs, t.Close())
	}
	return errors.Join(errs...)
}

// write makes one file.
func (r *Report) write(name string, content func(io.Writer) error) error {
	return report.WriteFile(r.out, name, content)
}
