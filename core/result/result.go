// Package result says what inference and scoring find: the [Cell] of a parameter set on a
// stimulus, what it predicts at the judgement steps ([Prediction], [Runs]), and how well
// that agrees with people ([Fit]).
package result

import (
	"math"
	"slices"

	"foible.dev/foible/core/optional"
	"foible.dev/foible/core/stats"
)

// Cell is what a model predicts of a stimulus: one parameter set, averaged over
// its runs, or batches of samples.
type Cell struct {
	// Judged: there is a row a judgement step, in their order; otherwise a row a
	// step, from 0. Where Undefined is set, rows of steps from there on are missing.
	Judged    bool
	Posterior [][]float64 // [row][goal]
	Undefined *Undefined
	// UnreachableFrom is, by goal, the first step from which it cannot be
	// reached; -1 if it always can. Nil where the model does not ask.
	UnreachableFrom []int

	// Of models that are not exact:
	SE [][]float64 // [row][goal] standard error of Posterior; nil for exact models, and where Judged
	// Runs have a row a judgement step of Posterior: the posteriors of the runs of
	// sips that reached as far as Posterior. Of marginal inference, they are the
	// jackknife's pseudo-values n p - (n - 1) p_without_i of batch i of n, which sum
	// to 1 and may lie outside [0, 1].
	Runs Runs
	Filter

	// Of marginal inference:
	LogEvidence [][]float64 // [row][goal] ln P(actions so far | goal); -Inf once it is impossible; nil where not computed
	Samples     int         // searches behind each table of an original goal
	Mistakes    *Mistakes   // nil where not computed
}

// Mistakes are probabilities, given the observed actions, of the mistakes behind
// each of them: [k] is of the action that led to step k + 1.
type Mistakes struct {
	Confused []Estimate // the agent pursued a goal that it took for its own
	Slip     []Estimate // the action is not the one it intended
	// OffPath: the plan behind the action ends off every shortest path to the goal it was
	// made for. Not known where more than PathStates states can be reached.
	OffPath optional.Value[[]Estimate]
}

// PathStates bounds the tasks in which plans are compared with shortest paths: for that,
// all states that can be reached are enumerated.
const PathStates = 500_000

// PathsUnknown says why a comparison with shortest paths is not known.
const PathsUnknown = "not known: more than 500,000 states"

// Estimate is a probability with its Monte-Carlo standard error.
type Estimate struct{ Probability, SE float64 }

// Filter is how a cell's particle filters fared, by row as Posterior, averaged
// over runs; all nil for exact models. Marginal inference has only Evidence.
type Filter struct {
	ESS        []float64 // effective sample size
	Alive      []float64 // goals that some particle has
	Evidence   []float64 // ln of the mean probability of the steps so far
	FailedRuns int       // runs in which all particles lost their weight
}

// Judge keeps the rows of a cell at the judgement steps, and drops what a large
// sweep has no room for: evidence by goal, mistakes, and errors, which follow
// from Runs. Of Runs single precision is left: nothing but an error is made of them.
func (c *Cell) Judge(steps []int) {
	c.LogEvidence, c.Mistakes, c.SE = nil, nil, nil
	c.Runs = ShortRuns(c.Runs.Short(), c.Runs.rows, c.Runs.goals)
	if c.Judged {
		return
	}
	c.Judged = true
	c.Posterior = AtSteps(c.Posterior, steps)
	c.ESS, c.Alive, c.Evidence = AtSteps(c.ESS, steps), AtSteps(c.Alive, steps), AtSteps(c.Evidence, steps)
}

// FailedCell is a cell that could not be computed.
func FailedCell(reason string) Cell {
	return Cell{Undefined: &Undefined{Failed: true, Reason: reason}}
}

// Failed says whether the cell could not be computed.
func (c *Cell) Failed() bool { return c.Undefined != nil && c.Undefined.Failed }

func (c *Cell) Copy() *Cell {
	out := *c
	for _, rows := range []*[][]float64{&out.Posterior, &out.SE, &out.LogEvidence} {
		*rows = slices.Clone(*rows)
		for i, row := range *rows {
			(*rows)[i] = slices.Clone(row)
		}
	}
	for _, xs := range []*[]float64{&out.ESS, &out.Alive, &out.Evidence} {
		*xs = slices.Clone(*xs)
	}
	out.Runs.numbers, out.Runs.short = slices.Clone(c.Runs.numbers), slices.Clone(c.Runs.short)
	return &out
}

// Error is the standard error of Posterior[row][goal]; not known of a cell with a
// single run, 0 of an exact model.
func (c *Cell) Error(row, goal int) (se float64, known bool) {
	switch n := c.Runs.Len(); {
	case n == 1: // a run by itself has no spread
		return 0, false
	case row < len(c.SE):
		return c.SE[row][goal], true
	case !c.Judged || n == 0:
		return 0, true
	default:
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = c.Runs.At(i, row, goal)
		}
		return math.Sqrt(stats.SumOfSquares(xs) / float64(n) / float64(n-1)), true
	}
}

// AtSteps are the rows of some steps; those that are not there are left out.
func AtSteps[T any](all []T, steps []int) []T {
	var out []T
	for _, step := range steps {
		if step < len(all) {
			out = append(out, all[step])
		}
	}
	return out
}

// Undefined says from which step on there is no posterior: an outcome of the model,
// unless it says that the cell has failed.
type Undefined struct {
	// Failed: the cell could not be computed, so that nothing is known of the model here.
	// Then Step is 0.
	Failed bool
	Step   int    // first step without a posterior
	Reason string // e.g. "no particle is left at step 3, action (up)"
}
