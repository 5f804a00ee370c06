package sweep

import (
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	"foible.dev/foible/core/hashing"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/words"
)

// Limits of a job, so that one is a few seconds of work and a few hundred kilobytes of result.
const (
	MaxCellsPerJob = 1024
	maxResultBytes = 1 << 20
	maxScoreBytes  = 32 << 20 // of a score job, which has the results of all stimuli
)

// Shape is what a plan needs to know of a stimulus.
type Shape struct {
	Stimulus       string
	Goals          int
	Actions        int
	JudgementSteps []int // ascending, at most Actions
	Points         int   // (judgement step, goal) that people judged; 0 where it is not known
}

// bytes is about how large a cell's result is, with this number of runs; judged as
// [DetailJudged].
func (s *Shape) bytes(runs int, judged bool) int {
	points := s.Goals * len(s.JudgementSteps)
	if judged {
		return 128 + (8+4*runs)*points
	}
	return 256 + 8*(2*s.Goals+3)*(s.Actions+1) + 8*runs*points
}

// Plan is the list of jobs of a sweep. It follows from its fields, and
// from the fits for what comes after the fit stage, so that a job is known by its number.
//
// The work is done in rounds. Round 0 is the fit stage: the parameter sets are cut
// into chunks of CellsPerJob. Rounds 1 to TopUps() run contenders again, each in the
// same number of chunks, which are empty where there are none. Where there is a report
// stage it is the last round, each model's best parameter set, in one chunk unless that
// would be too large. Infer
// job i is chunk i / len(Stimuli) on stimulus i % len(Stimuli). After the infer
// jobs come the score jobs, one a chunk. A score job can be done when its
// chunk's infer jobs are; a round's infer jobs when all score jobs of those before are.
type Plan struct {
	Sets        []model.ParameterSet
	Stimuli     []Shape
	CellsPerJob int
	Report      bool

	models []ModelSets
	report int // chunks of the report
	topUp  topUp
	later  [][]int // of each round after the first that is known, indexes into Sets; see Choose
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
	most := mostCells(stimuli, runs, sets*len(stimuli) > MaxDetailedCells)
	spread := (sets*len(stimuli) + 4*parallel - 1) / (4 * parallel) // four jobs a slot at least
	return max(1, min(most, spread, sets))
}

// mostCells are as many a job as the limits allow.
func mostCells(stimuli []Shape, runs int, judged bool) int {
	largest, all := 1, 1
	for i := range stimuli {
		bytes := stimuli[i].bytes(runs, judged)
		largest, all = max(largest, bytes), all+bytes
	}
	return max(1, min(MaxCellsPerJob, maxResultBytes/largest, maxScoreBytes/all))
}

// NewPlan checks and makes a plan without topping up; see [Resolved.Plan].
func NewPlan(sets []model.ParameterSet, stimuli []Shape, cellsPerJob int, report bool) (*Plan, error) {
	return newPlan(sets, stimuli, cellsPerJob, report, nil)
}

// Plan checks and makes the plan of a sweep on these stimuli.
func (c *Resolved) Plan(stimuli []Shape, cellsPerJob int) (*Plan, error) {
	return newPlan(c.Sets, stimuli, cellsPerJob, c.Report.Runs > 0, &c.Config)
}

// MinSlots is the smallest number of worker slots for which a sweep is split into jobs.
const MinSlots = 8

// CellsPerJob is how many cells a job of the sweep has if this number of slots run them, see [CellsPerJob].
func (c *Resolved) CellsPerJob(stimuli []Shape, slots int) int {
	return CellsPerJob(len(c.Sets), stimuli, c.Fit.Runs, max(slots, MinSlots))
}

// newPlan is one without topping up where there is no configuration.
func newPlan(sets []model.ParameterSet, stimuli []Shape, cellsPerJob int, report bool, c *Config) (*Plan, error) {
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
	p.report = 1
	if c != nil {
		p.topUp = p.newTopUp(c)
		if report {
			procedure := p.Procedure(c, ReportStage)
			each := min(len(p.models), max(1, together(stimuli, &procedure)))
			p.report = (len(p.models) + each - 1) / each
		}
	}
	if int64(p.chunks())*int64(len(stimuli)+1) > 1<<30 {
		return nil, fmt.Errorf("%s of %s are too many jobs", words.Count(int(p.chunks()), "chunk"), words.Count(len(stimuli), "stimulus"))
	}
	return p, nil
}

// Chunk is a part of a round's parameter sets: those of one job on each stimulus, and of the score job that follows. Its
// number says nothing but by its plan.
type Chunk int

// fitChunks is the number of chunks of the fit stage.
func (p *Plan) fitChunks() Chunk {
	return Chunk((len(p.Sets) + p.CellsPerJob - 1) / p.CellsPerJob)
}

// chunks is the number of chunks.
func (p *Plan) chunks() Chunk {
	_, end := p.roundChunks(p.Rounds() - 1)
	return end
}

// Chunks are those of all rounds, in order.
func (p *Plan) Chunks() iter.Seq[Chunk] { return between(0, p.chunks()) }

// RoundChunks are the chunks of a round, in order; none of a round that is not in the plan.
func (p *Plan) RoundChunks(round int) iter.Seq[Chunk] {
	if round >= p.Rounds() {
		return between(0, 0)
	}
	return between(p.roundChunks(round))
}

func between(first, end Chunk) iter.Seq[Chunk] {
	return func(yield func(Chunk) bool) {
		for c := first; c < end && yield(c); c++ {
		}
	}
}

// Rounds is the number of rounds: the fit stage, those of topping up, and the report.
func (p *Plan) Rounds() int {
	if p.Report {
		return p.TopUps() + 2
	}
	return p.TopUps() + 1
}

// roundChunks are the chunks of a round, up to end.
func (p *Plan) roundChunks(round int) (first, end Chunk) {
	first = p.fitChunks()
	each := Chunk(p.topUp.chunks)
	switch {
	case round == 0:
		return 0, first
	case round <= p.TopUps():
		first += Chunk(round-1) * each
		return first, first + each
	}
	first += Chunk(p.TopUps()) * each
	return first, first + Chunk(p.report)
}

// stageOf is the stage of a round.
func (p *Plan) stageOf(round int) string {
	switch {
	case round == 0:
		return FitStage
	case round > p.TopUps():
		return ReportStage
	}
	return TopUpStage
}

// reported are the models that a chunk of the report counts for.
func (p *Plan) reported(chunk Chunk) []ModelSets {
	first, _ := p.roundChunks(p.TopUps() + 1)
	at := int(chunk - first)
	return p.models[at*len(p.models)/p.report : (at+1)*len(p.models)/p.report]
}

// RoundOf is the round of a chunk.
func (p *Plan) RoundOf(chunk Chunk) int {
	switch at := int(chunk - p.fitChunks()); {
	case at < 0:
		return 0
	case at >= p.TopUps()*p.topUp.chunks:
		return p.TopUps() + 1
	default:
		return 1 + at/p.topUp.chunks
	}
}

// FitJobs is the number of infer jobs of the fit stage: those that can be
// done from the start. They have the numbers from 0 on.
func (p *Plan) FitJobs() int { return int(p.fitChunks()) * len(p.Stimuli) }

// InferJobs is the number of infer jobs; they have the numbers from 0 on.
func (p *Plan) InferJobs() int { return int(p.chunks()) * len(p.Stimuli) }

// Jobs is the number of all jobs.
func (p *Plan) Jobs() int { return p.InferJobs() + int(p.chunks()) }

// Cells is the number of cells: those of the fit stage, one a model and stimulus in
// the report, and those of contenders in the rounds that are known.
func (p *Plan) Cells() int {
	cells := p.planned()
	for round := 1; round <= p.TopUps() && p.Known(round); round++ {
		cells += len(p.later[round-1]) * len(p.Stimuli)
	}
	return cells
}

// planned is the number of cells but those of topping up.
func (p *Plan) planned() int {
	cells := len(p.Sets) * len(p.Stimuli)
	if p.Report {
		cells += len(p.models) * len(p.Stimuli)
	}
	return cells
}

// Detailed says whether the sweep is small enough for every step of every cell to be kept.
func (p *Plan) Detailed() bool { return p.planned() <= MaxDetailedCells }

// Known says whether the parameter sets of a round are known.
func (p *Plan) Known(round int) bool { return round <= len(p.later) }

// KnownRounds is the number of rounds whose parameter sets are known.
func (p *Plan) KnownRounds() int { return len(p.later) + 1 }

// Points is the number of points that people judged, 0 where it is not known.
func (p *Plan) Points() int {
	n := 0
	for i := range p.Stimuli {
		n += p.Stimuli[i].Points
	}
	return n
}

// Choose finds the parameter sets of the next round that is not known, from the standing
// after all rounds before: contenders, or those of the report, which has the best of each
// model. A model without a defined r has none.
func (p *Plan) Choose(s *Standing) {
	round := len(p.later) + 1
	if round >= p.Rounds() {
		return
	}
	next := []int{}
	for _, m := range p.models {
		if round <= p.TopUps() {
			next = append(next, p.contenders(&m, round, s)...)
		} else if best, ok := s.Best(m.Name); ok {
			next = append(next, best)
		}
	}
	p.later = append(p.later, next)
}

// of are a model's parameter sets in a known round, ascending.
func (p *Plan) of(m *ModelSets, round int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if round == 0 {
			for i := m.First; i < m.End && yield(i); i++ {
			}
			return
		}
		for _, i := range p.later[round-1] {
			if m.First <= i && i < m.End && !yield(i) {
				return
			}
		}
	}
}

// Chosen are the indexes of the report's parameter sets; nil until they are known.
func (p *Plan) Chosen() []int {
	if round := p.TopUps() + 1; p.Report && p.Known(round) {
		return p.later[round-1]
	}
	return nil
}

// Job is what a number stands for.
type Job struct {
	Number   int
	Stage    string // fit, top_up or report
	Round    int    // see Plan
	Score    bool
	Chunk    Chunk
	Stimulus int                  // index; 0 for a score job
	Sets     []model.ParameterSet // none as long as those of its round are not known
	First    int                  // index of Sets[0] in the plan; 0 after the fit stage

	chosen []int
}

// Index is the place of Sets[i] in the plan.
func (j *Job) Index(i int) int {
	if j.Round > 0 {
		return j.chosen[i]
	}
	return j.First + i
}

// Job finds a job by its number, which must be below Jobs.
func (p *Plan) Job(number int) Job {
	if number < 0 || number >= p.Jobs() {
		panic(fmt.Sprintf("sweep: no job %d of %d", number, p.Jobs()))
	}
	j := Job{Number: number, Stage: FitStage}
	if infer := p.InferJobs(); number < infer {
		j.Chunk, j.Stimulus = Chunk(number/len(p.Stimuli)), number%len(p.Stimuli)
	} else {
		j.Chunk, j.Score = Chunk(number-infer), true
	}
	if j.Round = p.RoundOf(j.Chunk); j.Round == 0 {
		j.First = int(j.Chunk) * p.CellsPerJob
		j.Sets = p.Sets[j.First:min(j.First+p.CellsPerJob, len(p.Sets))]
		return j
	}
	j.Stage = p.stageOf(j.Round)
	j.chosen = p.chosen(j.Chunk)
	for _, i := range j.chosen {
		j.Sets = append(j.Sets, p.Sets[i])
	}
	return j
}

// chosen are the indexes of the parameter sets of a chunk after the fit stage; none as long
// as they are not known. Those of a round are shared evenly.
func (p *Plan) chosen(chunk Chunk) []int {
	round := p.RoundOf(chunk)
	if !p.Known(round) {
		return nil
	}
	first, end := p.roundChunks(round)
	all, at, chunks := p.later[round-1], int(chunk-first), int(end-first)
	return all[at*len(all)/chunks : (at+1)*len(all)/chunks]
}

// ComputedTwice says whether an infer job is among a share of them, from 0 to 1, that are to be computed twice. It follows
// from the seed and the job's first cell. If the share is above 0, one job of the fit stage is at least. All cells of a job are chosen
// together, since computing one of them that share samples takes about as long as computing them all.
func (p *Plan) ComputedTwice(j *Job, seed uint64, share float64) bool {
	if !(share > 0) || j.Score || len(j.Sets) == 0 {
		return false
	}
	if binary.LittleEndian.Uint64(hashing.Hash([]byte("computed twice"), hashing.Word(seed)))%uint64(p.FitJobs()) == uint64(j.Number) {
		return true
	}
	h := hashing.Hash([]byte("computed twice"), hashing.Word(seed), []byte(j.Stage), hashing.Word(uint64(j.Round)), []byte(p.Stimuli[j.Stimulus].Stimulus), []byte(j.Sets[0].String()))
	return float64(binary.LittleEndian.Uint64(h)>>11)/(1<<53) < share
}

// InferJob is the number of a chunk's job on a stimulus.
func (p *Plan) InferJob(chunk Chunk, stimulus int) int {
	return int(chunk)*len(p.Stimuli) + stimulus
}

// ScoreJob is the number of a chunk's score job.
func (p *Plan) ScoreJob(chunk Chunk) int { return p.InferJobs() + int(chunk) }

// FitCell is where a cell of the fit stage is computed: the number of its job, and its place there.
func (p *Plan) FitCell(set, stimulus int) (job, place int) {
	return p.InferJob(Chunk(set/p.CellsPerJob), stimulus), set % p.CellsPerJob
}

// RoundJobs are the numbers of a round's infer jobs.
func (p *Plan) RoundJobs(round int) []int {
	var jobs []int
	for chunk := range p.RoundChunks(round) {
		for stimulus := range p.Stimuli {
			jobs = append(jobs, p.InferJob(chunk, stimulus))
		}
	}
	return jobs
}

// ReportJobs are the numbers of the report's infer jobs.
func (p *Plan) ReportJobs() []int {
	if !p.Report {
		return nil
	}
	return p.RoundJobs(p.TopUps() + 1)
}

// Predict takes the judgement steps out of a cell.
func (s *Shape) Predict(c *result.Cell) result.Prediction {
	p := result.Prediction{Rows: c.Posterior, Undefined: c.Undefined != nil, Failed: c.Failed(), Runs: c.Runs}
	if !c.Judged {
		p.Rows = result.AtSteps(c.Posterior, s.JudgementSteps)
	}
	return p
}

// Errors are the Monte-Carlo standard errors of what a cell predicts, [judgement
// step][goal]; none of an exact model.
func (s *Shape) Errors(c *result.Cell) [][]float64 {
	if c.Judged {
		return c.SE
	}
	return result.AtSteps(c.SE, s.JudgementSteps)
}

// Predictions are what the cells of a parameter set predict; not ok where one is missing.
func (p *Plan) Predictions(g *Gathered) (predictions []result.Prediction, ok bool) {
	predictions = make([]result.Prediction, len(g.Cells))
	for i, cell := range g.Cells {
		if cell == nil {
			return nil, false
		}
		predictions[i] = p.Stimuli[i].Predict(cell)
	}
	return predictions, true
}
