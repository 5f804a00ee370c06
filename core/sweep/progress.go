package sweep

// Progress is which jobs have a result: the fold of job numbers as they are
// recorded, in any order and with repeats. Not safe for concurrent use.
type Progress struct {
	plan    *Plan
	done    []uint64 // bit set over jobs
	missing []int32  // by chunk: infer jobs without a result
	scores  []int    // by round: score jobs without a result
	jobs    int

	// Cells of the fit stage with a result:
	cells   int
	models  []int
	stimuli []int
}

// NewProgress is the progress of a plan before any job is done.
func NewProgress(p *Plan) *Progress {
	g := &Progress{
		plan: p, done: make([]uint64, (p.Jobs()+63)/64), missing: make([]int32, p.chunks()), scores: make([]int, p.Rounds()),
		models: make([]int, len(p.models)), stimuli: make([]int, len(p.Stimuli)),
	}
	for i := range g.missing {
		g.missing[i] = int32(len(p.Stimuli))
	}
	for round := range g.scores {
		first, end := p.roundChunks(round)
		g.scores[round] = int(end - first)
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
	if !job.Score {
		g.count(&job)
		if g.missing[job.Chunk]--; g.missing[job.Chunk] == 0 {
			ready = []int{g.plan.ScoreJob(job.Chunk)}
		}
		return true, ready
	}
	if g.scores[job.Round]--; g.scores[job.Round] == 0 && job.Round+1 < len(g.scores) {
		ready = g.plan.RoundJobs(job.Round + 1)
	}
	return true, ready
}

// count adds an infer job to what is done of the fit stage.
func (g *Progress) count(job *Job) {
	if job.Round > 0 {
		return
	}
	g.cells += len(job.Sets)
	g.stimuli[job.Stimulus] += len(job.Sets)
	for i, m := range g.plan.models {
		g.models[i] += max(0, min(m.End, job.First+len(job.Sets))-max(m.First, job.First))
	}
}

// later calls each for every chunk after the fit stage, with the parameter sets that its cells count for and the number
// of its infer jobs with a result. The report has one parameter set a model, given by the index of the model's first
// set. A round whose parameter sets are not known has none.
func (g *Progress) later(each func(stage string, chunk Chunk, sets []int, inferred int)) {
	p := g.plan
	for chunk := p.fitChunks(); chunk < p.chunks(); chunk++ {
		stage, sets := TopUpStage, []int(nil)
		if p.RoundOf(chunk) <= p.TopUps() {
			sets = p.chosen(chunk)
		} else {
			stage = ReportStage
			for _, m := range p.reported(chunk) {
				sets = append(sets, m.First)
			}
		}
		each(stage, chunk, sets, len(p.Stimuli)-int(g.missing[chunk]))
	}
}

// Part is how far a part of a sweep is.
type Part struct {
	Name             string
	Cells, CellsDone int
	Jobs, JobsDone   int // 0 of a model or a stimulus
}

// Stages are the parts of the stages in the order of work, those that the plan has: fit, fit_scores, top_up,
// top_up_scores, report, report_scores. Cells of topping up are those of the rounds that are known.
func (g *Progress) Stages() []Part {
	p := g.plan
	parts := []Part{
		{"fit", len(p.Sets) * len(p.Stimuli), g.cells, p.FitJobs(), 0},
		{"fit_scores", 0, 0, int(p.fitChunks()), int(p.fitChunks()) - g.scores[0]},
	}
	for _, missing := range g.missing[:p.fitChunks()] {
		parts[0].JobsDone += len(p.Stimuli) - int(missing)
	}
	g.later(func(stage string, chunk Chunk, sets []int, inferred int) {
		if parts[len(parts)-2].Name != stage {
			parts = append(parts, Part{Name: stage}, Part{Name: stage + "_scores"})
		}
		infer, score := &parts[len(parts)-2], &parts[len(parts)-1]
		infer.Cells += len(sets) * len(p.Stimuli)
		infer.CellsDone += len(sets) * inferred
		infer.Jobs += len(p.Stimuli)
		infer.JobsDone += inferred
		score.Jobs++
		if g.Done(p.ScoreJob(chunk)) {
			score.JobsDone++
		}
	})
	return parts
}

// Models are the parts of the models, in the plan's order.
func (g *Progress) Models() []Part {
	p := g.plan
	parts := make([]Part, len(g.models))
	for i, m := range p.models {
		parts[i] = Part{Name: m.Name, Cells: (m.End - m.First) * len(p.Stimuli), CellsDone: g.models[i]}
	}
	g.later(func(_ string, _ Chunk, sets []int, inferred int) {
		for i, m := range p.models {
			for _, set := range sets {
				if m.First <= set && set < m.End {
					parts[i].Cells += len(p.Stimuli)
					parts[i].CellsDone += inferred
				}
			}
		}
	})
	return parts
}

// Stimuli are the parts of the stimuli, in the plan's order.
func (g *Progress) Stimuli() []Part {
	p := g.plan
	parts := make([]Part, len(g.stimuli))
	for i := range parts {
		parts[i] = Part{Name: p.Stimuli[i].Stimulus, Cells: p.Cells() / len(parts), CellsDone: g.stimuli[i]}
	}
	g.later(func(_ string, chunk Chunk, sets []int, _ int) {
		for i := range parts {
			if g.Done(p.InferJob(chunk, i)) {
				parts[i].CellsDone += len(sets)
			}
		}
	})
	return parts
}

// Waiting counts the jobs that can be done and have no result, those that are being done included.
func (g *Progress) Waiting() int {
	waiting := 0
	_, end := g.plan.roundChunks(g.Open())
	for i, missing := range g.missing {
		chunk := Chunk(i)
		switch {
		case missing > 0 && chunk < end:
			waiting += int(missing)
		case missing == 0 && !g.Done(g.plan.ScoreJob(chunk)):
			waiting++
		}
	}
	return waiting
}

// Done says whether a job has a result.
func (g *Progress) Done(number int) bool { return g.done[number/64]&(1<<(number%64)) != 0 }

// Open is the last round whose infer jobs can be done: every fit of those before is there.
func (g *Progress) Open() int {
	round := 0
	for round+1 < len(g.scores) && g.scores[round] == 0 {
		round++
	}
	return round
}

// Fitted says whether every fit is there that the report rests on.
func (g *Progress) Fitted() bool {
	for _, missing := range g.scores[:g.plan.TopUps()+1] {
		if missing > 0 {
			return false
		}
	}
	return true
}

// Scorable says whether all infer jobs of a chunk have a result.
func (g *Progress) Scorable(chunk Chunk) bool { return g.missing[chunk] == 0 }

// Ready lists the jobs, other than the FitJobs, that can be done and have no result.
func (g *Progress) Ready() []int {
	var ready []int
	for round := 1; round <= g.Open(); round++ {
		for _, job := range g.plan.RoundJobs(round) {
			if !g.Done(job) {
				ready = append(ready, job)
			}
		}
	}
	for chunk, missing := range g.missing {
		if job := g.plan.ScoreJob(Chunk(chunk)); missing == 0 && !g.Done(job) {
			ready = append(ready, job)
		}
	}
	return ready
}

// JobsDone counts jobs with a result.
func (g *Progress) JobsDone() int { return g.jobs }

// CellsDone counts cells whose job has a result, in the rounds that are known.
func (g *Progress) CellsDone() int {
	done := g.cells
	g.later(func(_ string, _ Chunk, sets []int, inferred int) { done += len(sets) * inferred })
	return done
}

// Complete says whether every job has a result.
func (g *Progress) Complete() bool { return g.jobs == g.plan.Jobs() }
