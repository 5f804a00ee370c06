package sweep_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

// aPlan makes a plan of a size.
func aPlan(t testing.TB, sets, stimuli, cellsPerJob int) *sweep.Plan {
	t.Helper()
	p, err := sweep.NewPlan(alphas(sets), shapes(stimuli), cellsPerJob, false)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func alphas(n int) []model.ParameterSet {
	sets := make([]model.ParameterSet, n)
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
		sets    []model.ParameterSet
		stimuli []sweep.Shape
		cells   int
		want    string
	}{
		{nil, shapes(1), 1, `a sweep needs parameter sets and stimuli`},
		{alphas(1), nil, 1, `a sweep needs parameter sets and stimuli`},
		{alphas(1), shapes(1), 0, `0 cells a job; it must be 1 to 1024`},
		{alphas(1), shapes(1), 1025, `1025 cells a job; it must be 1 to 1024`},
		{alphas(1), with(func(s *sweep.Shape) { s.Stimulus = "s0" }), 1, `stimulus "s0" is there twice`},
		{alphas(1), with(func(s *sweep.Shape) { s.Goals = 0 }), 1, `stimulus "s1": judgement steps [0 3] do not fit 3 actions and 0 goals`},
		{alphas(1), with(func(s *sweep.Shape) { s.Actions = 2 }), 1, `stimulus "s1": judgement steps [0 3] do not fit 2 actions and 2 goals`},
		{alphas(1), with(func(s *sweep.Shape) { s.Actions = -1; s.JudgementSteps = nil }), 1, `stimulus "s1": judgement steps [] do not fit -1 actions and 2 goals`},
		{alphas(1), with(func(s *sweep.Shape) { s.JudgementSteps = []int{3, 0} }), 1, `stimulus "s1": judgement steps [3 0] do not fit 3 actions and 2 goals`},
		{alphas(1), with(func(s *sweep.Shape) { s.JudgementSteps = []int{-1, 0} }), 1, `stimulus "s1": judgement steps [-1 0] do not fit 3 actions and 2 goals`},
	}
	for _, test := range tests {
		if _, err := sweep.NewPlan(test.sets, test.stimuli, test.cells, true); err == nil || err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
}

func TestCellsPerJob(t *testing.T) {
	short := shapes(16)
	long := shapes(16)
	long[3].Goals, long[3].Actions = 20, 999 // 344 KB a cell
	judged := shapes(16)
	judged[3].Goals, judged[3].Actions, judged[3].JudgementSteps = 20, 400, []int{0, 100, 200, 300, 400} // 138 KB, and 0.8 KB a run
	tests := []struct {
		name     string
		sets     int
		stimuli  []sweep.Shape
		runs     int
		parallel int
		want     int
	}{
		{"one set", 1, short, 1, 1, 1},
		{"never more than the sets", 7, short, 1, 1, 7},
		{"four jobs a slot", 7, short, 1, 4, 7},         // 112 cells / 16
		{"four jobs a slot of many", 7, short, 1, 8, 4}, // 112 / 32, rounded up
		{"more slots than cells", 7, short, 1, 1000, 1},
		{"the most", 1_000_000, short, 1, 64, sweep.MaxCellsPerJob},
		{"bytes of the longest stimulus", 1000, long, 1, 64, 3},
		{"bytes of steps", 1000, judged, 1, 64, 7},
		{"bytes of runs", 1000, judged, 50, 64, 5},
		{"only the judged steps of many cells", 1_000_000, judged, 50, 64, 50},         // 21 KB
		{"bytes of many stimuli, scored together", 1_000_000, shapes(500), 50, 64, 69}, // 480 KB a set
	}
	for _, test := range tests {
		got := sweep.CellsPerJob(test.sets, test.stimuli, test.runs, test.parallel)
		if got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
		if _, err := sweep.NewPlan(alphas(1), test.stimuli, got, false); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestProgress: progress is the same whatever the order and repeats. A score
// job becomes ready once, when the last infer job of its chunk is in; the
// report's infer jobs when the last score job of the fit stage is.
func TestProgress(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		p := modelPlan(t, []int{1 + rng.IntN(15), 1 + rng.IntN(15)}, 1+rng.IntN(6), 1+rng.IntN(10), rng.IntN(2) == 0)
		g := sweep.NewProgress(p)
		if g.Fitted() || g.Complete() || len(g.Ready()) != 0 || p.Report != (len(p.ReportJobs()) > 0) {
			t.Fatalf("of nothing: fitted %v, complete %v, ready %v", g.Fitted(), g.Complete(), g.Ready())
		}
		missing := map[sweep.Chunk]int{}
		for chunk := range p.Chunks() {
			missing[chunk] = len(p.Stimuli)
		}
		scores := p.FitJobs() / len(p.Stimuli)
		done := map[int]bool{}
		offered := map[int]bool{} // by Add
		cells := 0
		order := rng.Perm(p.Jobs())
		order = append(order, rng.Perm(p.Jobs())[:p.Jobs()/2]...) // repeats, some before the first time
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, number := range order {
			job := p.Job(number)
			fresh, ready := g.Add(number)
			if fresh == done[number] {
				t.Fatalf("job %d: fresh %v", number, fresh)
			}
			var want []int
			switch {
			case !fresh:
			case !job.Score:
				if missing[job.Chunk]--; missing[job.Chunk] == 0 {
					want = []int{p.ScoreJob(job.Chunk)}
				}
				if job.Stage == sweep.ReportStage {
					cells += 2 // models
				} else {
					cells += len(job.Sets)
				}
			case job.Stage == sweep.FitStage:
				if scores--; scores == 0 && p.Report {
					for n := p.FitJobs(); n < p.InferJobs(); n++ {
						want = append(want, n)
					}
				}
			}
			if !slices.Equal(ready, want) {
				t.Fatalf("job %d of chunk %d, which waits for %d, with %d scores missing: ready %v, want %v", number, job.Chunk, missing[job.Chunk], scores, ready, want)
			}
			done[number] = true
			for _, n := range ready {
				offered[n] = true
			}
			if g.JobsDone() != len(done) || g.CellsDone() != cells || !g.Done(number) || g.Fitted() != (scores == 0) ||
				g.Scorable(job.Chunk) != (missing[job.Chunk] == 0) || g.Complete() != (len(done) == p.Jobs()) {
				t.Fatalf("after %d jobs: %d jobs, %d cells, complete %v", len(done), g.JobsDone(), g.CellsDone(), g.Complete())
			}
			// What is ready is what was offered and is not done: a coordinator that
			// starts again goes on where it was.
			for n := range p.Jobs() {
				if got := slices.Contains(g.Ready(), n); got != (offered[n] && !done[n]) {
					t.Fatalf("job %d: ready %v, offered %v, done %v", n, got, offered[n], done[n])
				}
			}
		}
		if !g.Complete() || g.CellsDone() != p.Cells() || len(g.Ready()) != 0 {
			t.Fatalf("%d of %d cells, ready %v", g.CellsDone(), p.Cells(), g.Ready())
		}
	}
}

// mixed are so many parameter sets of each of the first models.
func mixed(counts ...int) []model.ParameterSet {
	var sets []model.ParameterSet
	for m, n := range counts {
		for i := range n {
			set := model.ParameterSet{Model: model.Models[m].Name}
			set.Set(model.Models[m].Axes[0], model.Setting{Number: float64(i+1) / 1024})
			sets = append(sets, set)
		}
	}
	return sets
}

func modelPlan(t testing.TB, models []int, stimuli, cellsPerJob int, report bool) *sweep.Plan {
	t.Helper()
	p, err := sweep.NewPlan(mixed(models...), shapes(stimuli), cellsPerJob, report)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fitted is a lookup of fits with these r; one that is NaN is not defined, one
// that is infinite has no fit at all.
func fitted(rs ...float64) func(int) *result.Fit {
	return func(i int) *result.Fit {
		if math.IsInf(rs[i], 0) {
			return nil
		}
		if math.IsNaN(rs[i]) {
			return &result.Fit{Overall: result.Correlation{N: 1}}
		}
		return &result.Fit{Overall: result.Correlation{N: 9, PearsonR: rs[i], Defined: true}}
	}
}

// Of each model the best is chosen, the first of equals; what has no r, or no
// fit, cannot be.
func TestChoose(t *testing.T) {
	nan, none := math.NaN(), math.Inf(1)
	tests := []struct {
		name   string
		models []int
		rs     []float64
		want   []int
	}{
		{"best of each", []int{3, 2, 1}, []float64{0.1, 0.3, 0.2, 0.9, 0.8, -0.5}, []int{1, 3, 5}},
		{"first of equals", []int{3, 3}, []float64{0.5, 0.5, 0.5, 0.1, 0.7, 0.7}, []int{0, 4}},
		{"no r in one model", []int{2, 2, 1}, []float64{0.1, 0.2, nan, nan, 0.3}, []int{1, 4}},
		{"undefined before and after", []int{4}, []float64{nan, -0.9, nan, -0.8}, []int{3}},
		{"failed jobs", []int{3, 2}, []float64{none, 0.4, none, none, none}, []int{1}},
		{"undefined is not 0", []int{2}, []float64{-0.3, nan}, []int{0}},
		{"nothing", []int{1, 1}, []float64{nan, none}, []int{}},
	}
	for _, test := range tests {
		p := modelPlan(t, test.models, 2, 2, true)
		if p.Chosen() != nil {
			t.Errorf("%s: chosen %v before", test.name, p.Chosen())
		}
		p.Choose(standingOf(p, fitted(test.rs...)))
		if got := p.Chosen(); got == nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: chosen %v, want %v", test.name, got, test.want)
		}
		// Every job of the report has these sets and knows where they stand.
		for _, number := range append(p.ReportJobs(), p.Jobs()-1) {
			job := p.Job(number)
			if job.Stage != sweep.ReportStage || len(job.Sets) != len(test.want) {
				t.Fatalf("%s: job %d: %+v", test.name, number, job)
			}
			for i, index := range test.want {
				if job.Index(i) != index || job.Sets[i] != p.Sets[index] {
					t.Errorf("%s: job %d: set %d is %v, number %d", test.name, number, i, &job.Sets[i], job.Index(i))
				}
			}
		}
	}
}

// Two chunks of sets on three stimuli and the report: fit jobs 0 to 5, the
// report's 6 to 8, the score jobs 9, 10 and, of the report, 11.
func TestNumbersOfATwoStagePlan(t *testing.T) {
	p := modelPlan(t, []int{2, 1}, 3, 2, true)
	if p.FitJobs() != 6 || p.InferJobs() != 9 || p.Jobs() != 12 {
		t.Errorf("%d of %d infer jobs, %d jobs", p.FitJobs(), p.InferJobs(), p.Jobs())
	}
	if p.Cells() != 3*3+2*3 {
		t.Errorf("%d cells", p.Cells())
	}
	if got := p.ReportJobs(); !slices.Equal(got, []int{6, 7, 8}) {
		t.Errorf("report jobs %v", got)
	}
	p.Choose(standingOf(p, fitted(0.1, 0.2, 0.3)))
	var got []string
	for number := range p.Jobs() {
		job := p.Job(number)
		text := fmt.Sprint(job.Stage, " chunk ", job.Chunk, " stimulus ", job.Stimulus, " score ", job.Score, ":")
		for i := range job.Sets {
			text += fmt.Sprint(" ", job.Index(i))
		}
		got = append(got, text)
	}
	want := []string{
		"fit chunk 0 stimulus 0 score false: 0 1",
		"fit chunk 0 stimulus 1 score false: 0 1",
		"fit chunk 0 stimulus 2 score false: 0 1",
		"fit chunk 1 stimulus 0 score false: 2",
		"fit chunk 1 stimulus 1 score false: 2",
		"fit chunk 1 stimulus 2 score false: 2",
		"report chunk 2 stimulus 0 score false: 1 2",
		"report chunk 2 stimulus 1 score false: 1 2",
		"report chunk 2 stimulus 2 score false: 1 2",
		"fit chunk 0 stimulus 0 score true: 0 1",
		"fit chunk 1 stimulus 0 score true: 2",
		"report chunk 2 stimulus 0 score true: 1 2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// Without a report stage the fit jobs have the same numbers, and there is no more.
	p = modelPlan(t, []int{2, 1}, 3, 2, false)
	if p.FitJobs() != 6 || p.Jobs() != 8 || p.ReportJobs() != nil || p.Cells() != 9 {
		t.Errorf("%d fit jobs, %d jobs, report jobs %v", p.FitJobs(), p.Jobs(), p.ReportJobs())
	}
}

// The parts of a sweep add up to it, and what waits is what can be done.
func TestParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		p := modelPlan(t, []int{1 + rng.IntN(15), 1 + rng.IntN(15)}, 1+rng.IntN(6), 1+rng.IntN(10), rng.IntN(2) == 0)
		g := sweep.NewProgress(p)
		var waiting []int
		for job := range p.FitJobs() {
			waiting = append(waiting, job)
		}
		sum := func(parts []sweep.Part) (of sweep.Part) {
			for _, part := range parts {
				if part.CellsDone > part.Cells || part.JobsDone > part.Jobs {
					t.Fatalf("more is done than there is: %v", part)
				}
				of.Cells, of.CellsDone = of.Cells+part.Cells, of.CellsDone+part.CellsDone
				of.Jobs, of.JobsDone = of.Jobs+part.Jobs, of.JobsDone+part.JobsDone
			}
			return of
		}
		for len(waiting) > 0 {
			if g.Waiting() != len(waiting) {
				t.Fatalf("%d jobs wait, want %d", g.Waiting(), len(waiting))
			}
			i := rng.IntN(len(waiting))
			_, ready := g.Add(waiting[i])
			waiting = append(slices.Delete(waiting, i, i+1), ready...)
			whole := sweep.Part{Cells: p.Cells(), CellsDone: g.CellsDone(), Jobs: p.Jobs(), JobsDone: g.JobsDone()}
			if got := sum(g.Stages()); got != whole {
				t.Fatalf("stages: %v, want %v", got, whole)
			}
			whole.Jobs, whole.JobsDone = 0, 0
			if got := sum(g.Models()); got != whole {
				t.Fatalf("models: %v, want %v", got, whole)
			}
			if got := sum(g.Stimuli()); got != whole {
				t.Fatalf("stimuli: %v, want %v", got, whole)
			}
		}
		if !g.Complete() {
			t.Fatal("nothing waits, and not all is done")
		}
	}
}

// The jobs that are computed twice are about the share that is asked for, always the same ones, others with another seed, all of a
// smaller share among those of a larger, and never none.
func TestComputedTwice(t *testing.T) {
	p := aPlan(t, 4000, 5, 2)
	chosen := func(seed uint64, share float64) map[int]bool {
		jobs := map[int]bool{}
		for number := range p.Jobs() {
			job := p.Job(number)
			if p.ComputedTwice(&job, seed, share) {
				jobs[number] = true
				if job.Score {
					t.Fatalf("job %d is a score job", number)
				}
			}
		}
		return jobs
	}
	for _, share := range []float64{0, 1e-12, 0.05, 0.5, 1} {
		// 10,000 infer jobs: five standard errors are at most 250 jobs.
		jobs, n, want := chosen(1, share), p.InferJobs(), share*float64(p.InferJobs())
		if d := math.Abs(float64(len(jobs)) - want); d > 5*math.Sqrt(want*(1-share))+1 || share > 0 && len(jobs) == 0 || share == 0 && len(jobs) > 0 {
			t.Errorf("share %v: %d of %d jobs", share, len(jobs), n)
		}
		if !maps.Equal(jobs, chosen(1, share)) {
			t.Errorf("share %v: other jobs when asked again", share)
		}
		if share > 0 && share < 1 && maps.Equal(jobs, chosen(2, share)) {
			t.Errorf("share %v: the same jobs with another seed", share)
		}
		for number := range jobs {
			if !chosenOf(p, number, min(1, 2*share)) {
				t.Errorf("job %d is computed twice by %v and not by twice as much", number, share)
			}
		}
	}
}

func chosenOf(p *sweep.Plan, number int, share float64) bool {
	job := p.Job(number)
	return p.ComputedTwice(&job, 1, share)
}
