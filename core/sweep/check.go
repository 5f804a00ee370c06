package sweep

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// What a worker answers is checked against what its job can give, so that an answer which
// only looks like one is not taken for a result. Numbers that are right in kind and range
// and wrong all the same are found by computing them twice.

// slack is how far rounding may carry a number beyond a bound.
const slack = 1e-9

// maxLog bounds the logarithm of a probability, or of a density, of one step.
const maxLog = 1e6

// CheckCell says why a cell cannot be what a procedure gives for a parameter set on a
// stimulus; nil if it can. That its rows are distributions, in the right number, is known
// already.
func (s *Shape) CheckCell(c *Cell, set *ParameterSet, p *Procedure) error {
	if c.Failed() {
		return c.checkFailed()
	}
	model := modelOf(set.Model)
	switch {
	case model == nil:
		return fmt.Errorf("unknown model %q", set.Model)
	case c.Mistakes != nil && (model.Exact || p.Detail != DetailMistakes), c.Mistakes == nil && !model.Exact && p.Detail == DetailMistakes:
		return fmt.Errorf("with mistakes: %v, where %s are asked for", c.Mistakes != nil, p.Detail)
	case model.Exact != (c.UnreachableFrom != nil):
		return fmt.Errorf("with goals that cannot be reached: %v, of the model %s", c.UnreachableFrom != nil, model.Name)
	}
	switch {
	case model.Exact:
		return c.checkExact()
	case p.Method == SIPS:
		return s.checkFiltered(c, p)
	}
	return c.checkMarginal(p)
}

// checkFailed says what a cell has that could not be computed.
func (c *Cell) checkFailed() error {
	if len(c.Posterior) > 0 || c.UnreachableFrom != nil || c.Mistakes != nil {
		return errors.New("numbers of a cell that could not be computed")
	}
	return c.checkExact()
}

// checkExact says what a cell has that only one of samples has.
func (c *Cell) checkExact() error {
	if c.SE != nil || c.Runs.Len() > 0 || c.ESS != nil || c.Alive != nil || c.Evidence != nil || c.LogEvidence != nil || c.Samples != 0 || c.FailedRuns != 0 {
		return errors.New("samples of a model that is exact, or of a cell that could not be computed")
	}
	return nil
}

// checkFiltered checks a cell of sips.
func (s *Shape) checkFiltered(c *Cell, p *Procedure) error {
	rows, runs := len(c.Posterior), c.Runs.Len()
	particles := float64(p.ParticlesPerGoal * s.Goals)
	switch {
	case len(c.ESS) != rows || len(c.Alive) != rows || len(c.Evidence) != rows:
		return fmt.Errorf("sample sizes, goals and evidence of %d, %d and %d steps, want %d", len(c.ESS), len(c.Alive), len(c.Evidence), rows)
	case c.LogEvidence != nil || c.Samples != 0:
		return errors.New("evidence by goal, or searches, of a particle filter")
	case !among(c.ESS, 0, particles):
		return fmt.Errorf("an effective sample size beyond that of %v particles", particles)
	case !among(c.Alive, 0, float64(s.Goals)):
		return fmt.Errorf("more than %d goals alive", s.Goals)
	case c.Undefined != nil && c.FailedRuns != p.Runs:
		return fmt.Errorf("%d failed runs of %d, though none reaches the end", c.FailedRuns, p.Runs)
	case c.Undefined == nil && c.FailedRuns >= p.Runs:
		return fmt.Errorf("%d failed runs of %d", c.FailedRuns, p.Runs)
	case c.Undefined == nil && runs > 0 && runs+c.FailedRuns != p.Runs, runs > p.Runs:
		return fmt.Errorf("%d runs, and %d that failed, of %d", runs, c.FailedRuns, p.Runs)
	}
	return c.checkSampled(p, 0.5)
}

// checkMarginal checks a cell of marginal inference.
func (c *Cell) checkMarginal(p *Procedure) error {
	rows := len(c.Posterior)
	switch {
	case c.ESS != nil || c.Alive != nil || c.FailedRuns != 0:
		return errors.New("particles of marginal inference")
	case len(c.Evidence) != rows || p.Detail != DetailJudged && len(c.LogEvidence) != rows:
		return fmt.Errorf("evidence of %d steps, and by goal of %d, want %d", len(c.Evidence), len(c.LogEvidence), rows)
	case c.Samples < 1:
		return fmt.Errorf("%d searches", c.Samples)
	case c.Runs.Len() != 0 && c.Runs.Len() != p.Runs:
		return fmt.Errorf("%d batches, want %d", c.Runs.Len(), p.Runs)
	}
	for _, row := range c.LogEvidence {
		for _, x := range row {
			if x > maxLog*float64(rows) {
				return fmt.Errorf("evidence of a goal of %v", x)
			}
		}
	}
	return c.checkSampled(p, float64(p.Runs)) // which pseudo-values of so many batches can have
}

// checkSampled checks what cells of samples have in common.
func (c *Cell) checkSampled(p *Procedure, maxSE float64) error {
	rows := len(c.Posterior)
	if detailed := p.Detail != DetailJudged; detailed && len(c.SE) != rows || !detailed && len(c.SE) > 0 {
		return fmt.Errorf("standard errors of %d steps, of %d that are %s", len(c.SE), rows, p.Detail)
	}
	for _, row := range c.SE {
		if !among(row, 0, maxSE) {
			return fmt.Errorf("standard errors %v", row)
		}
	}
	if most := maxLog * float64(max(1, rows)); !among(c.Evidence, -most, most) {
		return errors.New("evidence beyond what any model can have")
	}
	return nil
}

// among says whether numbers are between two others, which they may touch.
func among(xs []float64, low, high float64) bool {
	return !slices.ContainsFunc(xs, func(x float64) bool { return !(x >= low-slack && x <= high+slack) })
}

// Outline is what is known of a prediction before it is compared with people: how many
// judgement steps it has, and why there are no more.
type Outline struct {
	Rows              int32
	Undefined, Failed bool
}

// Outlines are those of predictions.
func Outlines(predictions []Prediction) []Outline {
	all := make([]Outline, len(predictions))
	for i := range predictions {
		p := &predictions[i]
		all[i] = Outline{Rows: int32(len(p.Rows)), Undefined: p.Undefined, Failed: p.Failed}
	}
	return all
}

// CheckFit says why a fit cannot be one of predictions with such outlines, one a stimulus,
// with a bootstrap; nil if it can. That correlations, errors and ends of intervals are in
// their ranges is known already.
func CheckFit(f *Fit, model string, outlines []Outline, stimuli []Shape, b Bootstrap) error {
	undefined, failed := 0, 0
	for _, o := range outlines {
		if o.Undefined {
			undefined++
		}
		if o.Failed {
			failed++
		}
	}
	if f.Undefined != undefined || f.Failed != failed {
		return fmt.Errorf("%d undefined and %d failed stimuli, want %d and %d", f.Undefined, f.Failed, undefined, failed)
	}
	if err := checkStimuli(f, outlines, stimuli); err != nil {
		return err
	}
	if err := checkGroups(f, len(stimuli)); err != nil {
		return err
	}
	if m := modelOf(model); (m == nil || m.Exact || !f.Overall.Defined) && f.MCSE != 0 {
		return fmt.Errorf("a Monte-Carlo error of %v without samples, or without r", f.MCSE)
	}
	return checkIntervals(f.Intervals, b)
}

// checkStimuli checks the correlations by stimulus, and that all points are in them.
func checkStimuli(f *Fit, outlines []Outline, stimuli []Shape) error {
	if len(f.ByStimulus) != len(stimuli) || len(outlines) != len(stimuli) {
		return fmt.Errorf("correlations of %d stimuli, want %d", len(f.ByStimulus), len(stimuli))
	}
	n := 0
	for i := range f.ByStimulus {
		c, s, o := &f.ByStimulus[i], &stimuli[i], &outlines[i]
		least, most := 0, int(o.Rows)*s.Goals
		if s.Points > 0 {
			most = min(most, s.Points)
			if int(o.Rows) == len(s.JudgementSteps) {
				least = most
			}
		}
		switch {
		case c.Group != s.Stimulus:
			return fmt.Errorf("a correlation of stimulus %q, want %q", c.Group, s.Stimulus)
		case c.N < least || c.N > most:
			return fmt.Errorf("stimulus %s: %d points, want %d to %d", s.Stimulus, c.N, least, most)
		}
		n += c.N
	}
	if f.Overall.N != n || f.Overall.Group != "" {
		return fmt.Errorf("%d points %q, want the %d of all stimuli", f.Overall.N, f.Overall.Group, n)
	}
	return nil
}

// checkGroups checks the correlations by category.
func checkGroups(f *Fit, stimuli int) error {
	n, seen := 0, map[string]bool{}
	for i := range f.ByCategory {
		c := &f.ByCategory[i]
		if seen[c.Group] {
			return fmt.Errorf("two correlations of category %q", c.Group)
		}
		seen[c.Group] = true
		n += c.N
	}
	if n != f.Overall.N || len(seen) == 0 || len(seen) > stimuli {
		return fmt.Errorf("%d points in %d categories, want %d points", n, len(seen), f.Overall.N)
	}
	return nil
}

// checkIntervals: units that the data do not allow are missing.
func checkIntervals(all []Interval, b Bootstrap) error {
	next := 0
	for _, in := range all {
		at := slices.Index(b.Units[next:], in.Unit)
		switch {
		case at < 0:
			return fmt.Errorf("an interval by %s, where they are by %v in this order", in.Unit, b.Units)
		case in.Resamples < 1 || in.Resamples > b.Resamples:
			return fmt.Errorf("%d resamples of %d", in.Resamples, b.Resamples)
		case math.IsNaN(in.Low) || in.Low > in.High:
			return fmt.Errorf("an interval from %v to %v", in.Low, in.High)
		}
		next += at + 1
	}
	return nil
}

// CheckSame says why a fit is not the one that was computed here of the same predictions; nil if all its numbers are.
func (f *Fit) CheckSame(o *Fit) error {
	if err := f.Overall.checkSame(&o.Overall); err != nil {
		return err
	}
	for _, g := range []struct {
		name  string
		f, of []Correlation
	}{{"category", f.ByCategory, o.ByCategory}, {"stimulus", f.ByStimulus, o.ByStimulus}} {
		if len(g.f) != len(g.of) {
			return fmt.Errorf("correlations of %d groups by %s; computed here, there are %d", len(g.of), g.name, len(g.f))
		}
		for i := range g.f {
			if err := g.f[i].checkSame(&g.of[i]); err != nil {
				return fmt.Errorf("%s %s: %w", g.name, g.f[i].Group, err)
			}
		}
	}
	switch {
	case !slices.Equal(f.Intervals, o.Intervals):
		return fmt.Errorf("intervals %v; computed here, they are %v", o.Intervals, f.Intervals)
	case f.Undefined != o.Undefined || f.Failed != o.Failed:
		return fmt.Errorf("%d undefined and %d failed stimuli; computed here, they are %d and %d", o.Undefined, o.Failed, f.Undefined, f.Failed)
	case f.MCSE != o.MCSE || f.MCSEUnknown != o.MCSEUnknown:
		return fmt.Errorf("a Monte-Carlo error of %v (unknown: %v); computed here, it is %v (%v)", o.MCSE, o.MCSEUnknown, f.MCSE, f.MCSEUnknown)
	}
	return nil
}

func (c *Correlation) checkSame(o *Correlation) error {
	switch {
	case c.Group != o.Group:
		return fmt.Errorf("a correlation of %q, where it is of %q here", o.Group, c.Group)
	case c.N != o.N:
		return fmt.Errorf("%d points; counted here, there are %d", o.N, c.N)
	case c.Defined != o.Defined || c.PearsonR != o.PearsonR:
		return fmt.Errorf("r is %v; computed here, it is %v", o.r(), c.r())
	case c.RMSE != o.RMSE:
		return fmt.Errorf("rmse is %v; computed here, it is %v", o.RMSE, c.RMSE)
	}
	return nil
}

// r is PearsonR in words.
func (c *Correlation) r() string {
	if !c.Defined {
		return "undefined"
	}
	return fmt.Sprint(c.PearsonR)
}
