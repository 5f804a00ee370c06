package ledger_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"foible.dev/foible/coordinator/ledger"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

func numbers(values ...float64) []model.Setting {
	settings := make([]model.Setting, len(values))
	for i, v := range values {
		settings[i].Number = v
	}
	return settings
}

// newPlan plans a sweep of two models on three stimuli with two parameter sets a job: Boltzmann, which is exact, and
// plan-lesioned with eight parameter sets, whose contenders get up to 4 times the runs in two rounds; and a report.
func newPlan(t *testing.T) *sweep.Plan {
	t.Helper()
	in, fit, report := sweep.DefaultsOf(sweep.SIPS)
	c := sweep.Config{Inference: in, Fit: fit, Report: report, TopUp: 4, Seed: 3, Models: []sweep.ModelGrid{
		{Model: "boltzmann", Axes: map[string][]model.Setting{"alpha": numbers(1, 2, 3)}},
		{Model: "plan-lesioned", Axes: map[string][]model.Setting{
			"goal_noise": numbers(0), "action_noise": numbers(.1, .2, .3, .4, .5, .6, .7, .8),
		}},
	}}
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	shapes := make([]sweep.Shape, 3)
	for i := range shapes {
		shapes[i] = sweep.Shape{Stimulus: fmt.Sprint("s", i), Goals: 3, Actions: 4, JudgementSteps: []int{2, 4}, Points: 6}
	}
	plan, err := (&sweep.Resolved{Config: c, Sets: sets}).Plan(shapes, 2)
	if err != nil {
		t.Fatal(err)
	}
	if plan.TopUps() != 2 || plan.Rounds() != 4 {
		t.Fatalf("%d rounds of topping up of %d rounds", plan.TopUps(), plan.Rounds())
	}
	return plan
}

// madeUp is a result of a job that follows from the job: fits of which several are close, one that lacks points, failed
// cells, and a failed job.
func madeUp(job *sweep.Job) ledger.Result {
	var r ledger.Result
	switch {
	case !job.Score && job.Number == 4:
		r.Cells = []ledger.CellFailure{{Place: 0, Reason: "no memory"}, {Place: 1, Reason: "no plan"}}
	case !job.Score && job.Number%7 == 1 && len(job.Sets) > 1:
		r.Cells = []ledger.CellFailure{{Place: 1, Reason: "no plan"}}
	case job.Score && job.Chunk == 2:
		r.Failed, r.Reason = true, "stimulus s1 has no posterior"
	case job.Score:
		for i := range job.Sets {
			set := job.Index(i)
			f := result.Fit{Overall: result.Correlation{N: 18, PearsonR: .8 + float64(set*7%5)/500 - float64(job.Round)/1000, Defined: true, RMSE: .2}}
			f.MCSE = .01 / float64(int(1)<<job.Round)
			if set == 8 {
				f.Overall.N = 12
			}
			for range 3 {
				f.ByStimulus = append(f.ByStimulus, result.Correlation{N: f.Overall.N / 3})
			}
			r.Fits = append(r.Fits, f)
		}
	}
	return r
}

// view is all that a ledger says.
type view struct {
	ledger.Snapshot
	Waiting, Rounds int
	Scored          []sweep.Chunk
	Coverage        []sweep.Coverage
	Chosen          []int
	Missing         []int
	Failed          []ledger.FailedJob
}

func look(l *ledger.Ledger) view {
	missing := l.Missing()
	slices.Sort(missing)
	return view{l.Snapshot(), l.Waiting(), l.KnownRounds(), l.Scored(), l.Coverage(), l.Chosen(), missing, l.FailedJobs()}
}

// roundsOf are the jobs of each round: its infer jobs, then its score jobs.
func roundsOf(plan *sweep.Plan) [][]int {
	rounds := make([][]int, plan.Rounds())
	for number := range plan.Jobs() {
		round := plan.Job(number).Round
		rounds[round] = append(rounds[round], number)
	}
	return rounds
}

// inOrder records everything in the order of the plan, and returns what the ledger says after each round, and all results.
func inOrder(t *testing.T) (after []view, results map[int]ledger.Result) {
	t.Helper()
	plan := newPlan(t)
	l := ledger.New(plan)
	results = map[int]ledger.Result{}
	for _, jobs := range roundsOf(plan) {
		for _, number := range jobs {
			job := l.Job(number)
			results[number] = madeUp(&job)
			if news, _ := l.Record(number, results[number]); !news {
				t.Fatalf("job %d is no news", number)
			}
		}
		after = append(after, look(l))
	}
	return after, results
}

// TestWhole: what a ledger says of a whole sweep is what was made up.
func TestWhole(t *testing.T) {
	after, results := inOrder(t)
	end := after[len(after)-1]
	if end.JobsDone != end.Jobs || end.CellsDone != end.Cells || end.JobsFailed != 1 || end.Rounds != 4 || len(end.Missing) > 0 || end.Waiting > 0 {
		t.Errorf("%+v", end)
	}
	cells := 0
	for _, r := range results {
		cells += len(r.Cells)
	}
	if end.CellsFailed != cells || cells == 0 {
		t.Errorf("%d cells failed, want %d", end.CellsFailed, cells)
	}
	if !slices.Equal(end.Reasons, []string{"stimulus s1 has no posterior"}) {
		t.Errorf("reasons %q", end.Reasons)
	}
	counted := map[string]int{}
	for _, c := range end.Causes {
		counted[c.Reason] += c.Cells
		if c.Model == "" {
			t.Errorf("cells of no model: %+v", c)
		}
	}
	if !maps.Equal(counted, map[string]int{"no memory": 1, "no plan": cells - 1}) {
		t.Errorf("causes %v", end.Causes)
	}
	if len(end.Best) != 2 || !end.Best[0].Complete || end.Best[0].Set > 2 || end.Best[1].Set < 3 || end.Best[1].Set == 8 {
		t.Errorf("the best are %+v", end.Best)
	}
	for i, best := range end.Best {
		if before := after[2].Best[i]; best != before {
			t.Errorf("by the report, the best is %+v, not %+v", best, before)
		}
	}
	if !slices.Equal(end.Chosen, []int{end.Best[0].Set, end.Best[1].Set}) {
		t.Errorf("the report has %v", end.Chosen)
	}
}

// TestAnyOrder: results of a stage in any order, and of all stages in any order, give the same; each of them twice too.
func TestAnyOrder(t *testing.T) {
	want, results := inOrder(t)
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		t.Run(fmt.Sprint("stage by stage ", seed), func(t *testing.T) {
			plan := newPlan(t)
			l := ledger.New(plan)
			for round, jobs := range roundsOf(plan) {
				rng.Shuffle(len(jobs), func(i, k int) { jobs[i], jobs[k] = jobs[k], jobs[i] })
				for _, number := range jobs {
					l.Record(number, results[number])
					before := look(l)
					if news, ready := l.Record(number, ledger.Result{Failed: true, Reason: "something else"}); news || ready != nil {
						t.Fatalf("job %d is news again, with %v ready", number, ready)
					}
					if after := look(l); !reflect.DeepEqual(after, before) {
						t.Fatalf("job %d, recorded twice, changes\n%+v to\n%+v", number, before, after)
					}
				}
				if got := look(l); !reflect.DeepEqual(got, want[round]) {
					t.Fatalf("after round %d\n%+v, want\n%+v", round, got, want[round])
				}
			}
		})
		t.Run(fmt.Sprint("all ", seed), func(t *testing.T) {
			l := ledger.New(newPlan(t))
			for _, number := range rng.Perm(len(results)) {
				l.Record(number, results[number])
			}
			if got := look(l); !reflect.DeepEqual(got, want[len(want)-1]) {
				t.Errorf("%+v, want\n%+v", got, want[len(want)-1])
			}
		})
	}
}

// TestReady: each job beyond the first stage is said to be ready once, as soon as all is there that it rests on, and never
// after it was recorded.
func TestReady(t *testing.T) {
	_, results := inOrder(t)
	plan := newPlan(t)
	l := ledger.New(plan)
	queue := make([]int, plan.FitJobs())
	for i := range queue {
		queue[i] = i
	}
	rng := rand.New(rand.NewPCG(5, 1))
	done := map[int]bool{}
	for len(queue) > 0 {
		missing := l.Missing()
		slices.Sort(missing)
		if waiting := slices.Sorted(slices.Values(queue)); !slices.Equal(waiting, missing) || l.Waiting() != len(missing) {
			t.Fatalf("%v can be done, and %v are said to be missing, %d waiting", waiting, missing, l.Waiting())
		}
		at := rng.IntN(len(queue))
		number := queue[at]
		queue = slices.Delete(queue, at, at+1)
		if !l.Known(number) || done[number] {
			t.Fatalf("job %d is ready; known %v, done %v", number, l.Known(number), done[number])
		}
		done[number] = true
		_, ready := l.Record(number, results[number])
		queue = append(queue, ready...)
	}
	if len(done) != plan.Jobs() || !l.Complete() {
		t.Errorf("%d of %d jobs became ready", len(done), plan.Jobs())
	}
}

// TestTopUpRounds: the parameter sets of a round are known when the last fit before it is there, and Unscored lists those
// that are missing until then.
func TestTopUpRounds(t *testing.T) {
	_, results := inOrder(t)
	plan := newPlan(t)
	l := ledger.New(plan)
	for round, jobs := range roundsOf(plan) {
		if l.KnownRounds() != round+1 {
			t.Fatalf("%d rounds are known before the results of round %d", l.KnownRounds(), round)
		}
		if missing := l.Unscored(round); len(missing) > 0 {
			t.Errorf("jobs %v are missing for round %d, which is known", missing, round)
		}
		last := jobs[len(jobs)-1]
		for _, number := range jobs {
			if number == last && !slices.Equal(l.Unscored(round+1), []int{last}) {
				t.Errorf("round %d rests on %v, want %d", round+1, l.Unscored(round+1), last)
			}
			l.Record(number, results[number])
		}
	}
}

// TestManyFailures: of failures without number the first are kept, whatever their order, and all are counted.
func TestManyFailures(t *testing.T) {
	var want view
	for seed := range uint64(5) {
		plan := newPlan(t)
		l := ledger.New(plan)
		jobs := rand.New(rand.NewPCG(seed, 1)).Perm(plan.FitJobs())
		for _, number := range jobs {
			l.Record(number, ledger.Result{Failed: true, Reason: fmt.Sprint("reason ", number%12)})
		}
		got := look(l)
		if len(got.Reasons) != 10 || got.Reasons[0] != "reason 0" || got.Reasons[9] != "reason 9" || got.JobsFailed != plan.FitJobs() {
			t.Errorf("%d jobs failed, with reasons %q", got.JobsFailed, got.Reasons)
		}
		if seed == 0 {
			want = got
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want\n%+v", got, want)
		}
	}
}
