package sweep_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"foible/core/sweep"
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
		x := float64(100*(job.First+i) + job.Stimulus)
		if job.Score {
			o.Fits = append(o.Fits, sweep.Fit{Overall: sweep.Correlation{N: job.First + i}})
		} else {
			o.Cells = append(o.Cells, sweep.Cell{Posterior: [][]float64{{x}}})
		}
	}
	return o
}

// visits collects what is visited, as text.
type visits []string

func (v *visits) add(g *sweep.Gathered) error {
	text := fmt.Sprint(g.Index, " ", &g.Set, ":")
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
	*v = append(*v, text+" "+strings.Join(g.Failures, ", "))
	return nil
}

// expected is what must be visited when some jobs failed and some are missing.
func expected(p *sweep.Plan, failed, missing map[int]bool) visits {
	var all visits
	for i := range p.Sets {
		g := &sweep.Gathered{Index: i, Set: p.Sets[i], Cells: make([]*sweep.Cell, len(p.Stimuli))}
		for number := range p.Jobs() {
			job := p.Job(number)
			if i < job.First || i >= job.First+len(job.Sets) || missing[number] {
				continue
			}
			o := outcome(p, number, failed[number])
			switch {
			case failed[number]:
				g.Failures = append(g.Failures, fmt.Sprintf("job %d: %s", number, o.Failure))
			case job.Score:
				g.Fit = &o.Fits[i-job.First]
			default:
				g.Cells[job.Stimulus] = &o.Cells[i-job.First]
			}
		}
		_ = all.add(g)
	}
	return all
}

func TestGatherInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		p := aPlan(t, 1+rng.IntN(20), 1+rng.IntN(5), 1+rng.IntN(7))
		failed, missing := map[int]bool{}, map[int]bool{}
		partial := rng.IntN(2) == 0
		for number := range p.Jobs() {
			failed[number] = rng.IntN(5) == 0
			missing[number] = partial && rng.IntN(4) == 0
		}
		want := expected(p, failed, missing)
		for range 3 {
			var got visits
			g := sweep.NewGather(p, got.add)
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
		}
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
		if err := g.Add(p.ScoreJob(chunk), outcome(p, p.ScoreJob(chunk), false)); err != nil {
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
		{0, sweep.Outcome{Cells: make([]sweep.Cell, 1)}, "job 0: 1 cells and 0 fits for 2 parameter sets"},
		{0, sweep.Outcome{Fits: make([]sweep.Fit, 2)}, "job 0: 0 cells and 2 fits for 2 parameter sets"},
		{4, sweep.Outcome{Cells: make([]sweep.Cell, 2)}, "job 4: 2 cells and 0 fits for 2 parameter sets"},
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
	g := sweep.NewGather(p, func(*sweep.Gathered) error { return full })
	if err := errors.Join(g.Add(0, outcome(p, 0, false)), g.Add(p.ScoreJob(0), outcome(p, p.ScoreJob(0), false))); !errors.Is(err, full) {
		t.Error(err)
	}
	if err := g.Close(); !errors.Is(err, full) {
		t.Error(err)
	}
}
