package cost

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
	Errors []Error // by model, as far as known

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

// Wall is the time with a number of slots, in seconds, and its range. At its upper end
// each slot is a process of its own, which makes the tables that it meets itself, and
// all of TopUp is needed.
func (e *Estimate) Wall(slots int) (expected, low, high float64) {
	n := float64(max(1, slots))
	wall := func(fit, more, topUp float64) float64 {
		fit = max((fit+more)/n+tailShare*e.longest, e.longest)
		report := max(e.Report/math.Min(n, float64(e.Stimuli)), e.longestReport)
		return fit + topUp/n + report + e.Score/n
	}
	again := math.Min(n, float64(e.chunks)) - 1
	expected = wall(e.Fit, 0, 0)
	return expected, expected / e.Spread, e.Spread * wall(e.Fit, again*e.Tables, e.TopUp)
}

// estimate extends what is measured to all stimuli.
func (r *run) estimate(scores float64) (*Estimate, error) {
	e := &Estimate{
		Cells: r.Plan.Cells(), Jobs: r.Plan.Jobs(), Score: scores, Measured: r.cells, Stimuli: len(r.of),
		chunks: r.Plan.FitJobs() / len(r.of),
	}
	r.complete()
	s := r.scale()
	e.Full, e.Seen = s.done, s.seen
	partly, unseen := r.extend(e, s)
	e.Spread = math.Exp(nineOfTen * math.Sqrt(r.uncertainty(s, partly, unseen)))
	cells := float64(len(r.Plan.Sets) * len(r.of))
	e.Fit += perCell * cells
	var work float64
	if e.TopUpCells, work = r.Plan.MostTopUp(); e.TopUpCells > 0 {
		e.TopUp = (e.Fit - e.Tables) * work / cells
		if r.Config.Inference.Method == sweep.Marginal { // which makes its tables anew in each round
			e.TopUp += e.Tables * work * float64(r.Plan.TopUps()) / float64(e.TopUpCells)
		}
	}
	e.Work, e.Rate = e.Fit+e.Report, r.seconds/r.work
	for _, x := range []*float64{&e.Fit, &e.Report, &e.TopUp, &e.Tables, &e.longest, &e.longestReport} {
		*x *= e.Rate
	}
	return e, r.errors(e)
}

// scale is how what a stimulus takes follows from what its first cells take, or from its size.
type scale struct {
	full  measured // sums over the stimuli that are fully known
	known int      // how many these are
	done  int      // of these, how many were measured in full
	seen  int      // stimuli whose first cells were measured
	power float64  // of what the first cells take, with which what all cells take goes
	first float64  // sum of that power over the stimuli that are fully known
	size  float64  // part of full that a stimulus takes, by the root of its size
}

// scale of the stimuli that were measured.
func (r *run) scale() *scale {
	s := &scale{}
	var first float64
	for i := range r.of {
		m := &r.of[i]
		if m.done {
			s.done++
		}
		if m.known() {
			s.known++
			first += m.first()
			s.full.fit += m.fit
			s.full.tables += m.tables
			s.full.report += m.report
		}
	}
	s.power = min(1, telling*first/s.full.fit)
	for i := range r.of {
		if m := &r.of[i]; m.known() {
			s.first += math.Pow(m.first(), s.power)
		}
	}
	var seen, sizes float64
	for i := range r.of {
		if m := &r.of[i]; m.first() > 0 {
			s.seen++
			seen += s.byFirst(m)
			sizes += math.Sqrt(r.size(i))
		}
	}
	s.size = seen / sizes
	return s
}

// byFirst is the part of full that a stimulus takes, by its first cells.
func (s *scale) byFirst(m *measured) float64 { return math.Pow(m.first(), s.power) / s.first }

// extend adds up what all stimuli take: what is known, else by the first cells where these were measured, else by the
// size: the cost goes about with its root. It returns the parts, in units of full, that were found in these two ways.
func (r *run) extend(e *Estimate, s *scale) (byFirst, bySize float64) {
	var longest float64
	for i := range r.of {
		m := &r.of[i]
		fit, tables, report := m.fit, m.tables, m.report
		if !m.known() {
			part := s.size * math.Sqrt(r.size(i))
			if m.first() > 0 {
				part = s.byFirst(m)
				byFirst += part
			} else {
				bySize += part
			}
			fit, tables, report = part*s.full.fit, part*s.full.tables, part*s.full.report
		}
		e.Fit += fit
		e.Tables += tables
		e.Report += report
		longest, e.longestReport = max(longest, fit), max(e.longestReport, report)
	}
	// Of the jobs on the costliest stimulus, the first makes its tables.
	e.longest = min(longest, e.Tables/float64(e.Stimuli)+longest/float64(e.chunks))
	return byFirst, bySize
}

// uncertainty is the variance of the logarithm of what all takes.
func (r *run) uncertainty(s *scale, byFirst, bySize float64) float64 {
	variance := unlikeMachine * unlikeMachine
	add := func(part, sd float64, known, unknown int) {
		if unknown > 0 {
			x := part / (1 + byFirst + bySize) * sd
			variance += x * x * (1/float64(known) + 1/float64(unknown))
		}
	}
	add(byFirst, r.residuals(unlikeFull, func(m *measured, _ int) float64 { return m.fit / math.Pow(m.first(), s.power) }), s.known, s.seen-s.known)
	add(bySize, r.residuals(unlikeSize, func(m *measured, i int) float64 { return math.Pow(m.first(), s.power) / math.Sqrt(r.size(i)) }), s.known, len(r.of)-s.seen)
	if r.skipped {
		variance += unlikeKinds * unlikeKinds
	}
	return variance
}

// complete takes a stimulus with some groups measured for one measured in full: the others
// are to it as they are to those measured in full.
func (r *run) complete() {
	for i := range r.of {
		m := &r.of[i]
		if !m.partly {
			continue
		}
		var until, fit, report float64
		for j := range r.of {
			if n := len(m.until); r.of[j].done && len(r.of[j].until) >= n {
				until += r.of[j].until[n-1]
				fit += r.of[j].fit
				report += r.of[j].report
			}
		}
		if until > 0 {
			m.fit, m.tables, m.report = m.fit*fit/until, m.tables*fit/until, m.fit*report/until
		}
		m.partly = until > 0
	}
}

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
			x.Report = x.Fit / math.Sqrt(moreOf(r.Config))
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
