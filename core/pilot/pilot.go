// Package pilot runs a few cells of a sweep to say what all of it will take, in work
// that is counted and in seconds of one core, and how sure it will be. Read [Pilot] and
// [Estimate]. It knows no clock: whoever runs it says what time there is.
package pilot

import (
	"cmp"
	"context"
	"math"
	"slices"

	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/random"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// Pilot is of a sweep.
type Pilot struct {
	Study  *study.Study
	Plan   *sweep.Plan
	Config *sweep.Config
	// Ready makes a stimulus ready, as a worker does.
	Ready func(stimulus string) (*inference.Stimulus, error)
	// CPU is what this process has used so far, in seconds.
	CPU func() float64
	// Used is the part of the pilot's size that is used up after so much work, in the unit
	// of [inference.Stimulus.Work]; further cells are begun below 1. If it depends on the
	// work alone, so does what the pilot runs.
	Used func(work float64) float64
}

// Parts of a pilot's size: until when further stimuli have their first cells measured, by
// which they are compared; and until when the measuring of one in full may be expected
// to end, to be begun.
const (
	firstPart = 0.5
	fullPart  = 1.2
)

// timesFirst is how many times what the first cells took a stimulus is likely to take for
// every kind of samples.
const timesFirst = 2

const (
	stretch = 24 // cells in a row that are measured of those that share samples and sizes
	alikes  = 3  // of those that take about as long as each other
	fewRuns = 3  // runs of each of these
)

// group are cells that share samples, by sizes, of the fit stage.
type group struct {
	exact bool
	sizes [][]int // indexes of parameter sets
	by    map[string]int
}

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

// count of parameter sets.
func (g *group) count() int {
	n := 0
	for _, sets := range g.sizes {
		n += len(sets)
	}
	return n
}

type run struct {
	*Pilot
	ctx     context.Context
	groups  []*group
	scorer  *score.Scorer
	of      []measured // by stimulus
	cells   int
	work    float64                     // done
	seconds float64                     // that it took
	one     bool                        // stimulus is measured in full
	power   float64                     // of the first cells, with which the cost of all goes
	skipped bool                        // some kinds of cells have not been met
	seen    map[int][]result.Prediction // of some parameter sets, by stimulus
	chosen  [][]result.Prediction       // of the report, [model][stimulus]
	model   []int                       // of a parameter set
	plans   []string                    // of a parameter set; see [inference.Work]
	runs    int                         // behind each of seen
}

// Run measures until the limit, and at least one stimulus. Each stimulus begins
// with the same group, which pays for heuristics.
func (p *Pilot) Run(ctx context.Context) (*Estimate, error) {
	r := &run{Pilot: p, ctx: ctx, of: make([]measured, len(p.Plan.Stimuli)), seen: map[int][]result.Prediction{}}
	var err error
	if r.scorer, err = score.NewScorer(p.Study, sweep.Bootstrap{}, p.Config.Seed); err != nil {
		return nil, err
	}
	if err := r.group(); err != nil {
		return nil, err
	}
	order := r.order()
	costliest := 0.0 // one alone does not keep the others from being seen
	for k, i := range order {
		if k > 0 && r.used(-costliest) >= firstPart {
			break
		}
		if err := r.first(i); err != nil {
			return nil, err
		}
		costliest = max(costliest, r.of[i].began)
	}
	if err := r.some(order); err != nil {
		return nil, err
	}
	scores, err := r.scores()
	if err != nil {
		return nil, err
	}
	return r.estimate(scores)
}

// some measures stimuli in full: first the costliest that is likely to end in time, or the
// cheapest if none is, and then the costliest, whether or not they do.
func (r *run) some(order []int) error {
	left := slices.DeleteFunc(slices.Clone(order), func(i int) bool { return r.of[i].ready == nil })
	slices.SortStableFunc(left, func(a, b int) int { return cmp.Compare(r.of[b].first(), r.of[a].first()) })
	first := slices.IndexFunc(left, func(i int) bool {
		return r.used(float64(timesFirst*len(r.groups))*r.of[i].began) <= fullPart
	})
	if first < 0 {
		first = len(left) - 1
	}
	for len(left) > 0 && (!r.one || !r.over()) {
		if err := r.full(left[first]); err != nil {
			return err
		}
		left, first = slices.Delete(left, first, first+1), 0
	}
	return nil
}

// group sorts the parameter sets.
func (r *run) group() error {
	at := map[string]int{}
	procedure := r.Plan.Procedure(r.Config, sweep.FitStage)
	for m, of := range r.Plan.Models() {
		named, _ := model.ByName(of.Name)
		for i := of.First; i < of.End; i++ {
			samples, sizes, plans, err := inference.Work(&r.Plan.Sets[i], procedure)
			if err != nil {
				return err
			}
			k, ok := at[samples]
			if !ok {
				k = len(r.groups)
				at[samples] = k
				r.groups = append(r.groups, &group{exact: named.Exact, by: map[string]int{}})
			}
			g := r.groups[k]
			s, ok := g.by[sizes]
			if !ok {
				s = len(g.sizes)
				g.by[sizes] = s
				g.sizes = append(g.sizes, nil)
			}
			g.sizes[s] = append(g.sizes[s], i)
			r.model, r.plans = append(r.model, m), append(r.plans, plans)
		}
	}
	r.chosen = make([][]result.Prediction, len(r.Plan.Models()))
	// What most cells are like comes first, but for those of exact models: by that, stimuli are compared.
	slices.SortStableFunc(r.groups, func(a, b *group) int {
		switch {
		case a.exact == b.exact:
			return b.count() - a.count()
		case a.exact:
			return 1
		}
		return -1
	})
	for _, g := range r.groups {
		slices.SortStableFunc(g.sizes, func(a, b []int) int { return len(b) - len(a) })
	}
	if r.Config.Inference.Method == sweep.SIPS {
		r.merge()
	}
	return nil
}

// mostAlike bounds the groups of cells that share nothing.
const mostAlike = 48

// merge brings neighbours of those together, within a model, where there are too many.
func (r *run) merge() {
	every := (len(r.groups) + mostAlike - 1) / mostAlike
	var merged []*group
	n := 0
	for _, g := range r.groups {
		if last := len(merged) - 1; n%every != 0 && !g.exact && !merged[last].exact && r.model[merged[last].sizes[0][0]] == r.model[g.sizes[0][0]] {
			merged[last].sizes[0] = append(merged[last].sizes[0], g.sizes[0]...)
			n++
			continue
		}
		merged, n = append(merged, g), 1
	}
	r.groups = merged
}

// order is that of stimuli: spread over their sizes at any time.
func (r *run) order() []int {
	bySize := make([]int, len(r.of))
	for i := range bySize {
		bySize[i] = i
	}
	slices.SortStableFunc(bySize, func(a, b int) int {
		switch x, y := r.size(a), r.size(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	// The middle one, and then by the golden section.
	var order []int
	left := slices.Clone(bySize)
	for x := 0.5; len(left) > 0; x = math.Mod(x+0.618033988749895, 1) {
		at := min(len(bySize)-1, int(x*float64(len(bySize))))
		near := 0
		for k, i := range left {
			if distance(slices.Index(bySize, i), at) < distance(slices.Index(bySize, left[near]), at) {
				near = k
			}
		}
		order = append(order, left[near])
		left = slices.Delete(left, near, near+1)
	}
	return order
}

func distance(a, b int) int { return max(a-b, b-a) }

// size of a stimulus.
func (r *run) size(i int) float64 {
	s := &r.Plan.Stimuli[i]
	return float64(max(1, s.Goals) * max(1, s.Actions))
}

// used is the part of the pilot's size that so much more work, or less, than has been done uses up.
func (r *run) used(more float64) float64 {
	used := r.Used(r.work)
	if r.work > 0 {
		used += used * more / r.work
	}
	return used
}

// over reports whether no further cells are to be begun.
func (r *run) over() bool { return r.used(0) >= 1 }

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

// full measures every kind of cells of a stimulus, of which first has measured the first ones.
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

// complete takes a stimulus of which some groups were measured for one measured in full: the others
// are to it as they are to those measured in full.
func (r *run) complete() {
	for i := range r.of {
		m := &r.of[i]
		if !m.partly {
			continue
		}
		var until, fit, report float64
		for j := range r.of {
			if n := len(m.until); r.of[j].done && len(r.of[j].until) >= n {
				until += r.of[j].until[n-1]
				fit += r.of[j].fit
				report += r.of[j].report
			}
		}
		if until > 0 {
			m.fit, m.tables, m.report = m.fit*fit/until, m.tables*fit/until, m.fit*report/until
		}
		m.partly = until > 0
	}
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

// keep what a cell predicts beside what others do.
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

// shared is what cells take of which the first ones pay for others; the first cell of
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

// mean of what is added.
type mean struct {
	sum float64
	n   int
}

// add adds the sum of so many numbers.
func (m *mean) add(sum float64, n int) { m.sum, m.n = m.sum+sum, m.n+n }

// or is the mean, or another number of nothing.
func (m *mean) or(other float64) float64 {
	if m.n == 0 {
		return other
	}
	return m.sum / float64(m.n)
}

// spread are so many of some parameter sets at most, evenly from the first to the last.
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
			total += of.models[m] * r.more()
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

// more is how many more particles a cell of the report has than one of the fit stage.
func (r *run) more() float64 {
	f, s := r.Config.Fit, r.Config.Report
	return float64(s.Runs*s.ParticlesPerGoal) / float64(max(1, f.Runs*f.ParticlesPerGoal))
}

// scores is what all comparisons with people take, in seconds: resampling the
// people, once a process, and a parameter set.
func (r *run) scores() (float64, error) {
	var total float64
	stages := map[string]int{sweep.FitStage: len(r.Plan.Sets)}
	if r.Plan.Report {
		stages[sweep.ReportStage] = len(r.Plan.Models())
	}
	// Any numbers will do.
	rng := random.WarningStream(r.Config.Seed, "pilot", "")
	draw := func(steps, goals int) [][]float64 {
		rows := make([][]float64, steps)
		for j := range rows {
			for range goals {
				rows[j] = append(rows[j], rng.Float64())
			}
		}
		return rows
	}
	predictions := make([]result.Prediction, len(r.of))
	for i := range predictions {
		s := &r.Plan.Stimuli[i]
		predictions[i].Rows = draw(len(s.JudgementSteps), s.Goals)
		for range r.Config.Fit.Runs {
			predictions[i].Runs.Add(draw(len(s.JudgementSteps), s.Goals))
		}
	}
	made := map[int]*score.Scorer{} // by resamples: a worker keeps them
	for _, stage := range []string{sweep.FitStage, sweep.ReportStage} {
		n := stages[stage]
		if n == 0 {
			continue
		}
		b := r.Plan.BootstrapOf(r.Config, stage)
		scorer := made[b.Resamples]
		if scorer == nil {
			seconds, err := r.timed(func() (err error) {
				scorer, err = score.NewScorer(r.Study, b, r.Config.Seed)
				return err
			})
			if err != nil {
				return 0, err
			}
			made[b.Resamples] = scorer
			total += seconds
		}
		const times = 3
		seconds, err := r.timed(func() error {
			for range times {
				if _, err := scorer.Score(predictions); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
		total += seconds / times * float64(n)
	}
	return total, nil
}
