package coordinator

import (
	"cmp"
	"slices"

	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Bounds of what is kept of failures, to be shown.
const (
	maxReasons = 10
	maxFailed  = 200
	maxCauses  = 20
)

// failures are what could not be done of a sweep. Nothing but numbers is complete.
type failures struct {
	jobs    int         // recorded as failed
	reasons []string    // of these; different ones, at most maxReasons
	cells   int64       // that could not be computed, of jobs that have a result
	causes  []cellCause // of these, at most maxCauses
	listed  []failedJob // jobs that failed, or have such cells; at most maxFailed
}

// cellCause is why cells of a model could not be computed, and how many.
type cellCause struct {
	model, reason string
	cells         int64
}

// failedJob is a job recorded as failed, or with cells that could not be computed for one reason.
type failedJob struct {
	job    int
	reason string
	cells  []int // their places in the job; nil if the job has failed
}

// job adds a job that failed.
func (f *failures) job(job int, reason string) {
	f.jobs++
	f.list(failedJob{job: job, reason: reason})
	if len(f.reasons) < maxReasons && !slices.Contains(f.reasons, reason) {
		f.reasons = append(f.reasons, reason)
	}
}

// cell adds a cell that could not be computed; those of a job come one after the other.
func (f *failures) cell(job, place int, model, reason string) {
	f.cells++
	if n := len(f.listed); n > 0 && f.listed[n-1].job == job && f.listed[n-1].reason == reason {
		f.listed[n-1].cells = append(f.listed[n-1].cells, place)
	} else {
		f.list(failedJob{job: job, reason: reason, cells: []int{place}})
	}
	for i := range f.causes {
		if c := &f.causes[i]; c.model == model && c.reason == reason {
			c.cells++
			return
		}
	}
	if len(f.causes) < maxCauses {
		f.causes = append(f.causes, cellCause{model, reason, 1})
	}
}

func (f *failures) list(j failedJob) {
	if len(f.listed) < maxFailed {
		f.listed = append(f.listed, j)
	}
}

// messages are the causes, those of the most cells first.
func (f *failures) messages() []*foiblev1.FailedCells {
	causes := slices.SortedFunc(slices.Values(f.causes), func(a, b cellCause) int {
		return cmp.Or(cmp.Compare(b.cells, a.cells), cmp.Compare(a.model, b.model), cmp.Compare(a.reason, b.reason))
	})
	var ms []*foiblev1.FailedCells
	for _, c := range causes {
		ms = append(ms, &foiblev1.FailedCells{Model: c.model, Reason: c.reason, Cells: c.cells})
	}
	return ms
}

// blame takes up what failed by the recorded result of a job. The caller holds mu, or alone has r.
func (r *sweepRun) blame(job int, result *foiblev1.JobResult) {
	if f := result.GetFailure(); f != nil {
		r.failures.job(job, f.GetReason())
	}
	if result.GetInfer() == nil {
		return
	}
	sets := r.plan.Job(job).Sets // none if it is not known yet what they are
	for place, reason := range codec.FailedCells(result.GetInfer()) {
		model := ""
		if place < len(sets) {
			model = sets[place].Model
		}
		r.failures.cell(job, place, model, reason)
	}
}
