package sweep

import (
	"fmt"
	"slices"
)

// Limits of a job, so that one is a few seconds of work and a few hundred kilobytes of result.
const (
	MaxCellsPerJob = 1024
	maxResultBytes = 1 << 20
)

// Shape is what a plan needs to know of a stimulus.
type Shape struct {
	Stimulus       string
	Goals          int
	Actions        int
	JudgementSteps []int // ascending, at most Actions
}

// bytes is about how large a cell's result is, with so many runs; judged as
// [DetailJudged].
func (s *Shape) bytes(runs int, judged bool) int {
	points := s.Goals * len(s.JudgementSteps)
	if judged {
		return 128 + (8+4*runs)*points
	}
	return 256 + 8*(2*s.Goals+3)*(s.Actions+1) + 8*runs*points
}

// Plan is the list of jobs of a sweep. It follows from its fields alone, and
// from the fits for the report stage, so that a job is known by its number.
//
// The parameter sets are cut into chunks of CellsPerJob. Where there is a report
// stage, each model's best parameter set is in one more chunk, the last. Infer
// job i is chunk i / len(Stimuli) on stimulus i % len(Stimuli). After the infer
// jobs come the score jobs, one a chunk. A score job can be done when its
// chunk's infer jobs are; the report's infer jobs when all other score jobs are.
type Plan struct {
	Sets        []ParameterSet
	Stimuli     []Shape
	CellsPerJob int
	Report      bool

	models []ModelSets
	chosen []int // indexes into Sets; see Choose
}

// ModelSets are the parameter sets of a model: Sets[First:End] of a plan.
type ModelSets struct {
	Name       string
	First, End int
}

// Models are the models of the plan, in the order of their parameter sets.
func (p *Plan) Models() []ModelSets { return p.models }

// CellsPerJob chooses a job's size: large enough to be worth sending, small
// enough to keep `parallel` slots busy to the end and to bound the result.
func CellsPerJob(sets int, stimuli []Shape, runs, parallel int) int {
	bytes := 1
	for i := range stimuli {
		bytes = max(bytes, stimuli[i].bytes(runs, sets*len(stimuli) > MaxDetailedCells))
	}
	spread := (sets*len(stimuli) + 4*parallel - 1) / (4 * parallel) // four jobs a slot at least
	return max(1, min(MaxCellsPerJob, maxResultBytes/bytes, spread, sets))
}

// NewPlan checks and makes a plan.
func NewPlan(sets []ParameterSet, stimuli []Shape, cellsPerJob int, report bool) (*Plan, error) {
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
	p := &Plan{Sets: sets, Stimuli: stimuli, CellsPerJob: cellsPerJob, Report: report}
	for i := range sets {
		if i == 0 || sets[i].Model != sets[i-1].Model {
			p.models = append(p.models, ModelSets{Name: sets[i].Model, First: i})
		}
		p.models[len(p.models)-1].End = i + 1
	}
	if int64(p.Chunks())*int64(len(stimuli)+1) > 1<<30 {
		return nil, fmt.Errorf("%d chunks of %d stimuli are too many jobs", p.Chunks(), len(stimuli))
	}
	return p, nil
}

// FitChunks is the number of chunks without the report's.
func (p *Plan) FitChunks() int { return (len(p.Sets) + p.CellsPerJob - 1) / p.CellsPerJob }

// Chunks is the number of chunks.
func (p *Plan) Chunks() int {
	if p.Report {
		return p.FitChunks() + 1
	}
	return p.FitChunks()
}

// FitJobs is the number of infer jobs without the report's: those that can be
// done from the start. They have the numbers from 0 on.
func (p *Plan) FitJobs() int { return p.FitChunks() * len(p.Stimuli) }

// InferJobs is the number of infer jobs; they have the numbers from 0 on.
func (p *Plan) InferJobs() int { return p.Chunks() * len(p.Stimuli) }

// Jobs is the number of all jobs.
func (p *Plan) Jobs() int { return p.InferJobs() + p.Chunks() }

// Cells is the number of cells, one a model and stimulus in the report.
func (p *Plan) Cells() int {
	cells := len(p.Sets) * len(p.Stimuli)
	if p.Report {
		cells += len(p.models) * len(p.Stimuli)
	}
	return cells
}

// Choose fills the report's chunk: of each model the parameter set of the
// highest r, the first of equals. A model of which no r is defined has none.
// fit gives the fit of Sets[i], or nil.
func (p *Plan) Choose(fit func(i int) *Fit) {
	p.chosen = []int{}
	for i := range p.Sets {
		f := fit(i)
		if f == nil || !f.Overall.Defined {
			continue
		}
		last := len(p.chosen) - 1
		switch {
		case last < 0 || p.Sets[p.chosen[last]].Model != p.Sets[i].Model:
			p.chosen = append(p.chosen, i)
		case f.Overall.PearsonR > fit(p.chosen[last]).Overall.PearsonR:
			p.chosen[last] = i
		}
	}
}

// Chosen are the indexes of the report's parameter sets; nil before Choose.
func (p *Plan) Chosen() []int { return p.chosen }

// Job is what a number stands for.
type Job struct {
	Number   int
	Stage    string // fit or report
	Score    bool
	Chunk    int
	Stimulus int            // index; 0 for a score job
	Sets     []ParameterSet // of a report job after Choose alone
	First    int            // index of Sets[0] in the plan; 0 in a report job

	chosen []int
}

// Index is the place of Sets[i] in the plan.
func (j *Job) Index(i int) int {
	if j.Stage == ReportStage {
		return j.chosen[i]
	}
	return j.First + i
}

// cells is the number of cells that an infer job counts for.
func (p *Plan) cells(j *Job) int {
	switch {
	case j.Score:
		return 0
	case j.Stage == ReportStage:
		return len(p.models)
	}
	return len(j.Sets)
}

// Job finds a job by its number, which must be below Jobs.
func (p *Plan) Job(number int) Job {
	if number < 0 || number >= p.Jobs() {
		panic(fmt.Sprintf("sweep: no job %d of %d", number, p.Jobs()))
	}
	j := Job{Number: number, Stage: FitStage}
	if infer := p.InferJobs(); number < infer {
		j.Chunk, j.Stimulus = number/len(p.Stimuli), number%len(p.Stimuli)
	} else {
		j.Chunk, j.Score = number-infer, true
	}
	if j.Chunk == p.FitChunks() {
		j.Stage = ReportStage
		for _, i := range p.chosen {
			j.Sets = append(j.Sets, p.Sets[i])
		}
		j.chosen = p.chosen
		return j
	}
	j.First = j.Chunk * p.CellsPerJob
	j.Sets = p.Sets[j.First:min(j.First+p.CellsPerJob, len(p.Sets))]
	return j
}

// ScoreJob is the number of a chunk's score job.
func (p *Plan) ScoreJob(chunk int) int { return p.InferJobs() + chunk }

// ReportJobs are the numbers of the report's infer jobs.
func (p *Plan) ReportJobs() []int {
	var jobs []int
	for job := p.FitJobs(); job < p.InferJobs(); job++ {
		jobs = append(jobs, job)
	}
	return jobs
}
