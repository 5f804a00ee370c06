package sweep_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

// outcome is what a job comes to in these tests: recognizable cells and fits,
// and a failure now and then.
func outcome(p *sweep.Plan, number int, failed bool) sweep.Outcome {
	if failed {
		return sweep.Outcome{Failure: fmt.Sprint("no luck with ", number)}
	}
	job := p.Job(number)
	var o sweep.Outcome
	for i := range job.Sets {
		x := float64(100*job.Index(i) + job.Stimulus)
		if job.Stage == sweep.ReportStage {
			x += 10_000
		}
		if job.Score {
			// Some fits have no r, and some are equal.
			r := float64(job.Index(i) * 7 % 5)
			o.Fits = append(o.Fits, result.Fit{Overall: result.Correlation{N: int(x), PearsonR: r, Defined: r > 0}})
		} else {
			o.Cells = append(o.Cells, result.Cell{Posterior: [][]float64{{x}}})
		}
	}
	return o
}

// visits collects what is visited, as text.
type visits []string

func (v *visits) add(sets ...*sweep.Gathered) error {
	for _, g := range sets {
		*v = append(*v, visited(g))
	}
	return nil
}

func visited(g *sweep.Gathered) string {
	text := fmt.Sprint(g.Stage, " ", g.Index, " ", &g.Set, ":")
	for _, c := range g.Cells {
		if c == nil {
			text += " -"
			continue
		}
		text += fmt.Sprint(" ", c.Posterior[0][0])
	}
	if g.Fit != nil {
		text += fmt.Sprint(" fit ", g.Fit.Overall.N)
	}
	return text + " " + strings.Join(g.Failures, ", ")
}

// expected is what must be visited when some jobs failed and some are missing.
func expected(p *sweep.Plan, failed, missing map[int]bool) visits {
	var all visits
	visit := func(stage string, i int) {
		g := &sweep.Gathered{Stage: stage, Index: i, Set: p.Sets[i], Cells: make([]*result.Cell, len(p.Stimuli))}
		for number := range p.Jobs() {
			job := p.Job(number)
			at := -1
			for k := range job.Sets {
				if job.Stage == stage && job.Index(k) == i {
					at = k
				}
			}
			if at < 0 || missing[number] {
				continue
			}
			o := outcome(p, number, failed[number])
			switch {
			case failed[number]:
				g.Failures = append(g.Failures, fmt.Sprintf("job %d: %s", number, o.Failure))
			case job.Score:
				g.Fit = &o.Fits[at]
			default:
				g.Cells[job.Stimulus] = &o.Cells[at]
			}
		}
		_ = all.add(g)
	}
	for i := range p.Sets {
		visit(sweep.FitStage, i)
	}
	for _, i := range p.Chosen() {
		visit(sweep.ReportStage, i)
	}
	return all
}

func TestGatherInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		models, stimuli, cells, report := []int{1 + rng.IntN(9), 1 + rng.IntN(9), rng.IntN(9)}, 1+rng.IntN(5), 1+rng.IntN(7), rng.IntN(3) > 0
		p := modelPlan(t, models, stimuli, cells, report) // what a coordinator has: it chooses when all fits are in
		failed, missing := map[int]bool{}, map[int]bool{}
		partial := rng.IntN(2) == 0
		for number := range p.Jobs() {
			failed[number] = rng.IntN(5) == 0
			missing[number] = partial && rng.IntN(4) == 0
		}
		if report {
			p.Choose(standingOf(p, func(i int) *result.Fit {
				number := p.ScoreJob(sweep.Chunk(i / cells))
				if failed[number] || missing[number] {
					return nil
				}
				return &outcome(p, number, false).Fits[i%cells]
			}))
		}
		want := expected(p, failed, missing)
		for range 3 {
			var got visits
			again := modelPlan(t, models, stimuli, cells, report) // of a reader, which learns what was chosen from the fits
			g := sweep.NewGather(again, got.add)
			order := append(rng.Perm(p.Jobs()), rng.Perm(p.Jobs())...) // each twice
			for _, number := range order {
				if missing[number] {
					continue
				}
				if err := g.Add(number, outcome(p, number, failed[number])); err != nil {
					t.Fatal(err)
				}
			}
			if !partial && len(got) != len(want) {
				t.Errorf("%d of %d sets visited before Close", len(got), len(want))
			}
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if report && !slices.Equal(again.Chosen(), p.Chosen()) {
				t.Fatalf("chosen %v, want %v", again.Chosen(), p.Chosen())
			}
		}
	}
}

// What does not fit the report's parameter sets is found when these are known.
func TestGatherRefusesAReportOfOtherSets(t *testing.T) {
	for name, wrong := range map[string]sweep.Outcome{
		"job 1: 2 cells and 0 fits for 1 parameter sets": {Cells: make([]result.Cell, 2)},
		"job 1: 0 cells and 1 fits for 1 parameter sets": {Fits: make([]result.Fit, 1)},
		"job 1: 0 cells and 0 fits for 1 parameter sets": {},
	} {
		p := modelPlan(t, []int{2}, 1, 2, true) // jobs: fit 0, report 1, scores 2 and 3
		var got visits
		g := sweep.NewGather(p, got.add)
		fits := sweep.Outcome{Fits: []result.Fit{{}, {Overall: result.Correlation{N: 2, PearsonR: 1, Defined: true}}}}
		err := errors.Join(g.Add(1, wrong), g.Add(3, sweep.Outcome{Fits: make([]result.Fit, 1)}), g.Add(2, fits))
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Add(0, outcome(p, 0, false)); err == nil || err.Error() != name {
			t.Errorf("got %v, want %s", err, name)
		}
	}
}

// Where no model has an r there is nothing to report, and the gather ends.
func TestGatherWithoutChoice(t *testing.T) {
	p := modelPlan(t, []int{2, 1}, 1, 3, true) // jobs: fit 0, report 1, scores 2 and 3
	var got visits
	g := sweep.NewGather(p, got.add)
	err := errors.Join(g.Add(3, sweep.Outcome{}), g.Add(1, sweep.Outcome{}),
		g.Add(2, sweep.Outcome{Fits: make([]result.Fit, 3)}), g.Add(0, outcome(p, 0, false)), g.Close())
	if err != nil || len(got) != 3 || len(p.Chosen()) != 0 {
		t.Errorf("%v, visited %v, chosen %v", err, got, p.Chosen())
	}
}

// In the coordinator's order a chunk is visited, and let go, as soon as it is complete.
func TestGatherVisitsAsItGoes(t *testing.T) {
	p := aPlan(t, 5, 3, 2)
	var got visits
	g := sweep.NewGather(p, got.add)
	for chunk, sets := range []int{2, 4, 5} {
		for stimulus := range 3 {
			number := 3*chunk + stimulus
			if err := g.Add(number, outcome(p, number, false)); err != nil {
				t.Fatal(err)
			}
		}
		score := p.ScoreJob(sweep.Chunk(chunk))
		if err := g.Add(score, outcome(p, score, false)); err != nil {
			t.Fatal(err)
		}
		if len(got) != sets {
			t.Errorf("%d sets visited after chunk %d, want %d", len(got), chunk, sets)
		}
	}
}

// A sweep of which nothing is known yet has all its parameter sets, without results.
func TestGatherNothing(t *testing.T) {
	p := aPlan(t, 3, 2, 2)
	var got visits
	if err := sweep.NewGather(p, got.add).Close(); err != nil {
		t.Fatal(err)
	}
	if want := expected(p, nil, map[int]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true}); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestGatherRefuses(t *testing.T) {
	p := aPlan(t, 3, 2, 2)
	tests := []struct {
		number int
		o      sweep.Outcome
		want   string
	}{
		{-1, sweep.Outcome{}, "job -1 of 6"},
		{6, sweep.Outcome{}, "job 6 of 6"},
		{0, sweep.Outcome{}, "job 0: 0 cells and 0 fits for 2 parameter sets"},
		{0, sweep.Outcome{Cells: make([]result.Cell, 1)}, "job 0: 1 cells and 0 fits for 2 parameter sets"},
		{0, sweep.Outcome{Fits: make([]result.Fit, 2)}, "job 0: 0 cells and 2 fits for 2 parameter sets"},
		{4, sweep.Outcome{Cells: make([]result.Cell, 2)}, "job 4: 2 cells and 0 fits for 2 parameter sets"},
	}
	g := sweep.NewGather(p, (&visits{}).add)
	for _, test := range tests {
		if err := g.Add(test.number, test.o); err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	for number := range p.Jobs() { // what was refused is not held against the right answer
		if err := g.Add(number, outcome(p, number, false)); err != nil {
			t.Error(err)
		}
	}
}

func TestGatherStopsAtAnError(t *testing.T) {
	p := aPlan(t, 2, 1, 1)
	full := errors.New("disk full")
	g := sweep.NewGather(p, func(...*sweep.Gathered) error { return full })
	if err := errors.Join(g.Add(0, outcome(p, 0, false)), g.Add(p.ScoreJob(0), outcome(p, p.ScoreJob(0), false))); !errors.Is(err, full) {
		t.Error(err)
	}
	if err := g.Close(); !errors.Is(err, full) {
		t.Error(err)
	}
}
