package coordinator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"foible/coordinator/engine"
	"foible/core/sweep"
	"foible/proto/codec"
	foiblev1 "foible/proto/foible/v1"
)

// sweepRun is a sweep that a coordinator has taken up.
type sweepRun struct {
	c      *Coordinator
	id     string
	spec   *foiblev1.Sweep // as made; state and end_time are below
	config sweep.Config
	plan   *sweep.Plan
	queue  *engine.Queue

	mu         sync.Mutex // guards what follows
	progress   *sweep.Progress
	revision   uint64 // of the stored spec
	state      foiblev1.SweepState
	endTime    time.Time
	queued     bool              // every infer job is in the queue
	failed     map[int]string    // recorded failures, by job
	reported   map[int]*failures // reported by workers, of jobs without a result
	leased     int               // jobs with workers
	duplicates int64             // results refused since the coordinator started
	audited    time.Time         // when the queue was last compared with the results
	changed    chan struct{}     // closed at the next change
}

// failures of a job as workers reported them.
type failures struct {
	count int
	last  string
}

// newRun plans a sweep from its spec.
func (c *Coordinator) newRun(ctx context.Context, spec *foiblev1.Sweep) (*sweepRun, error) {
	config, err := codec.Config(spec.GetConfig())
	if err != nil {
		return nil, err
	}
	sets, err := config.ParameterSets()
	if err != nil {
		return nil, err
	}
	plan, err := sweep.NewPlan(sets, codec.Shapes(spec.GetStimuli()), int(spec.GetCellsPerJob()), config.Report.Runs > 0)
	if err != nil {
		return nil, err
	}
	return &sweepRun{
		c: c, id: spec.GetSweepId(), spec: spec, config: config, plan: plan,
		progress: sweep.NewProgress(plan),
		state:    spec.GetState(),
		failed:   map[int]string{},
		reported: map[int]*failures{},
		changed:  make(chan struct{}),
	}, nil
}

// start replays what is recorded, and queues what the plan has and the queue
// has not; queueing goes on in the background.
func (r *sweepRun) start(ctx context.Context) error {
	var err error
	if r.queue, err = r.c.engine.Queue(ctx, r.id); err != nil {
		return err
	}
	err = r.c.engine.Recorded(ctx, r.id, r.plan.Jobs(), func(job int) error {
		r.progress.Add(job)
		return nil
	})
	if err != nil {
		return err
	}
	var scores []int
	for chunk := range r.plan.Chunks() {
		job := r.plan.ScoreJob(chunk)
		switch {
		case r.progress.Done(job):
			if err := r.recall(ctx, chunk); err != nil {
				return err
			}
		case slices.Contains(r.progress.Ready(), job):
			scores = append(scores, job)
		}
	}
	if err := r.c.engine.Requeue(ctx, r.id, scores); err != nil {
		return err
	}
	r.c.background.Go(func() error {
		if err := r.c.engine.Enqueue(ctx, r.id, r.plan.InferJobs()); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("queue the jobs of sweep %s: %w", r.id, err)
		}
		r.mu.Lock()
		r.queued = true
		r.mu.Unlock()
		r.c.demand.signal()
		return r.finish(ctx)
	})
	return nil
}

// recall finds the failures of a chunk that was dealt with before this coordinator started.
func (r *sweepRun) recall(ctx context.Context, chunk int) error {
	first := chunk * len(r.plan.Stimuli)
	score := r.plan.ScoreJob(chunk)
	result, err := r.result(ctx, score)
	if err != nil || result.GetFailure() == nil {
		return err
	}
	r.failed[score] = result.GetFailure().GetReason()
	for job := first; job < first+len(r.plan.Stimuli); job++ {
		result, err := r.result(ctx, job)
		if err != nil {
			return err
		}
		if f := result.GetFailure(); f != nil {
			r.failed[job] = f.GetReason()
		}
	}
	return nil
}

// result reads what is recorded of a job.
func (r *sweepRun) result(ctx context.Context, job int) (*foiblev1.JobResult, error) {
	value, err := r.c.engine.Result(ctx, r.id, job)
	if err != nil {
		return nil, fmt.Errorf("sweep %s: %w", r.id, sentinel(err))
	}
	m := &foiblev1.JobResult{}
	if err := proto.Unmarshal(value, m); err != nil {
		return nil, fmt.Errorf("sweep %s, job %d: the recorded result is damaged: %w", r.id, job, err)
	}
	return m, nil
}

// record makes a result durable; false if the job has one already, which stands.
func (r *sweepRun) record(ctx context.Context, job int, result *foiblev1.JobResult) (fresh bool, err error) {
	value, err := proto.Marshal(result)
	if err != nil {
		return false, err
	}
	switch err := r.c.engine.Record(ctx, r.id, job, value); {
	case errors.Is(err, engine.ErrRecorded):
		r.mu.Lock()
		r.duplicates++
		r.change()
		r.mu.Unlock()
		return false, nil
	case err != nil:
		return false, sentinel(err)
	}

	r.mu.Lock()
	_, ready := r.progress.Add(job)
	if f := result.GetFailure(); f != nil {
		r.failed[job] = f.GetReason()
	}
	delete(r.reported, job)
	r.change()
	r.mu.Unlock()
	if len(ready) > 0 {
		// Should this be lost, start or audit does it again.
		if err := r.c.engine.Requeue(ctx, r.id, ready); err != nil {
			return true, sentinel(err)
		}
		r.c.demand.signal()
	}
	return true, r.finish(ctx)
}

// finish ends the sweep if all is done: the state is stored, the queue is removed.
func (r *sweepRun) finish(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.progress.Complete() || !r.queued || r.state != foiblev1.SweepState_SWEEP_STATE_RUNNING {
		return nil
	}
	spec := proto.CloneOf(r.spec)
	spec.State = foiblev1.SweepState_SWEEP_STATE_SUCCEEDED
	if len(r.failed) > 0 {
		spec.State = foiblev1.SweepState_SWEEP_STATE_FAILED
	}
	end := time.Now()
	spec.EndTime = timestamppb.New(end)
	value, err := proto.Marshal(spec)
	if err != nil {
		return err
	}
	if r.revision, err = r.c.engine.UpdateSweep(ctx, r.id, value, r.revision); err != nil {
		return fmt.Errorf("end of sweep %s: %w", r.id, sentinel(err))
	}
	r.state, r.endTime = spec.GetState(), end
	r.change()
	r.c.log.Info("sweep ended", "sweep", r.id, "state", r.state.String(), "jobs_failed", len(r.failed))
	if err := r.c.engine.DeleteJobs(ctx, r.id); err != nil {
		return fmt.Errorf("end of sweep %s: %w", r.id, sentinel(err))
	}
	return nil
}

// audit gives jobs that neither the queue nor the results know to the queue
// again, so that a damaged queue loses no work.
func (r *sweepRun) audit(ctx context.Context) error {
	r.mu.Lock()
	due := r.queued && r.leased == 0 && time.Since(r.audited) > auditInterval
	if due {
		r.audited = time.Now()
	}
	r.mu.Unlock()
	if !due || r.ended() {
		return nil
	}
	waiting, leased, err := r.queue.Pending(ctx)
	if err != nil || waiting+leased > 0 {
		return err
	}
	r.mu.Lock()
	var missing []int
	for job := range r.plan.Jobs() {
		ready := job < r.plan.InferJobs() || slices.Contains(r.progress.Ready(), job)
		if ready && !r.progress.Done(job) {
			missing = append(missing, job)
		}
	}
	r.mu.Unlock()
	if len(missing) == 0 {
		return r.finish(ctx)
	}
	r.c.log.Warn("jobs missing from the queue are queued again", "sweep", r.id, "jobs", len(missing))
	return r.c.engine.Requeue(ctx, r.id, missing)
}

// assign says what a job is. A score job that cannot be made because an infer
// job failed is recorded as failed, and assign returns nil.
func (r *sweepRun) assign(ctx context.Context, number int) (*foiblev1.Assign, error) {
	job := r.plan.Job(number)
	m := &foiblev1.Assign{
		SweepId: r.id, Job: int32(number), StudyHash: r.spec.GetStudyHash(), Seed: r.config.Seed,
	}
	if !job.Score {
		m.Work = &foiblev1.Assign_Infer{Infer: codec.InferJob(r.plan.Stimuli[job.Stimulus].Stimulus, r.config.Procedure(job.Stage), job.Sets)}
		return m, nil
	}
	predictions, failure, err := r.predictions(ctx, job)
	if err != nil {
		return nil, err
	}
	if failure != "" {
		_, err := r.record(ctx, number, failed(failure))
		return nil, err
	}
	score := &foiblev1.ScoreJob{Bootstrap: codec.Bootstrap(r.config.Bootstrap)}
	for i := range job.Sets {
		score.Scored = append(score.Scored, &foiblev1.Scored{
			ParameterSet: codec.ParameterSet(&job.Sets[i]), Predictions: codec.Predictions(predictions[i]),
		})
	}
	m.Work = &foiblev1.Assign_Score{Score: score}
	return m, nil
}

// fail counts a failure that a worker reported; final once it will not be tried again.
func (r *sweepRun) fail(job int, reason string) (final bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.reported[job]
	if f == nil {
		f = &failures{}
		r.reported[job] = f
	}
	f.count++
	f.last = reason
	return f.count >= r.c.cfg.MaxFailures
}

func failed(reason string) *foiblev1.JobResult {
	return &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Failure{Failure: &foiblev1.Failure{Reason: reason}}}
}

// predictions gathers what a chunk's parameter sets say, [set][stimulus], or why a part is missing.
func (r *sweepRun) predictions(ctx context.Context, job sweep.Job) (all [][]sweep.Prediction, failure string, err error) {
	all = make([][]sweep.Prediction, len(job.Sets))
	for i := range r.plan.Stimuli {
		shape := &r.plan.Stimuli[i]
		result, err := r.result(ctx, job.Chunk*len(r.plan.Stimuli)+i)
		if err != nil {
			return nil, "", err
		}
		if f := result.GetFailure(); f != nil {
			return nil, fmt.Sprintf("stimulus %s has no posterior: %s", shape.Stimulus, f.GetReason()), nil
		}
		for j, m := range result.GetInfer().GetCells() {
			cell, err := codec.ReadCell(m, shape)
			if err != nil {
				return nil, "", err
			}
			all[j] = append(all[j], shape.Predict(&cell))
		}
	}
	return all, "", nil
}

// judge says what is to become of a result, and why. The error is of the engine.
func (r *sweepRun) judge(ctx context.Context, number int, result *foiblev1.JobResult) (foiblev1.Verdict, string, error) {
	if f := result.GetFailure(); f != nil {
		return foiblev1.Verdict_VERDICT_RETRY, f.GetReason(), nil
	}
	job := r.plan.Job(number)
	var predictions [][]sweep.Prediction
	if job.Score {
		var err error
		if predictions, _, err = r.predictions(ctx, job); err != nil {
			return 0, "", err
		}
	}
	if err := r.check(job, result, predictions); err != nil {
		return foiblev1.Verdict_VERDICT_REFUSED, "the result does not answer the job: " + err.Error(), nil
	}
	return foiblev1.Verdict_VERDICT_RECORDED, "", nil
}

// check says why a result does not answer its job; nil if it does.
func (r *sweepRun) check(job sweep.Job, result *foiblev1.JobResult, predictions [][]sweep.Prediction) error {
	if !job.Score {
		cells := result.GetInfer().GetCells()
		if len(cells) != len(job.Sets) {
			return fmt.Errorf("%d cells for %d parameter sets", len(cells), len(job.Sets))
		}
		shape := &r.plan.Stimuli[job.Stimulus]
		for i, m := range cells {
			want := sweep.CellHash(r.spec.GetStudyHash(), shape.Stimulus, r.config.Seed, r.config.Procedure(job.Stage), &job.Sets[i])
			if err := r.echo(m.GetStudyHash(), m.GetParameterSet(), &job.Sets[i], m.GetCellHash(), want); err != nil {
				return err
			}
			if _, err := codec.ReadCell(m, shape); err != nil {
				return err
			}
		}
		return nil
	}
	fits := result.GetScore().GetFits()
	if len(fits) != len(job.Sets) {
		return fmt.Errorf("%d fits for %d parameter sets", len(fits), len(job.Sets))
	}
	if len(predictions) != len(job.Sets) {
		return errors.New("a score of parameter sets that have no posteriors")
	}
	for i, m := range fits {
		want := sweep.ScoreHash(r.spec.GetStudyHash(), r.config.Seed, r.config.Bootstrap, &job.Sets[i], predictions[i])
		if err := r.echo(r.spec.GetStudyHash(), m.GetParameterSet(), &job.Sets[i], m.GetScoreHash(), want); err != nil {
			return err
		}
		if _, err := codec.ReadFit(m); err != nil {
			return err
		}
	}
	return nil
}

// echo compares what a worker says it has computed with what it was asked for.
func (r *sweepRun) echo(study string, m *foiblev1.ParameterSet, want *sweep.ParameterSet, hash, wantHash []byte) error {
	got, err := codec.ReadParameterSet(m)
	switch {
	case err != nil:
		return err
	case study != r.spec.GetStudyHash():
		return fmt.Errorf("computed for study %s, not %s", study, r.spec.GetStudyHash())
	case got != *want:
		return fmt.Errorf("computed with %s, not %s", got.String(), want.String())
	case !bytes.Equal(hash, wantHash):
		return fmt.Errorf("%s: the hash is of another computation", want.String())
	}
	return nil
}

// snapshot is the sweep as it stands.
func (r *sweepRun) snapshot(c *Coordinator) *foiblev1.Sweep {
	workers, slots := c.connected()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := proto.CloneOf(r.spec)
	s.State = r.state
	if !r.endTime.IsZero() {
		s.EndTime = timestamppb.New(r.endTime)
	}
	s.Progress = &foiblev1.Progress{
		Cells: int64(r.plan.Cells()), CellsDone: int64(r.progress.CellsDone()),
		Jobs: int64(r.plan.Jobs()), JobsDone: int64(r.progress.JobsDone()),
		JobsFailed: int64(len(r.failed)), JobsLeased: int64(r.leased), Duplicates: r.duplicates,
		Workers: int32(workers), Slots: int32(slots),
	}
	jobs := make([]int, 0, len(r.failed))
	for job := range r.failed {
		jobs = append(jobs, job)
	}
	slices.Sort(jobs)
	for _, job := range jobs {
		if reason := r.failed[job]; !slices.Contains(s.GetProgress().GetFailures(), reason) && len(s.GetProgress().GetFailures()) < 10 {
			s.Progress.Failures = append(s.Progress.Failures, reason)
		}
	}
	return s
}

// change tells who watches. The caller holds mu.
func (r *sweepRun) change() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// changes is closed at the next change.
func (r *sweepRun) changes() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

func (r *sweepRun) ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state != foiblev1.SweepState_SWEEP_STATE_RUNNING
}

func (r *sweepRun) done(job int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.progress.Done(job)
}

func (r *sweepRun) jobsDone() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.progress.JobsDone()
}
