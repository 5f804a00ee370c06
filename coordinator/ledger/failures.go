package ledger

import (
	"cmp"
	"slices"

	"foible.dev/foible/core/sweep"
)

// Bounds of what is kept of failures, and of what is shown. Numbers of jobs and cells are always complete.
const (
	maxReasons = 10
	maxListed  = 200
	maxCauses  = 20
	// maxKept bounds the causes that are counted: there are a few, unless a worker makes up a new one for every cell. Beyond
	// it, which of them are counted depends on the order of the results.
	maxKept = 1000
)

// failures are what could not be done of a sweep.
type failures struct {
	jobCount  int
	cellCount int
	reasons   map[string]int // why jobs failed, with the first job of each; those of the first jobs, at most maxReasons
	causes    map[cause]int  // cells by cause; at most maxKept
	listed    []FailedJob    // in their order; the first ones, at most maxListed
}

// cause is why cells of a model could not be computed.
type cause struct{ model, reason string }

// Cause is why cells of a model could not be computed, and how many.
type Cause struct {
	Model, Reason string
	Cells         int
}

// FailedJob is a job that failed, or one with cells that could not be computed for one reason.
type FailedJob struct {
	Job    int
	Reason string
	Places []int // of the cells in the job; nil if the job has failed
}

func (f FailedJob) compare(o FailedJob) int {
	return cmp.Or(cmp.Compare(f.Job, o.Job), slices.Compare(f.Places, o.Places))
}

func newFailures() failures {
	return failures{reasons: map[string]int{}, causes: map[cause]int{}}
}

// job adds a job that failed.
func (f *failures) job(job int, reason string) {
	f.jobCount++
	f.list(FailedJob{Job: job, Reason: reason})
	if first, known := f.reasons[reason]; !known || job < first {
		f.reasons[reason] = job
	}
	if len(f.reasons) > maxReasons {
		all := f.allReasons()
		delete(f.reasons, all[len(all)-1])
	}
}

// cells adds the cells of an infer job that could not be computed.
func (f *failures) cells(job *sweep.Job, failed []CellFailure) {
	var jobs []FailedJob
	for _, c := range failed {
		f.cellCount++
		if n := len(jobs); n > 0 && jobs[n-1].Reason == c.Reason {
			jobs[n-1].Places = append(jobs[n-1].Places, c.Place)
		} else {
			jobs = append(jobs, FailedJob{Job: job.Number, Reason: c.Reason, Places: []int{c.Place}})
		}
		why := cause{reason: c.Reason}
		if c.Place < len(job.Sets) {
			why.model = job.Sets[c.Place].Model
		}
		if _, known := f.causes[why]; known || len(f.causes) < maxKept {
			f.causes[why]++
		}
	}
	for _, j := range jobs {
		f.list(j)
	}
}

// list puts a job in its place among those that are listed.
func (f *failures) list(j FailedJob) {
	at, _ := slices.BinarySearchFunc(f.listed, j, FailedJob.compare)
	if at == maxListed {
		return
	}
	f.listed = slices.Insert(f.listed, at, j)
	f.listed = f.listed[:min(len(f.listed), maxListed)]
}

// allReasons are the reasons that are kept, those of the first jobs first.
func (f *failures) allReasons() []string {
	all := make([]string, 0, len(f.reasons))
	for reason := range f.reasons {
		all = append(all, reason)
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(f.reasons[a], f.reasons[b]), cmp.Compare(a, b))
	})
	return all
}

// firstReasons are those to be shown; nil if there are none.
func (f *failures) firstReasons() []string {
	if len(f.reasons) == 0 {
		return nil
	}
	return f.allReasons()
}

// mostCauses are those of the most cells, these first.
func (f *failures) mostCauses() []Cause {
	var all []Cause
	for why, n := range f.causes {
		all = append(all, Cause{Model: why.model, Reason: why.reason, Cells: n})
	}
	slices.SortFunc(all, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Cells, a.Cells), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Reason, b.Reason))
	})
	return all[:min(len(all), maxCauses)]
}
