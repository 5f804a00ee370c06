package views

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// some are fits of two models; that of the third set has no r.
func some() ([]fit, []model.ParameterSet) {
	var sets []model.ParameterSet
	var fits []fit
	for i, alpha := range []float64{0.5, 1, 2} {
		set := model.ParameterSet{Model: "boltzmann"}
		set.Set("alpha", model.Setting{Number: alpha})
		set.Set("value", model.Setting{Word: []string{"optimal", "heuristic"}[i%2]})
		sets = append(sets, set)
	}
	set := model.ParameterSet{Model: "plan-lesioned"}
	set.Set("action_noise", model.Setting{Number: 0.1})
	sets = append(sets, set)
	for i, r := range []float64{0.7, 0.8, math.NaN(), 0.8} {
		fits = append(fits, fit{set: i, r: r, n: 100 - i})
	}
	return fits, sets
}

func TestChoose(t *testing.T) {
	fits, sets := some()
	for _, test := range []struct{ query, want string }{
		{"", "1 3 0 2"}, // what has no r comes last
		{"order=up", "0 1 3 2"},
		{"sort=n", "0 1 2 3"},
		{"sort=set", "3 2 1 0"},
		{"sort=model&order=up", "0 1 2 3"},
		{"sort=alpha", "2 1 0 3"}, // so does what has not got the axis
		{"sort=alpha&order=up", "0 1 2 3"},
		{"sort=value&order=up", "1 0 2 3"},
		{"sort=nonsense", "0 1 2 3"},
		{"model=boltzmann", "1 0 2"},
		{"model=other", ""},
		{"filter=alpha%3D1", "1"},
		{"filter=alpha%3E0.5", "1 2"},
		{"filter=alpha%3E%3D1+alpha%3C2", "1"},
		{"filter=alpha%3C%3D1&sort=alpha", "1 0"},
		{"filter=r%3E0.75", "1 3"},
		{"filter=r%3C2", "1 3 0"},
		{"filter=value%3Dheuristic", "1"},
		{"filter=model%3Dplan-lesioned", "3"},
		{"filter=%233", "2"},
		{"filter=++", "1 3 0 2"},
	} {
		values, err := url.ParseQuery(test.query)
		if err != nil {
			t.Fatal(err)
		}
		q := ReadQuery(values)
		chosen, err := q.choose(fits, sets)
		var got []string
		for _, f := range chosen {
			got = append(got, fmt.Sprint(f.set))
		}
		if strings.Join(got, " ") != test.want || err != nil {
			t.Errorf("%s: %v, %v, want %s", test.query, got, err, test.want)
		}
	}
}

func TestFilterIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"full":      `"full" is no condition; write one as alpha=0.5 or r>0.8`,
		"=1":        `"=1" is no condition; write one as alpha=0.5 or r>0.8`,
		"beta=1":    `there is no column "beta"`,
		"r>much":    `"r>much": "much" is no number`,
		"alpha=":    `"alpha=": "" is no number`,
		"r>0.5 r<x": `"r<x": "x" is no number`,
	} {
		if _, err := parseFilter(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// However far one turns the pages, there is one, and all of them together have every fit once.
func TestPagesOfFits(t *testing.T) {
	var l Sweep
	l.Sweep, l.Inside = &foiblev1.Sweep{SweepId: "s"}, &Inside{}
	for i := range 120 {
		l.Inside.Sets = append(l.Inside.Sets, model.ParameterSet{Model: "boltzmann"})
		l.Fits.fits = append(l.Fits.fits, fit{set: i, r: float64(i) / 200})
	}
	seen := map[int]bool{}
	for page, want := range map[int]string{0: "1 50", 1: "1 50", 2: "51 100", 3: "101 120", 4: "101 120", math.MaxInt: "101 120"} {
		v := newFitsView(&l, ReadQuery(url.Values{"page": {fmt.Sprint(page)}}))
		if got := fmt.Sprint(v.First, v.Last); got != want || len(v.Rows) != v.Last-v.First+1 {
			t.Errorf("page %d: %s, %d rows, want %s", page, got, len(v.Rows), want)
		}
		if page >= 1 && page <= 3 {
			if (v.Previous != "") != (page > 1) || (v.Next != "") != (page < 3) {
				t.Errorf("page %d: previous %q, next %q", page, v.Previous, v.Next)
			}
			for _, row := range v.Rows {
				seen[row.Set] = true
			}
		}
	}
	if len(seen) != 120 {
		t.Errorf("%d fits are on a page", len(seen))
	}
	if v := newFitsView(&l, Query{Filter: "r>2", Page: 7}); v.First != 0 || v.Last != 0 || len(v.Rows) != 0 || v.Next+v.Previous != "" {
		t.Errorf("of nothing: %+v", v)
	}
}

// toppedUpPlan has two parameter sets of plan-lesioned, both of which go on to a round of topping up, and
// is told what each round comes to: the second is better at first, the first with more runs; a third lacks points.
func toppedUpPlan(t *testing.T) (*sweep.Plan, func(chunk sweep.Chunk) (sweep.Job, []result.Fit)) {
	t.Helper()
	c := sweep.Config{
		Models:    []sweep.ModelGrid{{Model: "plan-lesioned", Axes: map[string][]model.Setting{"action_noise": {{Number: .1}, {Number: .2}, {Number: .3}}}}},
		Inference: sweep.MarginalInference, Fit: sweep.Stage{Runs: 4}, Report: sweep.Stage{Runs: 8}, TopUp: 2, Seed: 1,
	}
	c.Models[0].Axes["goal_noise"] = []model.Setting{{Number: 0}}
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := (&sweep.Resolved{Config: c, Sets: sets}).Plan([]sweep.Shape{{Stimulus: "1-1", Goals: 2, Actions: 1, JudgementSteps: []int{0, 1}, Points: 4}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	r := map[string][]float64{sweep.FitStage: {.5, .52, .9}, sweep.TopUpStage: {.6, .51, .9}, sweep.ReportStage: {.55, .5, .9}}
	of := func(chunk sweep.Chunk) (sweep.Job, []result.Fit) {
		job := plan.Job(plan.ScoreJob(chunk))
		fits := make([]result.Fit, len(job.Sets))
		for i := range fits {
			n := 4
			if job.Index(i) == 2 {
				n = 2
			}
			fits[i] = result.Fit{Overall: result.Correlation{N: n, PearsonR: r[job.Stage][job.Index(i)], Defined: true}, MCSE: .02}
		}
		return job, fits
	}
	standing := sweep.NewStanding(plan.Points())
	for round := range plan.Rounds() {
		for chunk := range plan.RoundChunks(round) {
			job, fits := of(chunk)
			standing.AddJob(&job, fits)
		}
		plan.Choose(standing)
	}
	return plan, of
}

// Rounds of topping up come before the report; the best is that of the last of them, with its fit of it, and
// a parameter set that lacks points is not. It is so in whatever order chunks are read.
func TestTableOfToppedUpFits(t *testing.T) {
	plan, of := toppedUpPlan(t)
	if plan.TopUps() != 1 || len(plan.Chosen()) != 1 || plan.Chosen()[0] != 0 {
		t.Fatalf("%d rounds of topping up, %v in the report", plan.TopUps(), plan.Chosen())
	}
	forwards := slices.Collect(plan.Chunks())
	backwards := slices.Clone(forwards)
	slices.Reverse(backwards)
	for _, order := range [][]sweep.Chunk{forwards, backwards} {
		in := &Inside{Sets: plan.Sets, Stimuli: plan.Stimuli, Chosen: plan.Chosen()}
		table := NewFitTable(in)
		for _, chunk := range order {
			job, fits := of(chunk)
			table.Take(&job, chunk, fits)
			table.Take(&job, chunk, fits) // changes nothing
		}
		l := &Sweep{Sweep: &foiblev1.Sweep{SweepId: "s"}, Inside: in, Fits: table.snapshot(plan.Sets)}
		rs := map[int]string{}
		for _, f := range l.Fits.fits {
			rs[f.set] = fmt.Sprint(f.r, " ", l.Fits.count(&f), " ", f.rival)
		}
		if len(l.Fits.fits) != 3 || rs[0] != "0.6 4 true" || rs[1] != "0.51 4 true" || rs[2] != "0.9 2 of 4 false" {
			t.Errorf("fits %v", rs)
		}
		views := newBestViews(l)
		if want := (bestView{Model: "plan-lesioned", Settings: plan.Sets[0].Settings(), Set: 1, R: ".600", Reported: ".550", MCSE: ".0200", RMSE: ".000", N: "4"}); len(views.Best) != 1 || views.Best[0] != want || !views.Final || views.Incomplete {
			t.Errorf("best %+v, want %+v", views.Best, want)
		}
		if curves, _ := l.curves(); len(curves) != 1 || curves[0].Points[curves[0].Chosen].R != .6 {
			t.Errorf("curves %+v", curves)
		}
	}
}

func TestText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "1 s", 40 * time.Second: "40 s", 59900 * time.Millisecond: "59 s", 125 * time.Second: "2 min 5 s", time.Hour: "1 h",
		3*time.Hour + 20*time.Minute + 29*time.Second: "3 h 20 min", 52 * time.Hour: "2 d 4 h", 23*time.Hour + 59*time.Minute + 59*time.Second: "24 h",
	} {
		if got := duration(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
	for v, want := range map[float64]string{0.9124: ".912", 1: "1.000", -0.2: "−.200", -0.0001: ".000", math.NaN(): "–"} {
		if got := words.Decimals(v, 3); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	for seconds, want := range map[float64]string{0: "0", 10: "< 0.01", 3600: "1.00", 36e3: "10.0", 36e6: "10,000"} {
		if got := coreHours(seconds); got != want {
			t.Errorf("%v s: %s, want %s", seconds, got, want)
		}
	}
	for word, want := range map[string]string{"1-1": "1-1", "a b": "'a b'", "it's": `'it'\''s'`, "": "''"} {
		if got := words.Quoted(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}

// What time is left is a range, of a sweep that runs and of which it is known.
func TestETA(t *testing.T) {
	m := &foiblev1.Sweep{State: running}
	if got := eta(m); got != "" {
		t.Errorf("%q, and nothing is known", got)
	}
	m.EtaLow, m.EtaHigh = durationpb.New(70*time.Second), durationpb.New(150*time.Second)
	if got := eta(m); got != "1 min 10 s to 2 min 30 s" {
		t.Errorf("%q", got)
	}
	m.EtaLow = m.EtaHigh
	if got := eta(m); got != "about 2 min 30 s" {
		t.Errorf("%q", got)
	}
	m.State = paused
	if got := eta(m); got != "" {
		t.Errorf("%q while it is paused", got)
	}
}

// Progress is never more than the plan.
func TestProgressIsBounded(t *testing.T) {
	for done, want := range map[int64]int{0: 0, 999: 99, 1000: 100, 2000: 100} {
		v := NewSummary(&foiblev1.Sweep{State: running, Progress: &foiblev1.Progress{Cells: 1000, CellsDone: done}})
		if v.Percent != want || v.Cells != "1,000" || done == 2000 && v.Done != "1,000" {
			t.Errorf("%d: %+v", done, v)
		}
	}
	for _, test := range []struct{ done, of, level int }{{0, 10, 0}, {1, 1000, 1}, {55, 100, 5}, {999, 1000, 9}, {10, 10, 10}, {0, 0, 0}} {
		if h := newHeat(test.done, test.of); h.Level != test.level {
			t.Errorf("%+v: %+v", test, h)
		}
	}
}
