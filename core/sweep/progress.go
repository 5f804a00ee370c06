package sweep

// Progress is which jobs have a result: the fold of job numbers as they are
// recorded, in any order and with repeats. Not safe for concurrent use.
type Progress struct {
	plan    *Plan
	done    []uint64 // bit set over jobs
	missing []int32  // by chunk: infer jobs without a result
	scores  int      // score jobs of fit chunks without a result
	jobs    int
	cells   int
}

// NewProgress is the progress of a plan of which nothing is done.
func NewProgress(p *Plan) *Progress {
	g := &Progress{plan: p, done: make([]uint64, (p.Jobs()+63)/64), missing: make([]int32, p.Chunks()), scores: p.FitChunks()}
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
	g.cells += g.plan.cells(&job)
	switch {
	case !job.Score:
		if g.missing[job.Chunk]--; g.missing[job.Chunk] == 0 {
			ready = []int{g.plan.ScoreJob(job.Chunk)}
		}
	case job.Stage == FitStage:
		if g.scores--; g.scores == 0 {
			ready = g.plan.ReportJobs()
		}
	}
	return true, ready
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
