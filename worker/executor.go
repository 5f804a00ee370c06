package worker

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"foible.dev/foible/core/hashing"
	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/domains"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Science is the executor of real jobs. It keeps the studies it has met, and
// of each what does not depend on parameters, so that jobs share it.
type Science struct {
	// SamplesMemory bounds what the samples of a study's stimuli may take for each job that
	// is done at once, in bytes; 0 is [MaxSamplesMemory]. It is set before the first job.
	SamplesMemory int64

	studies foiblev1.StudyServiceClient

	mu     sync.Mutex
	loaded map[string]*loaded // by study hash; guarded by mu
}

// MaxSamplesMemory is enough for the samples of any published sweep, in bytes.
const MaxSamplesMemory = 2 << 30

// loaded is a study made ready; its parts are made when first needed, once.
type loaded struct {
	once    sync.Once
	jobs    int         // that use it; guarded by Science.mu
	ready   atomic.Bool // what follows is set
	err     error
	study   *domains.Study
	shapes  []sweep.Shape // of its stimuli, in its order
	stimuli map[string]*stimulus

	mu      sync.Mutex
	scorers map[string]*scorer // by seed and bootstrap; guarded by mu
}

// stimulus lends a stimulus made ready to one job at a time; as many are made
// as jobs run on it at once.
type stimulus struct {
	mu   sync.Mutex
	free []*inference.Stimulus // guarded by mu
}

// take lends a stimulus that may keep a number of bytes of samples.
func (s *stimulus) take(study *domains.Study, id string, samples int64) (*inference.Stimulus, error) {
	s.mu.Lock()
	if n := len(s.free); n > 0 {
		ready := s.free[n-1]
		s.free = s.free[:n-1]
		s.mu.Unlock()
		return ready, nil
	}
	s.mu.Unlock()
	ready, err := study.Ready(id)
	if err != nil {
		return nil, err
	}
	ready.Remember(int(samples))
	return ready, nil
}

func (s *stimulus) giveBack(ready *inference.Stimulus) {
	s.mu.Lock()
	s.free = append(s.free, ready)
	s.mu.Unlock()
}

type scorer struct {
	once  sync.Once
	err   error
	ready *score.Scorer
}

// NewScience makes an executor that fetches studies from a coordinator.
func NewScience(studies foiblev1.StudyServiceClient) *Science {
	return &Science{studies: studies, loaded: map[string]*loaded{}}
}

// Relieve drops what no job uses and can be made again: other studies, and stimuli
// made ready, with their samples.
func (e *Science) Relieve() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for hash, l := range e.loaded {
		switch {
		case l.jobs == 0:
			delete(e.loaded, hash)
		case l.ready.Load():
			for _, s := range l.stimuli {
				s.mu.Lock()
				s.free = nil
				s.mu.Unlock()
			}
		}
	}
}

// Execute implements [Executor].
func (e *Science) Execute(ctx context.Context, job *foiblev1.Assign) (*foiblev1.JobResult, error) {
	l, err := e.load(ctx, job.GetStudyHash())
	for err != nil && ctx.Err() == nil && status.Code(err) == codes.Canceled { // by the job that began to fetch it
		l, err = e.load(ctx, job.GetStudyHash())
	}
	if err != nil {
		return nil, fmt.Errorf("study %s: %w", job.GetStudyHash(), err)
	}
	defer e.leave(l)
	switch work := job.GetWork().(type) {
	case *foiblev1.Assign_Infer:
		return e.infer(ctx, l, job, work.Infer)
	case *foiblev1.Assign_Score:
		return l.score(ctx, job, work.Score)
	}
	return nil, Computation(fmt.Errorf("job of an unknown kind %T", job.GetWork()))
}

// load fetches a study once. A failure to fetch is not kept: the next job tries again. It is one of the infrastructure,
// unless the study is there, undamaged, and cannot be read. Who has a study calls leave when done with it.
func (e *Science) load(ctx context.Context, hash string) (*loaded, error) {
	e.mu.Lock()
	l := e.loaded[hash]
	if l == nil {
		l = &loaded{scorers: map[string]*scorer{}}
		e.loaded[hash] = l
	}
	e.mu.Unlock()
	l.once.Do(func() {
		if l.study, l.stimuli, l.err = e.fetch(ctx, hash); l.err == nil {
			l.shapes = codec.Shapes(l.study.Shapes())
			l.ready.Store(true)
		}
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case l.err == nil:
		l.jobs++
	case e.loaded[hash] == l:
		delete(e.loaded, hash)
	}
	return l, l.err
}

// leave says that a job has no more use for a study.
func (e *Science) leave(l *loaded) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l.jobs--
}

func (e *Science) fetch(ctx context.Context, hash string) (*domains.Study, map[string]*stimulus, error) {
	stream, err := e.studies.GetStudy(ctx, &foiblev1.GetStudyRequest{StudyHash: hash})
	if err != nil {
		return nil, nil, Infrastructure(err)
	}
	var bundle bytes.Buffer
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, Infrastructure(err)
		}
		bundle.Write(m.GetChunk())
	}
	if sum := sha256.Sum256(bundle.Bytes()); hex.EncodeToString(sum[:]) != hash {
		return nil, nil, Infrastructure(fmt.Errorf("it is damaged: its content has the hash %x; submit it again", sum))
	}
	study, err := domains.Open(bundle.Bytes())
	if err != nil {
		return nil, nil, Computation(err)
	}
	if study.Hash != hash {
		return nil, nil, Computation(fmt.Errorf("packed here, its hash is %s", study.Hash))
	}
	stimuli := map[string]*stimulus{}
	for i := range study.Stimuli {
		stimuli[study.Stimuli[i].ID] = &stimulus{}
	}
	return study, stimuli, nil
}

// infer computes the cells of a job. One that cannot be computed is answered as such, and the others are computed.
func (e *Science) infer(ctx context.Context, l *loaded, job *foiblev1.Assign, work *foiblev1.InferJob) (*foiblev1.JobResult, error) {
	if l.stimuli[work.GetStimulus()] == nil {
		return nil, Computation(fmt.Errorf("the study has no stimulus %q", work.GetStimulus()))
	}
	procedure, sets, err := codec.ReadInferJob(work)
	if err != nil {
		return nil, Computation(err)
	}
	c := &computation{
		study: l.study, of: l.stimuli[work.GetStimulus()], stimulus: work.GetStimulus(), procedure: procedure, seed: job.GetSeed(),
		samples: cmp.Or(e.SamplesMemory, MaxSamplesMemory) / int64(len(l.study.Stimuli)),
	}
	cells := make([]result.Cell, 0, len(sets))
	if job.GetLastTry() {
		for i := range sets {
			one, err := c.single(ctx, &sets[i])
			if err != nil {
				return nil, err
			}
			cells = append(cells, one)
		}
	} else if cells, err = c.together(ctx, sets); err != nil {
		return nil, err
	}
	spec, _ := l.study.Stimulus(work.GetStimulus())
	hash := sweep.NewCellHash(l.study.Hash, work.GetStimulus(), job.GetSeed(), procedure)
	hashes := make([]byte, 0, len(sets)*hashing.HashSize)
	for i := range cells {
		if procedure.Detail == sweep.DetailJudged {
			cells[i].Judge(spec.JudgementSteps)
		}
		hashes = hash.Append(hashes, &sets[i])
	}
	return &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Infer{Infer: codec.InferResult(cells, hashes)}}, nil
}

// computation is what the cells of a job have in common.
type computation struct {
	study     *domains.Study
	of        *stimulus
	stimulus  string
	procedure sweep.Procedure
	seed      uint64
	samples   int64 // bytes that the stimulus may keep of them
}

// together computes the cells of parameter sets, one each; one that cannot be computed has failed. The error is that of
// ctx, or of a stimulus that cannot be made ready.
func (c *computation) together(ctx context.Context, sets []model.ParameterSet) ([]result.Cell, error) {
	ready, err := c.of.take(c.study, c.stimulus, c.samples)
	if err != nil {
		return nil, Computation(err)
	}
	cells := make([]result.Cell, 0, len(sets))
	for cell, err := range ready.InferAll(ctx, sets, c.procedure, c.seed) {
		if ctx.Err() != nil {
			break
		}
		if err != nil { // the stimulus is known where the cell is
			cell = result.FailedCell(strings.TrimPrefix(err.Error(), "stimulus "+c.stimulus+": "))
		}
		cells = append(cells, cell)
	}
	c.of.giveBack(ready) // not after a panic, which may have left it half made
	return cells, ctx.Err()
}

// single computes the cell of a parameter set; one that ends in a panic has failed.
func (c *computation) single(ctx context.Context, set *model.ParameterSet) (cell result.Cell, err error) {
	defer func() {
		if p := recover(); p != nil {
			cell, err = result.FailedCell(fmt.Sprintf("panic: %v", p)), nil
		}
	}()
	cells, err := c.together(ctx, []model.ParameterSet{*set})
	if err != nil {
		return result.Cell{}, err
	}
	return cells[0], nil
}

func (l *loaded) score(ctx context.Context, job *foiblev1.Assign, work *foiblev1.ScoreJob) (*foiblev1.JobResult, error) {
	bootstrap := codec.ReadBootstrap(work.GetBootstrap())
	key := fmt.Sprint(job.GetSeed(), bootstrap)
	l.mu.Lock()
	s := l.scorers[key]
	if s == nil {
		s = &scorer{}
		l.scorers[key] = s
	}
	l.mu.Unlock()
	s.once.Do(func() { s.ready, s.err = score.NewScorer(l.study.Study, bootstrap, job.GetSeed()) })
	if s.err != nil {
		return nil, Computation(s.err)
	}
	predictions, err := codec.ReadScored(work, l.shapes)
	if err != nil {
		return nil, Computation(err)
	}
	hash := sweep.NewScoreHash(l.study.Hash, job.GetSeed(), bootstrap)
	result := &foiblev1.ScoreResult{}
	for i, m := range work.GetScored() {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		set, err := codec.ReadParameterSet(m.GetParameterSet())
		if err != nil {
			return nil, err
		}
		fit, err := s.ready.Score(predictions[i])
		if err != nil {
			return nil, Computation(err)
		}
		answer := codec.Fit(&fit)
		answer.ParameterSet = codec.ParameterSet(&set)
		answer.ScoreHash = hash.Of(&set, predictions[i])
		result.Fits = append(result.Fits, answer)
	}
	return &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Score{Score: result}}, nil
}
