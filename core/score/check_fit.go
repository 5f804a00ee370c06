package score

import (
	"fmt"
	"math"
	"slices"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

// Outline is what is known of a prediction before it is compared with people: how many
// judgement steps it has, and why there are no more.
type Outline struct {
	Rows              int32
	Undefined, Failed bool
}

// Outlines are those of predictions.
func Outlines(predictions []result.Prediction) []Outline {
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
func CheckFit(f *result.Fit, name string, outlines []Outline, stimuli []sweep.Shape, b sweep.Bootstrap) error {
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
	if m := model.Find(name); (m == nil || m.Exact || !f.Overall.Defined) && f.MCSE != 0 {
		return fmt.Errorf("a Monte-Carlo error of %v without samples, or without r", f.MCSE)
	}
	return checkIntervals(f.Intervals, b)
}

// checkStimuli checks the correlations by stimulus, and that all points are in them.
func checkStimuli(f *result.Fit, outlines []Outline, stimuli []sweep.Shape) error {
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
func checkGroups(f *result.Fit, stimuli int) error {
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
func checkIntervals(all []result.Interval, b sweep.Bootstrap) error {
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
