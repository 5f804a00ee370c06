package sweep

import (
	"fmt"
	"maps"
	"slices"
)

// Outcome is what a job came to: cells, fits, or a failure.
type Outcome struct {
	Cells   []Cell // of an infer job, one a parameter set
	Fits    []Fit  // of a score job, one a parameter set
	Failure string // why there are none
}

// Gathered is all that is known of one parameter set.
type Gathered struct {
	Stage    string // fit or report
	Index    int    // in the plan
	Set      ParameterSet
	Cells    []*Cell  // by stimulus; nil where a job failed or has no result yet
	Fit      *Fit     // nil if there is none
	Failures []string // in the order of jobs
}

// Gather folds the outcomes of jobs, in any order, into parameter sets, in the
// plan's order, those of the report last. It holds only chunks that are
// incomplete, and the overall correlation of each fit.
type Gather struct {
	plan    *Plan
	visit   func(*Gathered) error
	pending map[int]*chunk
	next    int          // first chunk that has not been visited
	fits    map[int]*Fit // Overall alone, by parameter set
}

type chunk struct {
	cells    [][]Cell // by stimulus
	fits     []Fit
	failures map[int]string // by job
	have     map[int]bool   // jobs
}

// NewGather makes a gather that calls visit for each parameter set.
func NewGather(p *Plan, visit func(*Gathered) error) *Gather {
	return &Gather{plan: p, visit: visit, pending: map[int]*chunk{}, fits: map[int]*Fit{}}
}

// Add takes the outcome of a job; a repeated one is ignored.
func (g *Gather) Add(number int, o Outcome) error {
	if number < 0 || number >= g.plan.Jobs() {
		return fmt.Errorf("job %d of %d", number, g.plan.Jobs())
	}
	job := g.plan.Job(number)
	if job.Chunk < g.next {
		return nil
	}
	c := g.chunk(job.Chunk)
	if c.have[number] {
		return nil
	}
	switch {
	case o.Failure != "":
		c.failures[number] = o.Failure
	case job.Score && o.Cells == nil:
		c.fits = o.Fits
	case !job.Score && o.Fits == nil:
		c.cells[job.Stimulus] = o.Cells
	default:
		return fmt.Errorf("job %d: %d cells and %d fits", number, len(o.Cells), len(o.Fits))
	}
	c.have[number] = true
	for {
		ready := g.pending[g.next]
		if ready == nil || len(ready.have) < len(g.plan.Stimuli)+1 {
			return nil
		}
		if err := g.flush(); err != nil {
			return err
		}
	}
}

// chunk is what is known of a chunk.
func (g *Gather) chunk(i int) *chunk {
	c := g.pending[i]
	if c == nil {
		c = &chunk{cells: make([][]Cell, len(g.plan.Stimuli)), failures: map[int]string{}, have: map[int]bool{}}
		g.pending[i] = c
	}
	return c
}

// Close visits what is left, with gaps where there are no outcomes: every
// parameter set of the plan has been visited then.
func (g *Gather) Close() error {
	for g.next < g.plan.Chunks() {
		if err := g.flush(); err != nil {
			return err
		}
	}
	return nil
}

// flush visits the parameter sets of the next chunk.
func (g *Gather) flush() error {
	if g.next == g.plan.FitChunks() {
		g.plan.Choose(func(i int) *Fit { return g.fits[i] })
	}
	c := g.chunk(g.next)
	delete(g.pending, g.next)
	job := g.plan.Job(g.plan.ScoreJob(g.next))
	g.next++
	var failures []string
	for _, number := range slices.Sorted(maps.Keys(c.failures)) {
		failures = append(failures, fmt.Sprintf("job %d: %s", number, c.failures[number]))
	}
	if c.fits != nil && len(c.fits) != len(job.Sets) {
		return fmt.Errorf("job %d: %d fits for %d parameter sets", job.Number, len(c.fits), len(job.Sets))
	}
	for s, cells := range c.cells {
		if cells != nil && len(cells) != len(job.Sets) {
			return fmt.Errorf("stimulus %s, job %d: %d cells for %d parameter sets", g.plan.Stimuli[s].Stimulus, job.Chunk*len(g.plan.Stimuli)+s, len(cells), len(job.Sets))
		}
	}
	for i, set := range job.Sets {
		out := &Gathered{Stage: job.Stage, Index: job.Index(i), Set: set, Cells: make([]*Cell, len(g.plan.Stimuli)), Failures: failures}
		for s, cells := range c.cells {
			if cells != nil {
				out.Cells[s] = &cells[i]
			}
		}
		if c.fits != nil {
			out.Fit = &c.fits[i]
			if job.Stage == FitStage {
				g.fits[out.Index] = &Fit{Overall: out.Fit.Overall}
			}
		}
		if err := g.visit(out); err != nil {
			return err
		}
	}
	return nil
}
