package cost

import (
	"math"
	"slices"
	"time"
)

// part is work that can be shared out at once, in seconds of one slot.
type part struct {
	work     float64
	jobs     int
	longest  float64 // what is left of the longest job begun, or all of the longest not begun
	stretch  float64 // the whole duration of that job over what is left of it, at most maxStretch
	variance float64 // of the logarithm of work
	one      float64 // of the logarithm of the longest
}

// Range is the time from then in which the sweep ends, with a probability of about [Level]. It is not ok while nothing
// can be said: no job is scheduled, there is no slot, or cells are left and no job has been seen from beginning to end.
func (e *Estimator) Range(at time.Time) (low, high time.Duration, ok bool) {
	e.advance(at)
	slots := e.slots + e.more
	c := e.costs()
	if !e.running || slots == 0 || !c.known && e.fits+len(e.tops)+len(e.reports) > 0 || e.early() {
		return 0, 0, false
	}
	use := 1.0
	if e.had > 0 {
		use = max(0.05, min(1, e.used/e.had))
	}
	share := max(1, use*float64(slots)) * max(0.05, 1-e.wasted)
	parts := e.parts(c)
	var seconds, variance float64
	for _, p := range parts {
		took, off := p.seconds(share)
		seconds += took
		variance += off
	}
	if seconds == 0 {
		return 0, 0, true
	}
	variance /= seconds * seconds
	longer := e.delay(work(parts))
	seconds *= longer
	variance += square(unsureRivals * math.Log(longer))
	variance += misfit*misfit + min(e.unrest()*seconds/3, maxUnrest) // the mean of a random walk has a third of the variance of its end
	sd := math.Sqrt(variance)
	return duration(seconds / math.Exp(below*sd)), duration(seconds * math.Exp(above*sd)), true
}

// parts are what is left, in the order in which it comes.
func (e *Estimator) parts(c *costs) []part {
	report, last := e.reportPart(c)
	return slices.Concat([]part{e.fitPart(c), e.scorePart(c)}, e.topUpParts(c), []part{report, last})
}

// work of parts, in seconds of one slot.
func work(parts []part) (seconds float64) {
	for i := range parts {
		seconds += parts[i].work
	}
	return seconds
}

// Remaining is the work that is left, in seconds of one slot; not ok while nothing can be said.
func (e *Estimator) Remaining(at time.Time) (seconds float64, ok bool) {
	e.advance(at)
	c := e.costs()
	if !c.known {
		return 0, false
	}
	return work(e.parts(c)), true
}

// JobTime is how long an infer job takes on average, in seconds; 0 while none has been seen.
func (e *Estimator) JobTime() float64 { return e.jobTime }

// Rival is another sweep, to which the same slots are given.
type Rival struct {
	// Jobs that it is given for each of this sweep's.
	Jobs float64
	// JobTime is how long its jobs take on average, in seconds; 0: not known.
	JobTime float64
	// Work that is left of it, in seconds of one slot; +Inf: not known.
	Work float64
}

// Compete says which sweeps are given jobs at the same time as this one from now on.
func (e *Estimator) Compete(at time.Time, rivals []Rival) {
	e.advance(at)
	e.rivals = append(e.rivals[:0], rivals...)
	e.part = 1
	for i := range rivals {
		e.part += e.pace(&rivals[i])
	}
	e.part = 1 / e.part
}

// pace is the time of slots that a rival is given, to that of this sweep.
func (e *Estimator) pace(r *Rival) float64 {
	if r.JobTime > 0 && e.jobTime > 0 {
		return r.Jobs * r.JobTime / e.jobTime
	}
	return r.Jobs
}

// delay is the factor by which so much work takes longer because of rivals: until it is done, each is given its share of
// the slots, or is done itself.
func (e *Estimator) delay(work float64) float64 {
	longer := 1.0
	for i := range e.rivals {
		longer += min(e.pace(&e.rivals[i]), e.rivals[i].Work/work)
	}
	return longer
}

// early reports whether too few jobs have been seen to say anything: those that end first are the quick ones.
func (e *Estimator) early() bool {
	return e.fits > 0 && e.observed < min(max(leastJobs, e.slots), (e.observed+e.fits+firstJobs-1)/firstJobs)
}

func duration(seconds float64) time.Duration {
	return time.Duration(min(seconds, 1e9) * float64(time.Second))
}

// seconds is how long a part takes with a number of slots, and the variance of that. At its end some slots wait for the last
// jobs.
func (p *part) seconds(slots float64) (seconds, variance float64) {
	if p.jobs == 0 {
		return 0, 0
	}
	slots = min(slots, float64(p.jobs))
	shared := p.work / slots
	last := max(0, p.longest-shared, tailShare*p.longest*(1-1/slots))
	if last > 0 {
		variance = square(p.longest*max(1, p.stretch)) * p.one
	}
	return shared + last, variance + square(shared)*p.variance
}

// last takes a job into account for the end of a part. How long the whole job takes is as uncertain as ever when little
// of it is left.
func (p *part) last(left, whole float64) {
	if left > p.longest {
		p.longest, p.stretch = left, min(maxStretch, whole/left)
	}
}

// unrest is the variance of the logarithm of the number of slots, a second. Old changes fade.
func (e *Estimator) unrest() float64 {
	ran := max(1, e.at.Sub(e.begun).Seconds())
	span := ran * memory
	squares := smallChange * smallChange
	for _, s := range e.steps {
		squares += s.square * math.Exp(-e.at.Sub(s.at).Seconds()/span)
	}
	return squares / span
}

// fitPart is the infer jobs of the fit stage.
func (e *Estimator) fitPart(c *costs) part {
	n := len(e.jobs)
	var p part
	begun, needs := make([]int, n), slices.Clone(e.needs)
	drift := math.Exp(e.drift)
	for _, f := range e.flights {
		if f.score || f.report || f.times > 1 {
			continue
		}
		begun[f.stimulus]++
		needs[f.stimulus] -= f.needs
		whole := drift * c.seconds(&f.load)
		left := leftOf(whole, e.at.Sub(f.began).Seconds())
		made := drift * c.stimulus[f.stimulus] * c.table * float64(f.tables)
		p.work += left - (whole - made) // the cells are counted below
		p.last(left, whole)
	}
	var byModel, tables float64
	for s, jobs := range e.jobs {
		made := drift * c.stimulus[s] * c.table * e.tablesLeft(s, needs[s])
		of := made
		for m, cell := range c.cell {
			work := drift * c.stimulus[s] * cell * e.left[m*n+s]
			of += work
			byModel += work
		}
		tables += made
		p.work += of
		p.jobs += jobs
		if jobs > begun[s] {
			p.last(of/float64(jobs), of/float64(jobs))
		}
	}
	p.work = max(p.work, 0)
	total := byModel + tables
	if p.jobs == 0 || total == 0 {
		return p
	}
	// What is not known of a model is off for all of its cells alike; jobs are off each for itself.
	p.variance = e.spread / float64(p.jobs)
	for m, cell := range c.cell {
		var work float64
		for s := range n {
			work += drift * c.stimulus[s] * cell * e.left[m*n+s]
		}
		p.variance += square(work/total) * unsure(e.spread, c.seen[m], unseenModel)
	}
	p.variance += square(tables/total) * unsure(4*e.spread, int(c.tables), unseenTable)
	p.one = e.spread + p.variance + oneJob
	return p
}

// unsure is the variance of a mean of jobs; of none, that of a guess.
func unsure(each float64, jobs int, guess float64) float64 {
	return 1 / (1/(guess*guess) + float64(jobs)/each)
}

func square(x float64) float64 { return x * x }

// leftOf is how long a job may go on that is expected to take so long.
func leftOf(whole, passed float64) float64 {
	return max(whole-passed, overdue*passed)
}

// scorePart is the scores of the fit stage that come after its last cells: those before are done at the same time as the cells.
func (e *Estimator) scorePart(c *costs) part {
	if e.scores == 0 {
		return part{}
	}
	sets := min(e.scores, e.plan.CellsPerJob)
	all := float64(e.scores) * c.score
	one := float64(sets) * c.score
	return part{work: all, jobs: (e.scores + sets - 1) / sets, longest: one, variance: unsure(1, e.scored.jobs, unseenScore), one: unsure(1, e.scored.jobs, unseenScore)}
}

// topUpParts are the infer jobs of topping up, by round. Of a round that is not known, half as many cells are expected as
// of the one before, and of the first one a part of the sweep's.
func (e *Estimator) topUpParts(c *costs) []part {
	if len(e.tops) == 0 {
		return nil
	}
	drift := math.Exp(e.drift)
	parts := make([]part, e.plan.TopUps())
	cells := make([]float64, len(parts)) // of known rounds, [round - 1]
	for i := range parts {
		for _, job := range e.plan.RoundJobs(i + 1) {
			l := e.load(job)
			cells[i] += float64(l.sets)
			if _, left := e.tops[job]; !left || l.sets == 0 {
				continue
			}
			l.tables = l.needs // of the round, which are with no worker before
			f, begun := e.flights[job]
			if begun {
				l = f.load
			}
			whole := drift * c.seconds(&l)
			left := whole
			if begun {
				left = leftOf(whole, e.at.Sub(f.began).Seconds())
			}
			parts[i].work += left
			parts[i].jobs++
			parts[i].last(left, whole)
		}
		parts[i].variance = unsure(e.spread, e.topped.jobs, unseenStage)
		parts[i].one = e.spread + parts[i].variance + oneJob
	}
	var cell float64 // seconds, on average
	for _, x := range c.cell {
		cell += drift * x / float64(len(c.cell))
	}
	for i := range parts {
		if e.plan.Known(i + 1) {
			continue
		}
		if cells[i] = firstContenders * float64(len(e.model)*len(e.jobs)); i > 0 {
			cells[i] = cells[i-1] / 2
		}
		p := &parts[i]
		if p.jobs = min(len(e.plan.RoundJobs(i+1)), int(cells[i])); p.jobs == 0 {
			continue
		}
		p.work = cells[i] * cell * c.topUp * float64(e.plan.Times(i+1))
		p.last(p.work/float64(p.jobs), p.work/float64(p.jobs))
		p.variance = unseenTopUp * unseenTopUp
		p.one = e.spread + p.variance + oneJob
	}
	return parts
}

// reportPart is the infer jobs of the report, and its score job.
func (e *Estimator) reportPart(c *costs) (infer, score part) {
	drift := math.Exp(e.drift)
	begun := map[int]flight{} // by stimulus
	for _, f := range e.flights {
		if f.report && !f.score {
			begun[f.stimulus] = f
		}
	}
	each := load{report: true, cells: make([]float64, e.models), tables: e.reportTables()}
	for m := range each.cells {
		each.cells[m] = 1
	}
	for each.stimulus = range e.reports {
		whole := drift * c.seconds(&each)
		left := whole
		if f, ok := begun[each.stimulus]; ok {
			whole = drift * c.seconds(&f.load)
			left = leftOf(whole, e.at.Sub(f.began).Seconds())
		}
		infer.work += left
		infer.jobs++
		infer.last(left, whole)
	}
	infer.variance = unsure(e.spread, e.reported.jobs, unseenStage)
	infer.one = e.spread + infer.variance + oneJob
	if e.last {
		work := float64(e.models) * c.score
		score = part{work: work, jobs: 1, longest: work, one: unseenScore * unseenScore}
	}
	return infer, score
}

// reportTables is the number of tables that a job of the report makes: one for each model that needs any, as far as
// their search noises differ.
func (e *Estimator) reportTables() int {
	if chosen := e.plan.Chosen(); chosen != nil {
		noises := map[int32]struct{}{}
		for _, i := range chosen {
			if e.noise[i] >= 0 {
				noises[e.noise[i]] = struct{}{}
			}
		}
		return len(noises)
	}
	need := map[int32]struct{}{}
	for i, noise := range e.noise {
		if noise >= 0 {
			need[e.model[i]] = struct{}{}
		}
	}
	return min(len(need), e.noises)
}
