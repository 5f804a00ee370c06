// Package eta says when a sweep will end, as a range. It knows no clock: whoever
// tells it what happens says when. Read [Estimator] and [Estimator.Range] first.
//
// The work that is left is what the jobs without a result will take, by what jobs
// have taken so far: so much a cell of each model, times a factor for the stimulus,
// and so much a table of searches, which marginal inference makes when a worker
// first meets a stimulus with a search noise. The work is shared by the slots of
// the moment, as far as they have lately been in use. The scores, the rounds of topping
// up, the report and its scores come after each other. How much there is to top up is
// not known before it begins: it is guessed, and adds to the range.
//
// The range is as wide as the jobs have been off what was expected of them, as
// little is known of what is still to come, and as the number of slots has changed.
package eta

import (
	"math"
	"slices"
	"time"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/sweep"
)

// Level is the part of sweeps that are to end within their range.
const Level = 0.8

// What is assumed of which nothing has been seen yet, and how sure of it to be.
const (
	tableCells  = 20.0 // a table is as much work as so many cells
	scoreTime   = 2e-3 // seconds a parameter set
	unseenModel = 0.9  // standard deviation of the logarithm of a model's cost a cell
	unseenTable = 0.65 // of a table's cost
	unseenStage = 0.5  // of how the costs of the report differ from those of the fit stage
	unseenScore = 1.5  // of the cost of scores
	unseenTopUp = 1.0  // of how much there is to top up in a round that has not been reached

	firstContenders = 0.15 // part of the parameter sets that is topped up first
	unlikeJobs      = 0.3  // of a job's cost, before any has been seen
	misfit          = 0.1  // of all costs together, however many jobs have been seen
	unsureRivals    = 0.15 // of the logarithm of how much longer it takes beside other sweeps, for each unit of that
	smallChange     = 0.1  // of the slots, in the time that a sweep has run, where none has been seen
)

// How wide a range is and how fast the past is forgotten: found by simulation, see TestRange.
const (
	below      = 1.3         // standard deviations from the middle to the lower end
	above      = 1.5         // to the upper end
	maxUnrest  = 0.22        // of the variance of the logarithm of the time that is left, for changing slots
	memory     = 0.25        // changes of the slots fade with this part of the time that the sweep has run
	maxStretch = 2.5         // of how uncertain it is what is left of a job, to how uncertain the whole job is
	oneJob     = 0.1         // more variance of the logarithm of what is left of a single job
	useSpan    = time.Minute // in which the use of slots is forgotten
	recent     = 1. / 16     // weight of a job in how jobs lately differ from what was expected
	maxOff     = 2.          // of the logarithm of a job's cost over the expected one: what is beyond says no more
	maxSteps   = 256         // changes of the number of slots that are remembered
	rateSpan   = 30 * time.Second
	overdue    = 0.4  // a job that takes longer than expected takes so much longer still, of its time so far
	leastJobs  = 4    // that are seen before anything is said, and as many as there are slots,
	firstJobs  = 10   // but no more than one of so many of the fit stage
	tailShare  = 0.25 // of the longest job, for which some slots wait at the end of a stage
)

// Estimator follows one sweep. Its methods are told times that do not go back.
// Not safe for concurrent use.
type Estimator struct {
	plan   *sweep.Plan
	models int
	model  []int32 // by parameter set
	noise  []int32 // by parameter set, a number for its search noise; -1: it needs no table
	noises int
	size   []float64 // of a stimulus, by its goals and actions, to the mean
	ratio  float64   // of the report's cost a cell to that of the fit stage, as far as it is planned

	left    []float64        // cells of fit jobs without a result, [model][stimulus]
	jobs    []int            // fit jobs without a result, by stimulus
	fits    int              // of all stimuli
	needs   []int            // tables that these need, if each makes its own, by stimulus
	scores  int              // parameter sets of the fit stage without a score
	tops    map[int]struct{} // infer jobs of topping up without a result
	topped  ratio            // seconds of such jobs, by those expected
	reports map[int]struct{} // stimuli without a result in the report
	last    bool             // the report's score is missing

	warm, cold []sums  // fit jobs that made no tables, and those that made some; [model][stimulus]
	reported   ratio   // seconds of report jobs, by those expected
	scored     sums    // score jobs of the fit stage; cells are parameter sets
	drift      float64 // mean logarithm of what jobs lately took over what was expected
	spread     float64 // mean square of it
	slowest    slowest
	observed   int // infer jobs seen from beginning to end
	solved     *costs
	solvedAt   int // observed

	begun   time.Time // the first job; zero before
	at      time.Time
	running bool
	workers map[uint64]*worker
	slots   int              // of workers
	more    int              // slots elsewhere
	flights map[int]flight   // by job, the one begun last
	earlier map[int][]flight // of jobs that several workers have, those begun before
	used    float64          // slot-seconds in use, of those for which there were jobs, fading
	had     float64          // slot-seconds that were this sweep's part
	part    float64          // of the slots, that are this sweep's beside its rivals
	rivals  []Rival
	jobTime float64 // mean seconds of an infer job
	wasted  float64 // part of the seconds of jobs that came to nothing, lately
	steps   []step
	cells   float64 // recorded, fading
	span    float64 // seconds in which, fading
}

// sums are of jobs.
type sums struct {
	seconds, cells, tables float64
	jobs                   int
}

// ratio is of two sums.
type ratio struct {
	seconds, expected float64
	jobs              int
}

type worker struct {
	slots  int
	tables map[table]struct{}
	met    []int // tables of the fit stage by stimulus
}

// table is what a worker has made and keeps.
type table struct {
	stimulus int32
	noise    int32
	round    int32
}

// load is what a job asks of a worker.
type load struct {
	report   bool
	times    int // the runs of the fit stage, where it is topped up; else 1
	score    bool
	stimulus int
	sets     int       // parameter sets
	cells    []float64 // of an infer job, by model
	needs    int       // tables
	tables   int       // that the worker has not, and makes
}

// flight is a job that a worker has.
type flight struct {
	load
	worker uint64
	began  time.Time
}

// step is a change of the number of slots.
type step struct {
	at     time.Time
	square float64 // of the change of its logarithm
}

// New makes the estimator of a sweep of which nothing is done.
func New(plan *sweep.Plan, config *sweep.Config, at time.Time) *Estimator {
	n := len(plan.Stimuli)
	e := &Estimator{
		plan: plan, model: make([]int32, len(plan.Sets)), noise: make([]int32, len(plan.Sets)),
		models: len(plan.Models()),
		ratio:  stageRatio(config), jobs: make([]int, n), needs: make([]int, n), scores: len(plan.Sets), last: plan.Report,
		spread: unlikeJobs * unlikeJobs, at: at, running: true, part: 1,
		workers: map[uint64]*worker{}, flights: map[int]flight{}, earlier: map[int][]flight{}, tops: map[int]struct{}{}, reports: map[int]struct{}{},
	}
	for round := 1; round <= plan.TopUps(); round++ {
		for _, job := range plan.RoundJobs(round) {
			e.tops[job] = struct{}{}
		}
	}
	noises := map[model.Setting]int32{}
	for m, of := range plan.Models() {
		named, _ := model.ByName(of.Name)
		for i := of.First; i < of.End; i++ {
			e.model[i], e.noise[i] = int32(m), -1
			if config.Inference.Method == sweep.Marginal && !named.Exact {
				value := plan.Sets[i].SearchNoise // a model without it has tables of its own, under the noise 0
				if _, ok := noises[value]; !ok {
					noises[value] = int32(len(noises))
				}
				e.noise[i] = noises[value]
			}
		}
	}
	e.noises = len(noises)
	e.slowest = newSlowest(e.models)
	e.left = make([]float64, e.models*n)
	e.warm, e.cold = make([]sums, len(e.left)), make([]sums, len(e.left))
	for m, of := range plan.Models() {
		for s := range n {
			e.left[m*n+s] = float64(of.End - of.First)
		}
	}
	e.size = sizes(plan.Stimuli)
	e.fits = plan.FitJobs()
	needs := 0
	for chunk := range plan.FitChunks() {
		needs += e.load(chunk * n).needs
	}
	for s := range n {
		e.jobs[s], e.needs[s] = plan.FitChunks(), needs
	}
	for s := 0; plan.Report && s < n; s++ {
		e.reports[s] = struct{}{}
	}
	return e
}

// sizes are about how much work stimuli are, to the mean.
func sizes(stimuli []sweep.Shape) []float64 {
	sizes := make([]float64, len(stimuli))
	var sum float64
	for i := range stimuli {
		sizes[i] = float64(stimuli[i].Goals * (stimuli[i].Actions + 1))
		sum += sizes[i]
	}
	for i := range sizes {
		sizes[i] *= float64(len(sizes)) / sum
	}
	return sizes
}

// stageRatio is the planned cost of a cell of the report by that of the fit stage. Marginal inference samples until
// its errors are small, the same in both.
func stageRatio(c *sweep.Config) float64 {
	fit, report := c.Fit, c.Report
	if c.Inference.Method == sweep.Marginal || fit.Runs == 0 || report.Runs == 0 {
		return 1
	}
	return float64(report.Runs*max(1, report.ParticlesPerGoal)) / float64(fit.Runs*max(1, fit.ParticlesPerGoal))
}

// Running says whether jobs are given out.
func (e *Estimator) Running(at time.Time, running bool) {
	e.advance(at)
	e.running = running
}

// Joined says that a worker has come.
func (e *Estimator) Joined(at time.Time, id uint64, slots int) {
	e.advance(at)
	e.workers[id] = &worker{slots: slots, tables: map[table]struct{}{}, met: make([]int, len(e.plan.Stimuli))}
	e.change(e.slots+slots, e.more)
}

// Left says that a worker has gone, and its tables with it.
func (e *Estimator) Left(at time.Time, id uint64) {
	e.advance(at)
	if w := e.workers[id]; w != nil {
		delete(e.workers, id)
		e.change(e.slots-w.slots, e.more)
		for job := range e.flights {
			e.drop(job, id)
		}
	}
}

// Elsewhere says how many slots there are of whose jobs only the results are told.
func (e *Estimator) Elsewhere(at time.Time, slots int) {
	if slots != e.more {
		e.advance(at)
		e.change(e.slots, slots)
	}
}

func (e *Estimator) change(slots, more int) {
	by := math.Log((float64(slots+more) + 0.5) / (float64(e.slots+e.more) + 0.5))
	e.slots, e.more = slots, more
	if len(e.steps) == maxSteps {
		e.steps = append(e.steps[:0], e.steps[1:]...)
	}
	e.steps = append(e.steps, step{e.at, by * by})
}

// Begun says that a worker has been given a job, and that no other has it any more.
func (e *Estimator) Begun(at time.Time, job int, id uint64) {
	e.advance(at)
	if e.begun.IsZero() { // what was before says nothing
		e.begun, e.steps = at, nil
	}
	e.land(job, 0)
	e.fly(job, id)
}

// Copied says that a worker has been given a job that others have too. What is left of it is now expected of this one.
func (e *Estimator) Copied(at time.Time, job int, id uint64) {
	e.advance(at)
	if f, ok := e.flights[job]; ok {
		e.earlier[job] = append(e.earlier[job], f)
	}
	e.fly(job, id)
}

func (e *Estimator) fly(job int, id uint64) {
	f := flight{load: e.load(job), worker: id, began: e.at}
	if w := e.workers[id]; w != nil {
		f.tables = e.meet(w, job)
	}
	e.flights[job] = f
}

// load is what a job asks of a worker that has no tables.
func (e *Estimator) load(job int) load {
	j := e.plan.Job(job)
	l := load{report: j.Stage == sweep.ReportStage, times: 1, score: j.Score, stimulus: j.Stimulus, sets: len(j.Sets)}
	if j.Stage == sweep.TopUpStage {
		l.times = e.plan.Times(j.Round)
	}
	if l.score {
		return l
	}
	l.cells = make([]float64, e.models)
	var noises []int32
	for i := range j.Sets {
		set := j.Index(i)
		l.cells[e.model[set]]++
		if noise := e.noise[set]; noise >= 0 && !slices.Contains(noises, noise) {
			noises = append(noises, noise)
		}
	}
	if l.report { // as planned, since what is chosen may not be known yet
		l.sets = e.models
		for m := range l.cells {
			l.cells[m] = 1
		}
	}
	l.needs = len(noises)
	return l
}

// meet counts the tables that an infer job needs and a worker has not; from now on it has them.
func (e *Estimator) meet(w *worker, job int) (missing int) {
	j := e.plan.Job(job)
	if j.Score {
		return 0
	}
	for i := range j.Sets {
		t := table{int32(j.Stimulus), e.noise[j.Index(i)], int32(j.Round)}
		if _, ok := w.tables[t]; ok || t.noise < 0 {
			continue
		}
		w.tables[t] = struct{}{}
		missing++
		if t.round == 0 {
			w.met[j.Stimulus]++
		}
	}
	return missing
}

// Dropped says that a worker has a job no more, without a result.
func (e *Estimator) Dropped(at time.Time, job int, id uint64) {
	e.advance(at)
	e.drop(job, id)
}

func (e *Estimator) drop(job int, id uint64) {
	earlier := e.earlier[job]
	if last, ok := e.flights[job]; ok && last.worker == id {
		e.lose(last)
		delete(e.flights, job)
		if n := len(earlier); n > 0 {
			e.flights[job], earlier = earlier[n-1], earlier[:n-1]
		}
	} else if i := slices.IndexFunc(earlier, func(f flight) bool { return f.worker == id }); i >= 0 {
		e.lose(earlier[i])
		earlier = slices.Delete(earlier, i, i+1)
	}
	if e.earlier[job] = earlier; len(earlier) == 0 {
		delete(e.earlier, job)
	}
}

// land ends what all workers do at a job. It returns that of the worker who has done it; not ok if it had not begun.
func (e *Estimator) land(job int, id uint64) (done flight, ok bool) {
	last, begun := e.flights[job]
	if !begun {
		return flight{}, false
	}
	for _, f := range append(e.earlier[job], last) {
		if f.worker == id {
			done, ok = f, true
		} else {
			e.lose(f)
		}
	}
	delete(e.flights, job)
	delete(e.earlier, job)
	return done, ok
}

func (e *Estimator) lose(f flight) { e.spend(e.at.Sub(f.began).Seconds(), true) }

// spend takes up what became of the time of a job. The long ones count for more.
func (e *Estimator) spend(seconds float64, wasted bool) {
	weight := recent
	if usual := e.jobTime; usual > 0 {
		weight = min(0.5, recent*seconds/usual)
	}
	var part float64
	if wasted {
		part = 1
	}
	e.wasted += weight * (part - e.wasted)
}

// Done says that a job has a result, and from which worker, 0 if that is not known; once of each job.
func (e *Estimator) Done(at time.Time, job int, id uint64) {
	e.advance(at)
	if f, ok := e.land(job, id); ok {
		took := at.Sub(f.began).Seconds()
		e.learn(&f.load, took)
		e.spend(took, false)
	}
	l := e.load(job)
	e.known(job, &l)
	if !l.score {
		e.cells += float64(l.sets)
	}
}

// Known says that a job had a result before the estimator began; once of each job.
func (e *Estimator) Known(job int) {
	l := e.load(job)
	e.known(job, &l)
}

// known takes a job from what is left.
func (e *Estimator) known(job int, l *load) {
	switch {
	case l.times > 1:
		delete(e.tops, job)
	case l.score && l.report:
		e.last = false
	case l.score:
		e.scores -= l.sets
	case l.report:
		delete(e.reports, l.stimulus)
	default:
		e.fits--
		e.jobs[l.stimulus]--
		e.needs[l.stimulus] -= l.needs
		for m, n := range l.cells {
			e.left[m*len(e.jobs)+l.stimulus] -= n
		}
	}
}

// learn takes up how long a job took.
func (e *Estimator) learn(l *load, seconds float64) {
	if l.sets == 0 {
		return
	}
	e.slowest.learn(l, e.units(l), seconds)
	if l.score {
		if !l.report {
			e.scored.seconds += seconds
			e.scored.cells += float64(l.sets)
			e.scored.jobs++
		}
		return
	}
	if e.solved == nil || e.observed > e.solvedAt+e.solvedAt/16 {
		e.costs()
	}
	expected := e.solved.seconds(l)
	if e.solved.sure(l) && expected > 0 && seconds > 0 {
		off := max(-maxOff, min(maxOff, math.Log(seconds/expected)))
		weight := max(recent, 1/float64(e.observed+4))
		e.drift += weight * (off - e.drift)
		e.spread += weight * (off*off - e.spread)
	}
	e.observed++
	e.jobTime += (seconds - e.jobTime) / float64(e.observed)
	switch {
	case l.times > 1 && !e.solved.known:
		seconds /= float64(l.times)
	case l.times > 1:
		e.topped.seconds += seconds
		e.topped.expected += expected / e.solved.topUp
		e.topped.jobs++
		return
	case l.report && !e.solved.known: // of the fit stage nothing was seen: this is what there is to go by
		seconds /= e.ratio
	case l.report:
		e.reported.seconds += seconds
		e.reported.expected += expected / e.solved.report
		e.reported.jobs++
		return
	}
	into := e.warm
	if l.tables > 0 {
		into = e.cold
	}
	for m, n := range l.cells {
		if n == 0 {
			continue
		}
		part := n / float64(l.sets)
		s := &into[m*len(e.jobs)+l.stimulus]
		s.seconds += part * seconds
		s.cells += n
		s.tables += part * float64(l.tables)
		s.jobs++
	}
}

// advance lets time go by.
func (e *Estimator) advance(at time.Time) {
	passed := at.Sub(e.at).Seconds()
	if passed <= 0 {
		return
	}
	e.at = at
	keep := math.Exp(-passed / rateSpan.Seconds())
	e.cells, e.span = keep*e.cells, keep*e.span+passed
	if e.running && !e.begun.IsZero() && e.slots > 0 && e.waiting() > 0 {
		keep := math.Exp(-passed / useSpan.Seconds())
		e.used = keep*e.used + passed*float64(len(e.flights))
		e.had = keep*e.had + passed*e.part*float64(e.slots)
	}
}

// waiting counts the infer jobs that could be given out.
func (e *Estimator) waiting() int {
	jobs := e.fits
	switch {
	case jobs > 0 || e.scores > 0:
	case len(e.tops) > 0: // of the round that is known and no other
		for job := range e.tops {
			if e.plan.Known(e.plan.Job(job).Round) {
				jobs++
			}
		}
	default:
		jobs = len(e.reports)
	}
	return jobs - len(e.flights)
}

// Rate is the number of cells recorded a second, lately.
func (e *Estimator) Rate(at time.Time) float64 {
	e.advance(at)
	if e.span == 0 {
		return 0
	}
	return e.cells / e.span
}
