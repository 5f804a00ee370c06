package sweep

// Progress is which jobs have a result: the fold of job numbers as they are
// recorded, in any order and with repeats. Not safe for concurrent use.
type Progress struct {
	plan    *Plan
	done    []uint64 // bit set over jobs
	missing []int32  // by chunk: infer jobs without a result
	jobs    int
	cells   int
}

// NewProgress is the progress of a plan of which nothing is done.
func NewProgress(p *Plan) *Progress {
	g := &Progress{plan: p, done: make([]uint64, (p.Jobs()+63)/64), missing: make([]int32, p.Chunks())}
	for i := range g.missing {
		g.missing[i] = int32(len(p.Stimuli))
	}
	return g
}

// Add notes that a job has a result. It says whether that is news, and, if the
// job was the last one that its chunk waited for, which score job can be done now.
func (g *Progress) Add(number int) (fresh bool, ready int, scorable bool) {
	job := g.plan.Job(number)
	if g.Done(number) {
		return false, 0, false
	}
	g.done[number/64] |= 1 << (number % 64)
	g.jobs++
	if job.Score {
		return true, 0, false
	}
	g.cells += len(job.Sets)
	g.missing[job.Chunk]--
	return true, g.plan.ScoreJob(job.Chunk), g.missing[job.Chunk] == 0
}

// Done says whether a job has a result.
func (g *Progress) Done(number int) bool { return g.done[number/64]&(1<<(number%64)) != 0 }

// Scorable says whether all infer jobs of a chunk have a result.
func (g *Progress) Scorable(chunk int) bool { return g.missing[chunk] == 0 }

// JobsDone counts jobs with a result.
func (g *Progress) JobsDone() int { return g.jobs }

// CellsDone counts cells whose job has a result.
func (g *Progress) CellsDone() int { return g.cells }

// Complete says whether every job has a result.
func (g *Progress) Complete() bool { return g.jobs == g.plan.Jobs() }
