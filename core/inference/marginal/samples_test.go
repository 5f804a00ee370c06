package marginal

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"testing"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/inference/internal/kernel"
	"foible.dev/foible/core/inference/internal/samples"
	"foible.dev/foible/core/inference/internal/worlds"
	"foible.dev/foible/core/inference/sips"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/internal/chance"
)

// sampledPlans are tables for one budget, sampled to some levels.
func sampledPlans(m *Inference, p *agent.Parameters, s *samples.Samples, original, confused int8) *outcomes {
	goals := len(m.path.Task.Goals)
	l := &levels{make([]int8, goals*len(m.steps)), len(m.steps)}
	for i := range l.level {
		l.level[i] = original
		if i >= m.path.Candidates*len(m.steps) {
			l.level[i] = confused
		}
	}
	return m.outcomesFor(s, p, l)
}

// moments are the mean of numbers and the variance of that.
func moments(xs []float64) (mean, variance float64) {
	n := float64(len(xs))
	for _, x := range xs {
		mean += x / n
	}
	for _, x := range xs {
		variance += (x - mean) * (x - mean) / n / (n - 1)
	}
	return mean, variance
}

// score is the distance from what is expected in standard errors, over so many searches.
func score(xs []float64, want, searches float64) float64 {
	mean, variance := moments(xs)
	variance += 16 * chance.RareVariance(want, searches)   // one search may count for 16
	return math.Abs(mean-want) / math.Sqrt(variance+1e-14) // events are kept in single precision
}

// meant is one of the probabilities of a table.
type meant struct {
	kind    string
	matched int
}

// numbers are the probabilities of a table, means of batches, all in one group of lanes.
func (m *Inference) numbers(p *outcome, batches int) map[meant]float64 {
	all := map[meant]float64{}
	for kind, rows := range map[string][]kernel.Lane{"ends": p.ends, "differs": p.differs, "stray ends": p.offPathEnds, "stray differs": p.offPathDiffers} {
		for matched, row := range rows {
			for _, x := range row {
				all[meant{kind, matched}] += x / float64(batches)
			}
		}
	}
	return all
}

// On average over seeds a table is what enumeration says: for original goals,
// whose searches are weighed, and others, whose searches are traced; whether searches
// are thinned out or not, and stand for one batch or all: within [chance.Bound].
func TestTablesAreUnbiased(t *testing.T) { chance.Repeat(t, tablesAreUnbiased) }

func tablesAreUnbiased(t *testing.T) {
	seeds := 400
	if testing.Short() {
		seeds = 200
	}
	f := &tableTest{bound: chance.Bound(maxQuantities, float64(seeds-1)), seeds: uint64(seeds)}
	budgets := []agent.Parameters{{BudgetR: 1, BudgetQ: 0.7}, {BudgetR: 2, BudgetQ: 0.9}, {BudgetR: 4, BudgetQ: 0.95}}
	thinFrom := samples.DefaultLimits().ThinFrom
	for _, c := range []struct {
		worlds.World
		noises  []float64
		budgets int // of those above, whose searches are few enough to enumerate
	}{
		{worlds.Chains(t), []float64{0, 0.5, 3}, 3},
		{worlds.ThreeBlocks(t), []float64{0, 0.4}, 1},
		{worlds.Maze(t), []float64{0, 0.4}, 1},
		{worlds.Through(t), []float64{1}, 3},
	} {
		for _, noise := range c.noises {
			for i, thin := range []int{3, thinFrom, thinFrom, 3} {
				confused := []int8{0, 1, 2, 4}[i] // levels: searches in some batches alone, in each, in each several
				m := marginalOf(c.Path)
				m.store.ThinFrom = thin
				f.thinned = thin < thinFrom
				for _, p := range budgets[:c.budgets] {
					p.SearchNoise = noise
					for goal := range c.Path.Goals.Heuristic {
						for _, tau := range []int{0, 2} {
							f.name = fmt.Sprintf("%s, noise %v, budget %+v, thinned from %d", c.Name, noise, p.Budget(), thin)
							f.check(t, m, &p, tableOf{goal, tau, confused})
						}
					}
				}
			}
		}
	}
	t.Logf("%d probabilities, the largest z %.1f; %d events of thinned searches", f.quantities, f.worst, f.beyond)
	if f.quantities > maxQuantities {
		t.Errorf("%d probabilities: the bound is of fewer", f.quantities)
	}
	if f.beyond < 100 {
		t.Errorf("%d events of thinned searches: nothing is tested of them", f.beyond)
	}
}

const (
	maxQuantities = 10_000 // more than there are comparisons
	minDraws      = 320    // of the longest searches, where budgets are small
)

// tableTest compares tables, sampled with several seeds, with enumeration.
type tableTest struct {
	name       string // of what is compared now
	bound      float64
	seeds      uint64
	thinned    bool // searches are thinned out early
	worst      float64
	quantities int
	beyond     int // events of thinned searches
}

// tableOf names a table, and the level that it is sampled to if it is of a goal of confusion.
type tableOf struct {
	goal, tau int
	confused  int8
}

// check compares the probabilities of a table.
func (f *tableTest) check(t *testing.T, m *Inference, p *agent.Parameters, at tableOf) {
	t.Helper()
	const batches = 4
	key := samples.Key{Noise: p.SearchNoise, Draws: minDraws, Batches: batches, OffPath: true}
	level := int8(1)
	if at.goal >= m.path.Candidates {
		level = at.confused
	}
	want := m.numbers(enumerated(t, m, p, at.goal, at.tau), 1)
	all := map[meant][]float64{}
	for of := range want {
		all[of] = make([]float64, f.seeds)
	}
	for seed := range f.seeds {
		key.Seed = chance.Seed(seed)
		s := m.samplesFor(key)
		for of, x := range m.numbers(must(m.outcome(context.Background(), sampledPlans(m, p, s, 1, at.confused), at.goal, at.tau)), batches) {
			if all[of] == nil {
				all[of] = make([]float64, f.seeds)
			}
			all[of][seed] = x
		}
		if f.thinned {
			f.countThinned(must(s.Table(context.Background(), at.goal, at.tau, int(level))), level, batches)
		}
	}
	n := float64(f.seeds) * m.samplesFor(key).Searches(at.goal, int(level))
	for of, xs := range all {
		z := score(xs, want[of], n)
		f.quantities++
		if f.worst = max(f.worst, z); !(z < f.bound) {
			mean, _ := moments(xs)
			t.Errorf("%s, level %d, goal %d, step %d, %+v: %v, want %v (z %.1f)", f.name, level, at.goal, at.tau, of, mean, want[of], z)
		}
	}
}

// countThinned counts events of searches that go on for some draws, which count for 4 or more.
func (f *tableTest) countThinned(table *samples.Table, level int8, batches int) {
	if table.Certain() != nil {
		return
	}
	for l := range int(level) + 1 {
		for batch := range batches {
			for _, e := range table.Events(l, batch) {
				if e.Draw() > 12 {
					f.beyond++
				}
			}
		}
	}
}

// The evidence is unbiased: on average over seeds it is that of enumeration for
// every goal at every step, within [chance.Bound].
func TestEvidenceIsUnbiased(t *testing.T) { chance.Repeat(t, evidenceIsUnbiased) }

func evidenceIsUnbiased(t *testing.T) {
	const batches = 4
	seeds := 800
	if testing.Short() {
		seeds = 200
	}
	worst, quantities := 0.0, 0
	bound := chance.Bound(500, float64(seeds-1)) // more than there are comparisons
	for _, w := range worlds.All(t) {
		for name, p := range worlds.Agents {
			exact, err := sips.New(w.Path).Exact(p, sips.Options{Exact: true})
			if err != nil {
				t.Fatal(err)
			}
			m := marginalOf(w.Path)
			m.store.ThinFrom = 3
			steps, goals := len(exact.Posterior), len(exact.Posterior[0])
			all := make([][]float64, steps*goals)
			for seed := range uint64(seeds) {
				s := m.samplesFor(samples.Key{Seed: chance.Seed(seed), Noise: p.SearchNoise, Unlimited: p.Unlimited, Draws: samples.Draws(&p), Batches: batches})
				r := must(m.inferOne(context.Background(), s, &p, sampledPlans(m, &p, s, 0, int8(seed%3)).levels))
				for step := range steps {
					for goal := range goals {
						mean, _ := moments(r.evidence[step][goal])
						all[step*goals+goal] = append(all[step*goals+goal], mean*math.Exp(r.shift[step]))
					}
				}
			}
			log := 0.0
			for step := 1; step < steps; step++ {
				log += exact.Evidence[step]
				for goal, posterior := range exact.Posterior[step] {
					want := math.Exp(log) * posterior * float64(goals)
					if posterior < 0.02 { // a few seeds make up the mean: it has no standard error to speak of
						continue
					}
					mean, variance := moments(all[step*goals+goal])
					z := math.Abs(mean-want) / math.Sqrt(variance+1e-13*want*want)
					quantities++
					if worst = max(worst, z); !(z < bound) {
						t.Errorf("%s, %s, step %d, goal %d: %v, want %v (z %.1f)", w.Name, name, step, goal, mean, want, z)
					}
				}
			}
		}
	}
	t.Logf("%d evidences, the largest z %.1f", quantities, worst)
	if quantities > 500 {
		t.Errorf("%d evidences: the bound is of fewer", quantities)
	}
}

// asked is marginal inference with so many batches, until probabilities are that sure.
func asked(batches int, se float64, detail string) *sweep.Procedure {
	in := sweep.MarginalInference
	in.PosteriorSE, in.MCSE = se, 1
	return &sweep.Procedure{StageName: sweep.FitStage, Stage: sweep.Stage{Runs: batches}, Inference: in, Detail: detail}
}

// Over 40 seeds the posterior spreads by as much as the standard errors say, and
// its mean is the exact one: the errors are no larger than asked for, and smaller if
// less is asked for. The ratio of spread to errors, of all probabilities of a world and
// an agent together, has itself an error of some 15 % where few of them are independent.
func TestStandardErrorsAreHonest(t *testing.T) {
	const seeds = 40
	var ratios []float64
	for _, w := range worlds.All(t) {
		var judged []int
		for step := range w.Path.States {
			judged = append(judged, step)
		}
		for name, p := range worlds.Agents {
			exact, err := sips.New(w.Path).Exact(p, sips.Options{Exact: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, detail := range []string{sweep.DetailSteps, sweep.DetailMistakes} {
				samples := 0
				for _, se := range []float64{0.02, 0.005} {
					q := asked(8, se, detail)
					steps, goals := len(exact.Posterior), len(exact.Posterior[0])
					values := make([][]float64, steps*goals)
					errors := make([]float64, steps*goals) // mean of squares
					more := 0
					for seed := range uint64(seeds) {
						m := marginalOf(w.Path)
						r, err := m.convergeOne(p, q, seed, judged)
						if err != nil {
							t.Fatal(err)
						}
						more += r.samples
						for step := range steps {
							all, without := r.posterior(step)
							for goal := range goals {
								i := step*goals + goal
								values[i] = append(values[i], all[goal])
								errors[i] += goalVariance(without, goal) / seeds
							}
						}
					}
					if se < 0.02 && more < samples {
						t.Errorf("%s, %s, %s: %d searches for errors of %v, %d for larger ones", w.Name, name, detail, more, se, samples)
					}
					samples = more
					var spread, reported float64
					for i, xs := range values {
						mean, variance := moments(xs)
						spread, reported = spread+variance*seeds, reported+errors[i]
						if math.Sqrt(errors[i]) > 1.2*se {
							t.Errorf("%s, %s, %s, step %d, goal %d: error %v, no more than %v was asked for", w.Name, name, detail, i/goals, i%goals, math.Sqrt(errors[i]), se)
						}
						want := exact.Posterior[i/goals][i%goals]
						if d := math.Abs(mean - want); d > 4.5*math.Sqrt(variance)+se/10 {
							t.Errorf("%s, %s, %s, step %d, goal %d: mean %v, want %v within %v", w.Name, name, detail, i/goals, i%goals, mean, want, 4.5*math.Sqrt(variance)+se/10)
						}
					}
					if reported < 1e-10 {
						if spread > 1e-10 {
							t.Errorf("%s, %s: no error is reported, and there is %v", w.Name, name, math.Sqrt(spread))
						}
						continue
					}
					ratio := math.Sqrt(spread / reported)
					ratios = append(ratios, ratio)
					if ratio < 0.6 || ratio > 1.7 {
						t.Errorf("%s, %s, %s, errors of %v: the spread is %.2f of what they say", w.Name, name, detail, se, ratio)
					}
				}
			}
		}
	}
	mean, variance := moments(ratios)
	t.Logf("%d ratios of spread to standard error, mean %.2f, sd %.2f", len(ratios), mean, math.Sqrt(variance*float64(len(ratios))))
	if mean < 0.9 || mean > 1.1 {
		t.Errorf("the mean ratio of spread to standard error is %.2f", mean)
	}
}

// A cell depends on nothing but what is asked for: not on the cells before it, their
// order, what they asked for, or what was kept of them.
func TestCellsDoNotDependOnEachOther(t *testing.T) {
	type request struct {
		agent.Parameters
		q    *sweep.Procedure
		seed uint64
	}
	var all []request
	for _, noise := range []float64{0, 0.4} {
		for _, goalNoise := range []float64{0, 0.2} {
			for _, b := range []agent.Budget{{R: 2, Q: 0.9}, {R: 4, Q: 0.98}, {R: 2, Q: 0.95}} {
				for _, actionNoise := range []float64{0.1, 0} {
					p := agent.Parameters{GoalNoise: goalNoise, BudgetR: b.R, BudgetQ: b.Q, SearchNoise: noise, ActionNoise: actionNoise, Kind: agent.PerActionOdds}
					all = append(all, request{p, asked(4, 0.02, sweep.DetailSteps), 1})
				}
			}
		}
	}
	all = append(
		all,
		request{all[0].Parameters, asked(4, 0.005, sweep.DetailSteps), 1},
		request{all[1].Parameters, asked(4, 0.02, sweep.DetailJudged), 1},
		request{all[0].Parameters, asked(4, 0.02, sweep.DetailMistakes), 1},
		request{all[14].Parameters, asked(4, 0.05, sweep.DetailMistakes), 1},
		request{all[14].Parameters, asked(5, 0.02, sweep.DetailSteps), 1},
		request{all[14].Parameters, asked(4, 0.02, sweep.DetailSteps), 2},
		request{worlds.Agents["plan-lesioned"], asked(4, 0.02, sweep.DetailSteps), 1},
	)
	for _, w := range []worlds.World{worlds.Maze(t), worlds.Chains(t), worlds.FiveBlocks(t)} {
		judged := []int{0, 2, len(w.Path.States) - 1}
		compute := func(m *Inference, r *request) result.Cell {
			res, err := m.convergeOne(r.Parameters, r.q, r.seed, judged)
			if err != nil {
				t.Fatal(err)
			}
			return must(m.cell(context.Background(), &Request{Parameters: []agent.Parameters{r.Parameters}, Procedure: r.q, Judged: judged}, 0, res))
		}
		alone := make([]result.Cell, len(all))
		for i := range all {
			alone[i] = compute(marginalOf(w.Path), &all[i])
		}
		different := map[string]bool{}
		for i := range alone {
			different[fmt.Sprint(alone[i].Posterior)] = true
		}
		if len(different) < len(all)/2 {
			t.Errorf("%s: only %d of %d cells are different", w.Name, len(different), len(all))
		}
		for _, keep := range []int{samples.DefaultLimits().Events, 1} {
			m := marginalOf(w.Path)
			m.store.Limits.Events = keep
			for round, order := range [][]int{{1, 0}, {-1, len(all) - 1}, {7, 3}} {
				at := order[1]
				for range all {
					if got := compute(m, &all[at]); !reflect.DeepEqual(got, alone[at]) {
						t.Errorf("%s, round %d, keeping %d: %+v %+v depends on what was computed before", w.Name, round, keep, all[at].Parameters, *all[at].q)
					}
					at = (at + order[0] + len(all)) % len(all)
				}
			}
			if keep == 1 && len(m.levels) > 2 {
				t.Errorf("%d stores are kept", len(m.levels))
			}
		}
	}
}

// After hundreds of steps the probability of all actions is far below what a number
// can hold; its logarithm is that of the enumeration, which scales at every step.
func TestLongPlansDoNotUnderflow(t *testing.T) {
	var steps []string
	const rounds = 250
	for range rounds {
		steps = append(steps, "(go a b)", "(go b a)")
	}
	s := worlds.Graph(t, []string{"ab", "ba", "bc", "ad", "ae", "bf", "bg", "ca", "da"}, []string{"c", "d"}, steps...)
	s.Goals.Corrupt = [][]int{{0, 1}, {1}}
	p := agent.Parameters{GoalNoise: 0.1, BudgetR: 2, BudgetQ: 0.6, SearchNoise: 0.3, ActionNoise: 0.1, Kind: agent.PerActionOdds}
	exact, err := sips.New(s).Exact(p, sips.Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	m := marginalOf(s)
	cell := must(m.cell(context.Background(), &Request{Parameters: []agent.Parameters{p}, Procedure: &sweep.Procedure{Stage: sweep.Stage{Runs: 1}}}, 0, enumeratedResult(t, m, &p)))
	if len(cell.Evidence) != len(steps)+1 || cell.Undefined != nil {
		t.Fatalf("%d steps, %v", len(cell.Evidence), cell.Undefined)
	}
	log := 0.0
	for step, e := range exact.Evidence {
		if log += e; !(math.Abs(cell.Evidence[step]-log) < 1e-11*(1-log)) {
			t.Fatalf("step %d: %v, want %v", step, cell.Evidence[step], log)
		}
		for goal, want := range exact.Posterior[step] {
			if got := cell.Posterior[step][goal]; !(math.Abs(got-want) < 1e-11) {
				t.Fatalf("step %d, goal %d: %v, want %v", step, goal, got, want)
			}
		}
	}
	if log > -745 {
		t.Errorf("the evidence is exp(%v), which does not underflow", log)
	}
	// Sampled as in a sweep.
	r, err := m.convergeOne(p, asked(4, 0.01, sweep.DetailSteps), 1, []int{10, len(steps)})
	if err != nil {
		t.Fatal(err)
	}
	sampled := must(m.cell(context.Background(), &Request{Parameters: []agent.Parameters{p}, Procedure: asked(4, 0.01, sweep.DetailSteps)}, 0, r))
	if got := sampled.Evidence[len(steps)]; sampled.Undefined != nil || math.IsInf(got, 0) || !(math.Abs(got-log) < 0.05*-log) {
		t.Errorf("sampled, the evidence is exp(%v), want exp(%v)", got, log)
	}
}

// convergeOne is converge of one parameter set.
func (m *Inference) convergeOne(p agent.Parameters, q *sweep.Procedure, seed uint64, judged []int) (one *setResult, err error) {
	err = m.converge(context.Background(), &Request{[]agent.Parameters{p}, q, seed, judged}, func(_ int, r *setResult) error {
		one = r
		return nil
	})
	return one, err
}

// Goal noises side by side give the cells that each gives alone, to the last bit: of
// those that are sure at once, that need samples of their own, and that give no posterior.
func TestGoalNoisesSideBySide(t *testing.T) {
	unsure, died := 0, 0
	for _, w := range []worlds.World{worlds.Maze(t), worlds.ThreeBlocks(t), worlds.Chains(t)} {
		judged := []int{0, 2, len(w.Path.States) - 1}
		q := asked(4, 0.004, sweep.DetailJudged)
		few := func(p *agent.Parameters) *Inference { // which begins with few samples
			m := marginalOf(w.Path)
			s := m.samplesFor(samples.Key{Stage: q.StageName, Seed: 1, Noise: p.SearchNoise, Unlimited: p.Unlimited, Draws: samples.Draws(p), Batches: q.Runs})
			m.levels[s][familyOf(p, q)] = m.firstLevels(s)
			return m
		}
		for _, p := range []agent.Parameters{
			{BudgetR: 2, BudgetQ: 0.9, SearchNoise: 0.4, ActionNoise: 0.1, Kind: agent.Total},
			{BudgetR: 2, BudgetQ: 0.9, SearchNoise: 0.4, Kind: agent.Total},
			{Unlimited: true, Kind: agent.Total},
		} {
			var ps []agent.Parameters
			for _, e := range []float64{0.1, 0.5, 1, 0.2} {
				p.GoalNoise = e
				ps = append(ps, p)
			}
			for n := 2; n <= len(ps); n++ {
				some := ps[:n]
				if !Together(&some[0], &some[n-1], q) {
					t.Fatalf("%+v and %+v are not inferred together", some[0], some[n-1])
				}
				m, seen := few(&p), 0
				err := m.converge(context.Background(), &Request{some, q, 1, judged}, func(i int, r *setResult) error {
					got := must(m.cell(context.Background(), &Request{some, q, 1, judged}, i, r))
					alone := few(&p)
					one, err := alone.convergeOne(some[i], q, 1, judged)
					if err != nil {
						t.Fatal(err)
					}
					if want := must(alone.cell(context.Background(), &Request{some, q, 1, judged}, i, one)); !reflect.DeepEqual(got, want) {
						t.Errorf("%s, %+v of %d: %+v, alone %+v", w.Name, some[i], n, got, want)
					}
					seen++
					if got.Undefined != nil {
						died++
					}
					if r.samples > q.Runs*samples.BatchSearches(0, true) {
						unsure++
					}
					return nil
				})
				if err != nil || seen != n {
					t.Fatalf("%d of %d cells, error %v", seen, n, err)
				}
			}
		}
	}
	if unsure == 0 || died == 0 {
		t.Errorf("%d parameter sets needed samples of their own, %d gave no posterior", unsure, died)
	}
}
