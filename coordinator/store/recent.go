package store

import (
	"maps"
	"slices"
	"sync"

	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// recentBytes bounds what a sweep keeps of its last results.
const recentBytes = 64 << 20

// Recent keeps packed results that were recorded just now: the score job of a chunk comes
// soon after its infer jobs, and need not read them again. The zero value is empty.
type Recent struct {
	mu      sync.Mutex // guards what follows
	results map[int]recentResult
	bytes   int
}

type recentResult struct {
	infer *foiblev1.InferResult // not to be changed
	bytes int
}

// Put keeps the recorded result of a job. Where there is no room, those of the first jobs are forgotten.
func (r *Recent) Put(job int, result *foiblev1.InferResult, bytes int) {
	if result.GetJudged() == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.results == nil {
		r.results = map[int]recentResult{}
	}
	r.remove(job)
	r.results[job] = recentResult{result, bytes}
	r.bytes += bytes
	for r.bytes > recentBytes {
		r.remove(slices.Min(slices.Collect(maps.Keys(r.results))))
	}
}

// Take removes the result of a job; nil if it is not there.
func (r *Recent) Take(job int) *foiblev1.InferResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.remove(job)
}

// Clear forgets all.
func (r *Recent) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results, r.bytes = nil, 0
}

// remove does so. The caller holds mu.
func (r *Recent) remove(job int) *foiblev1.InferResult {
	of := r.results[job]
	delete(r.results, job)
	r.bytes -= of.bytes
	return of.infer
}
