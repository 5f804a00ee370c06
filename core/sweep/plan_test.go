package sweep_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"foible/core/sweep"
)

// aPlan makes a plan of a size.
func aPlan(t testing.TB, sets, stimuli, cellsPerJob int) *sweep.Plan {
	t.Helper()
	p, err := sweep.NewPlan(alphas(sets), shapes(stimuli), cellsPerJob)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func alphas(n int) []sweep.ParameterSet {
	sets := make([]sweep.ParameterSet, n)
	for i := range sets {
		sets[i] = boltzmann(float64(i + 1))
	}
	return sets
}

func shapes(n int) []sweep.Shape {
	all := make([]sweep.Shape, n)
	for i := range all {
		all[i] = sweep.Shape{Stimulus: fmt.Sprint("s", i), Goals: 2, Actions: 3, JudgementSteps: []int{0, 3}}
	}
	return all
}

// Whatever the sizes, the infer jobs hold every (set, stimulus) exactly once,
// the score jobs every set once, and a job is small and of one stimulus.
func TestPlanHoldsEveryCellOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		p := aPlan(t, 1+rng.IntN(60), 1+rng.IntN(12), 1+rng.IntN(20))
		cells := map[[2]int]int{}
		scored := make([]int, len(p.Sets))
		for number := range p.Jobs() {
			j := p.Job(number)
			if j.Number != number || len(j.Sets) < 1 || len(j.Sets) > p.CellsPerJob {
				t.Fatalf("job %d of %+v: %+v", number, p, j)
			}
			if (number >= p.InferJobs()) != j.Score {
				t.Fatalf("job %d of %d infer jobs: score %v", number, p.InferJobs(), j.Score)
			}
			for i, set := range j.Sets {
				if set != p.Sets[j.First+i] {
					t.Fatalf("job %d: set %d is %v", number, j.First+i, &set)
				}
				if j.Score {
					scored[j.First+i]++
				} else {
					cells[[2]int{j.First + i, j.Stimulus}]++
				}
			}
			if j.Score && number != p.ScoreJob(j.Chunk) {
				t.Fatalf("chunk %d has score job %d, not %d", j.Chunk, p.ScoreJob(j.Chunk), number)
			}
		}
		if len(cells) != p.Cells() || p.Cells() != len(p.Sets)*len(p.Stimuli) {
			t.Fatalf("%d cells of %d", len(cells), p.Cells())
		}
		for cell, n := range cells {
			if n != 1 {
				t.Fatalf("cell %v is in %d jobs", cell, n)
			}
		}
		if slices.ContainsFunc(scored, func(n int) bool { return n != 1 }) {
			t.Fatalf("sets are scored %v times", scored)
		}
	}
}

func TestNoSuchJob(t *testing.T) {
	p := aPlan(t, 2, 2, 1)
	for _, number := range []int{-1, p.Jobs()} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("there is a job %d of %d", number, p.Jobs())
				}
			}()
			p.Job(number)
		}()
	}
}

func TestMalformedPlans(t *testing.T) {
	with := func(change func(*sweep.Shape)) []sweep.Shape {
		all := shapes(2)
		change(&all[1])
		return all
	}
	tests := []struct {
		sets    []sweep.ParameterSet
		stimuli []sweep.Shape
		cells   int
		want    string
	}{
		{nil, shapes(1), 1, `a sweep needs parameter sets and stimuli`},
		{alphas(1), nil, 1, `a sweep needs parameter sets and stimuli`},
		{alphas(1), shapes(1), 0, `0 cells a job; it must be 1 to 256`},
		{alphas(1), shapes(1), 257, `257 cells a job; it must be 1 to 256`},
		{alphas(1), with(func(s *sweep.Shape) { s.Stimulus = "s0" }), 1, `stimulus "s0" is there twice`},
		{alphas(1), with(func(s *sweep.Shape) { s.Goals = 0 }), 1, `stimulus "s1": judgement steps [0 3] do not fit 3 actions and 0 goals`},
		{alphas(1), with(func(s *sweep.Shape) { s.Actions = 2 }), 1, `stimulus "s1": judgement steps [0 3] do not fit 2 actions and 2 goals`},
		{alphas(1), with(func(s *sweep.Shape) { s.Actions = -1; s.JudgementSteps = nil }), 1, `stimulus "s1": judgement steps [] do not fit -1 actions and 2 goals`},
		{alphas(1), with(func(s *sweep.Shape) { s.JudgementSteps = []int{3, 0} }), 1, `stimulus "s1": judgement steps [3 0] do not fit 3 actions and 2 goals`},
		{alphas(1), with(func(s *sweep.Shape) { s.JudgementSteps = []int{-1, 0} }), 1, `stimulus "s1": judgement steps [-1 0] do not fit 3 actions and 2 goals`},
	}
	for _, test := range tests {
		if _, err := sweep.NewPlan(test.sets, test.stimuli, test.cells); err == nil || err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
}

func TestCellsPerJob(t *testing.T) {
	short := shapes(16)
	long := shapes(16)
	long[3].Goals, long[3].Actions = 20, 999 // 160 KB a cell
	tests := []struct {
		name     string
		sets     int
		stimuli  []sweep.Shape
		parallel int
		want     int
	}{
		{"one set", 1, short, 1, 1},
		{"never more than the sets", 7, short, 1, 7},
		{"four jobs a slot", 7, short, 4, 7},         // 112 cells / 16
		{"four jobs a slot of many", 7, short, 8, 4}, // 112 / 32, rounded up
		{"more slots than cells", 7, short, 1000, 1},
		{"the most", 1_000_000, short, 64, sweep.MaxCellsPerJob},
		{"bytes of the longest stimulus", 1_000_000, long, 64, 3},
	}
	for _, test := range tests {
		got := sweep.CellsPerJob(test.sets, test.stimuli, test.parallel)
		if got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
		if _, err := sweep.NewPlan(alphas(1), test.stimuli, got); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// Progress is the same whatever the order and repeats; a score job becomes
// ready once, when the last infer job of its chunk is in.
func TestProgress(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		p := aPlan(t, 1+rng.IntN(30), 1+rng.IntN(6), 1+rng.IntN(10))
		g := sweep.NewProgress(p)
		missing := map[int]int{}
		for chunk := range p.Chunks() {
			missing[chunk] = len(p.Stimuli)
		}
		done := map[int]bool{}
		cells := 0
		order := rng.Perm(p.Jobs())
		order = append(order, rng.Perm(p.Jobs())[:p.Jobs()/2]...) // repeats, some before the first time
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, number := range order {
			job := p.Job(number)
			fresh, ready, scorable := g.Add(number)
			if fresh == done[number] {
				t.Fatalf("job %d: fresh %v", number, fresh)
			}
			if fresh && !job.Score {
				missing[job.Chunk]--
				cells += len(job.Sets)
			}
			last := fresh && !job.Score && missing[job.Chunk] == 0
			if scorable != last || last && ready != p.ScoreJob(job.Chunk) {
				t.Fatalf("job %d of chunk %d, which waits for %d: ready %d, %v", number, job.Chunk, missing[job.Chunk], ready, scorable)
			}
			done[number] = true
			if g.JobsDone() != len(done) || g.CellsDone() != cells || !g.Done(number) ||
				g.Scorable(job.Chunk) != (missing[job.Chunk] == 0) || g.Complete() != (len(done) == p.Jobs()) {
				t.Fatalf("after %d jobs: %d jobs, %d cells, complete %v", len(done), g.JobsDone(), g.CellsDone(), g.Complete())
			}
		}
		if !g.Complete() || g.CellsDone() != p.Cells() {
			t.Fatalf("%d of %d cells", g.CellsDone(), p.Cells())
		}
	}
}
