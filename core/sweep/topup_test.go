package sweep_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/diagnose"
	"foible.dev/foible/core/internal/madeup"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// topUpConfig is a sweep of plan-lesioned and goal-lesioned with so many settings, and Boltzmann
// with three, whose contenders get up to so many times the runs.
func topUpConfig(times int, settings ...int) sweep.Config {
	in, fit, report := sweep.DefaultsOf(sweep.SIPS)
	c := sweep.Config{Inference: in, Fit: fit, Report: report, TopUp: times, Seed: 3, Models: []sweep.ModelGrid{
		{Model: "boltzmann", Axes: map[string][]model.Setting{"alpha": number(1, 2, 3)}},
	}}
	for i, n := range settings {
		noises := make([]model.Setting, n)
		for k := range noises {
			noises[k].Number = float64(k+1) / float64(n+1)
		}
		c.Models = append(c.Models, sweep.ModelGrid{Model: []string{"plan-lesioned", "goal-lesioned"}[i], Axes: map[string][]model.Setting{
			"action_noise": noises, "goal_noise": number(0), "budget_r": number(2), "budget_q": number(.9), "search_noise": number(.5),
		}})
		if i == 0 {
			for _, axis := range []string{"budget_r", "budget_q", "search_noise"} {
				delete(c.Models[1].Axes, axis)
			}
		} else {
			delete(c.Models[2].Axes, "goal_noise")
		}
	}
	return c
}

func planFor(t testing.TB, c *sweep.Config, stimuli, cellsPerJob int) *sweep.Plan {
	t.Helper()
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&sweep.Resolved{Config: *c, Sets: sets}).Plan(shapes(stimuli), cellsPerJob)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// contenders are the parameter sets of a round, over its chunks.
func contenders(p *sweep.Plan, round int) []int {
	all := []int{}
	for chunk := range p.RoundChunks(round) {
		job := p.Job(p.ScoreJob(chunk))
		for i := range job.Sets {
			all = append(all, job.Index(i))
		}
	}
	return all
}

// Settings that may be the best of their model go on, until one is left; a model that is exact,
// and one whose best is clear, have none.
func TestContenders(t *testing.T) {
	c := topUpConfig(8, 4, 3) // goal-lesioned 0 to 2, plan-lesioned 3 to 6, Boltzmann 7 to 9
	p := planFor(t, &c, 2, 4)
	if p.TopUps() != 3 || p.Rounds() != 5 || p.Known(1) {
		t.Fatalf("%d rounds, %d of topping up", p.Rounds(), p.TopUps())
	}
	r := []float64{.7, .6, .5, .80, .79, .40, .78, .9, .9, .9}
	se := []float64{.01, .01, .01, .02, .02, .02, .02, 0, 0, 0}
	fit := func(i int) *result.Fit {
		return &result.Fit{Overall: result.Correlation{PearsonR: r[i], Defined: true}, MCSE: se[i]}
	}
	for _, round := range []struct {
		change map[int][2]float64 // r and error after it
		want   []int
		times  int
	}{
		{map[int][2]float64{3: {.80, .001}, 4: {.81, .001}, 6: {.70, .001}}, []int{3, 4, 6}, 2},
		{nil, []int{}, 4}, // 4 is clear
		{nil, []int{}, 8},
	} {
		p.Choose(standingOf(p, fit))
		k := p.KnownRounds() - 1
		if got := contenders(p, k); !slices.Equal(got, round.want) || p.Times(k) != round.times {
			t.Errorf("round %d: contenders %v with %d times the runs, want %v with %d", k, got, p.Times(k), round.want, round.times)
		}
		for i, x := range round.change {
			r[i], se[i] = x[0], x[1]
		}
	}
	p.Choose(standingOf(p, fit))
	if got := p.Chosen(); !slices.Equal(got, []int{0, 4, 7}) {
		t.Errorf("chosen %v", got)
	}
}

// The report has the best of those with the most runs, though others have a higher r with fewer; one
// that may be the best and had fewer goes on too, and one alone does not while it had fewer.
func TestContendersComeBack(t *testing.T) {
	c := topUpConfig(4, 4)
	p := planFor(t, &c, 1, 10)
	r, se := []float64{.80, .80, .70, .40}, []float64{.02, .02, .03, .02}
	fit := func(i int) *result.Fit {
		if i >= len(r) { // Boltzmann has no r
			return nil
		}
		return &result.Fit{Overall: result.Correlation{PearsonR: r[i], Defined: true}, MCSE: se[i]}
	}
	p.Choose(standingOf(p, fit))
	if got := contenders(p, 1); !slices.Equal(got, []int{0, 1}) {
		t.Fatalf("contenders %v", got)
	}
	r[0], r[1], se[0], se[1] = .50, .50, .01, .01 // now 2 is the best, with fewer runs
	p.Choose(standingOf(p, fit))
	if got := contenders(p, 2); !slices.Equal(got, []int{2}) {
		t.Fatalf("contenders %v, want the one that came back", got)
	}
	r[2] = .45
	p.Choose(standingOf(p, fit))
	if got := p.Chosen(); !slices.Equal(got, []int{2}) {
		t.Errorf("chosen %v, want the best of those with the most runs", got)
	}
}

// However many are alike, no more than MaxContenders of a model go on, in jobs whose results are bounded.
func TestMostContenders(t *testing.T) {
	c := topUpConfig(1000, 300, 7)
	p := planFor(t, &c, 3, 50)
	p.Choose(standingOf(p, func(i int) *result.Fit {
		return &result.Fit{Overall: result.Correlation{PearsonR: .5, Defined: true}, MCSE: .1}
	}))
	got := contenders(p, 1)
	of := map[string]int{}
	for _, i := range got {
		of[p.Sets[i].Model]++
	}
	if of["plan-lesioned"] != sweep.MaxContenders || of["goal-lesioned"] != 7 || len(of) != 2 || !slices.IsSorted(got) {
		t.Errorf("contenders %v", of)
	}
	if p.TopUps() != 10 || p.Times(9) != 512 || p.Times(10) != 1000 {
		t.Errorf("%d rounds, the last two of %d and %d times the runs", p.TopUps(), p.Times(9), p.Times(10))
	}
	for chunk := range p.RoundChunks(1) {
		job := p.Job(p.InferJob(chunk, 0)) // a cell of 5000 runs at 4 points: 80 KB
		if n := len(job.Sets); n < 1 || n > 12 {
			t.Errorf("a job of %d cells of 5000 runs", n)
		}
	}
	if cells, work := p.MostTopUp(); cells != 10*71*3 || work != 71*3*(2+4+8+16+32+64+128+256+512+1000) {
		t.Errorf("at most %d cells, as much work as %v", cells, work)
	}
}

// What is topped up is the fit stage of so many times the runs; a sweep without topping up is what it was.
func TestTopUpProcedure(t *testing.T) {
	c := topUpConfig(3, 4)
	p := planFor(t, &c, 1, 10)
	longer := c
	longer.Fit.Runs *= 3
	if got, want := p.ProcedureOf(&c, 2).String(), longer.Procedure(sweep.FitStage).String(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got, want := p.ProcedureOf(&c, 3), c.Procedure(sweep.ReportStage); got != want {
		t.Errorf("the report is %s", got)
	}
	m := c
	m.Inference, m.Fit, m.Report = sweep.DefaultsOf(sweep.Marginal)
	p = planFor(t, &m, 1, 10)
	if got := p.ProcedureOf(&m, 1); got.Runs != 2*m.Fit.Runs || got.MCSE != m.Inference.MCSE/math.Sqrt2 || got.PosteriorSE != m.Inference.PosteriorSE/math.Sqrt2 {
		t.Errorf("marginal: %s", got)
	}
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, times := range []int{0, 1, 2, 3} {
		c.TopUp = times
		ids[(&sweep.Resolved{Config: c, Sets: sets}).ID("study", "version")] = true
	}
	if len(ids) != 3 {
		t.Errorf("sweeps of no topping up, also no topping up, 2 and 3 times the runs have %d ids", len(ids))
	}
}

// made up fits of a plan that tops up: r and errors follow from set and round, and errors fall.
func toppedUpOutcome(p *sweep.Plan, number int) sweep.Outcome {
	job := p.Job(number)
	o := outcome(p, number, false)
	for i := range o.Fits {
		f := &o.Fits[i]
		f.Overall.PearsonR = .5 + .01*float64(job.Index(i)*7%5) + .001*float64(job.Round*job.Index(i)%3)
		f.Overall.Defined = true
		f.MCSE = .02 / math.Sqrt(float64(p.Times(job.Round)))
	}
	return o
}

// In whatever order outcomes come, a gather visits the fit stage, the rounds and the report in this
// order, and finds the contenders that the plan of the coordinator had; progress comes to the same.
func TestGatherTopUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 7))
	for range 50 {
		c := topUpConfig(2+rng.IntN(9), 2+rng.IntN(9), 1+rng.IntN(5))
		if rng.IntN(3) == 0 {
			c.Report = sweep.Stage{}
		}
		stimuli, each := 1+rng.IntN(3), 1+rng.IntN(9)
		p := planFor(t, &c, stimuli, each)
		standing := sweep.NewStanding(0)
		var want visits
		g := sweep.NewProgress(p)
		for round := range p.Rounds() { // as a coordinator goes
			if g.Open() != round || !p.Known(round) {
				t.Fatalf("in round %d, %d is open", round, g.Open())
			}
			chunks := slices.Collect(p.RoundChunks(round))
			for at, chunk := range chunks {
				job := p.Job(p.ScoreJob(chunk))
				for i := range stimuli {
					g.Add(p.InferJob(chunk, i))
				}
				_, ready := g.Add(job.Number)
				if at == len(chunks)-1 && round+1 < p.Rounds() && !slices.Equal(ready, p.RoundJobs(round+1)) {
					t.Fatalf("after round %d, %v are ready", round, ready)
				}
				fits := toppedUpOutcome(p, job.Number).Fits
				standing.AddJob(&job, fits)
				for i, set := range job.Sets {
					v := &sweep.Gathered{Stage: job.Stage, Round: round, Index: job.Index(i), Set: set, Fit: &fits[i]}
					for s := range stimuli {
						v.Cells = append(v.Cells, &toppedUpOutcome(p, p.InferJob(chunk, s)).Cells[i])
					}
					_ = want.add(v)
				}
			}
			p.Choose(standing)
		}
		var cells int
		for _, part := range g.Stages() {
			cells += part.CellsDone
		}
		if !g.Complete() || g.CellsDone() != p.Cells() || cells != p.Cells() || g.Waiting() != 0 || len(g.Ready()) != 0 {
			t.Fatalf("%d of %d cells are done, %d by stages", g.CellsDone(), p.Cells(), cells)
		}
		of := 0
		for _, part := range slices.Concat(g.Models(), g.Stimuli()) {
			of += part.CellsDone
		}
		if of != 2*p.Cells() {
			t.Fatalf("%d of %d cells by models and stimuli", of, 2*p.Cells())
		}
		var got visits
		again := planFor(t, &c, stimuli, each)
		gather := sweep.NewGather(again, got.add)
		for _, number := range rng.Perm(p.Jobs()) {
			if err := gather.Add(number, toppedUpOutcome(p, number)); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func shapesOf(st *study.Study) (shapes []sweep.Shape) {
	for i := range st.Stimuli {
		s := &st.Stimuli[i]
		shapes = append(shapes, sweep.Shape{Stimulus: s.ID, Goals: len(s.Goals), Actions: 9, JudgementSteps: s.JudgementSteps})
	}
	return shapes
}

// toppedUp gathers the parameter sets of a sweep of a study as its rounds go, and returns the
// warnings, the contenders of each round, and the best. cells gives what a set predicts with so many runs.
func toppedUp(t *testing.T, st *study.Study, c *sweep.Config, cells func(index, runs, stimulus int) *result.Cell) (warnings []diagnose.Warning, rounds [][]int, best *sweep.Gathered) {
	t.Helper()
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	shapes := shapesOf(st)
	p, err := (&sweep.Resolved{Config: *c, Sets: sets}).Plan(shapes, 100)
	if err != nil {
		t.Fatal(err)
	}
	w, err := diagnose.NewWarner(st, p, c)
	if err != nil {
		t.Fatal(err)
	}
	scorer, err := score.NewScorer(st, sweep.Bootstrap{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	standing, own := sweep.NewStanding(0), sweep.NewStanding(0)
	for round := range p.Rounds() {
		if round > 0 {
			rounds = append(rounds, contenders(p, round))
		}
		for chunk := range p.RoundChunks(round) {
			job := p.Job(p.ScoreJob(chunk))
			var fits []result.Fit
			for i, set := range job.Sets {
				g := &sweep.Gathered{Stage: job.Stage, Round: round, Index: job.Index(i), Set: set}
				var predictions []result.Prediction
				for s := range shapes {
					cell := cells(g.Index, p.ProcedureOf(c, round).Runs, s)
					g.Cells = append(g.Cells, cell)
					predictions = append(predictions, shapes[s].Predict(cell))
				}
				fit, err := scorer.Score(predictions)
				if err != nil {
					t.Fatal(err)
				}
				fits = append(fits, fit)
				g.Fit = &fit
				w.Add(g)
				if own.Add(set.Model, g.Index, round, &fit) {
					best = g
				}
			}
			standing.AddJob(&job, fits)
		}
		p.Choose(standing)
	}
	return w.Warnings(), rounds, best
}

// A setting that is a little better is told from others by more runs. Of 100 sweeps of two settings,
// whose r has an error of .004 of 5 runs, with up to 16 times the runs: .007 apart, all are separated,
// with the right one; .003 apart, 86, one of them with the wrong one. With nothing apart, 44 are, by
// chance: it is looked five times, and one time in ten they look as far apart as that.
func TestTopUpSeparates(t *testing.T) {
	st, off := madeup.People()
	for _, test := range []struct {
		apart       float64
		least, most int // separated
		leastRight  int
	}{
		{.01, 95, 100, 95},
		{.004, 60, 100, 60},
		{0, 15, 60, 0},
	} {
		separated, right := 0, 0
		of := func(seed uint64, runs int, by, ofRun float64) float64 { // r of a setting
			s, err := score.NewScorer(st, sweep.Bootstrap{}, 1)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(seed, 8))
			var predictions []result.Prediction
			for i, shape := range shapesOf(st) {
				predictions = append(predictions, shape.Predict(ofRuns(st, off, rng, runs, by, ofRun, i)))
			}
			fit, err := s.Score(predictions)
			if err != nil {
				t.Fatal(err)
			}
			return fit.Overall.PearsonR
		}
		exact, squares := of(0, 1, .5, 0), 0.0
		for seed := range uint64(100) {
			squares += math.Pow(of(seed, 5, .5, .05)-exact, 2)
		}
		t.Logf("r is %.4f apart, with an error of %.4f", exact-of(0, 1, .5+test.apart, 0), math.Sqrt(squares/100))
		for seed := range uint64(100) {
			c := topUpConfig(16, 2)
			c.Models = c.Models[1:]
			c.Report, c.Seed = sweep.Stage{}, seed
			rng := rand.New(rand.NewPCG(seed, 9))
			warnings, rounds, best := toppedUp(t, st, &c, func(index, runs, stimulus int) *result.Cell {
				return ofRuns(st, off, rng, runs, .5+test.apart*float64(index), .05, stimulus)
			})
			last := slices.IndexFunc(rounds, func(r []int) bool { return len(r) == 0 })
			tied := slices.ContainsFunc(warnings, func(w diagnose.Warning) bool {
				return w.Kind == diagnose.TieWarning || w.Kind == diagnose.FlatWarning && strings.Contains(w.Text, "2 settings are the best")
			})
			if !tied {
				separated++
			}
			if last >= 0 && tied {
				t.Errorf("seed %d: settled after round %d, and warned of ties", seed, last)
			}
			if !tied && best.Index == 0 {
				right++
			}
		}
		t.Logf("settings %v apart: %d of 100 separated, %d with the right one", test.apart, separated, right)
		if separated < test.least || separated > test.most || right < test.leastRight {
			t.Errorf("settings %v apart: %d of 100 separated, %d with the right one", test.apart, separated, right)
		}
	}
}

// ofRuns is a cell of so many runs that are the people and something else besides, by how much a setting has of
// it, give or take what a run is off.
func ofRuns(st *study.Study, off []result.Prediction, rng *rand.Rand, runs int, by, ofRun float64, stimulus int) *result.Cell {
	human := st.Stimuli[stimulus].Human.Mean
	c := &result.Cell{Judged: true, Filter: result.Filter{ESS: make([]float64, len(human))}}
	for j := range human {
		c.Posterior = append(c.Posterior, make([]float64, len(human[j])))
	}
	for range runs {
		x := by + ofRun*rng.NormFloat64()
		var run [][]float64
		for j, row := range human {
			one := make([]float64, len(row))
			for goal, h := range row {
				one[goal] = h + x*off[stimulus].Rows[j][goal]
				c.Posterior[j][goal] += one[goal] / float64(runs)
			}
			run = append(run, one)
		}
		c.Runs.Add(run)
	}
	return c
}

// A winner of more runs than others is warned of where it was no better with as many as they had, and so are
// models of unequal runs that no report makes equal.
func TestUnequalRuns(t *testing.T) {
	st, _ := madeup.People()
	c := topUpConfig(4, 3, 2) // goal-lesioned 0 and 1, plan-lesioned 2 to 4
	c.Models, c.Report = c.Models[1:], sweep.Stage{}
	p := planFor(t, &c, len(st.Stimuli), 10)
	w, err := diagnose.NewWarner(st, p, &c)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		round, index int
		r            float64
	}{
		{0, 0, .5},
		{0, 1, .6},
		{0, 2, .83},
		{0, 3, .81},
		{0, 4, .80},
		{1, 4, .85},
		{1, 3, .82},
		{2, 4, .86},
	} {
		g := &sweep.Gathered{Stage: sweep.FitStage, Round: x.round, Index: x.index, Set: p.Sets[x.index]}
		if x.round > 0 {
			g.Stage = sweep.TopUpStage
		}
		g.Fit = &result.Fit{Overall: result.Correlation{PearsonR: x.r, Defined: true}, MCSE: .001}
		g.Cells = make([]*result.Cell, len(st.Stimuli))
		g.Cells[0] = &result.Cell{Judged: true, Runs: result.NewRuns(make([]float64, c.Fit.Runs*p.Times(x.round)), 1, 1)}
		w.Add(g)
	}
	var got []string
	for _, w := range w.Warnings() {
		if w.Kind == diagnose.UnequalWarning {
			got = append(got, w.Text)
		}
	}
	want := []string{
		"plan-lesioned: the best setting had 4 times the runs of the fit stage, and with no more than they had it was no better than " +
			"#3 goal_noise=0 action_noise=0.25 (0.830, the best then 0.800); noise lowers r, so that they may be as good: --runs 20 gives all of them as many",
		"the models compared had unequal runs, and with fewer runs r is lower: goal-lesioned 5 runs of 60 particles a goal, plan-lesioned 20 runs of 60 particles a goal",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
