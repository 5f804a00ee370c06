package sweep

// Progress is which jobs have a result: the fold of job numbers as they are
// recorded, in any order and with repeats. Not safe for concurrent use.
type Progress struct {
	plan    *Plan
	done    []uint64 // bit set over jobs
	missing []int32  // by chunk: infer jobs without a result
	scores  int      // score jobs of fit chunks without a result
	whole   int      // chunks of which no infer job is missing
	jobs    int
	cells   int

	// Done, by part:
	stages   [stageParts]int // cells of infer jobs, jobs of scores
	inferred [2]int          // infer jobs of the fit stage and of the report
	models   []int           // cells
	stimuli  []int           // cells
}

// Parts of stages, in the order of work.
const (
	fitCells = iota
	fitScores
	reportCells
	reportScores
	stageParts
)

// NewProgress is the progress of a plan of which nothing is done.
func NewProgress(p *Plan) *Progress {
	g := &Progress{
		plan: p, done: make([]uint64, (p.Jobs()+63)/64), missing: make([]int32, p.Chunks()), scores: p.FitChunks(),
		models: make([]int, len(p.models)), stimuli: make([]int, len(p.Stimuli)),
	}
	for i := range g.missing {
		g.missing[i] = int32(len(p.Stimuli))
	}
	return g
}

// Add notes that a job has a result. It says whether that is news, and which
// jobs can be done now that could not be done before.
func (g *Progress) Add(number int) (fresh bool, ready []int) {
	if g.Done(number) {
		return false, nil
	}
	g.done[number/64] |= 1 << (number % 64)
	g.jobs++
	job := g.plan.Job(number)
	g.count(&job)
	switch {
	case !job.Score:
		if g.missing[job.Chunk]--; g.missing[job.Chunk] == 0 {
			g.whole++
			ready = []int{g.plan.ScoreJob(job.Chunk)}
		}
	case job.Stage == FitStage:
		if g.scores--; g.scores == 0 {
			ready = g.plan.ReportJobs()
		}
	}
	return true, ready
}

// count adds a job to what is done of each part.
func (g *Progress) count(job *Job) {
	cells := g.plan.cells(job)
	g.cells += cells
	part, stage := fitCells, 0
	if job.Stage == ReportStage {
		part, stage = reportCells, 1
	}
	if job.Score {
		g.stages[part+1]++
		return
	}
	g.stages[part] += cells
	g.inferred[stage]++
	g.stimuli[job.Stimulus] += cells
	for i, m := range g.plan.models {
		if job.Stage == ReportStage {
			g.models[i]++
		} else {
			g.models[i] += max(0, min(m.End, job.First+len(job.Sets))-max(m.First, job.First))
		}
	}
}

// Part is how far a part of a sweep is.
type Part struct {
	Name             string
	Cells, CellsDone int
	Jobs, JobsDone   int // 0 of a model or a stimulus
}

// Stages are the parts of the stages in the order of work, those that the plan has: fit, fit_scores, report,
// report_scores.
func (g *Progress) Stages() []Part {
	p := g.plan
	parts := []Part{
		{"fit", len(p.Sets) * len(p.Stimuli), g.stages[fitCells], p.FitJobs(), g.inferred[0]},
		{"fit_scores", 0, 0, p.FitChunks(), g.stages[fitScores]},
	}
	if p.Report {
		parts = append(parts,
			Part{"report", len(p.models) * len(p.Stimuli), g.stages[reportCells], len(p.Stimuli), g.inferred[1]},
			Part{"report_scores", 0, 0, 1, g.stages[reportScores]})
	}
	return parts
}

// Models are the parts of the models, in the plan's order.
func (g *Progress) Models() []Part {
	parts := make([]Part, len(g.models))
	for i, m := range g.plan.models {
		sets := m.End - m.First
		if g.plan.Report {
			sets++
		}
		parts[i] = Part{Name: m.Name, Cells: sets * len(g.stimuli), CellsDone: g.models[i]}
	}
	return parts
}

// Stimuli are the parts of the stimuli, in the plan's order.
func (g *Progress) Stimuli() []Part {
	parts := make([]Part, len(g.stimuli))
	for i := range parts {
		parts[i] = Part{Name: g.plan.Stimuli[i].Stimulus, Cells: g.plan.Cells() / len(parts), CellsDone: g.stimuli[i]}
	}
	return parts
}

// Waiting counts the jobs that can be done and have no result, those that are being done included.
func (g *Progress) Waiting() int {
	waiting := g.plan.FitJobs() - g.inferred[0] + g.whole - g.stages[fitScores] - g.stages[reportScores]
	if g.plan.Report && g.Fitted() {
		waiting += len(g.plan.Stimuli) - g.inferred[1]
	}
	return waiting
}

// Done says whether a job has a result.
func (g *Progress) Done(number int) bool { return g.done[number/64]&(1<<(number%64)) != 0 }

// Fitted says whether every fit is there, so that the report's parameters can be chosen.
func (g *Progress) Fitted() bool { return g.scores == 0 }

// Scorable says whether all infer jobs of a chunk have a result.
func (g *Progress) Scorable(chunk int) bool { return g.missing[chunk] == 0 }

// Ready lists the jobs, other than the FitJobs, that can be done and have no result.
func (g *Progress) Ready() []int {
	var ready []int
	if g.Fitted() {
		for _, job := range g.plan.ReportJobs() {
			if !g.Done(job) {
				ready = append(ready, job)
			}
		}
	}
	for chunk, missing := range g.missing {
		if job := g.plan.ScoreJob(chunk); missing == 0 && !g.Done(job) {
			ready = append(ready, job)
		}
	}
	return ready
}

// JobsDone counts jobs with a result.
func (g *Progress) JobsDone() int { return g.jobs }

// CellsDone counts cells whose job has a result.
func (g *Progress) CellsDone() int { return g.cells }

// Complete says whether every job has a result.
func (g *Progress) Complete() bool { return g.jobs == g.plan.Jobs() }
