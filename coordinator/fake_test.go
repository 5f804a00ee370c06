package coordinator_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/optional"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Sizes of the stimuli that the tests make up.
const (
	goals   = 3
	actions = 4
)

// stimuli makes up n stimuli.
func stimuli(n int) []*foiblev1.StimulusShape {
	shapes := make([]*foiblev1.StimulusShape, n)
	for i := range shapes {
		shapes[i] = &foiblev1.StimulusShape{
			Stimulus: fmt.Sprintf("s%02d", i), Goals: goals, Actions: actions, JudgementSteps: []int32{2, actions},
		}
	}
	return shapes
}

// long makes up n stimuli so long that a job has no more than so many cells. Answers to them are short.
func long(n, cells int) []*foiblev1.StimulusShape {
	shapes := stimuli(n)
	for i, s := range shapes {
		s.Stimulus = fmt.Sprintf("long%02d", i)
		s.Actions = int32((512<<10/cells-256)/(8*goals) - 1)
	}
	return shapes
}

// answer is a right answer to a job, all numbers of which follow from the job alone.
func answer(job *foiblev1.Assign) *foiblev1.JobResult {
	if work := job.GetInfer(); work != nil {
		procedure, sets, err := codec.ReadInferJob(work)
		if err != nil {
			panic(err)
		}
		hasher := sweep.NewCellHash(job.GetStudyHash(), work.GetStimulus(), job.GetSeed(), procedure)
		kept := procedure
		kept.Detail = "" // the numbers do not depend on how many of them are kept
		numbers := sweep.NewCellHash(job.GetStudyHash(), work.GetStimulus(), job.GetSeed(), kept)
		var cells []result.Cell
		var hashes []byte
		for i := range sets {
			cell := predicted(numbers.Of(&sets[i]), &sets[i], procedure)
			if strings.HasPrefix(work.GetStimulus(), "long") { // its judgement steps come before that
				cell.Undefined = &result.Undefined{Step: actions + 1, Reason: "too long"}
				if cell.ESS != nil {
					cell.FailedRuns = procedure.Runs
				}
			}
			cells, hashes = append(cells, *cell), hasher.Append(hashes, &sets[i])
		}
		return &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Infer{Infer: codec.InferResult(cells, hashes)}}
	}
	work := job.GetScore()
	bootstrap := codec.ReadBootstrap(work.GetBootstrap())
	out := &foiblev1.ScoreResult{}
	n := len(work.GetJudged())
	if n == 0 {
		n = len(work.GetScored()[0].GetPredictions())
	}
	shapes := codec.Shapes(stimuliOf(job.GetSweepId(), n))
	all := must(codec.ReadScored(work, shapes))
	for i, scored := range work.GetScored() {
		set := must(codec.ReadParameterSet(scored.GetParameterSet()))
		predictions := all[i]
		hash := sweep.ScoreHash(job.GetStudyHash(), job.GetSeed(), bootstrap, &set, predictions)
		f := result.Fit{}
		for i := range predictions {
			of := result.Correlation{Group: shapes[i].Stimulus, N: len(predictions[i].Rows) * goals}
			if of.N > 0 {
				of.RMSE = 0.5
			}
			f.ByStimulus = append(f.ByStimulus, of)
			f.Overall.N += of.N
			if predictions[i].Undefined {
				f.Undefined++
			}
			if predictions[i].Failed {
				f.Failed++
			}
		}
		if f.Overall.N > 0 {
			f.Overall.RMSE = 0.5
		}
		f.ByCategory = []result.Correlation{f.Overall}
		f.Overall.PearsonR, f.Overall.Defined = unit(hash), set.Model != undefined && f.Overall.N > 0
		if runs := predictions[0].Runs.Len(); runs > 0 && f.Overall.Defined {
			f.MCSE = 0.2 / math.Sqrt(float64(runs))
		}
		fit := codec.Fit(&f)
		fit.ParameterSet, fit.ScoreHash = scored.GetParameterSet(), hash
		out.Fits = append(out.Fits, fit)
	}
	return &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Score{Score: out}}
}

// longSweeps are those with stimuli made up by long: their ids, by sweep.
var longSweeps sync.Map

// stimuliOf are the n stimuli of a sweep.
func stimuliOf(sweep string, n int) []*foiblev1.StimulusShape {
	all := stimuli(n)
	if names, ok := longSweeps.Load(sweep); ok {
		for i, name := range names.([]string) {
			all[i].Stimulus = name
		}
	}
	return all
}

// asked are the parameter sets of an infer job; none of another.
func asked(work *foiblev1.InferJob) []model.ParameterSet {
	_, sets, err := codec.ReadInferJob(work)
	return must(sets, err)
}

// undefined is the model of which no r is defined.
const undefined = "action-lesioned"

// predicted makes a cell out of a hash; of a model that is not exact, with runs.
func predicted(hash []byte, set *model.ParameterSet, p sweep.Procedure) *result.Cell {
	c := &result.Cell{Posterior: posterior(hash)}
	if p.Detail == sweep.DetailJudged {
		defer c.Judge([]int{2, actions})
	}
	if m, ok := model.ByName(set.Model); !ok || m.Exact {
		c.UnreachableFrom = []int{-1, -1, -1}
		return c
	}
	for k := range c.Posterior {
		c.SE, c.LogEvidence = append(c.SE, make([]float64, goals)), append(c.LogEvidence, make([]float64, goals))
		c.Evidence = append(c.Evidence, -float64(k))
		if p.Method == sweep.SIPS {
			c.ESS, c.Alive = append(c.ESS, float64(p.Runs)), append(c.Alive, goals)
		}
	}
	for i := range p.Runs {
		run := posterior(hash[i%8:])
		c.Runs.Add([][]float64{run[2], run[actions]})
	}
	if p.Method == sweep.SIPS {
		c.LogEvidence = nil
		return c
	}
	c.Samples = 64
	if p.Detail == sweep.DetailMistakes {
		some := make([]result.Estimate, actions)
		c.Mistakes = &result.Mistakes{Confused: some, Slip: some, OffPath: optional.Known(some)}
	}
	return c
}

// posterior makes a distribution at each step out of a hash.
func posterior(hash []byte) [][]float64 {
	rows := make([][]float64, actions+1)
	for k := range rows {
		p := unit(hash[k:]) / 2
		rows[k] = []float64{p, 0.5 - p, 0.5}
	}
	return rows
}

// unit is a number in [0, 1) out of a hash.
func unit(hash []byte) float64 {
	return float64(binary.LittleEndian.Uint64(hash)>>11) / (1 << 53)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// executor answers jobs rightly, after what it does first.
type executor func(ctx context.Context, job *foiblev1.Assign) error

// Execute implements worker.Executor.
func (do executor) Execute(ctx context.Context, job *foiblev1.Assign) (*foiblev1.JobResult, error) {
	if do != nil {
		if err := do(ctx, job); err != nil {
			return nil, err
		}
	}
	return answer(job), nil
}

// takes is what an executor does first: it takes a while.
func takes(d time.Duration) executor {
	return func(ctx context.Context, _ *foiblev1.Assign) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
