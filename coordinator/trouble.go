package coordinator

import (
	"fmt"
	"maps"
	"slices"
	"time"

	foiblev1 "foible.dev/foible/proto/foible/v1"
)

const (
	// firstPause and maxPause bound the time that a job waits before it is tried again where that may not help.
	firstPause = time.Second
	maxPause   = time.Minute
	// avoidPause is how long a job waits that only workers could take on which it failed.
	avoidPause = time.Second
	// maxTries is how often a job may fail for causes unknown, in units of MaxFailures, however many workers there are.
	maxTries = 4
	// maxWarnings bounds the causes of failures of a sweep that are logged as warnings, each of them once.
	maxWarnings = 20
)

// trouble is what has gone wrong with a job that has no result. It is not stored: another coordinator, or this one after
// a restart, begins anew.
type trouble struct {
	failed map[string]int // failures by worker; others are asked first
	tries  map[string]int // of these, those whose cause is not known
	lost   map[string]int // leases that ended because nothing was heard of the worker
	unmade int            // times that the coordinator could not say what the job is
	until  time.Time      // it is not given out before
	reason string         // of the last failure
}

func sum(counts map[string]int) (n int) {
	for _, k := range counts {
		n += k
	}
	return n
}

// trouble of a job. The caller holds mu.
func (r *sweepRun) trouble(job int) *trouble {
	t := r.troubles[job]
	if t == nil {
		t = &trouble{failed: map[string]int{}, tries: map[string]int{}, lost: map[string]int{}}
		r.troubles[job] = t
	}
	return t
}

// fail counts a failure that a worker reported, other than one of the computation. It says whether the failure is to be
// recorded: if its cause is not known, and the job has failed so on MaxFailures different workers, or as often on all
// that there are. Else the job is to wait for a while before it is tried again.
func (r *sweepRun) fail(job int, worker string, f *foiblev1.Failure) (final bool, wait time.Duration) {
	r.mu.Lock()
	t := r.trouble(job)
	t.failed[worker]++
	t.reason = f.GetReason()
	if f.GetKind() == foiblev1.FailureKind_FAILURE_KIND_UNSPECIFIED {
		t.tries[worker]++
	}
	failed, tries, workers := maps.Clone(t.failed), sum(t.tries), len(t.tries)
	r.change()
	r.mu.Unlock()

	ready, later := r.c.takers(failed)
	if r.conclusive(workers, tries, ready, later) {
		return true, 0
	}
	if !ready && f.GetKind() == foiblev1.FailureKind_FAILURE_KIND_UNSPECIFIED {
		wait = doubled(firstPause, tries-1, maxPause)
	}
	return false, r.hold(job, wait)
}

// conclusive says whether a failure for a cause unknown is to be recorded, after so many tries on so many workers: no others
// are left to try.
func (r *sweepRun) conclusive(workers, tries int, ready, later bool) bool {
	limit := r.c.cfg.MaxFailures
	return workers >= limit || tries >= limit && !ready && !later || tries >= maxTries*limit
}

// lastTry says whether it would be recorded if the job failed for a cause unknown on this worker. Then the cells that are
// to blame are to be told from the others.
func (r *sweepRun) lastTry(job int, worker string) bool {
	r.mu.Lock()
	failed, tries, workers := map[string]int{worker: 1}, 1, 1
	if t := r.troubles[job]; t != nil {
		maps.Copy(failed, t.failed)
		tries += sum(t.tries)
		workers = len(t.tries)
		if t.tries[worker] == 0 {
			workers++
		}
	}
	r.mu.Unlock()
	ready, later := r.c.takers(failed)
	return r.conclusive(workers, tries, ready, later)
}

// hold lets a job wait, from now, and returns for how long.
func (r *sweepRun) hold(job int, wait time.Duration) time.Duration {
	if wait > 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.trouble(job).until = time.Now().Add(wait)
	}
	return wait
}

// waits is how long a job is still to wait.
func (r *sweepRun) waits(job int) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.troubles[job]; t != nil {
		return max(0, time.Until(t.until))
	}
	return 0
}

// stumble counts that the coordinator could not say what a job is, and returns how long the job is to wait.
func (r *sweepRun) stumble(job int) time.Duration {
	r.mu.Lock()
	t := r.trouble(job)
	t.unmade++
	wait := doubled(firstPause, t.unmade-1, maxPause)
	r.mu.Unlock()
	return r.hold(job, wait)
}

// mislay counts a lease that ended because nothing was heard of its worker. A job that workers are lost with waits longer
// and longer, since it may be what ends them. The caller holds mu.
func (r *sweepRun) mislay(job int, worker string) {
	t := r.trouble(job)
	t.lost[worker]++
	if n := sum(t.lost); n > 1 {
		t.until = time.Now().Add(doubled(firstPause, n-2, maxPause))
	}
}

// cameBack forgets that a worker was lost with jobs: it was not they that ended it.
func (r *sweepRun) cameBack(worker string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.troubles {
		delete(t.lost, worker)
	}
}

// hopeless says why a job is not given out again: MaxLost different workers were lost while they had it, and have not come
// back since. "" if it is.
func (r *sweepRun) hopeless(job int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.troubles[job]; t != nil && len(t.lost) >= r.c.cfg.MaxLost {
		return fmt.Sprintf("%d workers were lost while they computed it, one after the other, and did not come back; it may need more memory than they have", len(t.lost))
	}
	return ""
}

// avoids says whether a job is to be kept for other workers: it failed on this one, or this one has computed it and it is
// computed twice, and there are others.
func (r *sweepRun) avoids(job int, worker string) bool {
	r.mu.Lock()
	but := map[string]int{}
	if t := r.troubles[job]; t != nil && t.failed[worker] > 0 {
		maps.Copy(but, t.failed)
	}
	if first := r.first[job]; first != nil && first.worker == worker {
		but[worker]++
	}
	r.mu.Unlock()
	if len(but) == 0 {
		return false
	}
	ready, _ := r.c.takers(but)
	return ready
}

// warnable says whether a cause of failures is to be logged as a warning: each is once, as long as they are few.
func (r *sweepRun) warnable(cause string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.warned[cause] || len(r.warned) >= maxWarnings {
		return false
	}
	r.warned[cause] = true
	return true
}

// troublesOfJobs are the jobs that have failed, or been lost, more than once and have no result, in words. The caller
// holds mu.
func (r *sweepRun) troublesOfJobs() []string {
	var jobs []int
	for job, t := range r.troubles {
		if sum(t.failed) > 1 || sum(t.lost) > 1 || t.unmade > 1 {
			jobs = append(jobs, job)
		}
	}
	slices.Sort(jobs)
	var all []string
	for _, job := range jobs[:min(len(jobs), maxTroubles)] {
		t := r.troubles[job]
		switch {
		case sum(t.failed) > 0:
			all = append(all, fmt.Sprintf("job %d has failed %d times on %d workers and is tried again: %s", job, sum(t.failed), len(t.failed), t.reason))
		case sum(t.lost) > 0:
			all = append(all, fmt.Sprintf("job %d was with %d workers that were lost, and is tried again", job, len(t.lost)))
		default:
			all = append(all, fmt.Sprintf("job %d cannot be sent: %s", job, t.reason))
		}
	}
	return all
}

// failedBefore says whether a job without a result has failed.
func (r *sweepRun) failedBefore(job int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.troubles[job]
	return t != nil && len(t.failed) > 0
}

// cannotMake lets a job wait of which the coordinator cannot say what it is, because what it rests on cannot be read.
func (o *offer) cannotMake(err error) {
	r, job := o.run, o.delivery.Job()
	r.mu.Lock()
	r.trouble(job).reason = err.Error()
	r.mu.Unlock()
	wait := r.stumble(job)
	log := r.c.log.With("sweep", r.id, "job", job, "error", err, "again_in", wait.String())
	if r.warnable("make a job") {
		log.Error("a job cannot be sent; trying again")
	} else {
		log.Debug("a job cannot be sent; trying again")
	}
	_ = o.release(wait)
}
