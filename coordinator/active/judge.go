package active

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator/answer"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// assign says what a job is, and for a score job what its fits must be of. It returns nil for a job that needs
// no worker: one without parameter sets, and an infer job with all of its cells kept, is recorded, a score job that
// cannot be made because an infer job failed is recorded as failed, and one that cannot be made yet is left.
func (r *Sweep) assign(ctx context.Context, number int) (m *foiblev1.Assign, fits []answer.ExpectedFit, err error) {
	job := r.Job(number)
	m = &foiblev1.Assign{
		SweepId: r.ID, Job: int32(number), StudyHash: r.Spec.GetStudyHash(), Seed: r.Config.Seed,
	}
	if !job.Score {
		sets, kept, err := r.missing(ctx, &job)
		if err != nil {
			return nil, nil, err
		}
		if len(sets) == 0 {
			_, err := r.Record(ctx, number, &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Infer{Infer: kept}}, Arrival{})
			return nil, nil, err
		}
		m.Work = &foiblev1.Assign_Infer{Infer: codec.InferJob(r.Plan.Stimuli[job.Stimulus].Stimulus, r.Plan.ProcedureOf(&r.Config, job.Round), sets)}
		return m, nil, nil
	}
	if len(job.Sets) == 0 {
		_, err := r.Record(ctx, number, &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Score{Score: &foiblev1.ScoreResult{}}}, Arrival{})
		return nil, nil, err
	}
	recorded, failure, err := r.recorded(ctx, job)
	if errors.Is(err, engine.ErrDamaged) {
		r.spoil(err)
		return nil, nil, nil
	}
	if errors.Is(err, service.ErrNotFound) { // it was lost; when it is there again, the score job is queued again
		r.env.Log.Warn("a score job waits for a result that was lost", "sweep", r.ID, "job", number)
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if failure != "" {
		_, err := r.Record(ctx, number, answer.FailedResult(failure), Arrival{})
		return nil, nil, err
	}
	predictions, err := codec.CellPredictions(recorded, r.Plan.Stimuli, len(job.Sets))
	if err != nil {
		return nil, nil, err
	}
	score := &foiblev1.ScoreJob{Bootstrap: codec.Bootstrap(r.Plan.BootstrapOf(&r.Config, job.Stage))}
	judged := r.Plan.ProcedureOf(&r.Config, job.Round).Detail == sweep.DetailJudged
	if judged {
		score.Judged = recorded
	}
	for i := range job.Sets {
		scored := &foiblev1.Scored{ParameterSet: codec.ParameterSet(&job.Sets[i])}
		if !judged { // there is more in the cells than is wanted
			scored.Predictions = codec.Predictions(predictions[i])
		}
		score.Scored = append(score.Scored, scored)
	}
	m.Work = &foiblev1.Assign_Score{Score: score}
	if fits, err = r.expectedFits(ctx, job, predictions); err != nil {
		return nil, nil, err
	}
	return m, fits, nil
}

// recorded are the cells of a chunk's parameter sets by stimulus, or why a part is missing.
func (r *Sweep) recorded(ctx context.Context, job sweep.Job) (all []*foiblev1.InferResult, failure string, err error) {
	for i := range r.Plan.Stimuli {
		number := r.Plan.InferJob(job.Chunk, i)
		if infer := r.recent.Take(number); infer != nil {
			all = append(all, infer)
			continue
		}
		result, err := r.Result(ctx, number)
		if err != nil {
			return nil, "", err
		}
		if f := result.GetFailure(); f != nil {
			return nil, fmt.Sprintf("stimulus %s has no posterior: %s", r.Plan.Stimuli[i].Stimulus, f.GetReason()), nil
		}
		all = append(all, result.GetInfer())
	}
	return all, "", nil
}

// Judge says what is to become of a result, and why. The lease, if there is one, spares looking up what is expected. The
// error is of the engine.
func (r *Sweep) Judge(ctx context.Context, l *Lease, number int, result *foiblev1.JobResult) (foiblev1.Verdict, string, error) {
	if size := proto.Size(result); size > sweep.MaxResultBytes {
		return foiblev1.Verdict_VERDICT_REFUSED, fmt.Sprintf("the result has %d bytes, more than %d", size, sweep.MaxResultBytes), nil
	}
	if f := result.GetFailure(); f != nil {
		return foiblev1.Verdict_VERDICT_RETRY, f.GetReason(), nil
	}
	known := r.Known(number) // asked before the job is read, whose parameter sets are missing till then
	job := r.Job(number)
	var err error
	switch {
	case !known:
		err = errors.New("an answer to a job whose parameters have not been chosen yet")
	case !job.Score:
		err = r.checkCells(job, result.GetInfer())
	case l != nil && l.fits != nil:
		err = r.checkFits(job, result.GetScore().GetFits(), l.fits)
	case !r.scorable(job.Chunk):
		err = errors.New("a score of parameter sets that have no posteriors yet")
	default:
		recorded, failure, e := r.recorded(ctx, job)
		if e != nil {
			return 0, "", e
		}
		if failure != "" {
			err = errors.New(failure)
			break
		}
		predictions, e := codec.CellPredictions(recorded, r.Plan.Stimuli, len(job.Sets))
		if e != nil {
			return 0, "", e
		}
		expected, e := r.expectedFits(ctx, job, predictions)
		if e != nil {
			return 0, "", e
		}
		err = r.checkFits(job, result.GetScore().GetFits(), expected)
	}
	if err != nil {
		return foiblev1.Verdict_VERDICT_REFUSED, "the result does not answer the job: " + err.Error(), nil
	}
	return foiblev1.Verdict_VERDICT_RECORDED, "", nil
}

// checkCells says why cells do not answer an infer job; nil if they do.
func (r *Sweep) checkCells(job sweep.Job, m *foiblev1.InferResult) error {
	shape := &r.Plan.Stimuli[job.Stimulus]
	if n := codec.CellCount(m); n != len(job.Sets) {
		if err := codec.CheckCells(m, shape); err != nil {
			return err // which may be why so few were completed
		}
		return fmt.Errorf("%d cells for %d parameter sets", n, len(job.Sets))
	}
	procedure := r.Plan.ProcedureOf(&r.Config, job.Round)
	want := sweep.NewCellHash(r.Spec.GetStudyHash(), shape.Stimulus, r.Config.Seed, procedure)
	var hash []byte
	for i := range job.Sets {
		if hash = want.Append(hash[:0], &job.Sets[i]); !bytes.Equal(codec.CellHash(m, i), hash) {
			return answer.OtherHash(&job.Sets[i])
		}
		if judged := codec.CellJudged(m, i); judged != (procedure.Detail == sweep.DetailJudged) {
			return fmt.Errorf("%s: only rows of judgement steps: %v", &job.Sets[i], judged)
		}
	}
	var wrong error // the first
	err := codec.VisitCells(m, shape, func(i int, c *result.Cell) {
		if err := shape.CheckCell(c, &job.Sets[i], &procedure); err != nil && wrong == nil {
			wrong = fmt.Errorf("stimulus %s: %s: %w", shape.Stimulus, &job.Sets[i], err)
		}
	})
	return cmp.Or(err, wrong)
}

// checkFits says why fits do not answer a score job; nil if they do.
func (r *Sweep) checkFits(job sweep.Job, fits []*foiblev1.Fit, expected []answer.ExpectedFit) error {
	if len(fits) != len(job.Sets) {
		return fmt.Errorf("%d fits for %d parameter sets", len(fits), len(job.Sets))
	}
	bootstrap := r.Plan.BootstrapOf(&r.Config, job.Stage)
	for i, m := range fits {
		if err := expected[i].Check(m, &job.Sets[i], r.Plan.Stimuli, bootstrap); err != nil {
			return err
		}
	}
	return nil
}

// checkRecordedFits says why recorded fits are not those of a score job; nil if they are.
func (r *Sweep) checkRecordedFits(job *sweep.Job, score *foiblev1.ScoreResult) error {
	if len(score.GetFits()) != len(job.Sets) {
		return fmt.Errorf("%d fits for %d parameter sets", len(score.GetFits()), len(job.Sets))
	}
	for i, m := range score.GetFits() {
		got, err := codec.ReadParameterSet(m.GetParameterSet())
		if err != nil {
			return err
		}
		if got != job.Sets[i] {
			return fmt.Errorf("fits of %s, not of %s", got.String(), job.Sets[i].String())
		}
	}
	return nil
}

func (r *Sweep) scorable(chunk sweep.Chunk) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ledger.Scorable(chunk)
}

// expectedFits are those of a score job, one a parameter set.
func (r *Sweep) expectedFits(ctx context.Context, job sweep.Job, predictions [][]result.Prediction) ([]answer.ExpectedFit, error) {
	by := answer.Scoring{StudyHash: r.Spec.GetStudyHash(), Seed: r.Config.Seed, Bootstrap: r.Plan.BootstrapOf(&r.Config, job.Stage)}
	return r.env.Scorers.Expect(ctx, by, job.Sets, predictions)
}
