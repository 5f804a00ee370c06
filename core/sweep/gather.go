package sweep

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
)

// Outcome is what a job came to: cells, fits, or a failure.
type Outcome struct {
	Cells   []result.Cell        // of an infer job, one a parameter set
	Hashes  [][]byte             // the CellHash of each, as it was recorded
	Fits    []result.Fit         // of a score job, one a parameter set
	Sets    []model.ParameterSet // of each, as it was recorded
	Failure string               // why there are none
}

// ErrOtherPlan says that an outcome was recorded for other cells than those that the plan has in its job: it was made by
// a version of Foible that splits sweeps otherwise.
var ErrOtherPlan = errors.New("it was recorded for other cells than this plan has there")

// Gathered is all that is known of one parameter set. Its numbers may lie among those of
// the others of its chunk: who keeps it for long keeps a Copy.
type Gathered struct {
	Stage    string // fit, top_up or report
	Round    int    // see Plan
	Index    int    // in the plan
	Set      model.ParameterSet
	Cells    []*result.Cell // by stimulus; nil where a job failed or has no result yet
	Fit      *result.Fit    // nil if there is none
	Failures []string       // in the order of jobs
}

// Copy shares no numbers of cells with other parameter sets.
func (g *Gathered) Copy() *Gathered {
	c := *g
	c.Cells = make([]*result.Cell, len(g.Cells))
	for i, cell := range g.Cells {
		if cell != nil {
			c.Cells[i] = cell.Copy()
		}
	}
	if g.Fit != nil {
		fit := *g.Fit
		c.Fit = &fit
	}
	return &c
}

// Gather folds the outcomes of jobs, in any order, into parameter sets, round by
// round in the plan's order. It holds only chunks that are
// incomplete, and the standing of the parameter sets.
type Gather struct {
	plan     *Plan
	visit    func(...*Gathered) error
	pending  map[Chunk]*chunk
	next     Chunk // first chunk that has not been visited
	standing *Standing
	study    string  // hash of the study
	config   *Config // nil: what outcomes are of is not checked
}

// Check lets Add and Close return ErrOtherPlan for outcomes that are not of the plan's jobs. The hash is that of the
// sweep's study. It is for outcomes that have Hashes and Sets.
func (g *Gather) Check(studyHash string, c *Config) { g.study, g.config = studyHash, c }

// check says what is wrong with the outcome of a job.
func (g *Gather) check(o *Outcome, job *Job) error {
	err := o.check(job)
	if g.config == nil || o.Failure != "" {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %w", err, ErrOtherPlan)
	}
	same := len(o.Hashes) == len(o.Cells) && len(o.Sets) == len(o.Fits) && (!job.Score || slices.Equal(o.Sets, job.Sets))
	if same && !job.Score {
		hasher := NewCellHash(g.study, g.plan.Stimuli[job.Stimulus].Stimulus, g.config.Seed, g.plan.ProcedureOf(g.config, job.Round))
		var hash []byte
		for i := range job.Sets {
			hash = hasher.Append(hash[:0], &job.Sets[i])
			same = same && bytes.Equal(hash, o.Hashes[i])
		}
	}
	if !same {
		return fmt.Errorf("job %d: %w", job.Number, ErrOtherPlan)
	}
	return nil
}

type chunk struct {
	outcomes map[int]Outcome // by job
}

// check says what is wrong with the outcome of a job: if it is no failure, it
// has one cell, or one fit, a parameter set.
func (o *Outcome) check(job *Job) error {
	cells, fits := len(job.Sets), 0
	if job.Score {
		cells, fits = fits, cells
	}
	if o.Failure == "" && (len(o.Cells) != cells || len(o.Fits) != fits) {
		return fmt.Errorf("job %d: %d cells and %d fits for %d parameter sets", job.Number, len(o.Cells), len(o.Fits), len(job.Sets))
	}
	return nil
}

// NewGather makes a gather that calls visit for the parameter sets of each chunk.
func NewGather(p *Plan, visit func(...*Gathered) error) *Gather {
	return &Gather{plan: p, visit: visit, pending: map[Chunk]*chunk{}, standing: NewStanding(p.Points())}
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
	if _, ok := c.outcomes[number]; ok {
		return nil
	}
	if job.Round == 0 { // those of later rounds may not be known yet
		if err := g.check(&o, &job); err != nil {
			return err
		}
	}
	c.outcomes[number] = o
	for {
		ready := g.pending[g.next]
		if ready == nil || len(ready.outcomes) < len(g.plan.Stimuli)+1 {
			return nil
		}
		if err := g.flush(); err != nil {
			return err
		}
	}
}

// chunk is what is known of a chunk.
func (g *Gather) chunk(i Chunk) *chunk {
	c := g.pending[i]
	if c == nil {
		c = &chunk{outcomes: map[int]Outcome{}}
		g.pending[i] = c
	}
	return c
}

// Close visits what is left, with gaps where there are no outcomes: every
// parameter set of every round has been visited then.
func (g *Gather) Close() error {
	for g.next < g.plan.chunks() {
		if err := g.flush(); err != nil {
			return err
		}
	}
	return nil
}

// flush visits the parameter sets of the next chunk.
func (g *Gather) flush() error {
	for round := g.plan.RoundOf(g.next); !g.plan.Known(round); {
		g.plan.Choose(g.standing)
	}
	c := g.chunk(g.next)
	delete(g.pending, g.next)
	score := g.plan.Job(g.plan.ScoreJob(g.next))
	g.next++
	cells := make([][]result.Cell, len(g.plan.Stimuli))
	var fits []result.Fit
	var failures []string
	for _, number := range slices.Sorted(maps.Keys(c.outcomes)) {
		o, job := c.outcomes[number], g.plan.Job(number)
		if err := g.check(&o, &job); err != nil {
			return err
		}
		switch {
		case o.Failure != "":
			failures = append(failures, fmt.Sprintf("job %d: %s", number, o.Failure))
		case job.Score:
			fits = o.Fits
		default:
			cells[job.Stimulus] = o.Cells
		}
	}
	g.standing.AddJob(&score, fits)
	gathered := make([]*Gathered, len(score.Sets))
	for i, set := range score.Sets {
		out := &Gathered{Stage: score.Stage, Round: score.Round, Index: score.Index(i), Set: set, Cells: make([]*result.Cell, len(cells)), Failures: failures}
		for stimulus := range cells {
			if cells[stimulus] != nil {
				out.Cells[stimulus] = &cells[stimulus][i]
			}
		}
		if fits != nil {
			out.Fit = &fits[i]
		}
		gathered[i] = out
	}
	return g.visit(gathered...)
}
