package active

import (
	"bytes"
	"context"
	"errors"

	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// parent is a sweep that another one extends.
type parent struct {
	run   *Sweep  // as planned: only for its jobs and results
	place []int32 // by parameter set of the larger sweep, the place in the parent's plan; -1 if it is not there
}

// newParent finds the sweep that a plan extends; nil if it has been removed, so that nothing is kept.
func newParent(ctx context.Context, env *Env, id string, plan *sweep.Plan) (*parent, error) {
	spec, _, err := env.Store.Sweep(ctx, id)
	if errors.Is(err, service.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	spec.Extends = "" // what it kept is among its results
	p := &parent{place: make([]int32, len(plan.Sets))}
	if p.run, err = New(ctx, env, spec); err != nil {
		return nil, err
	}
	next := 0 // parameter sets keep their order
	for i := range plan.Sets {
		p.place[i] = -1
		if before := p.run.Plan.Sets; next < len(before) && before[next] == plan.Sets[i] {
			p.place[i] = int32(next)
			next++
		}
	}
	return p, nil
}

// jobs are the numbers of the parent's jobs that may have cells of a job, ascending.
func (p *parent) jobs(job *sweep.Job) []int {
	plan := p.run.Plan
	var jobs []int
	if job.Round > 0 { // whose parameter sets are not looked up: the hashes tell
		for chunk := range plan.RoundChunks(job.Round) {
			jobs = append(jobs, plan.InferJob(chunk, job.Stimulus))
		}
		return jobs
	}
	for i := range job.Sets {
		if at := p.place[job.Index(i)]; at >= 0 {
			number := int(at)/plan.CellsPerJob*len(plan.Stimuli) + job.Stimulus
			if n := len(jobs); n == 0 || jobs[n-1] != number {
				jobs = append(jobs, number)
			}
		}
	}
	return jobs
}

// keeps says whether there may be cells that need not be computed: of a sweep that this one extends, or of its own life
// before.
func (r *Sweep) keeps() bool { return r.parent != nil || r.Spec.GetRetries() > 0 }

// source is where cells of a job may be recorded already.
type source struct {
	jobs      []int           // numbers of the jobs that may have them, ascending
	procedure sweep.Procedure // by which they were computed
	read      func(ctx context.Context, job int) (*foiblev1.JobResult, error)
}

// kept are the cells of an infer job that the sweep extended by this one has recorded, or this one before it was tried
// again, in the job's order; nil where there is none. They are as this sweep records them.
func (r *Sweep) kept(ctx context.Context, job *sweep.Job) ([]*result.Cell, error) {
	kept := make([]*result.Cell, len(job.Sets))
	if r.parent != nil {
		extended := r.parent.run
		from := source{r.parent.jobs(job), extended.Plan.ProcedureOf(&extended.Config, job.Round), extended.Result}
		if err := r.keep(ctx, job, kept, from); err != nil {
			return nil, err
		}
	}
	if r.Spec.GetRetries() > 0 {
		from := source{r.formerJobs(job), r.Plan.ProcedureOf(&r.Config, job.Round), r.former}
		if err := r.keep(ctx, job, kept, from); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// keep takes the cells of a job from a source.
func (r *Sweep) keep(ctx context.Context, job *sweep.Job, kept []*result.Cell, from source) error {
	shape := &r.Plan.Stimuli[job.Stimulus]
	wanted, was := r.Plan.ProcedureOf(&r.Config, job.Round), r.cellHashes(job, from.procedure)
	next := 0
	for _, number := range from.jobs {
		result, err := from.read(ctx, number)
		if errors.Is(err, service.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		cells, err := codec.ReadCells(result.GetInfer(), shape)
		if err != nil {
			return err
		}
		for i := range cells { // in the order of this job too
			at := next
			for at < len(kept) && !bytes.Equal(codec.CellHash(result.GetInfer(), i), was[at]) {
				at++
			}
			if at == len(kept) {
				continue
			}
			next = at + 1
			if cells[i].Failed() { // it is tried again
				continue
			}
			if wanted.Detail != from.procedure.Detail { // of a larger sweep, less is kept
				cells[i].Judge(shape.JudgementSteps)
			}
			kept[at] = &cells[i]
		}
	}
	return nil
}

// former reads what was recorded of a job before it was tried again; not found if that is nothing of use.
func (r *Sweep) former(ctx context.Context, job int) (*foiblev1.JobResult, error) {
	return r.env.Store.FormerResult(ctx, r.ID, job)
}

// cellHashes are those of a job's cells by a procedure.
func (r *Sweep) cellHashes(job *sweep.Job, p sweep.Procedure) [][]byte {
	hasher := sweep.NewCellHash(r.Spec.GetStudyHash(), r.Plan.Stimuli[job.Stimulus].Stimulus, r.Config.Seed, p)
	hashes := make([][]byte, len(job.Sets))
	for i := range job.Sets {
		hashes[i] = hasher.Of(&job.Sets[i])
	}
	return hashes
}

// answer is the message of all cells of a job, none nil.
func (r *Sweep) answer(job *sweep.Job, kept []*result.Cell) *foiblev1.InferResult {
	cells := make([]result.Cell, len(kept))
	for i, cell := range kept {
		cells[i] = *cell
	}
	hashes := r.cellHashes(job, r.Plan.ProcedureOf(&r.Config, job.Round))
	return codec.InferResult(cells, bytes.Join(hashes, nil))
}

// missing are the parameter sets of an infer job that a worker is to run; kept are all cells of the job if there are none.
func (r *Sweep) missing(ctx context.Context, job *sweep.Job) (sets []model.ParameterSet, kept *foiblev1.InferResult, err error) {
	var cells []*result.Cell
	if !r.keeps() {
		sets = job.Sets
	} else if cells, err = r.kept(ctx, job); err != nil {
		return nil, nil, err
	}
	for i, cell := range cells {
		if cell == nil {
			sets = append(sets, job.Sets[i])
		}
	}
	if len(sets) == 0 {
		kept = r.answer(job, cells)
	}
	return sets, kept, nil
}

// Complete puts the cells that were kept into the answer to an infer job that asked for the others. An answer to
// which that does not apply stays as it is.
func (r *Sweep) Complete(ctx context.Context, number int, result *foiblev1.JobResult) error {
	if !r.keeps() || result.GetInfer() == nil || !r.Known(number) {
		return nil
	}
	job, answer := r.Job(number), result.GetInfer()
	if job.Score || codec.CellCount(answer) >= len(job.Sets) {
		return nil
	}
	answered, err := codec.ReadCells(answer, &r.Plan.Stimuli[job.Stimulus])
	if err != nil {
		return nil // judge says why
	}
	cells, err := r.kept(ctx, &job)
	if err != nil {
		return err
	}
	hashes := r.cellHashes(&job, r.Plan.ProcedureOf(&r.Config, job.Round))
	next := 0
	for i := range cells {
		switch {
		case next < len(answered) && bytes.Equal(codec.CellHash(answer, next), hashes[i]):
			cells[i] = &answered[next]
			next++
		case cells[i] == nil:
			return nil
		}
	}
	if next == len(answered) {
		result.Outcome = &foiblev1.JobResult_Infer{Infer: r.answer(&job, cells)}
	}
	return nil
}
