package inference

import (
	"fmt"

	"foible.dev/foible/core/inference/marginal"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/sweep"
)

// Work says which cells of a stimulus share work, by names: the first cell with a name
// pays for what the others then find. Cells with the same samples share searches,
// or what an exact model solves; of these, cells with the same sizes share the
// finding of how many searches are needed; of these, cells in a row with the same
// plans share what these do. By the particle filter nothing is shared,
// and cells with the same names take about as long as each other.
func Work(set *model.ParameterSet, p sweep.Procedure) (samples, sizes, plans string, err error) {
	if set.Model == "boltzmann" {
		return set.Model, set.Value.Word, "", nil
	}
	a, err := Agent(set, p.Inference)
	if err != nil {
		return "", "", "", err
	}
	if p.Method == sweep.Marginal {
		samples, sizes, plans = marginal.Names(&a, &p)
		return samples, sizes, plans, nil
	}
	return fmt.Sprint(set.Model, " budget ", a.BudgetR, " ", a.BudgetQ, " search_noise ", a.SearchNoise), "", "", nil
}

// counts are how often inference about a stimulus has done what it takes its time for.
type counts struct {
	states    int // found
	estimates int // of heuristics, computed
	generated int // successors, by searches
	moves     int // of particles
	marginal.Counts
	edges  int // of the graph of all states, followed
	values int // weighed by a policy
	bounds int // landmark cuts of states, or what the domain has in their place
}

// What each takes, in seconds: by least squares over cells of the published studies, all
// models and methods, on the machine of the speeds in docs/performance.md. It is a mean over much that
// differs; the work of whole sweeps is within about 30 % of their time there.
const (
	perState     = 2000e-9
	perEstimate  = 400e-9
	perGenerated = 40e-9
	perTraced    = 80e-9 // of searches that tell of every budget, a successor
	perMove      = 280e-9
	perEvent     = 20e-9
	perRecursion = 70e-9
	perPosterior = 4e-9
	perEdge      = 5e-9
	perValue     = 25e-9
	perBound     = 100e-6
)

// Work that has been done on the stimulus so far, in seconds of a core like that on which its parts
// were measured; of it is kept, for all that is inferred later, what states and heuristics took. It is counted and not
// clocked: the same calls in the same order are the same work, on any machine.
func (s *Stimulus) Work() (all, kept float64) {
	var c counts
	generated := perGenerated
	if s.marginal != nil {
		c.Counts, generated = s.marginal.Counts(), perTraced
	}
	if s.filter != nil {
		c.moves = s.filter.Moves()
	}
	if s.path != nil {
		c.states, c.generated = s.path.Task.Len(), s.path.Search.Generated
		for _, t := range s.estimates {
			c.estimates += t.Computed()
		}
	}
	if s.boltzmann != nil {
		w := s.boltzmann.Work()
		c.states += w.States
		c.edges, c.values, c.bounds = w.Edges, w.Values, w.Bounds
	}
	for _, part := range []struct {
		n    int
		each float64
		kept bool
	}{
		{c.states, perState, true},
		{c.estimates, perEstimate, true},
		{c.generated, generated, false},
		{c.moves, perMove, false},
		{c.Events, perEvent, false},
		{c.Recursions, perRecursion, false},
		{c.Posteriors, perPosterior, false},
		{c.edges, perEdge, true},
		{c.values, perValue, false},
		{c.bounds, perBound, true},
	} {
		x := float64(float64(part.n) * part.each)
		all += x
		if part.kept {
			kept += x
		}
	}
	return all, kept
}
