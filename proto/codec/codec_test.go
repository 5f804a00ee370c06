package codec_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/core/hashing"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/optional"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/sweep/sweeptest"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

func ptr[T any](v T) *T { return &v }

func boltzmann() *foiblev1.ParameterSet {
	return &foiblev1.ParameterSet{Model: "boltzmann", Alpha: ptr(0.5), Value: ptr("on_policy"), UnreachableValue: ptr(-40.0)}
}

// sent is a message as it arrives.
func sent[M proto.Message](t *testing.T, m M) M {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	arrived := m.ProtoReflect().New().Interface()
	if err := proto.Unmarshal(b, arrived); err != nil {
		t.Fatal(err)
	}
	return arrived.(M)
}

func refused(t *testing.T, name string, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("%s:\ngot  %v\nwant %s", name, err, want)
	}
}

func TestConfig(t *testing.T) {
	m := &foiblev1.SweepConfig{
		Models: map[string]*foiblev1.ModelConfig{"boltzmann": {Alpha: []float64{2, 0.5}, Value: []string{"optimal", "heuristic"}}},
		Fit:    &foiblev1.StageConfig{Runs: 7},
		Report: &foiblev1.StageConfig{Runs: 8, ParticlesPerGoal: 9},
		Inference: &foiblev1.InferenceConfig{
			Method: "sips", Observe: "exact", Filters: "per_goal", Resample: "always", ResampleThreshold: ptr(0.0),
			ResampleKind: "systematic", Rejuvenate: "replan",
		},
		ActionNoiseKind: "per_action_odds",
		Seed:            math.MaxUint64,
	}
	got, err := codec.Config(sent(t, m))
	want := sweep.Config{
		Models: []sweep.ModelGrid{{Model: "boltzmann", Axes: map[string][]model.Setting{
			"alpha": {{Number: 2}, {Number: 0.5}}, "value": {{Word: "optimal"}, {Word: "heuristic"}},
		}}},
		Inference: odd(),
		Fit:       sweep.Stage{Runs: 7, ParticlesPerGoal: 60}, Report: sweep.Stage{Runs: 8, ParticlesPerGoal: 9},
		Bootstrap: sweep.DefaultBootstrap, Seed: math.MaxUint64,
	}
	if err != nil || !reflect.DeepEqual(got.Config, want) || len(got.Sets) != 4 {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

// odd is an inference of which nothing is the default, but for the method.
func odd() sweep.Inference {
	return sweep.Inference{
		Method: "sips", Observe: "exact", Filters: "per_goal", Resample: "always", ResampleThreshold: 0,
		ResampleKind: "systematic", Rejuvenate: "replan", ActionNoiseKind: "per_action_odds",
	}
}

// No report is wanted: it has no runs, whatever its particles.
func TestConfigWithoutReport(t *testing.T) {
	c, err := codec.Config(sent(t, &foiblev1.SweepConfig{
		Models: map[string]*foiblev1.ModelConfig{"boltzmann": nil}, Report: &foiblev1.StageConfig{}, Fit: &foiblev1.StageConfig{},
		Inference: &foiblev1.InferenceConfig{Method: "sips"},
	}))
	if err != nil || c.Report.Runs != 0 || c.Fit.Runs != 1 || c.Fit.ParticlesPerGoal != 60 {
		t.Errorf("%+v, %v", c, err)
	}
}

// A method has its own defaults, and options that do not apply to it are refused by name.
func TestMethods(t *testing.T) {
	with := func(change func(*foiblev1.SweepConfig)) *foiblev1.SweepConfig {
		m := &foiblev1.SweepConfig{Models: map[string]*foiblev1.ModelConfig{"full": nil}, Inference: &foiblev1.InferenceConfig{}}
		change(m)
		return sent(t, m)
	}
	for name, test := range map[string]struct {
		change      func(*foiblev1.SweepConfig)
		fit, report sweep.Stage
		in          sweep.Inference
	}{
		"sips":     {func(m *foiblev1.SweepConfig) { m.Inference.Method = "sips" }, sweep.PaperFit, sweep.PaperReport, sweep.PaperInference},
		"marginal": {func(m *foiblev1.SweepConfig) { m.Inference.Method = "marginal" }, sweep.MarginalFit, sweep.MarginalReport, sweep.MarginalInference},
		"exact": {func(m *foiblev1.SweepConfig) {
			m.Inference.Observe, m.Fit, m.Report = "exact", &foiblev1.StageConfig{}, &foiblev1.StageConfig{}
		}, sweep.MarginalFit, sweep.Stage{}, sweep.MarginalInference},
		"runs": {func(m *foiblev1.SweepConfig) {
			m.Fit, m.Report = &foiblev1.StageConfig{Runs: 2}, &foiblev1.StageConfig{Runs: 3}
		}, sweep.Stage{Runs: 2}, sweep.Stage{Runs: 3}, sweep.MarginalInference},
	} {
		c, err := codec.Config(with(test.change))
		if err != nil || c.Fit != test.fit || c.Report != test.report || c.Inference != test.in {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	c, err := codec.Config(with(func(m *foiblev1.SweepConfig) { m.Inference.McSe, m.Inference.PosteriorSe = ptr(0.25), ptr(0.5) }))
	if err != nil || c.Inference.MCSE != 0.25 || c.Inference.PosteriorSE != 0.5 {
		t.Errorf("targets: %+v, %v", c.Inference, err)
	}
	for option, change := range map[string]func(*foiblev1.SweepConfig){
		"inference.observe":            func(m *foiblev1.SweepConfig) { m.Inference.Observe = "noisy" },
		"inference.filters":            func(m *foiblev1.SweepConfig) { m.Inference.Filters = "joint" },
		"inference.resample":           func(m *foiblev1.SweepConfig) { m.Inference.Resample = "ess" },
		"inference.resample_threshold": func(m *foiblev1.SweepConfig) { m.Inference.ResampleThreshold = ptr(0.25) },
		"inference.resample_kind":      func(m *foiblev1.SweepConfig) { m.Inference.ResampleKind = "residual" },
		"inference.rejuvenate":         func(m *foiblev1.SweepConfig) { m.Inference.Rejuvenate = "none" },
		"fit.particles_per_goal":       func(m *foiblev1.SweepConfig) { m.Fit = &foiblev1.StageConfig{ParticlesPerGoal: 1} },
		"report.particles_per_goal":    func(m *foiblev1.SweepConfig) { m.Report = &foiblev1.StageConfig{Runs: 4, ParticlesPerGoal: 1} },
		"fit.runs":                     func(m *foiblev1.SweepConfig) { m.Fit = &foiblev1.StageConfig{Runs: 1} },
		"report.runs":                  func(m *foiblev1.SweepConfig) { m.Report = &foiblev1.StageConfig{Runs: 1} },
		"inference.mc_se":              func(m *foiblev1.SweepConfig) { m.Inference.Method, m.Inference.McSe = "sips", ptr(0.1) },
		"inference.posterior_se":       func(m *foiblev1.SweepConfig) { m.Inference.Method, m.Inference.PosteriorSe = "sips", ptr(0.1) },
	} {
		_, err := codec.Config(with(change))
		var refused *codec.OptionError
		if !errors.As(err, &refused) || strings.Join(refused.Path, ".") != option {
			t.Errorf("%s: %v", option, err)
		}
	}
}

// Every axis is a field of the messages, under its own name.
func TestEveryAxisArrives(t *testing.T) {
	m := &foiblev1.SweepConfig{Models: map[string]*foiblev1.ModelConfig{
		"full": {
			GoalNoise: []float64{0.125}, BudgetR: []int32{3}, BudgetQ: []float64{0.25}, SearchNoise: []float64{0.5}, ActionNoise: []float64{0.75},
		},
		"plan-lesioned": {GoalNoise: []float64{0, 1}, ActionNoise: []float64{0.1}},
		"boltzmann":     {Alpha: []float64{4}, Value: []string{"on_policy"}, UnreachableValue: []float64{-2}},
	}}
	c, err := codec.Config(sent(t, m))
	if err != nil {
		t.Fatal(err)
	}
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range sets {
		got = append(got, sets[i].String())
		arrived, err := codec.ReadParameterSet(sent(t, codec.ParameterSet(&sets[i])))
		if err != nil || arrived != sets[i] {
			t.Errorf("got %v, %v, want %v", &arrived, err, &sets[i])
		}
	}
	want := []string{
		"full goal_noise=0.125 budget_r=3 budget_q=0.25 search_noise=0.5 action_noise=0.75",
		"plan-lesioned goal_noise=0 action_noise=0.1",
		"plan-lesioned goal_noise=1 action_noise=0.1",
		"boltzmann alpha=4 value=on_policy unreachable_value=-2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What a worker is asked for is what was planned, to the last bit of it.
func TestInferJob(t *testing.T) {
	sets := []model.ParameterSet{{Model: "plan-lesioned"}, {Model: "plan-lesioned"}}
	for i := range sets {
		sets[i].Set("goal_noise", model.Setting{Number: 0.1})
		sets[i].Set("action_noise", model.Setting{Number: math.Nextafter(0.3, float64(i))})
	}
	marginal := sweep.MarginalInference
	marginal.MCSE, marginal.PosteriorSE, marginal.ActionNoiseKind = 0.125, math.Nextafter(0.1, 1), "per_action_odds"
	for _, want := range []sweep.Procedure{
		{StageName: sweep.FitStage, Stage: sweep.PaperFit, Inference: sweep.PaperInference, Detail: sweep.DetailJudged},
		{StageName: sweep.ReportStage, Stage: sweep.Stage{Runs: 3, ParticlesPerGoal: 7}, Inference: odd(), Detail: sweep.DetailSteps},
		{StageName: sweep.ReportStage, Stage: sweep.MarginalReport, Inference: sweep.MarginalInference, Detail: sweep.DetailMistakes},
		{StageName: sweep.FitStage, Stage: sweep.Stage{Runs: 2}, Inference: marginal, Detail: sweep.DetailSteps},
	} {
		m := sent(t, codec.InferJob("1-1", want, sets))
		got, gotSets, err := codec.ReadInferJob(m)
		if err != nil || got != want || !slices.Equal(gotSets, sets) || m.GetStimulus() != "1-1" {
			t.Errorf("got %v, %v, %v, want %v, %v", got, gotSets, err, want, sets)
		}
		if got.String() != want.String() {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// The parameter sets of a job arrive in their order, whatever their models, or are refused.
func TestColumns(t *testing.T) {
	c := sweep.Config{Models: []sweep.ModelGrid{
		{Model: "full", Axes: map[string][]model.Setting{"goal_noise": {{Number: 0.1}, {Number: math.Nextafter(0.1, 1)}}, "budget_r": {{Number: 2}, {Number: 10_000}}}},
		{Model: "boltzmann", Axes: map[string][]model.Setting{"alpha": {{Number: 0.1}, {Number: 4}}, "value": {{Word: "optimal"}, {Word: "heuristic"}}}},
	}}
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	sets = append(sets, sets[0], sets[len(sets)-1], sets[0])
	job := codec.InferJob("1-1", sweep.Procedure{}, sets)
	_, got, err := codec.ReadInferJob(sent(t, job))
	if err != nil || !slices.Equal(got, sets) || codec.InferJobSize(job) != len(sets) || len(job.GetColumns()) != 5 {
		t.Errorf("got %v, %v, want %v, of %d in %d tables", got, err, sets, codec.InferJobSize(job), len(job.GetColumns()))
	}
	if _, none, err := codec.ReadInferJob(codec.InferJob("1-1", sweep.Procedure{}, nil)); err != nil || len(none) != 0 {
		t.Errorf("%v, %v", none, err)
	}
	for name, test := range map[string]struct {
		change func(full, boltzmann *foiblev1.ParameterColumns)
		want   string
	}{
		"no model":       {func(m, _ *foiblev1.ParameterColumns) { m.Model = "" }, `unknown model ""`},
		"NaN":            {func(m, _ *foiblev1.ParameterColumns) { m.ActionNoise[1] = math.NaN() }, `model "full": action_noise is NaN; it must lie between 0 and 1`},
		"out of range":   {func(_, m *foiblev1.ParameterColumns) { m.Alpha[0] = 0 }, `model "boltzmann": alpha is 0; it must lie between 1e-09 and 1e+06`},
		"whole number":   {func(m, _ *foiblev1.ParameterColumns) { m.BudgetR[0] = 0 }, `model "full": budget_r is 0; it must lie between 1 and 10000`},
		"unknown word":   {func(_, m *foiblev1.ParameterColumns) { m.Value[3] = "best" }, `model "boltzmann": value is "best"; it can be optimal, on_policy, heuristic`},
		"missing axis":   {func(m, _ *foiblev1.ParameterColumns) { m.BudgetQ = nil }, "48 parameter sets of full with 0 values of budget_q"},
		"a value less":   {func(_, m *foiblev1.ParameterColumns) { m.Value = m.Value[1:] }, "4 parameter sets of boltzmann with 3 values of value"},
		"a value more":   {func(_, m *foiblev1.ParameterColumns) { m.Alpha = append(m.Alpha, 1) }, "5 parameter sets of boltzmann with 4 values of value"},
		"axis of others": {func(m, _ *foiblev1.ParameterColumns) { m.Alpha = []float64{1} }, `model "full" has no axis "alpha"`},
	} {
		m := sent(t, job)
		test.change(m.GetColumns()[0], m.GetColumns()[1])
		_, _, err := codec.ReadInferJob(m)
		refused(t, name, err, test.want)
	}
}

func TestConfigDefaults(t *testing.T) {
	for name, model := range map[string]*foiblev1.ModelConfig{"empty": {}, "absent": nil} {
		c, err := codec.Config(&foiblev1.SweepConfig{Models: map[string]*foiblev1.ModelConfig{"boltzmann": model}})
		if err != nil || c.Fit != sweep.MarginalFit || c.Report != sweep.MarginalReport || c.Inference != sweep.MarginalInference || !reflect.DeepEqual(c.Bootstrap, sweep.DefaultBootstrap) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		if sets, err := c.ParameterSets(); err != nil || len(sets) != 7 {
			t.Errorf("%s: %v, %v", name, sets, err)
		}
	}
	_, err := codec.Config(&foiblev1.SweepConfig{})
	refused(t, "no model", err, "no model to sweep; there are full, goal-lesioned, plan-lesioned, action-lesioned, boltzmann")
	_, err = codec.Config(&foiblev1.SweepConfig{Models: map[string]*foiblev1.ModelConfig{"boltzmann": {Alpha: []float64{-1}}}})
	refused(t, "out of range", err, `model "boltzmann": alpha is -1; it must lie between 1e-09 and 1e+06`)
}

func TestBootstrap(t *testing.T) {
	for _, want := range []sweep.Bootstrap{{}, sweep.DefaultBootstrap, {Resamples: 3, Units: []string{"both"}}} {
		if got := codec.ReadBootstrap(sent(t, codec.Bootstrap(want))); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// Every number, however odd, arrives as it was sent.
func TestParameterSet(t *testing.T) {
	c := sweep.Config{Models: []sweep.ModelGrid{{Model: "boltzmann", Axes: map[string][]model.Setting{
		"alpha":             {{Number: 0.1}, {Number: math.Nextafter(0.1, 1)}, {Number: 1e-9}, {Number: 1e6}},
		"value":             {{Word: "optimal"}, {Word: "on_policy"}, {Word: "heuristic"}},
		"unreachable_value": {{Number: 0}, {Number: -1.0 / 3}},
	}}}}
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	for i := range sets {
		got, err := codec.ReadParameterSet(sent(t, codec.ParameterSet(&sets[i])))
		if err != nil || got != sets[i] {
			t.Errorf("got %v, %v, want %v", &got, err, &sets[i])
		}
	}
}

func TestMalformedParameterSets(t *testing.T) {
	all := model.Models
	model.Models = append(slices.Clone(all), model.Model{Name: "dull", Axes: []string{"alpha"}})
	t.Cleanup(func() { model.Models = all })
	for name, test := range map[string]struct {
		change func(*foiblev1.ParameterSet)
		want   string
	}{
		"no model":      {func(m *foiblev1.ParameterSet) { m.Model = "" }, `unknown model ""`},
		"unknown model": {func(m *foiblev1.ParameterSet) { m.Model = "fuller" }, `unknown model "fuller"`},
		"missing axis":  {func(m *foiblev1.ParameterSet) { m.Alpha = nil }, `a parameter set of boltzmann without alpha`},
		"missing word":  {func(m *foiblev1.ParameterSet) { m.Value = nil }, `a parameter set of boltzmann without value`},
		"extra axis": {
			func(m *foiblev1.ParameterSet) { m.Model = "dull" },
			`model "dull" has no axis "value"`,
		},
		"extra axis of another model": {
			func(m *foiblev1.ParameterSet) { m.GoalNoise = ptr(0.0) },
			`model "boltzmann" has no axis "goal_noise"`,
		},
		"axis of the full model": {
			func(m *foiblev1.ParameterSet) {
				proto.Reset(m)
				m.Model, m.GoalNoise, m.ActionNoise, m.BudgetR = "plan-lesioned", ptr(0.1), ptr(0.1), ptr(int32(2))
			},
			`model "plan-lesioned" has no axis "budget_r"`,
		},
		"NaN":          {func(m *foiblev1.ParameterSet) { m.Alpha = ptr(math.NaN()) }, `model "boltzmann": alpha is NaN; it must lie between 1e-09 and 1e+06`},
		"out of range": {func(m *foiblev1.ParameterSet) { m.Alpha = ptr(0.0) }, `model "boltzmann": alpha is 0; it must lie between 1e-09 and 1e+06`},
		"unknown word": {func(m *foiblev1.ParameterSet) { m.Value = ptr("") }, `model "boltzmann": value is "0"; it can be optimal, on_policy, heuristic`},
	} {
		m := boltzmann()
		test.change(m)
		_, err := codec.ReadParameterSet(sent(t, m))
		refused(t, name, err, test.want)
	}
}

func shape() *sweep.Shape {
	return &sweep.Shape{Stimulus: "1-1", Goals: 2, Actions: 2, JudgementSteps: []int{0, 2}}
}

func cell() result.Cell {
	return result.Cell{Posterior: [][]float64{{0.5, 0.5}, {0.1, 0.9}, {0, 1}}, UnreachableFrom: []int{-1, 2}}
}

func TestShapes(t *testing.T) {
	got := codec.Shapes([]*foiblev1.StimulusShape{{Stimulus: "1-1", Goals: 2, Actions: 2, JudgementSteps: []int32{0, 2}}})
	if want := []sweep.Shape{*shape()}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestCell(t *testing.T) {
	whole := cell()
	broken := cell()
	broken.Posterior, broken.Undefined = broken.Posterior[:2], &result.Undefined{Step: 2, Reason: "impossible at step 2, action (up)"}
	nothing := result.Cell{Posterior: [][]float64{}, Undefined: &result.Undefined{Step: 0, Reason: "why"}}
	for _, want := range []result.Cell{whole, broken, nothing} {
		got, err := codec.ReadCell(sent(t, codec.Cell(&want)), shape())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

// filtered is a cell of three runs of a particle filter, one of which ended early.
func filtered() result.Cell {
	c := cell()
	c.UnreachableFrom = nil
	c.SE = [][]float64{{0, 0}, {0.25, 0.25}, {0.5, 0.125}}
	c.Runs = result.RunsOf([][]float64{{0.5, 0.5}, {0, 1}}, [][]float64{{0.25, 0.75}, {1, 0}})
	c.Filter = result.Filter{ESS: []float64{120, 99.5, 1}, Alive: []float64{2, 1.5, 1}, Evidence: []float64{0, -1.25, -700}, FailedRuns: 1}
	return c
}

func TestFilteredCell(t *testing.T) {
	broken := filtered()
	broken.Posterior, broken.Undefined, broken.SE = broken.Posterior[:2], &result.Undefined{Step: 2, Reason: "all weights vanished"}, broken.SE[:2]
	broken.Runs = result.RunsOf([][]float64{{0.5, 0.5}}, [][]float64{{0.25, 0.75}}, [][]float64{{1, 0}}) // the judgement step 2 is not reached
	broken.Filter = result.Filter{ESS: []float64{120, 99.5}, Alive: []float64{2, 1.5}, Evidence: []float64{0, -1.25}, FailedRuns: 3}
	for _, want := range []result.Cell{filtered(), broken} {
		got, err := codec.ReadCell(sent(t, codec.Cell(&want)), shape())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestMalformedFilteredCells(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(-1)
	for name, test := range map[string]struct {
		change func(*foiblev1.Cell)
		want   string
	}{
		"SE NaN":             {func(m *foiblev1.Cell) { m.PosteriorSe[3] = nan }, "a number is NaN"},
		"SE negative":        {func(m *foiblev1.Cell) { m.PosteriorSe[3] = -0.1 }, "a standard error of -0.1"},
		"SE too short":       {func(m *foiblev1.Cell) { m.PosteriorSe = m.PosteriorSe[:5] }, "5 standard errors, want 3 steps of 2 goals"},
		"ESS NaN":            {func(m *foiblev1.Cell) { m.Ess[0] = nan }, "a number is NaN"},
		"ESS negative":       {func(m *foiblev1.Cell) { m.Ess[0] = -1 }, "an effective sample size or number of goals of -1"},
		"ESS too short":      {func(m *foiblev1.Cell) { m.Ess = m.Ess[:2] }, "2 steps of a filter, want 3"},
		"no ESS":             {func(m *foiblev1.Cell) { m.Ess = nil }, "0 steps of a filter, want 3"},
		"alive infinite":     {func(m *foiblev1.Cell) { m.Alive[2] = -inf }, "a number is +Inf"},
		"alive too long":     {func(m *foiblev1.Cell) { m.Alive = append(m.Alive, 1) }, "4 steps of a filter, want 3"},
		"evidence infinite":  {func(m *foiblev1.Cell) { m.Evidence[1] = inf }, "a number is -Inf"},
		"no evidence":        {func(m *foiblev1.Cell) { m.Evidence = nil }, "0 steps of a filter, want 3"},
		"runs NaN":           {func(m *foiblev1.Cell) { m.Runs[1] = nan }, "probability NaN"},
		"runs below 0":       {func(m *foiblev1.Cell) { m.Runs[0], m.Runs[1] = -0.5, 1.5 }, "probability -0.5"},
		"runs sum off":       {func(m *foiblev1.Cell) { m.Runs[1] = 0.25 }, "probabilities sum to 0.75"},
		"runs cut":           {func(m *foiblev1.Cell) { m.Runs = m.Runs[:6] }, "6 probabilities of runs, of 2 steps and 2 goals each"},
		"fewer than no runs": {func(m *foiblev1.Cell) { m.FailedRuns = -1 }, "-1 failed runs"},
	} {
		c := filtered()
		m := codec.Cell(&c)
		test.change(m)
		_, err := codec.ReadCell(sent(t, m), shape())
		refused(t, name, err, "stimulus 1-1: "+test.want)
	}
}

// marginal is a cell of marginal inference.
func marginal() result.Cell {
	c := cell()
	c.UnreachableFrom = nil
	c.SE = [][]float64{{0, 0}, {0.25, 0.25}, {0.5, 0.125}}
	c.Runs = result.RunsOf([][]float64{{0.5, 0.5}, {-0.25, 1.25}}, [][]float64{{0.25, 0.75}, {1.5, -0.5}})
	c.Evidence = []float64{0, -1.25, -700}
	c.LogEvidence = [][]float64{{0, 0}, {-1, -2}, {math.Inf(-1), -3}}
	c.Samples = 4096
	c.Mistakes = &result.Mistakes{
		Confused: []result.Estimate{{}, {Probability: 0.5, SE: 0.01}},
		Slip:     []result.Estimate{{Probability: 0.25, SE: 0.125}, {Probability: 1}},
		OffPath:  optional.Known([]result.Estimate{{Probability: 0.125, SE: 2}, {}}),
	}
	return c
}

func TestMarginalCell(t *testing.T) {
	judged := marginal()
	judged.Judge(shape().JudgementSteps)
	broken := marginal()
	broken.Posterior, broken.Undefined, broken.SE = broken.Posterior[:1], &result.Undefined{Step: 1, Reason: "why"}, broken.SE[:1]
	broken.Runs, broken.Evidence, broken.LogEvidence = result.Runs{}, broken.Evidence[:1], broken.LogEvidence[:1]
	broken.Mistakes = &result.Mistakes{Confused: []result.Estimate{}, Slip: []result.Estimate{}, OffPath: optional.Known([]result.Estimate{})}
	brokenAndJudged := broken
	brokenAndJudged.Judge(shape().JudgementSteps)
	cells := []result.Cell{marginal(), judged, broken, brokenAndJudged}
	for _, cell := range sweeptest.WithoutEach(marginal()) {
		cells = append(cells, cell)
	}
	for _, want := range cells {
		got, err := codec.ReadCell(sent(t, codec.Cell(&want)), shape())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestMalformedMarginalCells(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, test := range map[string]struct {
		change func(*foiblev1.Cell)
		want   string
	}{
		"judged":            {func(m *foiblev1.Cell) { m.Judged = true }, "6 probabilities, want 2 steps of 2 goals"},
		"runs NaN":          {func(m *foiblev1.Cell) { m.Runs[1] = nan }, "probabilities sum to NaN"},
		"runs infinite":     {func(m *foiblev1.Cell) { m.Runs[1] = inf }, "probabilities sum to +Inf"},
		"runs sum off":      {func(m *foiblev1.Cell) { m.Runs[1] = 1.5 }, "probabilities sum to 2"},
		"samples":           {func(m *foiblev1.Cell) { m.Samples = -1 }, "-1 samples"},
		"evidence NaN":      {func(m *foiblev1.Cell) { m.LogEvidence[1] = nan }, "evidence of a goal of NaN"},
		"evidence infinite": {func(m *foiblev1.Cell) { m.LogEvidence[1] = inf }, "evidence of a goal of +Inf"},
		"evidence cut":      {func(m *foiblev1.Cell) { m.LogEvidence = m.LogEvidence[1:] }, "evidence of 5 goals, want 3 steps of 2 goals"},
		"total infinite":    {func(m *foiblev1.Cell) { m.Evidence[1] = -inf }, "a number is -Inf"},
		"total cut":         {func(m *foiblev1.Cell) { m.Evidence = m.Evidence[1:] }, "2 steps of a filter, want 3"},
		"mistakes cut": {
			func(m *foiblev1.Cell) { m.Mistakes = &foiblev1.Mistakes{} }, "mistakes behind 0 actions, want 2",
		},
		"mistakes of one kind cut": {func(m *foiblev1.Cell) { m.Mistakes.Slip = m.Mistakes.Slip[1:] }, "mistakes behind 1 actions with 2 errors, want 2"},
		"mistake NaN":              {func(m *foiblev1.Cell) { m.Mistakes.OffPath[0] = nan }, "a mistake of probability NaN, with an error of 2"},
		"mistake above 1":          {func(m *foiblev1.Cell) { m.Mistakes.OffPath[0] = 1.5 }, "a mistake of probability 1.5, with an error of 2"},
		"error of a mistake":       {func(m *foiblev1.Cell) { m.Mistakes.OffPathSe[0] = inf }, "a mistake of probability 0.125, with an error of +Inf"},
	} {
		c := marginal()
		m := codec.Cell(&c)
		test.change(m)
		_, err := codec.ReadCell(sent(t, m), shape())
		refused(t, name, err, "stimulus 1-1: "+test.want)
	}
}

func TestMalformedCells(t *testing.T) {
	posterior := func(xs ...float64) func(*foiblev1.Cell) { return func(m *foiblev1.Cell) { m.Posterior = xs } }
	undefined := func(step int32, reason string) func(*foiblev1.Cell) {
		return func(m *foiblev1.Cell) { m.Undefined = &foiblev1.Undefined{Step: step, Reason: reason} }
	}
	for name, test := range map[string]struct {
		change func(*foiblev1.Cell)
		want   string
	}{
		"NaN":                 {posterior(0.5, 0.5, math.NaN(), 0.9, 0, 1), "stimulus 1-1, step 1: probability NaN"},
		"infinite":            {posterior(0.5, 0.5, 0.1, math.Inf(1), 0, 1), "stimulus 1-1, step 1: probability +Inf"},
		"negative":            {posterior(0.5, 0.5, 0.1, 0.9, -0.1, 1.1), "stimulus 1-1, step 2: probability -0.1"},
		"above 1":             {posterior(0.5, 0.5, 0.1, 0.9, 1.5, 0), "stimulus 1-1, step 2: probability 1.5"},
		"sum off":             {posterior(0.5, 0.25, 0.1, 0.9, 0, 1), "stimulus 1-1, step 0: probabilities sum to 0.75"},
		"too short":           {posterior(0.5, 0.5, 0.1, 0.9), "stimulus 1-1: 4 probabilities, want 3 steps of 2 goals"},
		"too long":            {posterior(0.5, 0.5, 0.1, 0.9, 0, 1, 0, 1), "stimulus 1-1: 8 probabilities, want 3 steps of 2 goals"},
		"empty":               {posterior(), "stimulus 1-1: 0 probabilities, want 3 steps of 2 goals"},
		"longer than defined": {undefined(2, "why"), "stimulus 1-1: 6 probabilities, want 2 steps of 2 goals"},
		"undefined too late":  {undefined(3, "why"), "stimulus 1-1: undefined from step 3 of 2"},
		"undefined too early": {undefined(-1, "why"), "stimulus 1-1: undefined from step -1 of 2"},
		"no reason":           {undefined(2, ""), "stimulus 1-1: undefined from step 2 of 2"},
		"reachability of too few": {
			func(m *foiblev1.Cell) { m.UnreachableFrom = []int32{-1} },
			"stimulus 1-1: reachability of 1 goals, want 2",
		},
		"unreachable from nowhere": {
			func(m *foiblev1.Cell) { m.UnreachableFrom = []int32{-1, 3} },
			"stimulus 1-1: a goal unreachable from step 3 of 2",
		},
	} {
		c := cell()
		m := codec.Cell(&c)
		test.change(m)
		_, err := codec.ReadCell(sent(t, m), shape())
		refused(t, name, err, test.want)
	}
	c := cell()
	m := codec.Cell(&c)
	posterior(0.5, 0.5, 0.1, 0.9, 1.0000000000000013, 0)(m)
	if _, err := codec.ReadCell(sent(t, m), shape()); err != nil {
		t.Errorf("a probability that was rounded: %v", err)
	}
}

func fit() result.Fit {
	return result.Fit{
		Overall:    result.Correlation{N: 4, PearsonR: -0.75, Defined: true, RMSE: 0.1},
		ByCategory: []result.Correlation{{Group: "odd", N: 4, PearsonR: -0.75, Defined: true, RMSE: 0.1}},
		ByStimulus: []result.Correlation{{Group: "1-1", N: 4, PearsonR: 0, Defined: true}, {Group: "1-2", N: 3, RMSE: 0.5}, {Group: "1-3"}},
		Intervals:  []result.Interval{{Unit: "stimuli", Low: -1, High: 0.5, Resamples: 499}},
		Undefined:  1,
		MCSE:       0.0625,
	}
}

func TestFit(t *testing.T) {
	for _, want := range []result.Fit{fit(), {}} {
		got, err := codec.ReadFit(sent(t, codec.Fit(&want)))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestMalformedFits(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*foiblev1.Fit)
		want   string
	}{
		"empty":           {func(m *foiblev1.Fit) { m.Overall = nil }, "a fit without a correlation, or with 1 undefined stimuli and 0 failed ones"},
		"negative count":  {func(m *foiblev1.Fit) { m.Undefined = -1 }, "a fit without a correlation, or with -1 undefined stimuli and 0 failed ones"},
		"error NaN":       {func(m *foiblev1.Fit) { m.McSe = math.NaN() }, "a Monte-Carlo error of NaN"},
		"error infinite":  {func(m *foiblev1.Fit) { m.McSe = math.Inf(1) }, "a Monte-Carlo error of +Inf"},
		"error negative":  {func(m *foiblev1.Fit) { m.McSe = -0.1 }, "a Monte-Carlo error of -0.1"},
		"NaN":             {func(m *foiblev1.Fit) { m.Overall.PearsonR = ptr(math.NaN()) }, ": r is NaN"},
		"above 1":         {func(m *foiblev1.Fit) { m.ByCategory[0].PearsonR = ptr(1.5) }, "odd: r is 1.5"},
		"RMSE NaN":        {func(m *foiblev1.Fit) { m.ByStimulus[0].Rmse = ptr(math.NaN()) }, "1-1: rmse is NaN"},
		"RMSE negative":   {func(m *foiblev1.Fit) { m.ByStimulus[0].Rmse = ptr(-0.1) }, "1-1: rmse is -0.1"},
		"r of one point":  {func(m *foiblev1.Fit) { m.ByStimulus[0].N = 1 }, "1-1: a correlation of 1 points"},
		"negative points": {func(m *foiblev1.Fit) { m.ByStimulus[2].N = -1 }, "1-3: a correlation of -1 points"},
		"interval NaN":    {func(m *foiblev1.Fit) { m.Intervals[0].Low = math.NaN() }, "interval by stimuli from NaN to 0.5"},
		"interval turned": {func(m *foiblev1.Fit) { m.Intervals[0].Low = 0.6 }, "interval by stimuli from 0.6 to 0.5"},
		"interval wide":   {func(m *foiblev1.Fit) { m.Intervals[0].High = 2 }, "interval by stimuli from -1 to 2"},
	} {
		f := fit()
		m := codec.Fit(&f)
		test.change(m)
		_, err := codec.ReadFit(sent(t, m))
		refused(t, name, err, test.want)
	}
}

func TestPredictions(t *testing.T) {
	want := []result.Prediction{
		{Rows: [][]float64{{0.5, 0.5}, {0, 1}}},
		{Rows: [][]float64{{0.2, 0.3, 0.5}}, Undefined: true},
		{Undefined: true},
		{Rows: [][]float64{{0.5, 0.5}, {0, 1}}, Runs: result.RunsOf([][]float64{{1, 0}, {0, 1}}, [][]float64{{0, 1}, {-0.5, 1.5}})}, // pseudo-values
	}
	var arrived []*foiblev1.Predictions
	for _, m := range codec.Predictions(want) {
		arrived = append(arrived, sent(t, m))
	}
	got, err := codec.ReadPredictions(arrived, []int{2, 3, 4, 2})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for name, test := range map[string]struct {
		posterior []float64
		runs      []float64
		goals     []int
		want      string
	}{
		"other study": {[]float64{0.5, 0.5}, nil, []int{2, 2}, "predictions of 1 stimuli, want 2"},
		"other goals": {[]float64{0.5, 0.5}, nil, []int{3}, "2 predictions for 3 goals"},
		"no goals":    {[]float64{0.5, 0.5}, nil, []int{0}, "2 predictions for 0 goals"},
		"NaN":         {[]float64{0.5, 0.5, math.NaN(), 1}, nil, []int{2}, "stimulus 1: probability NaN"},
		"sum off":     {[]float64{0.5, 0.5, 0.5, 0.25}, nil, []int{2}, "stimulus 1: probabilities sum to 0.75"},
		"run cut":     {[]float64{0.5, 0.5, 0, 1}, []float64{0.5, 0.5}, []int{2}, "stimulus 1: 2 probabilities of runs, of 2 steps and 2 goals each"},
		"run NaN":     {[]float64{0.5, 0.5}, []float64{0.5, math.NaN()}, []int{2}, "stimulus 1: probabilities sum to NaN"},
		"no rows":     {nil, []float64{0.5, 0.5}, []int{2}, "stimulus 1: 2 probabilities of runs, of 0 steps and 2 goals each"},
	} {
		_, err := codec.ReadPredictions([]*foiblev1.Predictions{{Posterior: test.posterior, Runs: test.runs}}, test.goals)
		refused(t, name, err, test.want)
	}
}

// A cell that could not be computed travels with its reason, packed and alone, and is what it was; nothing else has
// failed.
func TestFailedCells(t *testing.T) {
	failed, fine := result.FailedCell("no heuristic"), cell()
	for name, cells := range map[string][]result.Cell{"alone": {failed}, "in between": {fine, failed, fine}} {
		for _, judged := range []bool{false, true} {
			all := slices.Clone(cells)
			places := []int{}
			for i := range all {
				if all[i].Failed() {
					places = append(places, i)
				}
				if judged {
					all[i].Judge(shape().JudgementSteps)
				}
			}
			m := codec.InferResult(all, make([]byte, len(all)*hashing.HashSize))
			var found []int
			for i, reason := range codec.FailedCells(m) {
				if reason != "no heuristic" {
					t.Errorf("reason %q", reason)
				}
				found = append(found, i)
			}
			if !slices.Equal(found, places) {
				t.Errorf("%s, judged %v: failed are %v, want %v", name, judged, found, places)
			}
			read, err := codec.ReadCells(m, shape())
			if err != nil {
				t.Fatal(err)
			}
			for i := range read {
				if read[i].Failed() != slices.Contains(places, i) {
					t.Errorf("%s, judged %v: cell %d is read as %+v", name, judged, i, read[i])
				}
				if p := shape().Predict(&read[i]); p.Failed != read[i].Failed() || p.Failed && (len(p.Rows) > 0 || !p.Undefined) {
					t.Errorf("it predicts %+v", p)
				}
			}
		}
	}
	m := codec.Cell(&failed)
	m.Undefined.Step = 1
	_, err := codec.ReadCell(m, shape())
	refused(t, "failed later", err, "stimulus 1-1: undefined from step 1 of 2")
	goals := []int{2}
	p := []*foiblev1.Predictions{{Undefined: true, Failed: true}}
	read, err := codec.ReadPredictions(p, goals)
	if err != nil || !read[0].Failed || !proto.Equal(codec.Predictions(read)[0], p[0]) {
		t.Errorf("%+v, %v", read, err)
	}
	p[0].Posterior = []float64{0.5, 0.5}
	_, err = codec.ReadPredictions(p, goals)
	refused(t, "failed with a posterior", err, "stimulus 1: predictions of a cell that failed")
}

func TestOutcome(t *testing.T) {
	set, err := codec.ReadParameterSet(boltzmann())
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.NewPlan([]model.ParameterSet{set}, []sweep.Shape{*shape()}, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	c, f := cell(), fit()
	infer := &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Infer{Infer: &foiblev1.InferResult{Cells: []*foiblev1.Cell{codec.Cell(&c)}}}}
	infer.GetInfer().Cells[0].CellHash = []byte("hash")
	scored := &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Score{Score: &foiblev1.ScoreResult{Fits: []*foiblev1.Fit{codec.Fit(&f)}}}}
	scored.GetScore().Fits[0].ParameterSet = boltzmann()
	failure := &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Failure{Failure: &foiblev1.Failure{Reason: "no luck"}}}
	for name, test := range map[string]struct {
		m      *foiblev1.JobResult
		number int
		want   sweep.Outcome
	}{
		"infer":   {infer, 0, sweep.Outcome{Cells: []result.Cell{c}, Hashes: [][]byte{[]byte("hash")}}},
		"score":   {scored, 1, sweep.Outcome{Fits: []result.Fit{f}, Sets: []model.ParameterSet{set}}},
		"failure": {failure, 0, sweep.Outcome{Failure: "no luck"}},
		"nothing": {&foiblev1.JobResult{}, 0, sweep.Outcome{}}, // gather refuses it
	} {
		got, err := codec.Outcome(sent(t, test.m), plan, test.number)
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, test.want)
		}
	}
	for _, number := range []int{-1, 2} {
		if _, err := codec.Outcome(failure, plan, number); err == nil || !strings.HasSuffix(err.Error(), "of 2") {
			t.Errorf("job %d: %v", number, err)
		}
	}
	infer.GetInfer().Cells[0].Posterior[0] = math.NaN()
	_, err = codec.Outcome(infer, plan, 0)
	refused(t, "broken cell", err, "stimulus 1-1, step 0: probability NaN")
	scored.GetScore().Fits[0].Overall = nil
	_, err = codec.Outcome(scored, plan, 1)
	refused(t, "broken fit", err, "a fit without a correlation, or with 1 undefined stimuli and 0 failed ones")
}
