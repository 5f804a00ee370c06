package sweep_test

import (
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

// A sweep of which a result would be too large is refused, with what to change; what is said to fit is not refused.
func TestCheckSizes(t *testing.T) {
	steps := make([]int, 2001)
	for i := range steps {
		steps[i] = i
	}
	long := []sweep.Shape{{Stimulus: "s", Goals: 3, Actions: 2000, JudgementSteps: steps}}
	full := model.ParameterSet{Model: "full"}
	exact := boltzmann(1)
	for name, test := range map[string]struct {
		set     *model.ParameterSet
		stimuli []sweep.Shape
		change  func(*sweep.Config)
		want    []string // what is said; nil: it fits
	}{
		"fits":                {&full, long, func(c *sweep.Config) { c.Fit.Runs, c.Report.Runs = 100, 171 }, nil},
		"runs do not matter":  {&exact, long, func(c *sweep.Config) { c.Fit.Runs = 1000 }, nil},
		"fit":                 {&full, long, func(c *sweep.Config) { c.Fit.Runs = 200 }, []string{"stimulus s: the result of one cell may have 9.3 MiB, more than the 7.9 MiB", "2,000 actions, 2,001 judgement steps and 3 goals, and 200 runs", "lower the runs of the fit stage to at most 171"}},
		"report":              {&full, long, func(c *sweep.Config) { c.Report.Runs = 172 }, []string{"172 runs; lower the runs of the report to at most 171"}},
		"as advised":          {&full, long, func(c *sweep.Config) { c.Fit.Runs = 171 }, nil},
		"too many of them":    {&full, []sweep.Shape{{Stimulus: "s", Goals: 1000, Actions: 2000, JudgementSteps: []int{0}}}, func(*sweep.Config) {}, []string{"leave out judgement steps or goals, or shorten the plan"}},
		"judged fits":         {&full, slices.Repeat([]sweep.Shape{{Goals: 1000, Actions: 100, JudgementSteps: []int{0}}}, 100), func(c *sweep.Config) { c.Fit.Runs, c.Report.Runs = 60, 0 }, nil},
		"comparison too big":  {&full, slices.Repeat([]sweep.Shape{{Goals: 100, Actions: 100, JudgementSteps: []int{0, 50, 100}}}, 1000), func(c *sweep.Config) { c.Fit.Runs = 100 }, []string{"what is compared with people for one parameter set may have", "1,000 stimuli, and 100 runs; lower the runs of the fit stage to at most 23"}},
		"topped up too often": {&full, long, func(c *sweep.Config) { c.Fit.Runs, c.TopUp = 50, 4 }, []string{"200 runs; lower top_up, or the runs of the fit stage, to at most 171"}},
	} {
		c := aConfig()
		c.Fit.Runs, c.Report.Runs = 5, 5
		test.change(&c)
		shapes := slices.Clone(test.stimuli)
		for i := range shapes {
			if shapes[i].Stimulus == "" {
				shapes[i].Stimulus = strings.Repeat("s", i+1)
			}
		}
		other := *test.set
		other.ActionNoise = model.Setting{Number: 0.2}
		plan, err := (&sweep.Resolved{Config: c, Sets: []model.ParameterSet{*test.set, other}}).Plan(shapes, 1)
		if err != nil {
			t.Fatal(err)
		}
		err = plan.CheckSizes(&c)
		if (err == nil) != (test.want == nil) {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range test.want {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
}

// A report that would be too large in one job is cut into several, which together have each model's best once.
func TestReportInParts(t *testing.T) {
	var sets []model.ParameterSet
	for _, m := range model.Models {
		for range 3 {
			sets = append(sets, model.ParameterSet{Model: m.Name})
		}
	}
	stimuli := []sweep.Shape{{Stimulus: "a", Goals: 3, Actions: 20_000}, {Stimulus: "b", Goals: 2, Actions: 5}}
	c := aConfig()
	c.Report.Runs = 2
	for _, test := range []struct{ actions, parts int }{{5, 1}, {30_000, 2}, {100_000, 5}} {
		stimuli[0].Actions = test.actions
		plan, err := (&sweep.Resolved{Config: c, Sets: sets}).Plan(stimuli, 1)
		if err != nil {
			t.Fatal(err)
		}
		parts := slices.Collect(plan.RoundChunks(1))
		if all := slices.Collect(plan.Chunks()); len(parts) != test.parts || len(all) != len(sets)+test.parts {
			t.Fatalf("%d actions: the report has the chunks %v of %d, want %d", test.actions, parts, len(all), test.parts)
		}
		g := sweep.NewProgress(plan)
		standing := sweep.NewStanding(0)
		for i := range sets {
			standing.Add(sets[i].Model, i, 0, &result.Fit{Overall: result.Correlation{N: 3, PearsonR: float64(i%3) / 4, Defined: true}})
		}
		plan.Choose(standing)
		var reported []int
		for number := range plan.Jobs() {
			job := plan.Job(number)
			if job.Stage == sweep.ReportStage && job.Score {
				for i := range job.Sets {
					reported = append(reported, job.Index(i))
				}
			}
			g.Add(number)
			if g.CellsDone() > plan.Cells() {
				t.Errorf("%d of %d cells are done", g.CellsDone(), plan.Cells())
			}
		}
		if want := []int{2, 5, 8, 11, 14}; !slices.Equal(reported, want) {
			t.Errorf("reported are %v, want %v", reported, want)
		}
		if !g.Complete() || g.CellsDone() != plan.Cells() {
			t.Errorf("%d of %d cells are done", g.CellsDone(), plan.Cells())
		}
		for _, part := range slices.Concat(g.Stages(), g.Models(), g.Stimuli()) {
			if part.CellsDone != part.Cells || part.JobsDone != part.Jobs {
				t.Errorf("%+v", part)
			}
		}
		for _, of := range g.Coverage() {
			if !slices.Equal(of.Done, []int{of.Sets, of.Sets}) {
				t.Errorf("%+v", of)
			}
		}
	}
}
