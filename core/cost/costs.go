package cost

import (
	"math"
)

// costs are what jobs take, in seconds, as far as is known.
type costs struct {
	known    bool
	cell     []float64 // by model, on a stimulus of factor 1
	seen     []int     // jobs behind it
	stimulus []float64 // factor
	table    float64   // on a stimulus of factor 1
	tables   float64   // made by the jobs behind it
	topUp    float64   // factor of topping up
	report   float64   // factor of the report
	score    float64   // a parameter set
}

// costs solves for the costs by which all jobs seen took what they took, by a few rounds of proportions.
func (e *Estimator) costs() *costs {
	n := len(e.jobs)
	c := &costs{
		cell: make([]float64, e.models), seen: make([]int, e.models), stimulus: make([]float64, n),
		topUp: 1, report: e.ratio, score: scoreTime,
	}
	copy(c.stimulus, e.size)
	var all sums // tables as cells
	for k := range e.warm {
		for _, s := range []*sums{&e.warm[k], &e.cold[k]} {
			all.seconds += s.seconds
			all.cells += s.cells + tableCells*s.tables
			all.jobs += s.jobs
			c.tables += s.tables
			c.seen[k/n] += s.jobs
		}
	}
	c.known = all.jobs > 0 && all.seconds > 0
	if c.known {
		usual := all.seconds / all.cells
		c.table = tableCells * usual
		for range 4 {
			e.fitCells(c, usual)
			e.fitTables(c)
			e.fitStimuli(c, all.seconds/float64(all.jobs))
		}
	}
	if e.topped.jobs > 0 && e.topped.expected > 0 {
		c.topUp = e.topped.seconds / e.topped.expected
	}
	if e.reported.jobs > 0 && e.reported.expected > 0 {
		c.report = e.reported.seconds / e.reported.expected
	}
	if e.scored.cells > 0 {
		c.score = e.scored.seconds / e.scored.cells
	}
	e.solved, e.solvedAt = c, e.observed
	return c
}

// fitCells finds the cost of a cell by model, from jobs without tables where there are any. An exact model of whose jobs
// nothing has been seen is taken to cost as much as the others, like any other model.
func (e *Estimator) fitCells(c *costs, usual float64) {
	n := len(e.jobs)
	for m := range c.cell {
		var warm, cold sums
		for s, factor := range c.stimulus {
			w, k := &e.warm[m*n+s], &e.cold[m*n+s]
			warm.seconds += w.seconds
			warm.cells += w.cells * factor
			cold.seconds += k.seconds
			cold.cells += k.cells * factor
			cold.tables += k.tables * factor
		}
		switch {
		case warm.cells > 0:
			c.cell[m] = warm.seconds / warm.cells
		case cold.cells > 0:
			c.cell[m] = cold.seconds / (cold.cells + tableCells*cold.tables)
		default:
			c.cell[m] = usual
		}
	}
}

// fitTables finds the cost of a table, from what jobs that made some took beyond their cells.
func (e *Estimator) fitTables(c *costs) {
	n := len(e.jobs)
	var seconds, tables float64
	for k := range e.cold {
		factor := c.stimulus[k%n]
		seconds += e.cold[k].seconds - factor*c.cell[k/n]*e.cold[k].cells
		tables += factor * e.cold[k].tables
	}
	if tables > 0 {
		c.table = max(0, seconds/tables)
	}
}

// fitStimuli finds how much more, or less, a stimulus takes than others. One job of the usual kind is taken to have been
// seen of each, as long as the stimulus is. A job that goes on for longer than expected counts too: those that
// take long are not seen to the end when others are.
func (e *Estimator) fitStimuli(c *costs, job float64) {
	n := len(e.jobs)
	seconds, expected := make([]float64, n), make([]float64, n)
	for s := range n {
		seconds[s], expected[s] = job*e.size[s], job
		for m, cell := range c.cell {
			w, k := &e.warm[m*n+s], &e.cold[m*n+s]
			seconds[s] += w.seconds + k.seconds
			expected[s] += cell*(w.cells+k.cells) + c.table*k.tables
		}
	}
	for _, f := range e.flights {
		if f.score || f.report || f.times > 1 {
			continue
		}
		s, passed := f.stimulus, e.at.Sub(f.began).Seconds()
		if whole := c.seconds(&f.load); passed > whole {
			seconds[s] += (1 + overdue) * passed
			expected[s] += whole / c.stimulus[s]
		}
	}
	for s := range n {
		c.stimulus[s] = seconds[s] / expected[s]
	}
}

// seconds is what an infer job is expected to take.
func (c *costs) seconds(l *load) float64 {
	seconds := c.table * float64(l.tables)
	for m, n := range l.cells {
		seconds += c.cell[m] * n
	}
	if l.times > 1 {
		seconds *= c.topUp * float64(l.times)
	}
	if l.report {
		seconds *= c.report
	}
	return c.stimulus[l.stimulus] * seconds
}

// sure says whether jobs like this one have been seen, so that what it takes says how far off expectations are.
func (c *costs) sure(l *load) bool {
	for m, n := range l.cells {
		if n > 0 && c.seen[m] == 0 {
			return false
		}
	}
	return l.tables == 0 || c.tables > 0
}

// tablesLeft is the number of tables that jobs will make which no worker has yet, needed by a number of jobs: each worker
// makes its own, once, and jobs go to any.
func (e *Estimator) tablesLeft(stimulus, needed int) float64 {
	missing, all := 0, len(e.workers)*e.noises
	for _, w := range e.workers {
		missing += e.noises - w.met[stimulus]
	}
	if missing == 0 || needed == 0 {
		return 0
	}
	if e.slots > 0 { // workers elsewhere are like those here
		missing += missing * e.more / e.slots
		all += all * e.more / e.slots
	}
	return float64(missing) * -math.Expm1(-float64(needed)/float64(all))
}
