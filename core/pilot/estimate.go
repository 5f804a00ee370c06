package pilot

import (
	"math"

	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

// Estimate is what a sweep will take, in seconds of one core of the kind that the
// pilot ran on, and how sure it will be. Tables and figures of its report are not in it.
type Estimate struct {
	Cells, Jobs int
	// Work of Fit and Report, in the unit of [inference.Stimulus.Work], and what a unit of it
	// took in the pilot, in seconds.
	Work, Rate         float64
	Fit, Report, Score float64 // of the stages, if one process does all
	// TopUp is what topping up takes at most, where no model's best is ever clear; how much of
	// it is needed a pilot cannot tell. TopUpCells are its cells.
	TopUp      float64
	TopUpCells int
	// Tables is what of Fit is made once a stimulus by a process, and shared by its
	// cells: heuristics, and the searches of marginal inference.
	Tables float64
	// Spread is a factor within which the sum is meant to be in 9 of 10 sweeps, by how much
	// stimuli differed.
	Spread float64
	Errors []Error // by model, those of which something is known

	Measured int // cells that the pilot ran
	Full     int // stimuli on which every kind of cell was met
	Seen     int // stimuli on which any was
	Stimuli  int

	longest, longestReport float64 // jobs
	chunks                 int     // jobs of the fit stage on a stimulus
}

// Error is the expected Monte-Carlo standard error of the r of a model's parameter sets.
type Error struct {
	Model       string
	Fit, Report float64 // 0: not known
}

// Seconds of one core that all takes, if one process does it.
func (e *Estimate) Seconds() float64 { return e.Fit + e.Report + e.Score }

// Range of Seconds, with all of TopUp at its upper end.
func (e *Estimate) Range() (low, high float64) {
	return e.Seconds() / e.Spread, (e.Seconds() + e.TopUp) * e.Spread
}

// Wall is the time with so many slots, in seconds, and its range. At its upper end
// each slot is a process of its own, which makes the tables that it meets itself, and
// all of TopUp is needed.
func (e *Estimate) Wall(slots int) (expected, low, high float64) {
	n := float64(max(1, slots))
	wall := func(fit, more, topUp float64) float64 {
		fit = max((fit+more)/n+tail*e.longest, e.longest)
		report := max(e.Report/math.Min(n, float64(e.Stimuli)), e.longestReport)
		return fit + topUp/n + report + e.Score/n
	}
	again := math.Min(n, float64(e.chunks)) - 1
	expected = wall(e.Fit, 0, 0)
	return expected, expected / e.Spread, e.Spread * wall(e.Fit, again*e.Tables, e.TopUp)
}

// telling: the first cells of a stimulus tell what all take in proportion where they are
// at least 1 / telling of that, and the less, as a power, the smaller a part they are.
const telling = 20

// tail is the part of the longest job for which slots wait at the end of a stage.
const tail = 0.25

// How far off an estimate is, as the standard deviation of its logarithm.
const (
	unlikeMachine = 0.08 // however much has been measured
	unlikeFull    = 0.15 // by stimulus, of all cells to the first ones; at least
	unlikeSize    = 0.35 // of the cost to the root of the size; at least
	unlikeKinds   = 0.3  // where some kinds of cells were not met
	nineOfTen     = 1.645
)

// estimate extends what is measured to all stimuli: by the first cells where
// they are known, else by their size, of which the cost is about the root.
func (r *run) estimate(scores float64) (*Estimate, error) {
	e := &Estimate{
		Cells: r.Plan.Cells(), Jobs: r.Plan.Jobs(), Score: scores, Measured: r.cells, Stimuli: len(r.of),
		chunks: r.Plan.FitChunks(),
	}
	r.complete()
	var full measured
	var fullFirst, seen, seenSize float64
	like := 0 // stimuli that others are like
	for i := range r.of {
		m := &r.of[i]
		if m.done {
			e.Full++
		}
		if m.known() {
			like++
			fullFirst += m.first()
			full.fit += m.fit
			full.tables += m.tables
			full.report += m.report
		}
	}
	r.power = min(1, telling*fullFirst/full.fit)
	var fullPower float64
	for i := range r.of {
		if m := &r.of[i]; m.known() {
			fullPower += math.Pow(m.first(), r.power)
		}
	}
	byFirst := func(m *measured) float64 { return math.Pow(m.first(), r.power) / fullPower }
	for i := range r.of {
		if m := &r.of[i]; m.first() > 0 {
			e.Seen++
			seen += byFirst(m)
			seenSize += math.Sqrt(r.size(i))
		}
	}
	var partly, unseen, longest, longestReport float64 // parts of the cost, in units of full
	for i := range r.of {
		m := &r.of[i]
		part := seen / seenSize * math.Sqrt(r.size(i))
		switch {
		case m.known():
			e.Fit += m.fit
			e.Tables += m.tables
			e.Report += m.report
			longest, longestReport = max(longest, m.fit), max(longestReport, m.report)
			continue
		case m.first() > 0:
			part = byFirst(m)
			partly += part
		default:
			unseen += part
		}
		e.Fit += part * full.fit
		e.Tables += part * full.tables
		e.Report += part * full.report
		longest, longestReport = max(longest, part*full.fit), max(longestReport, part*full.report)
	}
	// Of the jobs on the costliest stimulus, the first makes its tables.
	e.longest = min(longest, e.Tables/float64(e.Stimuli)+longest/float64(e.chunks))
	e.longestReport = longestReport
	all := 1 + partly + unseen
	variance := unlikeMachine * unlikeMachine
	add := func(part, sd float64, known, unknown int) {
		if unknown > 0 {
			x := part / all * sd
			variance += x * x * (1/float64(known) + 1/float64(unknown))
		}
	}
	add(partly, r.residuals(unlikeFull, func(m *measured, _ int) float64 { return m.fit / math.Pow(m.first(), r.power) }), like, e.Seen-like)
	add(unseen, r.residuals(unlikeSize, func(m *measured, i int) float64 { return math.Pow(m.first(), r.power) / math.Sqrt(r.size(i)) }), like, e.Stimuli-e.Seen)
	if r.skipped {
		variance += unlikeKinds * unlikeKinds
	}
	e.Fit += perCell * float64(len(r.Plan.Sets)*len(r.of))
	var work float64
	if e.TopUpCells, work = r.Plan.MostTopUp(); e.TopUpCells > 0 {
		e.TopUp = (e.Fit - e.Tables) * work / float64(len(r.Plan.Sets)*len(r.of))
		if r.Config.Inference.Method == sweep.Marginal { // which makes its tables anew in each round
			e.TopUp += e.Tables * work * float64(r.Plan.TopUps()) / float64(e.TopUpCells)
		}
	}
	e.Spread = math.Exp(nineOfTen * math.Sqrt(variance))
	e.Work, e.Rate = e.Fit+e.Report, r.seconds/r.work
	for _, x := range []*float64{&e.Fit, &e.Report, &e.TopUp, &e.Tables, &e.longest, &e.longestReport} {
		*x *= e.Rate
	}
	return e, r.errors(e)
}

// perCell is what a cell takes besides inference, to be sent, recorded and scored: in units
// of work, by profiles of scans.
const perCell = 30e-6

// known reports whether what all cells of the stimulus take is known, measured or made up for.
func (m *measured) known() bool { return m.done || m.partly }

// residuals are the standard deviation of the logarithm of a ratio over stimuli that
// are known, at least so much; twice that for fewer than three.
func (r *run) residuals(least float64, ratio func(m *measured, stimulus int) float64) float64 {
	var n, sum, squares float64
	for i := range r.of {
		if m := &r.of[i]; m.known() {
			x := math.Log(max(1e-12, ratio(m, i)))
			n++
			sum += x
			squares += float64(x * x)
		}
	}
	if n < 3 {
		return 2 * least
	}
	return max(least, math.Sqrt(max(0, squares-sum*sum/n)/(n-1)))
}

// errors are those of the r of the parameter sets met, brought to all stimuli and runs.
func (r *run) errors(e *Estimate) error {
	mean := make([]struct{ squares, n float64 }, len(r.chosen))
	for set := range len(r.Plan.Sets) {
		if r.seen[set] == nil {
			continue
		}
		v, err := r.variance(r.seen[set])
		if err != nil {
			return err
		}
		if v >= 0 {
			m := &mean[r.model[set]]
			m.squares += v * float64(r.runs) / float64(r.Config.Fit.Runs)
			m.n++
		}
	}
	for k, of := range r.Plan.Models() {
		x := Error{Model: of.Name}
		if mean[k].n > 0 {
			x.Fit = math.Sqrt(mean[k].squares / mean[k].n)
		}
		switch {
		case !r.Plan.Report:
		case r.Config.Inference.Method == sweep.SIPS:
			x.Report = x.Fit / math.Sqrt(r.more())
		case r.chosen[k] != nil:
			v, err := r.variance(r.chosen[k])
			if err != nil {
				return err
			}
			x.Report = math.Sqrt(max(0, v))
		}
		if x.Fit > 0 || x.Report > 0 {
			e.Errors = append(e.Errors, x)
		}
	}
	return nil
}

// fewStimuli say nothing of the variance of r over runs, which stimuli differ in by much.
const fewStimuli = 3

// variance of r over runs: of some stimuli, brought to all; -1 where it is not known.
func (r *run) variance(predictions []result.Prediction) (float64, error) {
	fit, err := r.scorer.Score(predictions)
	if err != nil || !fit.Overall.Defined {
		return -1, err
	}
	n := 0
	for i := range predictions {
		if predictions[i].Runs.Len() > 1 {
			n++
		}
	}
	if n < min(fewStimuli, len(predictions)) {
		return -1, nil
	}
	return fit.MCSE * fit.MCSE * float64(n) / float64(len(predictions)), nil
}
