// Package compare writes the report of several sweeps next to each other: what differs between their settings, and how their
// best parameter sets fit the judgements that all of them have. It reads what package fit wrote. Read [Sweeps] first.
package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/random"
	"foible.dev/foible/core/report"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/stats"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/tabular"
	"foible.dev/foible/core/words"
)

// Comparison is what several sweeps have in common, and where they differ.
type Comparison struct {
	Cautions []string // what has to be known before the numbers
	Fits     []Fit
	Settings []Setting // that are not the same in all
	Same     []Setting // that are

	sweeps []*finished
	stray  []string // files of the studies that are not the same in all
	drawn  report.Gallery
}

// Fit is the best parameter set of a model in a sweep.
type Fit struct {
	Sweep, Model string
	// N, R and RMSE are over the points that all sweeps that have the model share; R is NaN if it is undefined.
	N       int
	R, RMSE float64
	// Difference of R from that in the first sweep, with its Monte-Carlo standard error
	// and its 95 % interval by stimuli; NaN where there is none.
	Difference, MCSE, Low, High float64

	fit *fitted // nil: the sweep has no fit of the model
}

// Setting is what a setting is in each sweep; "" where it is not set.
type Setting struct {
	Setting string
	Values  []string // by sweep
}

// differenceResamples are the resamples behind an interval of a difference.
const differenceResamples = 1000

// ErrDifferentStudies is of sweeps that are of different studies.
var ErrDifferentStudies = errors.New("the sweeps are of different studies")

// Options say what is compared.
type Options struct {
	// DifferentStudies: the sweeps may be of different studies; what has one name in both
	// (stimulus, goal) at one step is taken to be one thing. Otherwise it is ErrDifferentStudies.
	DifferentStudies bool
}

// Sweeps compares sweeps by what their reports left, and writes
// comparison.html, tables and figures. They are compared at what is common to them: the
// judged goals at judgement steps of stimuli. The error is of sweeps that have nothing
// in common, or that are not what a report leaves.
func Sweeps(out tabular.Output, o Options, sweeps ...Finished) (*Comparison, error) {
	c := &Comparison{}
	for _, f := range sweeps {
		s, err := f.read()
		if err != nil {
			return nil, err
		}
		c.sweeps = append(c.sweeps, s)
	}
	if err := c.comparable(); err != nil {
		return nil, err
	}
	c.settings()
	if err := c.oneStudy(); err != nil && !o.DifferentStudies {
		return nil, err
	}
	c.cautions()
	if err := c.fits(); err != nil {
		return nil, err
	}
	return c, c.write(out)
}

// comparable refuses sweeps without a stimulus or without a point in common.
func (c *Comparison) comparable() error {
	first := c.sweeps[0]
	for _, s := range c.sweeps {
		if len(s.places) == 0 {
			return fmt.Errorf("%s has no inferences at points that participants judged: nothing can be compared; is the sweep done?", s.name)
		}
	}
	for _, s := range c.sweeps[1:] {
		a, b := first.stimuli(), s.stimuli()
		if !slices.ContainsFunc(b, func(id string) bool { return slices.Contains(a, id) }) {
			return fmt.Errorf("%s and %s have no stimulus in common: those of %s are %s, those of %s are %s", first.name, s.name, first.name, some(a), s.name, some(b))
		}
	}
	if len(c.common(c.sweeps)) > 0 {
		return nil
	}
	var judged []string
	for _, s := range c.sweeps {
		p := s.places[0]
		judged = append(judged, fmt.Sprintf("%s begins with %s, step %d, goal %s", s.name, p.stimulus, p.step, p.goal))
	}
	return fmt.Errorf("%s have names of stimuli in common, but not one judged goal and step: %s", words.List(c.names()), strings.Join(judged, "; "))
}

// oneStudy refuses sweeps of different studies, and says in what these differ. A study whose hash is not known may be any.
func (c *Comparison) oneStudy() error {
	first := c.sweeps[0]
	for _, s := range c.sweeps[1:] {
		a, b := &first.manifest, &s.manifest
		var differ []string
		if a.Study != b.Study {
			differ = append(differ, fmt.Sprintf("%s is of %s, %s of %s", first.name, a.Study, s.name, b.Study))
		}
		if a.StudyHash != "" && b.StudyHash != "" && a.StudyHash != b.StudyHash && c.stray != nil {
			differ = append(differ, some(c.stray)+" are not the same in all")
		}
		if differ != nil || a.StudyHash != "" && b.StudyHash != "" && a.StudyHash != b.StudyHash {
			return fmt.Errorf("%w: %s", ErrDifferentStudies, strings.Join(append(differ, "so what has one name in all (stimulus, goal) may be two things"), "; "))
		}
	}
	return nil
}

// Compared is the number of best parameter sets that have an r over the points in common; nothing is
// compared where there are not two.
func (c *Comparison) Compared() int {
	n := 0
	for i := range c.Fits {
		if !math.IsNaN(c.Fits[i].R) {
			n++
		}
	}
	return n
}

func (c *Comparison) names() []string {
	var names []string
	for _, s := range c.sweeps {
		names = append(names, s.name)
	}
	return names
}

// mostNamed is how many things of a kind are named.
const mostNamed = 8

// some names things, not all if they are many.
func some(things []string) string {
	if len(things) <= mostNamed {
		return words.List(things)
	}
	return strings.Join(things[:mostNamed], ", ") + fmt.Sprintf(" and %s more", words.Thousands(len(things)-mostNamed))
}

// common are the places that people judged in all of some sweeps, in the order of the first.
func (c *Comparison) common(sweeps []*finished) []site {
	var all []site
	for _, p := range sweeps[0].places {
		if !slices.ContainsFunc(sweeps, func(s *finished) bool { _, ok := s.human[p]; return !ok }) {
			all = append(all, p)
		}
	}
	return all
}

// settings compares the configurations and what the sweeps are of.
func (c *Comparison) settings() {
	add := func(name string, of func(s *finished) string) {
		x := Setting{Setting: name}
		for _, s := range c.sweeps {
			x.Values = append(x.Values, of(s))
		}
		if slices.ContainsFunc(x.Values, func(v string) bool { return v != x.Values[0] }) {
			c.Settings = append(c.Settings, x)
		} else {
			c.Same = append(c.Same, x)
		}
	}
	add("study", func(s *finished) string { return s.manifest.Study })
	add("study hash", func(s *finished) string { return s.manifest.StudyHash })
	add("version of Foible", func(s *finished) string { return s.manifest.Version })
	var names []string
	for _, s := range c.sweeps {
		at := 0 // a name that others lack stands after the one before
		for _, x := range s.settings {
			if i := slices.Index(names, x.Key); i >= 0 {
				at = i + 1
				continue
			}
			names = slices.Insert(names, at, x.Key)
			at++
		}
	}
	for _, name := range names {
		add(name, func(s *finished) string { return s.setting(name) })
	}
	files := map[string]bool{}
	for _, s := range c.sweeps {
		for name := range s.manifest.Inputs {
			files[name] = true
		}
	}
	for name := range files {
		if slices.ContainsFunc(c.sweeps, func(s *finished) bool { return s.manifest.Inputs[name] != c.sweeps[0].manifest.Inputs[name] }) {
			c.stray = append(c.stray, name)
		}
	}
	slices.Sort(c.stray)
}

func (s *finished) setting(name string) string {
	for _, x := range s.settings {
		if x.Key == name {
			return x.Value
		}
	}
	return ""
}

// differ reports whether a setting is not the same in all sweeps.
func (c *Comparison) differ(name string) (values []string, ok bool) {
	for _, x := range c.Settings {
		if x.Setting == name {
			return x.Values, true
		}
	}
	return nil, false
}

// each says what a setting is in each sweep: marginal in A, sips in B.
func (c *Comparison) each(values []string) string {
	var parts []string
	for i, s := range c.sweeps {
		value := values[i]
		if value == "" {
			value = "none"
		}
		parts = append(parts, value+" in "+s.name)
	}
	return words.List(parts)
}

// cautions are what keeps differences between fits from being those of the models, gravest first.
func (c *Comparison) cautions() {
	add := func(format string, args ...any) { c.Cautions = append(c.Cautions, fmt.Sprintf(format, args...)) }
	var simulated, incomplete []string
	for _, s := range c.sweeps {
		if s.manifest.Simulated != "" {
			simulated = append(simulated, s.name)
		}
		if !s.manifest.Complete {
			incomplete = append(incomplete, s.name)
		}
	}
	if simulated != nil {
		add("Simulated participants: %s. None of these numbers is of people.", words.List(simulated))
	}
	if incomplete != nil {
		add("Incomplete: %s. Better parameter sets may be missing.", words.List(incomplete))
	}
	if hashes, ok := c.differ("study hash"); ok && !slices.Contains(hashes, "") {
		text := "The studies differ"
		if c.stray != nil {
			text += ": " + some(c.stray) + " are not the same in all"
		}
		add("%s. What has one name in all may be two things.", text)
	}
	c.strayPlaces(add)
	common := c.common(c.sweeps)
	n := 0
	for _, p := range common {
		if slices.ContainsFunc(c.sweeps, func(s *finished) bool { return math.Abs(s.human[p]-c.sweeps[0].human[p]) > 1e-9 }) {
			n++
		}
	}
	if n > 0 {
		add("The judgements differ at %s of %s: each r is with the judgements of its own sweep, and a difference has no interval.", words.Thousands(n), words.Count(len(common), "common point"))
	}
	if values, ok := c.differ("inference method"); ok {
		add("The methods of inference differ: %s. The particle filter's noise lowers r.", c.each(values))
	}
	if values, ok := c.differ("action_noise_kind"); ok {
		add("action_noise means different things: action_noise_kind is %s.", c.each(values))
	}
	for _, stage := range []string{sweep.FitStage, sweep.ReportStage} {
		for _, size := range []string{"runs", "particles_per_goal"} {
			if values, ok := c.differ(stage + " " + size); ok && !slices.Contains(values, "") {
				add("The %s stage is not of one size: %s is %s.", stage, strings.ReplaceAll(size, "_", " "), c.each(values))
			}
		}
	}
	for _, s := range c.sweeps {
		var lacking []string
		for _, m := range model.Models {
			if s.manifest.Parameters[m.Name] == 0 && slices.ContainsFunc(c.sweeps, func(t *finished) bool { return t.manifest.Parameters[m.Name] > 0 }) {
				lacking = append(lacking, m.Name)
			}
		}
		if lacking != nil {
			add("%s is without %s.", s.name, words.List(lacking))
		}
	}
	if stimuli := len(stimuliOf(common)); stimuli < score.FewestUnits {
		add("Differences have no intervals: the sweeps have %s in common, and %d are needed.", words.Count(stimuli, "stimulus"), score.FewestUnits)
	}
	for _, m := range model.Models {
		c.unlike(m.Name, add)
	}
	if values, ok := c.differ("seed"); ok {
		add("The seeds differ: %s. Differences hold Monte-Carlo noise of both sweeps, which their errors tell.", c.each(values))
	}
	if values, ok := c.differ("version of Foible"); ok {
		add("The versions of Foible differ: %s.", c.each(values))
	}
}

// unlike warns of a model whose best are of grids of another size, or of another stage.
func (c *Comparison) unlike(model string, add func(format string, args ...any)) {
	var sizes, stages []string
	for _, s := range c.sweeps {
		if n := s.manifest.Parameters[model]; n > 0 {
			sizes = append(sizes, fmt.Sprintf("%s in %s", words.Thousands(n), s.name))
		}
		if best := s.best[model]; best != nil && !slices.Contains(stages, best.stage) {
			stages = append(stages, best.stage)
		}
	}
	if slices.ContainsFunc(c.sweeps, func(s *finished) bool {
		n := s.manifest.Parameters[model]
		return n > 0 && n != c.sweeps[0].manifest.Parameters[model] && c.sweeps[0].manifest.Parameters[model] > 0
	}) {
		add("%s: the best is chosen among parameter sets of another number: %s. The best of more is higher by chance.", model, words.List(sizes))
	}
	if len(stages) > 1 {
		add("%s: r is that of the report stage in some and of the fit stage in others, where it is too high for a set that was chosen by it.", model)
	}
}

// strayPlaces warns of what is left out because not all sweeps have it.
func (c *Comparison) strayPlaces(add func(format string, args ...any)) {
	common := c.common(c.sweeps)
	shared := map[string]int{}
	for _, p := range common {
		shared[p.stimulus]++
	}
	for _, s := range c.sweeps {
		var lacking, other []string
		n := map[string]int{}
		for _, p := range s.places {
			n[p.stimulus]++
		}
		for _, id := range s.stimuli() {
			switch {
			case shared[id] == 0:
				lacking = append(lacking, id)
			case shared[id] < n[id]:
				other = append(other, id)
			}
		}
		if lacking != nil {
			add("Left out, since not all sweeps have judgements of them in common: stimuli %s of %s.", some(lacking), s.name)
		}
		if other != nil {
			add("Left out in part, since not all sweeps have the same goals and steps judged: stimuli %s of %s.", some(other), s.name)
		}
	}
}

// fits compares the best parameter sets of each model.
func (c *Comparison) fits() error {
	for _, m := range model.Models {
		var having []*finished
		for _, s := range c.sweeps {
			if s.best[m.Name] != nil {
				having = append(having, s)
			}
		}
		if having == nil {
			continue
		}
		places := slices.DeleteFunc(c.common(c.sweeps), func(p site) bool {
			return slices.ContainsFunc(having, func(s *finished) bool { _, ok := s.points[m.Name][p]; return !ok })
		})
		reference := -1
		for _, s := range c.sweeps {
			f := Fit{Sweep: s.name, Model: m.Name, R: math.NaN(), RMSE: math.NaN(), Difference: math.NaN(), MCSE: math.NaN(), Low: math.NaN(), High: math.NaN(), fit: s.best[m.Name]}
			if f.fit != nil && len(places) > 0 {
				inferred, people := s.at(m.Name, places)
				f.N, f.RMSE = len(places), stats.RMSE(inferred, people)
				if r, ok := stats.Pearson(inferred, people); ok {
					f.R = r
				}
				switch {
				case reference >= 0:
					if err := c.difference(&c.Fits[reference], &f, places); err != nil {
						return err
					}
				case s == c.sweeps[0]:
					reference = len(c.Fits)
				}
			}
			c.Fits = append(c.Fits, f)
		}
	}
	return nil
}

// at are what a sweep's best of a model infers and what people judged at some places.
func (s *finished) at(model string, places []site) (inferred, people []float64) {
	for _, p := range places {
		inferred, people = append(inferred, s.points[model][p]), append(people, s.human[p])
	}
	return inferred, people
}

// difference fills in how a fit differs from that in the first sweep.
func (c *Comparison) difference(first, f *Fit, places []site) error {
	f.Difference = f.R - first.R
	if first.fit.mcse != nil && f.fit.mcse != nil {
		f.MCSE = math.Hypot(*first.fit.mcse, *f.fit.mcse)
	}
	a, b := c.sweep(first.Sweep), c.sweep(f.Sweep)
	var h stats.Human
	var x, y [][]float64 // [stimulus][point]
	for i, p := range places {
		if math.Abs(a.human[p]-b.human[p]) > 1e-9 {
			return nil // resamples of one study's people say nothing of the other's
		}
		if i == 0 || p.stimulus != places[i-1].stimulus {
			h.Stimuli = append(h.Stimuli, stats.Responses{})
			x, y = append(x, nil), append(y, nil)
		}
		last := len(x) - 1
		h.Stimuli[last].Mean = append(h.Stimuli[last].Mean, a.human[p])
		x[last], y[last] = append(x[last], a.points[f.Model][p]), append(y[last], b.points[f.Model][p])
	}
	if len(x) < score.FewestUnits {
		return nil // said by cautions
	}
	resampled, err := stats.NewBootstrap(h, stats.ByStimuli, differenceResamples, random.BootstrapStream(a.manifest.Seed, "comparison"))
	if err != nil {
		return fmt.Errorf("%s and %s, %s: %w", a.name, b.name, f.Model, err)
	}
	if low, high, ok := stats.Interval(resampled.Difference(y, x), 0.95); ok {
		f.Low, f.High = low, high
	}
	return nil
}

func (c *Comparison) sweep(name string) *finished {
	return c.sweeps[slices.IndexFunc(c.sweeps, func(s *finished) bool { return s.name == name })]
}

// write writes tables, figures and the page.
func (c *Comparison) write(out tabular.Output) error {
	if err := c.writeFits(out); err != nil {
		return err
	}
	if err := c.writeSettings(out); err != nil {
		return err
	}
	if err := c.figures(out); err != nil {
		return err
	}
	return report.WriteFile(out, "comparison.html", c.writePage)
}

// known is a number for a table: nil if it is not one.
func known(v float64) any {
	if math.IsNaN(v) {
		return nil
	}
	return v
}

// value is what a pointer of a row points to, for a table.
func value[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

func (c *Comparison) writeFits(out tabular.Output) error {
	return tabular.Write(out, "comparison", func(row func(...any) error) error {
		for i := range c.Fits {
			f := &c.Fits[i]
			if f.fit == nil {
				continue
			}
			values := []any{f.Sweep, f.fit.stage, f.Model, f.fit.set}
			for _, axis := range model.AxisNames() {
				v, err := axisValue(axis, f.fit.axes[axis])
				if err != nil {
					return fmt.Errorf("%s: fits.csv: %w", f.Sweep, err)
				}
				values = append(values, v)
			}
			values = append(values, value(f.fit.runs), value(f.fit.particles), f.fit.n, value(f.fit.r), value(f.fit.low), value(f.fit.high), f.fit.unit, value(f.fit.mcse), value(f.fit.rmse),
				f.N, known(f.R), known(f.RMSE), known(f.Difference), known(f.MCSE), known(f.Low), known(f.High))
			if err := row(values...); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeSettings writes every setting of each sweep.
func (c *Comparison) writeSettings(out tabular.Output) error {
	return tabular.Write(out, "settings", func(row func(...any) error) error {
		for _, x := range slices.Concat(c.Settings, c.Same) {
			for i, s := range c.sweeps {
				if err := row(x.Setting, s.name, x.Values[i]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// figures draws the sensitivity of each sweep, and each model's best of all sweeps against people.
func (c *Comparison) figures(out tabular.Output) error {
	var reach []float64
	for _, s := range c.sweeps {
		for _, fits := range s.fits {
			for i := range fits {
				for _, v := range []*float64{fits[i].r, fits[i].low, fits[i].high} {
					if v != nil {
						reach = append(reach, *v)
					}
				}
			}
		}
	}
	if reach != nil {
		reach = []float64{slices.Min(reach), slices.Max(reach)}
	}
	for i, s := range c.sweeps {
		c.drawn.Add(fmt.Sprintf("sensitivity-%d", i+1), figure.Sensitivity(s.curves(), figure.SensitivityOptions{Title: s.name, Reach: reach}))
	}
	for _, m := range model.Models {
		var panels []figure.Panel
		for _, s := range c.sweeps {
			if best := s.best[m.Name]; best != nil {
				panels = append(panels, s.panel(best))
			}
		}
		if panels == nil {
			continue
		}
		title := m.Name
		if slices.ContainsFunc(c.sweeps, func(s *finished) bool { return s.manifest.Simulated != "" }) {
			title += " (simulated participants)"
		}
		c.drawn.Add("scatter-"+m.Name, figure.Scatter(title, panels))
	}
	return c.drawn.Save(out)
}

// curves are the fits of the fit stage, by model.
func (s *finished) curves() []figure.Curve {
	var curves []figure.Curve
	for _, m := range model.Models {
		fits := s.fits[m.Name]
		if len(fits) == 0 {
			continue
		}
		curve := figure.Curve{Model: m.Name, Chosen: -1}
		for i := range fits {
			f := &fits[i]
			p := figure.Point{R: math.NaN(), Label: f.text()}
			if best := s.best[m.Name]; f.r != nil && best != nil && f.n >= best.n { // else it lacks points of the best
				p.R = *f.r
			}
			if f.low != nil && f.high != nil {
				p.Low, p.High = *f.low, *f.high
			}
			if best := s.best[m.Name]; best != nil && best.set == f.set {
				curve.Chosen = i
			}
			curve.Points = append(curve.Points, p)
		}
		curves = append(curves, curve)
	}
	return curves
}

// panel is a best parameter set against people, at all points of its sweep.
func (s *finished) panel(best *fitted) figure.Panel {
	p := figure.Panel{Category: s.name, R: *best.r, N: best.n}
	if best.low != nil && best.high != nil {
		p.Low, p.High = *best.low, *best.high
	}
	for _, at := range s.places {
		if x, ok := s.points[best.model][at]; ok {
			p.Points = append(p.Points, figure.ScatterPoint{Model: x, Human: s.human[at], SE: s.se[at], Series: best.model})
		}
	}
	return p
}
