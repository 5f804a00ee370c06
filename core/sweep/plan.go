package sweep

import (
	"fmt"
	"slices"
)

// Limits of a job, so that one is a few seconds of work and a few hundred kilobytes of result.
const (
	MaxCellsPerJob = 256
	maxResultBytes = 512 << 10
)

// Shape is what a plan needs to know of a stimulus.
type Shape struct {
	Stimulus       string
	Goals          int
	Actions        int
	JudgementSteps []int // ascending, at most Actions
}

// Plan is the list of jobs of a sweep. It follows from its fields alone, so
// that a job is known by its number.
//
// The parameter sets are cut into chunks of CellsPerJob. Infer job i is chunk
// i / len(Stimuli) on stimulus i % len(Stimuli). Then follows one score job a
// chunk, which can be done when the chunk's infer jobs are.
type Plan struct {
	Sets        []ParameterSet
	Stimuli     []Shape
	CellsPerJob int
}

// CellsPerJob chooses a job's size: large enough to be worth sending, small
// enough to keep `parallel` slots busy to the end and to bound the result.
func CellsPerJob(sets int, stimuli []Shape, parallel int) int {
	bytes := 1
	for _, s := range stimuli {
		bytes = max(bytes, 8*(s.Actions+1)*s.Goals+256)
	}
	spread := (sets*len(stimuli) + 4*parallel - 1) / (4 * parallel) // four jobs a slot at least
	return max(1, min(MaxCellsPerJob, maxResultBytes/bytes, spread, sets))
}

// NewPlan checks and makes a plan.
func NewPlan(sets []ParameterSet, stimuli []Shape, cellsPerJob int) (*Plan, error) {
	if len(sets) == 0 || len(stimuli) == 0 {
		return nil, fmt.Errorf("a sweep needs parameter sets and stimuli")
	}
	if cellsPerJob < 1 || cellsPerJob > MaxCellsPerJob {
		return nil, fmt.Errorf("%d cells a job; it must be 1 to %d", cellsPerJob, MaxCellsPerJob)
	}
	seen := map[string]bool{}
	for _, s := range stimuli {
		if seen[s.Stimulus] {
			return nil, fmt.Errorf("stimulus %q is there twice", s.Stimulus)
		}
		seen[s.Stimulus] = true
		if s.Goals < 1 || s.Actions < 0 || !slices.IsSorted(s.JudgementSteps) ||
			len(s.JudgementSteps) > 0 && (s.JudgementSteps[0] < 0 || s.JudgementSteps[len(s.JudgementSteps)-1] > s.Actions) {
			return nil, fmt.Errorf("stimulus %q: judgement steps %v do not fit %d actions and %d goals", s.Stimulus, s.JudgementSteps, s.Actions, s.Goals)
		}
	}
	p := &Plan{Sets: sets, Stimuli: stimuli, CellsPerJob: cellsPerJob}
	if int64(p.Chunks())*int64(len(stimuli)+1) > 1<<30 {
		return nil, fmt.Errorf("%d chunks of %d stimuli are too many jobs", p.Chunks(), len(stimuli))
	}
	return p, nil
}

// Chunks is the number of chunks of parameter sets.
func (p *Plan) Chunks() int { return (len(p.Sets) + p.CellsPerJob - 1) / p.CellsPerJob }

// InferJobs is the number of infer jobs; they have the numbers from 0 on.
func (p *Plan) InferJobs() int { return p.Chunks() * len(p.Stimuli) }

// Jobs is the number of all jobs.
func (p *Plan) Jobs() int { return p.InferJobs() + p.Chunks() }

// Cells is the number of cells.
func (p *Plan) Cells() int { return len(p.Sets) * len(p.Stimuli) }

// Job is what a number stands for.
type Job struct {
	Number   int
	Score    bool
	Chunk    int
	Stimulus int            // index; 0 for a score job
	Sets     []ParameterSet // shared with the plan
	First    int            // index of Sets[0] in the plan
}

// Job finds a job by its number, which must be below Jobs.
func (p *Plan) Job(number int) Job {
	if number < 0 || number >= p.Jobs() {
		panic(fmt.Sprintf("sweep: no job %d of %d", number, p.Jobs()))
	}
	j := Job{Number: number}
	if infer := p.InferJobs(); number < infer {
		j.Chunk, j.Stimulus = number/len(p.Stimuli), number%len(p.Stimuli)
	} else {
		j.Chunk, j.Score = number-infer, true
	}
	j.First = j.Chunk * p.CellsPerJob
	j.Sets = p.Sets[j.First:min(j.First+p.CellsPerJob, len(p.Sets))]
	return j
}

// ScoreJob is the number of a chunk's score job.
func (p *Plan) ScoreJob(chunk int) int { return p.InferJobs() + chunk }
