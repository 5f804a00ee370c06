package sweep

// Coverage is how many cells of one model have a result.
type Coverage struct {
	Model string // "" of the report, which has every model's best parameter set
	Sets  int    // parameter sets; each has one cell per stimulus
	Done  []int  // cells with a result, by stimulus
}

// Coverage counts the cells of the fit stage with a result by model, in the plan's
// order, and then those of the report, if there is one.
func (g *Progress) Coverage() []Coverage {
	p := g.plan
	var all []Coverage
	for _, m := range p.models {
		all = append(all, g.coverage(m.Name, m.First, m.End))
	}
	if p.Report {
		report := Coverage{Sets: len(p.models), Done: make([]int, len(p.Stimuli))}
		for chunk := range p.RoundChunks(p.TopUps() + 1) {
			for s := range report.Done {
				if g.Done(p.InferJob(chunk, s)) {
					report.Done[s] += len(p.reported(chunk))
				}
			}
		}
		all = append(all, report)
	}
	return all
}

// coverage is that of the parameter sets from first up to end.
func (g *Progress) coverage(model string, first, end int) Coverage {
	p := g.plan
	c := Coverage{Model: model, Sets: end - first, Done: make([]int, len(p.Stimuli))}
	for from := first; from < end; {
		chunk := Chunk(from / p.CellsPerJob)
		to := min(end, (int(chunk)+1)*p.CellsPerJob)
		for s := range c.Done {
			if g.Done(p.InferJob(chunk, s)) {
				c.Done[s] += to - from
			}
		}
		from = to
	}
	return c
}
