package ledger

import (
	"maps"
	"slices"

	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

// Counts are the numbers of a sweep.
type Counts struct {
	Cells, CellsDone int
	CellsFailed      int // cells that could not be computed, of jobs that have a result
	Jobs, JobsDone   int
	JobsFailed       int // jobs whose result is a failure
}

// Snapshot is how a sweep stands at a moment. It shares nothing with the ledger that changes.
type Snapshot struct {
	Counts
	Stages  []sweep.Part
	Models  []sweep.Part
	Stimuli []sweep.Part
	Best    []Best   // of the models that have a best parameter set, in the plan's order
	Reasons []string // why jobs have failed, each once, those of the first jobs first; at most maxReasons
	Causes  []Cause  // why cells could not be computed, those of the most cells first; at most maxCauses
}

// Best is the best parameter set of a model, by the fits that are recorded. The report takes no part in the choice.
type Best struct {
	Set      int                // index in the plan
	Overall  result.Correlation // of the fit by which it is the best
	Complete bool               // it has a posterior at every point
}

// Counts are those of now.
func (l *Ledger) Counts() Counts {
	return Counts{
		Cells: l.plan.Cells(), CellsDone: l.progress.CellsDone(), CellsFailed: l.failures.cellCount,
		Jobs: l.plan.Jobs(), JobsDone: l.progress.JobsDone(), JobsFailed: l.failures.jobCount,
	}
}

// Waiting counts the jobs that can be done and have no result, those that workers have included.
func (l *Ledger) Waiting() int { return l.progress.Waiting() }

// Snapshot is how the sweep stands.
func (l *Ledger) Snapshot() Snapshot {
	return Snapshot{
		Counts: l.Counts(), Stages: l.progress.Stages(), Models: l.progress.Models(), Stimuli: l.progress.Stimuli(),
		Best: l.bestSets(), Reasons: l.failures.firstReasons(), Causes: l.failures.mostCauses(),
	}
}

func (l *Ledger) bestSets() []Best {
	var all []Best
	for _, m := range l.plan.Models() {
		if best, ok := l.best[m.Name]; ok {
			place, _ := l.standing.Place(best.Set)
			best.Complete = place.Complete
			all = append(all, best)
		}
	}
	return all
}

// FailedJobs are the first jobs that failed, or have cells that could not be computed, in the order of their numbers; at
// most maxListed entries.
func (l *Ledger) FailedJobs() []FailedJob {
	all := slices.Clone(l.failures.listed)
	for i := range all {
		all[i].Places = slices.Clone(all[i].Places)
	}
	return all
}

// sortedKeys are the keys of a map, ascending.
func sortedKeys[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }
