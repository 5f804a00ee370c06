// Package ledger folds the recorded results of a sweep into what follows from them: which jobs have a result and which can
// be done next, the parameter sets of the rounds that rest on fits, the best parameter set of each model, and what has
// failed. [Ledger.Record] takes a result, [Ledger.Snapshot] says how the sweep stands. A ledger knows no messages, no store
// and no clock: the same results give the same ledger in whatever order they come, and after a restart too.
package ledger

import (
	"slices"

	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

// Result is what a ledger needs to know of the recorded result of a job.
type Result struct {
	Failed bool          // the job has failed
	Reason string        // why; "" if it has not failed
	Cells  []CellFailure // of an infer job, the cells that could not be computed, in the order of their places
	Fits   []result.Fit  // of a score job, one a parameter set; none if the job has failed
}

// CellFailure is why a cell could not be computed.
type CellFailure struct {
	Place  int // of the cell in its job
	Reason string
}

// empty says whether nothing follows from the result but that the job is done.
func (r *Result) empty() bool { return !r.Failed && len(r.Cells) == 0 && len(r.Fits) == 0 }

// Ledger is how a sweep stands by its recorded results. It is not safe for concurrent use. Nothing else changes the plan, by
// choosing parameter sets for further rounds; others may read the plan as long as no method of the ledger runs.
type Ledger struct {
	plan     *sweep.Plan
	progress *sweep.Progress
	standing *sweep.Standing // of fits in rounds that are known, without those of the report
	best     map[string]Best // by model
	failures failures
	pending  map[int]Result // by job, results that count when the parameter sets of their rounds are known
}

// New is the ledger of a plan without results.
func New(plan *sweep.Plan) *Ledger {
	return &Ledger{
		plan: plan, progress: sweep.NewProgress(plan), standing: sweep.NewStanding(plan.Points()),
		best: map[string]Best{}, failures: newFailures(), pending: map[int]Result{},
	}
}

// Record takes the recorded result of a job. It says whether that is news, and which jobs can be done now that could not be
// done before. A result that is there already changes nothing: the first one stands.
func (l *Ledger) Record(number int, r Result) (news bool, ready []int) {
	news, possible := l.progress.Add(number)
	if !news {
		return false, nil
	}
	if !r.empty() {
		l.pending[number] = r
		l.settle(number)
	}
	for l.plan.KnownRounds() < l.plan.Rounds() && l.plan.KnownRounds() <= l.progress.Open() {
		l.plan.Choose(l.standing)
		for _, number := range sortedKeys(l.pending) {
			l.settle(number)
		}
	}
	for _, job := range possible {
		if !l.progress.Done(job) {
			ready = append(ready, job)
		}
	}
	return true, ready
}

// settle takes up what follows from a result that is pending, if the parameter sets of its round are known.
func (l *Ledger) settle(number int) {
	job := l.plan.Job(number)
	if !l.plan.Known(job.Round) {
		return
	}
	r := l.pending[number]
	delete(l.pending, number)
	if r.Failed {
		l.failures.job(number, r.Reason)
	}
	l.failures.cells(&job, r.Cells)
	if job.Stage != sweep.ReportStage {
		l.rank(&job, r.Fits)
	}
}

// rank takes up the fits of a score job, and keeps each model's best so far.
func (l *Ledger) rank(job *sweep.Job, fits []result.Fit) {
	for i := range fits[:min(len(fits), len(job.Sets))] {
		model, set := job.Sets[i].Model, job.Index(i)
		if l.standing.Add(model, set, job.Round, &fits[i]) {
			l.best[model] = Best{Set: set, Overall: fits[i].Overall}
		}
	}
}

// Job is what a number stands for, as far as it is known.
func (l *Ledger) Job(number int) sweep.Job { return l.plan.Job(number) }

// Known says whether it is known what a job is: one after the fit stage is not before its parameter sets are chosen.
func (l *Ledger) Known(number int) bool { return l.plan.Known(l.plan.Job(number).Round) }

// KnownRounds is the number of rounds whose parameter sets are known.
func (l *Ledger) KnownRounds() int { return l.plan.KnownRounds() }

// Done says whether a job has a result.
func (l *Ledger) Done(number int) bool { return l.progress.Done(number) }

// Complete says whether every job has a result.
func (l *Ledger) Complete() bool { return l.progress.Complete() }

// Scorable says whether every infer job of a chunk has a result.
func (l *Ledger) Scorable(chunk sweep.Chunk) bool { return l.progress.Scorable(chunk) }

// JobsDone counts the jobs with a result.
func (l *Ledger) JobsDone() int { return l.progress.JobsDone() }

// CellsDone counts the cells whose job has a result, in the rounds that are known.
func (l *Ledger) CellsDone() int { return l.progress.CellsDone() }

// Missing lists the jobs that can be done and have no result.
func (l *Ledger) Missing() []int {
	missing := l.progress.Ready()
	for job := range l.plan.FitJobs() {
		if !l.progress.Done(job) {
			missing = append(missing, job)
		}
	}
	return missing
}

// Unscored lists the score jobs without a result of the rounds before one: as long as there are any, the parameter sets
// of that round are not known.
func (l *Ledger) Unscored(round int) (jobs []int) {
	for before := range round {
		for chunk := range l.plan.RoundChunks(before) {
			if job := l.plan.ScoreJob(chunk); !l.progress.Done(job) {
				jobs = append(jobs, job)
			}
		}
	}
	return jobs
}

// Scored are the chunks that have been scored, of the rounds that are known.
func (l *Ledger) Scored() (scored []sweep.Chunk) {
	for round := range l.plan.KnownRounds() {
		for chunk := range l.plan.RoundChunks(round) {
			if l.progress.Done(l.plan.ScoreJob(chunk)) {
				scored = append(scored, chunk)
			}
		}
	}
	return scored
}

// Coverage says how many cells of each model and stimulus have a result.
func (l *Ledger) Coverage() []sweep.Coverage { return l.progress.Coverage() }

// Chosen are the parameter sets of the report; nil until they are known.
func (l *Ledger) Chosen() []int { return slices.Clone(l.plan.Chosen()) }
