package cost

import (
	"math"
	"slices"
	"time"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/sweep"
)

// Estimator follows one sweep. The times given to its methods must not go back.
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
	part    float64          // of the slots, that belong to this sweep, next to its rivals
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

// NewEstimator makes the estimator of a sweep that has not begun.
func NewEstimator(plan *sweep.Plan, config *sweep.Config, at time.Time) *Estimator {
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
	for chunk := range plan.RoundChunks(0) {
		needs += e.load(plan.InferJob(chunk, 0)).needs
	}
	for s := range n {
		e.jobs[s], e.needs[s] = plan.FitJobs()/n, needs
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
		sizes[i] = sizeOf(&stimuli[i])
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
	if c.Inference.Method == sweep.Marginal || c.Fit.Runs == 0 || c.Report.Runs == 0 {
		return 1
	}
	return moreOf(c)
}

// Running says whether jobs are scheduled.
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

// Elsewhere says how many slots there are whose jobs are known only by their results.
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

// waiting counts the infer jobs that could be scheduled.
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
