package sweep

// Cell is what a model predicts of a stimulus: one parameter set, averaged over its runs.
type Cell struct {
	Posterior [][]float64 // [step][goal], steps from 0; shorter than the plan where Undefined is set
	Undefined *Undefined
	// UnreachableFrom is, by goal, the first step from which it cannot be
	// reached; -1 if it always can. Nil where the model does not ask.
	UnreachableFrom []int

	// Of models that are run more than once:
	SE   [][]float64   // [step][goal] standard error of Posterior over runs; nil for exact models
	Runs [][][]float64 // [run][judgement step][goal] of the runs that reached as far as Posterior
	Filter
}

// Filter is how a cell's particle filters fared, by step from 0, averaged over
// runs; empty for exact models.
type Filter struct {
	ESS        []float64 // effective sample size
	Alive      []float64 // goals that some particle has
	Evidence   []float64 // ln of the mean probability of the steps so far
	FailedRuns int       // runs in which all weights vanished
}

// Undefined says from which step on a model gives no posterior. It is an
// outcome, not a failure.
type Undefined struct {
	Step   int    // first step without a posterior
	Reason string // e.g. "zero probability at step 3, action (up)"
}

// Fit is how well a parameter set agrees with people.
type Fit struct {
	Overall    Correlation
	ByCategory []Correlation // in order of first appearance
	ByStimulus []Correlation // in the study's order
	Intervals  []Interval    // of the overall r
	Undefined  int           // stimuli without a posterior from some step on; their later points are not in n
	// MCSE is the Monte-Carlo standard error of the overall r, from the spread
	// of runs; 0 for exact models, and where Overall is not defined.
	MCSE float64
}

// Correlation is Pearson's r with what it rests on.
type Correlation struct {
	Group    string // category or stimulus; empty for the whole study
	N        int    // points: (stimulus, judgement step, goal)
	PearsonR float64
	Defined  bool    // r exists: at least two points, and both sides vary
	RMSE     float64 // root mean squared error; 0 where N is 0
}

// Interval is a 95 % percentile interval of the overall r.
type Interval struct {
	Unit      string // participants, stimuli or both
	Low, High float64
	Resamples int // in which r was defined
}

// ParameterFit is the fit of a parameter set.
type ParameterFit struct {
	Set ParameterSet
	Fit
}

// Best is the index of the highest defined r; the first of equals; -1 if none is defined.
func Best(fits []ParameterFit) int {
	best := -1
	for i := range fits {
		if f := &fits[i]; f.Overall.Defined && (best < 0 || f.Overall.PearsonR > fits[best].Overall.PearsonR) {
			best = i
		}
	}
	return best
}
