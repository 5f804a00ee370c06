package result

import (
	"fmt"
	"slices"
)

// Fit is how well a parameter set agrees with people.
type Fit struct {
	Overall    Correlation
	ByCategory []Correlation // in order of first appearance
	ByStimulus []Correlation // in the study's order
	Intervals  []Interval    // of the overall r
	Undefined  int           // stimuli without a posterior from some step on; their later points are not in n
	Failed     int           // of these, stimuli whose cell could not be computed
	// MCSE is the Monte-Carlo standard error of the overall r, from the spread
	// of runs; 0 for exact models, where Overall is not defined, and where it is not known.
	MCSE float64
	// MCSEUnknown: a stimulus was sampled in a single run, which has no spread.
	MCSEUnknown bool
}

// Correlation is Pearson's r with what it rests on.
type Correlation struct {
	Group    string // category or stimulus; empty for the whole study
	N        int    // points: (stimulus, judgement step, goal)
	PearsonR float64
	Defined  bool    // r exists: at least FewestPoints, and both sides vary
	RMSE     float64 // root mean squared error; 0 where N is 0
}

// Interval is a 95 % percentile interval of the overall r, or of a difference.
type Interval struct {
	Unit      string // participants, stimuli or both
	Low, High float64
	Resamples int // in which it was defined
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
