package crew

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// firstPause and maxPause bound the time that a job waits before it is tried again where that may not help.
	firstPause = time.Second
	maxPause   = time.Minute
	// maxTries is how often a job may fail for unknown causes, in units of MaxFailures, however many workers there are.
	maxTries = 4
	// maxWarnings bounds the causes of failures of a sweep that are logged as warnings, each of them once.
	maxWarnings = 20
)

// Bounds say when what goes wrong with a job is recorded as its failure.
type Bounds struct {
	// MaxFailures is on how many different workers a job must fail for an unknown cause; with fewer workers, how often.
	MaxFailures int
	// MaxLost is how many different workers must be lost while they have the job, and not come back.
	MaxLost int
}

// Troubles are what has gone wrong with the jobs of a sweep that have no result. It is safe for concurrent use.
type Troubles struct {
	crew   *Crew
	bounds Bounds

	mu     sync.Mutex // guards what follows; not held while the crew is asked
	jobs   map[int]*trouble
	warned map[string]bool // causes of failures that were logged as warnings
}

// trouble is what has gone wrong with a job.
type trouble struct {
	failed map[string]int // failures by worker; others are asked first
	tries  map[string]int // of these, those whose cause is not known
	lost   map[string]int // leases that ended because nothing was heard of the worker
	unmade int            // times that the coordinator could not make the job
	until  time.Time      // it is not scheduled before
	reason string         // of the last failure
}

// NewTroubles are those of a sweep with whose jobs nothing has gone wrong.
func NewTroubles(c *Crew, bounds Bounds) *Troubles {
	return &Troubles{crew: c, bounds: bounds, jobs: map[int]*trouble{}, warned: map[string]bool{}}
}

func sum(counts map[string]int) (n int) {
	for _, k := range counts {
		n += k
	}
	return n
}

// job is what has gone wrong with one. The caller holds mu.
func (t *Troubles) job(number int) *trouble {
	j := t.jobs[number]
	if j == nil {
		j = &trouble{failed: map[string]int{}, tries: map[string]int{}, lost: map[string]int{}}
		t.jobs[number] = j
	}
	return j
}

// Forget is called when a job has a result.
func (t *Troubles) Forget(job int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.jobs, job)
}

// Fail counts a failure that a worker reported, other than one of the computation; unknown says that its cause is not known.
// The failure is final, and to be recorded, if its cause is not known, and the job has failed so on MaxFailures different
// workers, or as often on all that there are. Else the job is to wait for a while before it is tried again.
func (t *Troubles) Fail(job int, worker string, unknown bool, reason string) (final bool, wait time.Duration) {
	t.mu.Lock()
	j := t.job(job)
	j.failed[worker]++
	j.reason = reason
	if unknown {
		j.tries[worker]++
	}
	failed, tries, workers := maps.Clone(j.failed), sum(j.tries), len(j.tries)
	t.mu.Unlock()

	ready, later := t.crew.Takers(failed)
	if t.conclusive(workers, tries, ready, later) {
		return true, 0
	}
	if !ready && unknown {
		wait = doubled(firstPause, tries-1, maxPause)
	}
	return false, t.hold(job, wait)
}

// conclusive says whether a failure for an unknown cause is final, after a number of tries on a number of workers: no others
// are left to try.
func (t *Troubles) conclusive(workers, tries int, ready, later bool) bool {
	limit := t.bounds.MaxFailures
	return workers >= limit || tries >= limit && !ready && !later || tries >= maxTries*limit
}

// LastTry says whether it would be recorded if the job failed for an unknown cause on this worker. Then the worker is to find
// out which cells are to blame.
func (t *Troubles) LastTry(job int, worker string) bool {
	t.mu.Lock()
	failed, tries, workers := map[string]int{worker: 1}, 1, 1
	if j := t.jobs[job]; j != nil {
		maps.Copy(failed, j.failed)
		tries += sum(j.tries)
		workers = len(j.tries)
		if j.tries[worker] == 0 {
			workers++
		}
	}
	t.mu.Unlock()
	ready, later := t.crew.Takers(failed)
	return t.conclusive(workers, tries, ready, later)
}

// hold lets a job wait, from now, and returns for how long.
func (t *Troubles) hold(job int, wait time.Duration) time.Duration {
	if wait > 0 {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.job(job).until = time.Now().Add(wait)
	}
	return wait
}

// Wait is how long a job is still to wait.
func (t *Troubles) Wait(job int) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if j := t.jobs[job]; j != nil {
		return max(0, time.Until(j.until))
	}
	return 0
}

// Unmade counts that the coordinator could not make a job, because what it rests on cannot be read, and returns how long the
// job is to wait.
func (t *Troubles) Unmade(job int, reason string) time.Duration {
	t.mu.Lock()
	j := t.job(job)
	j.reason = reason
	j.unmade++
	wait := doubled(firstPause, j.unmade-1, maxPause)
	t.mu.Unlock()
	return t.hold(job, wait)
}

// Lost counts a lease that ended because nothing was heard of its worker. A job that workers are lost with waits longer
// and longer, since it may be what ends them.
func (t *Troubles) Lost(job int, worker string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	j := t.job(job)
	j.lost[worker]++
	if n := sum(j.lost); n > 1 {
		j.until = time.Now().Add(doubled(firstPause, n-2, maxPause))
	}
}

// CameBack forgets that a worker was lost with jobs: it was not they that ended it.
func (t *Troubles) CameBack(worker string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, j := range t.jobs {
		delete(j.lost, worker)
	}
}

// Hopeless says why a job is not scheduled again: MaxLost different workers were lost while they had it, and have not come
// back since. "" if it is.
func (t *Troubles) Hopeless(job int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if j := t.jobs[job]; j != nil && len(j.lost) >= t.bounds.MaxLost {
		return fmt.Sprintf("%d workers were lost while they computed it, one after the other, and did not come back; it may need more memory than they have", len(j.lost))
	}
	return ""
}

// Avoids says whether a job is to be kept for other workers: it has failed on this one, or this one has computed it and it is
// computed twice, and there are others.
func (t *Troubles) Avoids(job int, worker string, computed bool) bool {
	t.mu.Lock()
	except := map[string]int{}
	if j := t.jobs[job]; j != nil && j.failed[worker] > 0 {
		maps.Copy(except, j.failed)
	}
	t.mu.Unlock()
	if computed {
		except[worker]++
	}
	if len(except) == 0 {
		return false
	}
	ready, _ := t.crew.Takers(except)
	return ready
}

// Warns says whether a cause of failures is to be logged as a warning: each is once, as long as there are few.
func (t *Troubles) Warns(cause string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.warned[cause] || len(t.warned) >= maxWarnings {
		return false
	}
	t.warned[cause] = true
	return true
}

// Shown are the jobs that have failed, or been lost, more than once and have no result, in words.
func (t *Troubles) Shown() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var jobs []int
	for job, j := range t.jobs {
		if sum(j.failed) > 1 || sum(j.lost) > 1 || j.unmade > 1 {
			jobs = append(jobs, job)
		}
	}
	slices.Sort(jobs)
	var all []string
	for _, job := range jobs[:min(len(jobs), MaxShown)] {
		j := t.jobs[job]
		switch {
		case sum(j.failed) > 0:
			all = append(all, fmt.Sprintf("job %d has failed %d times on %d workers and is tried again: %s", job, sum(j.failed), len(j.failed), j.reason))
		case sum(j.lost) > 0:
			all = append(all, fmt.Sprintf("job %d was with %d workers that were lost, and is tried again", job, len(j.lost)))
		default:
			all = append(all, fmt.Sprintf("job %d cannot be sent: %s", job, j.reason))
		}
	}
	return all
}

// Failed says whether a job without a result has failed.
func (t *Troubles) Failed(job int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	j := t.jobs[job]
	return j != nil && len(j.failed) > 0
}
