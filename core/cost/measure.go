package cost

import (
	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

// measured is what a stimulus takes, as work.
type measured struct {
	ready       *inference.Stimulus
	made        float64   // for it
	cells       float64   // of the first cells: those of the first group, or where cells share work the first of all
	began       float64   // what the pilot did for these
	until       []float64 // what it and the groups measured so far take, by group
	partly      bool      // the pilot was over before all groups were measured
	done        bool      // in full
	fit, tables float64   // of all groups, and what of them is shared
	report      float64   // of the report stage, all models
	models      []float64 // of a cell of the fit stage, by model; of models that share no samples
}

// first is what the first cells take, with what every stimulus has to pay; 0 if nothing is measured.
func (m *measured) first() float64 { return m.made + m.cells }

// work that has been done on a stimulus.
func (m *measured) work() float64 {
	if m.ready == nil {
		return 0
	}
	work, _ := m.ready.Work()
	return work
}

// kept is what of the work on a stimulus is done once.
func (m *measured) kept() float64 {
	if m.ready == nil {
		return 0
	}
	_, kept := m.ready.Work()
	return kept
}

// timed is what some task takes, in seconds.
func (r *run) timed(task func() error) (float64, error) {
	began := r.CPU()
	err := task()
	return r.CPU() - began, err
}

// counted is the work of some task on a stimulus.
func (r *run) counted(m *measured, task func() error) (float64, error) {
	before := m.work()
	seconds, err := r.timed(task)
	if err != nil {
		return 0, err
	}
	work := m.work() - before
	r.work += work
	r.seconds += seconds
	return work, nil
}

// sampled says whether the cells of a group share work.
func (r *run) sampled(g *group) bool { return g.exact || r.Config.Inference.Method != sweep.SIPS }

// first measures the first cells of a stimulus.
func (r *run) first(stimulus int) error {
	m := &r.of[stimulus]
	m.models = make([]float64, len(r.Plan.Models()))
	before := r.work
	var err error
	m.made, err = r.counted(m, func() (err error) {
		m.ready, err = r.Ready(r.Plan.Stimuli[stimulus].Stimulus)
		return err
	})
	if err != nil {
		return err
	}
	if g := r.groups[0]; r.sampled(g) {
		p := r.Plan.Procedure(r.Config, sweep.FitStage)
		m.cells, err = r.counted(m, func() error { return r.infer(m.ready, g.sizes[0][0], stimulus, &p, !g.exact) })
	} else {
		m.cells, err = r.alike(m, stimulus, g)
	}
	m.cells = max(1e-9, m.cells)
	m.began = max(1e-9, r.work-before)
	return err
}

// full measures every kind of cells of a stimulus; first has measured the first ones.
func (r *run) full(stimulus int) error {
	m := &r.of[stimulus]
	m.fit, m.tables = m.made, m.tables+m.made
	met, all := 0, len(r.Plan.Sets)
	for k, g := range r.groups {
		if k > 0 && r.over() {
			if r.one { // another stimulus is measured in full
				m.partly = true
				return nil
			}
			r.skipped = true
			m.fit *= float64(all) / float64(met)
			break
		}
		met += g.count()
		work, err := m.cells, error(nil)
		switch {
		case r.sampled(g):
			work, err = r.shared(m, stimulus, g, k == 0)
			if g.exact {
				m.models[r.model[g.sizes[0][0]]] = work / float64(g.count())
			}
		case k > 0:
			work, err = r.alike(m, stimulus, g)
		}
		if err != nil {
			return err
		}
		m.fit += work
		m.until = append(m.until, m.fit)
	}
	if r.Plan.Report {
		var err error
		if m.report, err = r.reported(m, stimulus); err != nil {
			return err
		}
	}
	m.done, r.one = true, true
	return nil
}

// infer is a cell of the fit stage, whose judgements are kept if asked.
func (r *run) infer(ready *inference.Stimulus, set, stimulus int, p *sweep.Procedure, keep bool) error {
	cell, err := ready.Infer(r.ctx, &r.Plan.Sets[set], *p, r.Config.Seed)
	if err != nil {
		return err
	}
	r.cells++
	if keep {
		r.seen[set] = r.keep(r.seen[set], stimulus, &cell)
	}
	return nil
}

// inferAll is some cells of the fit stage.
func (r *run) inferAll(ready *inference.Stimulus, sets []int, p *sweep.Procedure) error {
	all := make([]model.ParameterSet, len(sets))
	for i, set := range sets {
		all[i] = r.Plan.Sets[set]
	}
	for _, err := range ready.InferAll(r.ctx, all, *p, r.Config.Seed) {
		if err != nil {
			return err
		}
		r.cells++
	}
	return nil
}

// keep what a cell predicts, next to what others do.
func (r *run) keep(all []result.Prediction, stimulus int, cell *result.Cell) []result.Prediction {
	if all == nil {
		all = make([]result.Prediction, len(r.of))
		for i := range all {
			all[i].Undefined = true // as long as nothing is known
		}
	}
	all[stimulus] = r.Plan.Stimuli[stimulus].Predict(cell)
	return all
}

// shared is what cells take when the first ones pay for others; the first cell of
// the first group has been measured.
func (r *run) shared(m *measured, stimulus int, g *group, first bool) (float64, error) {
	p := r.Plan.Procedure(r.Config, sweep.FitStage)
	r.runs = p.Runs
	var total, met float64
	all := 0
	for k, sets := range g.sizes {
		all += len(sets)
		if k > 0 && r.over() && !g.exact {
			r.skipped = true
			continue
		}
		cold := m.cells
		if !first || k > 0 {
			var err error
			if cold, err = r.counted(m, func() error { return r.infer(m.ready, sets[0], stimulus, &p, !g.exact) }); err != nil {
				return 0, err
			}
		}
		var same, other mean // of cells whose plans are those of the cell before, and of others
		row, before := sets[1:], sets[0]
		if g.exact {
			row = spread(row, stretch)
		}
		for range 2 { // those that come next, and some in the middle of what is left
			take := min(stretch, len(row))
			for some := row[:take]; len(some) > 0; {
				of, n := &other, 1
				if r.plans[some[0]] == r.plans[before] { // those in a row are inferred together, as in a job
					of = &same
					for n < len(some) && r.plans[some[n]] == r.plans[before] {
						n++
					}
				}
				work, err := r.counted(m, func() error { return r.inferAll(m.ready, some[:n], &p) })
				if err != nil {
					return 0, err
				}
				of.add(work, n)
				before, some = some[n-1], some[n:]
			}
			if row = row[take:]; len(row) == 0 || r.over() {
				break
			}
			row = row[(len(row)-min(stretch, len(row)))/2:]
		}
		warm, turn := same.or(other.or(0)), other.or(same.or(0))
		if same.n+other.n > 0 {
			m.tables += max(0, cold-warm)
		} else {
			m.tables += cold
		}
		turns := 0
		for i, set := range sets[1:] {
			if r.plans[set] != r.plans[sets[i]] {
				turns++
			}
		}
		total += cold + float64(warm*float64(len(sets)-1-turns)) + float64(turn*float64(turns))
		met += float64(len(sets))
	}
	return total * float64(all) / met, nil
}

// alike is what cells take that share no samples, by a few runs of a few of them. What is kept of these,
// states and heuristics, is there for the others.
func (r *run) alike(m *measured, stimulus int, g *group) (float64, error) {
	p := r.Plan.Procedure(r.Config, sweep.FitStage)
	runs := p.Runs
	p.Runs = min(fewRuns, runs)
	r.runs = p.Runs
	sets := g.sizes[0]
	n := min(alikes, len(sets))
	kept := -m.kept()
	work, err := r.counted(m, func() error {
		for k := range n {
			if err := r.infer(m.ready, sets[(2*k+1)*len(sets)/(2*n)], stimulus, &p, true); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	kept += m.kept()
	m.tables += kept
	work = (work - kept) * float64(runs) / float64(p.Runs) * float64(len(sets)) / float64(n)
	of := r.model[sets[0]]
	m.models[of] += work / float64(r.Plan.Models()[of].End-r.Plan.Models()[of].First)
	return kept + work, nil
}

// reported is what the report stage takes: of the particle filter and of exact models by
// the cells of the fit stage, else of a parameter set in the middle of each model's.
func (r *run) reported(of *measured, stimulus int) (float64, error) {
	p := r.Plan.Procedure(r.Config, sweep.ReportStage)
	var total float64
	for m, sets := range r.Plan.Models() {
		named, _ := model.ByName(sets.Name)
		switch {
		case named.Exact:
			total += of.models[m]
			continue
		case p.Method == sweep.SIPS:
			total += of.models[m] * moreOf(r.Config)
			continue
		}
		work, err := r.counted(of, func() error {
			cell, err := of.ready.Infer(r.ctx, &r.Plan.Sets[(sets.First+sets.End)/2], p, r.Config.Seed)
			if err == nil {
				r.chosen[m] = r.keep(r.chosen[m], stimulus, &cell)
			}
			r.cells++
			return err
		})
		if err != nil {
			return 0, err
		}
		total += work
	}
	return total, nil
}

// mean of what is added.
type mean struct {
	sum float64
	n   int
}

// add adds the sum of n numbers.
func (m *mean) add(sum float64, n int) { m.sum, m.n = m.sum+sum, m.n+n }

// or is the mean, or another number of nothing.
func (m *mean) or(other float64) float64 {
	if m.n == 0 {
		return other
	}
	return m.sum / float64(m.n)
}

// spread picks at most a number of parameter sets, evenly from the first to the last.
func spread(sets []int, most int) []int {
	if len(sets) <= most {
		return sets
	}
	var some []int
	for i := range most {
		some = append(some, sets[i*(len(sets)-1)/(most-1)])
	}
	return some
}
