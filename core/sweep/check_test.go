package sweep_test

import (
	"math"
	"strings"
	"testing"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/sweep"
)

// plausible is a cell of two steps, both judged, and two goals, as a method gives it in detail.
func plausible(method, detail string) (*result.Cell, *sweep.Shape, *sweep.Procedure) {
	c := &result.Cell{Posterior: [][]float64{{0.5, 0.5}, {0.25, 0.75}}}
	p := &sweep.Procedure{StageName: sweep.FitStage, Stage: sweep.Stage{Runs: 3, ParticlesPerGoal: 4}, Detail: detail}
	p.Method = method
	s := &sweep.Shape{Stimulus: "s", Goals: 2, Actions: 1, JudgementSteps: []int{0, 1}}
	if method == "" { // of an exact model
		c.UnreachableFrom = []int{-1, 1}
		return c, s, p
	}
	c.SE = [][]float64{{0, 0}, {0.1, 0.1}}
	c.Evidence = []float64{0, -1}
	for range p.Runs {
		c.Runs.Add(c.Posterior)
	}
	if method == sweep.SIPS {
		c.ESS, c.Alive = []float64{8, 2.5}, []float64{2, 1.5}
	} else {
		c.LogEvidence, c.Samples = [][]float64{{0, 0}, {-1, math.Inf(-1)}}, 64
	}
	if detail == sweep.DetailMistakes {
		c.Mistakes = &result.Mistakes{}
	}
	if detail == sweep.DetailJudged {
		c.Judge(s.JudgementSteps)
	}
	return c, s, p
}

// A cell that its procedure cannot give is found, whatever is wrong with it.
func TestCheckCell(t *testing.T) {
	full, exact := &model.ParameterSet{Model: "full"}, &model.ParameterSet{Model: "boltzmann"}
	const sips, marginal = sweep.SIPS, sweep.Marginal
	for name, test := range map[string]struct {
		method, detail string
		spoil          func(*result.Cell)
		want           string // "": nothing is wrong
	}{
		"exact":                   {"", sweep.DetailSteps, func(*result.Cell) {}, ""},
		"sips":                    {sips, sweep.DetailSteps, func(*result.Cell) {}, ""},
		"sips judged":             {sips, sweep.DetailJudged, func(*result.Cell) {}, ""},
		"marginal":                {marginal, sweep.DetailSteps, func(*result.Cell) {}, ""},
		"marginal judged":         {marginal, sweep.DetailJudged, func(*result.Cell) {}, ""},
		"mistakes":                {marginal, sweep.DetailMistakes, func(*result.Cell) {}, ""},
		"no jackknife":            {marginal, sweep.DetailSteps, func(c *result.Cell) { c.Runs = result.Runs{} }, ""},
		"failed":                  {sips, sweep.DetailSteps, func(c *result.Cell) { *c = result.FailedCell("no heuristic") }, ""},
		"a run that failed":       {sips, sweep.DetailSteps, func(c *result.Cell) { c.FailedRuns, c.Runs = 1, result.RunsOf(c.Posterior, c.Posterior) }, ""},
		"evidence of exact":       {"", sweep.DetailSteps, func(c *result.Cell) { c.Evidence = []float64{0, -1} }, "samples of a model that is exact"},
		"runs of exact":           {"", sweep.DetailSteps, func(c *result.Cell) { c.Runs.Add(c.Posterior) }, "samples of a model that is exact"},
		"reach left out":          {"", sweep.DetailSteps, func(c *result.Cell) { c.UnreachableFrom = nil }, "with goals that cannot be reached: false"},
		"reach of sips":           {sips, sweep.DetailSteps, func(c *result.Cell) { c.UnreachableFrom = []int{-1, -1} }, "with goals that cannot be reached: true"},
		"failed with posterior":   {sips, sweep.DetailSteps, func(c *result.Cell) { c.Undefined = &result.Undefined{Failed: true, Reason: "no"} }, "numbers of a cell that could not be computed"},
		"failed with samples":     {marginal, sweep.DetailSteps, func(c *result.Cell) { *c = result.FailedCell("no"); c.Samples = 1 }, "samples of a model that is exact, or of a cell that could not be computed"},
		"evidence left out":       {sips, sweep.DetailSteps, func(c *result.Cell) { c.Evidence = nil }, "sample sizes, goals and evidence of 2, 2 and 0 steps"},
		"sample sizes left out":   {sips, sweep.DetailSteps, func(c *result.Cell) { c.ESS = nil }, "sample sizes, goals and evidence of 0, 2 and 2 steps"},
		"sample size":             {sips, sweep.DetailSteps, func(c *result.Cell) { c.ESS[0] = 1e300 }, "beyond that of 8 particles"},
		"negative sample size":    {sips, sweep.DetailSteps, func(c *result.Cell) { c.ESS[0] = -1 }, "beyond that of 8 particles"},
		"goals":                   {sips, sweep.DetailSteps, func(c *result.Cell) { c.Alive[0] = 2.5 }, "more than 2 goals alive"},
		"evidence":                {sips, sweep.DetailSteps, func(c *result.Cell) { c.Evidence[1] = -1e300 }, "evidence beyond what any model can have"},
		"errors left out":         {sips, sweep.DetailSteps, func(c *result.Cell) { c.SE = nil }, "standard errors of 0 steps, of 2 that are steps"},
		"errors":                  {sips, sweep.DetailSteps, func(c *result.Cell) { c.SE[1][0] = 0.6 }, "standard errors [0.6 0.1]"},
		"errors that are huge":    {marginal, sweep.DetailSteps, func(c *result.Cell) { c.SE[1][0] = 1e300 }, "standard errors [1e+300 0.1]"},
		"errors of judged":        {sips, sweep.DetailJudged, func(c *result.Cell) { c.SE = [][]float64{{0, 0}, {0, 0}} }, "standard errors of 2 steps, of 2 that are judged"},
		"runs":                    {sips, sweep.DetailSteps, func(c *result.Cell) { c.Runs.Add(c.Posterior) }, "4 runs, and 0 that failed, of 3"},
		"failed runs":             {sips, sweep.DetailSteps, func(c *result.Cell) { c.FailedRuns = 3 }, "3 failed runs of 3"},
		"undefined without runs":  {sips, sweep.DetailSteps, func(c *result.Cell) { c.Undefined = &result.Undefined{Step: 1, Reason: "no"} }, "0 failed runs of 3, though none reaches the end"},
		"searches of sips":        {sips, sweep.DetailSteps, func(c *result.Cell) { c.Samples = 3 }, "searches, of a particle filter"},
		"searches left out":       {marginal, sweep.DetailSteps, func(c *result.Cell) { c.Samples = 0 }, "0 searches"},
		"batches":                 {marginal, sweep.DetailSteps, func(c *result.Cell) { c.Runs.Add(c.Posterior) }, "4 batches, want 3"},
		"particles of marginal":   {marginal, sweep.DetailSteps, func(c *result.Cell) { c.FailedRuns = 1 }, "particles of marginal inference"},
		"evidence of goals":       {marginal, sweep.DetailSteps, func(c *result.Cell) { c.LogEvidence = nil }, "evidence of 2 steps, and by goal of 0, want 2"},
		"much evidence of a goal": {marginal, sweep.DetailSteps, func(c *result.Cell) { c.LogEvidence[0][1] = 1e300 }, "evidence of a goal of 1e+300"},
		"mistakes left out":       {marginal, sweep.DetailMistakes, func(c *result.Cell) { c.Mistakes = nil }, "with mistakes: false, where mistakes are asked for"},
		"mistakes besides":        {marginal, sweep.DetailSteps, func(c *result.Cell) { c.Mistakes = &result.Mistakes{} }, "with mistakes: true, where steps are asked for"},
	} {
		c, s, p := plausible(test.method, test.detail)
		test.spoil(c)
		set := full
		if test.method == "" {
			set = exact
		}
		err := s.CheckCell(c, set, p)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// A fit that cannot be one of its predictions is found.
func TestCheckFit(t *testing.T) {
	stimuli := []sweep.Shape{
		{Stimulus: "a", Goals: 2, Actions: 5, JudgementSteps: []int{0, 5}, Points: 4},
		{Stimulus: "b", Goals: 3, Actions: 5, JudgementSteps: []int{1, 2}, Points: 3}, // one of them nobody judged
		{Stimulus: "c", Goals: 2, Actions: 5, JudgementSteps: []int{1}},               // it is not known who judged it
	}
	outlines := []score.Outline{{Rows: 2}, {Rows: 1, Undefined: true}, {Undefined: true, Failed: true}}
	b := sweep.Bootstrap{Resamples: 20, Units: []string{"participants", "stimuli", "both"}}
	fit := func() *result.Fit {
		return &result.Fit{
			Overall:    result.Correlation{N: 7, PearsonR: 0.5, Defined: true, RMSE: 0.1},
			ByStimulus: []result.Correlation{{Group: "a", N: 4}, {Group: "b", N: 3}, {Group: "c"}},
			ByCategory: []result.Correlation{{Group: "x", N: 4}, {Group: "y", N: 3}},
			Intervals:  []result.Interval{{Unit: "participants", Low: 0.1, High: 0.7, Resamples: 20}, {Unit: "both", Low: 0, High: 0.8, Resamples: 19}},
			Undefined:  2, Failed: 1, MCSE: 0.01,
		}
	}
	for name, test := range map[string]struct {
		spoil func(*result.Fit)
		want  string // "": nothing is wrong
	}{
		"fit":                     {func(*result.Fit) {}, ""},
		"fewer points of b":       {func(f *result.Fit) { f.ByStimulus[1].N, f.ByCategory[1].N, f.Overall.N = 0, 0, 4 }, ""},
		"points":                  {func(f *result.Fit) { f.Overall.N = math.MaxInt32 }, "2147483647 points \"\", want the 7 of all stimuli"},
		"points of a":             {func(f *result.Fit) { f.ByStimulus[0].N, f.Overall.N = 2, 5 }, "stimulus a: 2 points, want 4 to 4"},
		"points of b":             {func(f *result.Fit) { f.ByStimulus[1].N, f.Overall.N = 6, 10 }, "stimulus b: 6 points, want 0 to 3"},
		"points of what failed":   {func(f *result.Fit) { f.ByStimulus[2].N, f.Overall.N = 2, 9 }, "stimulus c: 2 points, want 0 to 0"},
		"points by category":      {func(f *result.Fit) { f.ByCategory[0].N = 3 }, "6 points in 2 categories, want 7 points"},
		"no stimuli":              {func(f *result.Fit) { f.ByStimulus = nil }, "correlations of 0 stimuli, want 3"},
		"no categories":           {func(f *result.Fit) { f.ByCategory = nil }, "0 points in 0 categories"},
		"a category twice":        {func(f *result.Fit) { f.ByCategory[1].Group = "x" }, "two correlations of category \"x\""},
		"another stimulus":        {func(f *result.Fit) { f.ByStimulus[0].Group = "b" }, "a correlation of stimulus \"b\", want \"a\""},
		"undefined":               {func(f *result.Fit) { f.Undefined = 1 }, "1 undefined and 1 failed stimuli, want 2 and 1"},
		"failed":                  {func(f *result.Fit) { f.Failed = 0 }, "2 undefined and 0 failed stimuli, want 2 and 1"},
		"resamples":               {func(f *result.Fit) { f.Intervals[0].Resamples = -5 }, "-5 resamples of 20"},
		"too many resamples":      {func(f *result.Fit) { f.Intervals[0].Resamples = 21 }, "21 resamples of 20"},
		"an unknown unit":         {func(f *result.Fit) { f.Intervals[0].Unit = "people" }, "an interval by people"},
		"a unit twice":            {func(f *result.Fit) { f.Intervals[1].Unit = "participants" }, "an interval by participants"},
		"an error without r":      {func(f *result.Fit) { f.Overall.Defined = false }, "a Monte-Carlo error of 0.01 without samples, or without r"},
		"an interval upside down": {func(f *result.Fit) { f.Intervals[0].Low = 0.9 }, "an interval from 0.9 to 0.7"},
	} {
		f := fit()
		test.spoil(f)
		err := score.CheckFit(f, "full", outlines, stimuli, b)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	if err := score.CheckFit(fit(), "boltzmann", outlines, stimuli, b); err == nil || !strings.Contains(err.Error(), "without samples") {
		t.Errorf("a Monte-Carlo error of an exact model: %v", err)
	}
	if err := score.CheckFit(fit(), "full", outlines, stimuli, sweep.Bootstrap{Units: b.Units}); err == nil {
		t.Error("intervals are there, where none are asked for")
	}
}

// A fit of other numbers than those computed here is found, whichever number it is, and both are said.
func TestCheckSame(t *testing.T) {
	fit := func() *result.Fit {
		c := result.Correlation{N: 4, PearsonR: 0.5, Defined: true, RMSE: 0.25}
		category, stimulus := c, c
		category.Group, stimulus.Group = "c", "s"
		return &result.Fit{
			Overall: c, ByCategory: []result.Correlation{category}, ByStimulus: []result.Correlation{stimulus},
			Intervals: []result.Interval{{Unit: "both", Low: 0.25, High: 0.75, Resamples: 100}}, Undefined: 1, MCSE: 0.125,
		}
	}
	if err := fit().CheckSame(fit()); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(*result.Fit){
		"r is -1; computed here, it is 0.5":                           func(f *result.Fit) { f.Overall.PearsonR = -1 },
		"r is undefined; computed here, it is 0.5":                    func(f *result.Fit) { f.Overall.Defined = false },
		"5 points; counted here, there are 4":                         func(f *result.Fit) { f.Overall.N = 5 },
		"category c: rmse is 0.5; computed here, it is 0.25":          func(f *result.Fit) { f.ByCategory[0].RMSE = 0.5 },
		`category c: a correlation of "d", where it is of "c" here`:   func(f *result.Fit) { f.ByCategory[0].Group = "d" },
		"stimulus s: r is 0.75; computed here, it is 0.5":             func(f *result.Fit) { f.ByStimulus[0].PearsonR = 0.75 },
		"of 0 groups by stimulus; computed here, there are 1":         func(f *result.Fit) { f.ByStimulus = nil },
		"intervals [{both 0.25 0.75 99}]; computed here, they are":    func(f *result.Fit) { f.Intervals[0].Resamples = 99 },
		"2 undefined and 0 failed stimuli; computed here":             func(f *result.Fit) { f.Undefined = 2 },
		"a Monte-Carlo error of 0 (unknown: true); computed here, it": func(f *result.Fit) { f.MCSE, f.MCSEUnknown = 0, true },
	} {
		other := fit()
		spoil(other)
		if err := fit().CheckSame(other); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
