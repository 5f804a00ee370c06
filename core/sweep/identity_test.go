package sweep_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"foible.dev/foible/core/hashing"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/random"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

func boltzmann(alpha float64) model.ParameterSet {
	s := model.ParameterSet{Model: "boltzmann"}
	s.Set("alpha", model.Setting{Number: alpha})
	s.Set("value", model.Setting{Word: "optimal"})
	s.Set("unreachable_value", model.Setting{Number: -1000})
	return s
}

// distinct fails on a name that is there already.
type distinct struct {
	t    *testing.T
	seen map[string]string
}

func (d *distinct) add(what string, hash []byte) {
	d.t.Helper()
	if d.seen == nil {
		d.seen = map[string]string{}
	}
	if other, ok := d.seen[string(hash)]; ok {
		d.t.Errorf("%s and %s are one", what, other)
	}
	d.seen[string(hash)] = what
}

// Every worker of every version must find the same hash, so these are fixed.
func TestHashesDoNotChange(t *testing.T) {
	set := boltzmann(0.5)
	c := aConfig()
	if got := hex.EncodeToString(sweep.CellHash("study", "1-1", 2021, c.Procedure(sweep.FitStage), &set)[:8]); got != "5317a673f3fa85b0" {
		t.Errorf("cell hash %s", got)
	}
	if got := (&sweep.Resolved{Config: c, Sets: []model.ParameterSet{set}}).ID("study", "v1"); got != "dcf87bce2d" {
		t.Errorf("id %s", got)
	}
	if got := fmt.Sprint(random.RunStream(2021, sweep.FitStage, &set, "1-1", 0).Uint64()); got != "8996230046370623904" {
		t.Errorf("first draw of a run %s", got)
	}
	if got := fmt.Sprint(random.BootstrapStream(2021, "participants").Uint64()); got != "8944426427455769728" {
		t.Errorf("first draw of a bootstrap %s", got)
	}
}

func TestHash(t *testing.T) {
	d := distinct{t: t}
	b := func(s string) []byte { return []byte(s) }
	d.add("nothing", hashing.Hash())
	d.add("one empty", hashing.Hash(b("")))
	d.add("ab", hashing.Hash(b("ab")))
	d.add("a|b", hashing.Hash(b("a"), b("b")))
	d.add("|ab", hashing.Hash(b(""), b("ab")))
}

func TestCellHash(t *testing.T) {
	half, one := boltzmann(0.5), boltzmann(1)
	c := aConfig()
	p := c.Procedure(sweep.FitStage)
	d := distinct{t: t}
	marginal := sweep.Procedure{StageName: p.StageName, Stage: sweep.MarginalFit, Inference: sweep.MarginalInference, Detail: sweep.DetailSteps}
	d.add("marginal", sweep.CellHash("study", "1-1", 1, marginal, &half))
	for name, other := range otherInferences(marginal.Inference) {
		p := marginal
		p.Inference = other
		d.add("marginal of other "+name, sweep.CellHash("study", "1-1", 1, p, &half))
	}
	for _, detail := range []string{sweep.DetailJudged, sweep.DetailMistakes} {
		p := marginal
		p.Detail = detail
		d.add("marginal "+detail, sweep.CellHash("study", "1-1", 1, p, &half))
	}
	d.add("this", sweep.CellHash("study", "1-1", 1, p, &half))
	d.add("other study", sweep.CellHash("studies", "1-1", 1, p, &half))
	d.add("other stimulus", sweep.CellHash("study", "1-2", 1, p, &half))
	d.add("other seed", sweep.CellHash("study", "1-1", 2, p, &half))
	d.add("other parameters", sweep.CellHash("study", "1-1", 1, p, &one))
	for name, other := range otherInferences(c.Inference) {
		p := p
		p.Inference = other
		d.add("other "+name, sweep.CellHash("study", "1-1", 1, p, &half))
	}
	stage, runs, particles := p, p, p
	stage.StageName, runs.Runs, particles.ParticlesPerGoal = sweep.ReportStage, p.Runs+1, p.ParticlesPerGoal+1
	d.add("other stage", sweep.CellHash("study", "1-1", 1, stage, &half))
	d.add("other runs", sweep.CellHash("study", "1-1", 1, runs, &half))
	d.add("other particles", sweep.CellHash("study", "1-1", 1, particles, &half))
	d.add("the report", sweep.CellHash("study", "1-1", 1, c.Procedure(sweep.ReportStage), &half))
}

// aConfig is the paper's configuration without models.
func aConfig() sweep.Config {
	return sweep.Config{
		Inference: sweep.PaperInference, Fit: sweep.PaperFit, Report: sweep.PaperReport,
		Bootstrap: sweep.DefaultBootstrap, Seed: 2021,
	}
}

// otherInferences differ from one in one field each; they have every field that
// applies to its method.
func otherInferences(in sweep.Inference) map[string]sweep.Inference {
	all := map[string]sweep.Inference{}
	for i := range reflect.TypeFor[sweep.Inference]().NumField() {
		other := in
		field := reflect.ValueOf(&other).Elem().Field(i)
		if field.IsZero() {
			continue
		}
		switch field.Kind() {
		case reflect.String:
			field.SetString(field.String() + "x")
		case reflect.Float64:
			field.SetFloat(math.Nextafter(field.Float(), 2))
		default:
			panic("a field of another kind")
		}
		all[reflect.TypeFor[sweep.Inference]().Field(i).Name] = other
	}
	return all
}

// A stage's procedure has that stage's size, and the sweep's inference.
func TestProcedure(t *testing.T) {
	c := aConfig()
	if got, want := c.Procedure(sweep.FitStage), (sweep.Procedure{StageName: "fit", Stage: sweep.Stage{Runs: 5, ParticlesPerGoal: 60}, Inference: sweep.PaperInference, Detail: sweep.DetailSteps}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := c.Procedure(sweep.ReportStage), (sweep.Procedure{StageName: "report", Stage: sweep.Stage{Runs: 10, ParticlesPerGoal: 100}, Inference: sweep.PaperInference, Detail: sweep.DetailSteps}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What is kept of a cell follows from stage, method and the number of cells.
func TestDetail(t *testing.T) {
	for _, test := range []struct {
		method, stage string
		sets          int // on two stimuli
		want          string
	}{
		{sweep.SIPS, sweep.FitStage, 10_000, "steps"},
		{sweep.SIPS, sweep.FitStage, 10_001, "judged"},
		{sweep.SIPS, sweep.ReportStage, 10_001, "steps"},
		{sweep.Marginal, sweep.FitStage, 9_000, "steps"},
		{sweep.Marginal, sweep.FitStage, 10_001, "judged"},
		{sweep.Marginal, sweep.ReportStage, 10_001, "mistakes"},
	} {
		var c sweep.Config
		c.Inference, c.Fit, c.Report = sweep.DefaultsOf(test.method)
		if got := aPlan(t, test.sets, 2, 256).Procedure(&c, test.stage).Detail; got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// A large sweep has intervals of what it reports; if it reports nothing, of all.
func TestBootstrapOf(t *testing.T) {
	for _, test := range []struct {
		report bool
		sets   int // on two stimuli
		stage  string
		want   int
	}{
		{true, 9_000, sweep.FitStage, 500},
		{true, 10_001, sweep.FitStage, 0},
		{true, 10_001, sweep.ReportStage, 500},
		{false, 10_001, sweep.FitStage, 500},
	} {
		p, err := sweep.NewPlan(alphas(test.sets), shapes(2), 256, test.report)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.BootstrapOf(&sweep.Config{Bootstrap: sweep.DefaultBootstrap}, test.stage).Resamples; got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}

// Judge keeps the judgement steps that are there.
func TestJudge(t *testing.T) {
	whole := result.Cell{
		Posterior: [][]float64{{1}, {2}, {3}}, SE: [][]float64{{4}, {5}, {6}}, LogEvidence: [][]float64{{0}, {0}, {0}},
		Filter: result.Filter{ESS: []float64{7, 8, 9}, Evidence: []float64{-1, -2, -3}}, Mistakes: &result.Mistakes{}, Samples: 5,
	}
	whole.Judge([]int{0, 2, 4})
	want := result.Cell{
		Judged: true, Posterior: [][]float64{{1}, {3}},
		Filter: result.Filter{ESS: []float64{7, 9}, Evidence: []float64{-1, -3}}, Samples: 5,
	}
	if !reflect.DeepEqual(whole, want) {
		t.Errorf("got %+v, want %+v", whole, want)
	}
	if whole.Judge([]int{0, 2, 4}); !reflect.DeepEqual(whole, want) {
		t.Errorf("judged twice: %+v", whole)
	}
	shape := sweep.Shape{JudgementSteps: []int{0, 2, 4}}
	if got := shape.Predict(&whole); !reflect.DeepEqual(got.Rows, want.Posterior) {
		t.Errorf("predicted %v", got.Rows)
	}
}

// The error of a judged cell follows from its runs: of 0 and 1 it is 1 / 2.
func TestCellError(t *testing.T) {
	whole := result.Cell{Posterior: [][]float64{{1}, {2}}, SE: [][]float64{{0.25}, {0.125}}}
	if se, ok := whole.Error(1, 0); !ok || se != 0.125 {
		t.Errorf("%v, %v", se, ok)
	}
	judged := result.Cell{Judged: true, Posterior: [][]float64{{0.5}}, Runs: result.RunsOf([][]float64{{0}}, [][]float64{{1}})}
	if se, ok := judged.Error(0, 0); !ok || math.Abs(se-0.5) > 1e-15 {
		t.Errorf("%v, %v", se, ok)
	}
	judged.Runs = result.RunsOf([][]float64{{0}})
	if se, ok := judged.Error(0, 0); ok {
		t.Errorf("of one run: %v", se)
	}
	judged.Runs = result.Runs{}
	if se, ok := judged.Error(0, 0); !ok || se != 0 {
		t.Errorf("of an exact model: %v, %v", se, ok)
	}
}

func TestScoreHash(t *testing.T) {
	half, one := boltzmann(0.5), boltzmann(1)
	b := sweep.Bootstrap{Resamples: 10, Units: []string{"stimuli"}}
	scored := []result.Prediction{{Rows: [][]float64{{0.25, 0.75}}}, {Rows: [][]float64{{1, 0}}}}
	d := distinct{t: t}
	d.add("this", sweep.ScoreHash("study", 1, b, &half, scored))
	d.add("other study", sweep.ScoreHash("studies", 1, b, &half, scored))
	d.add("other seed", sweep.ScoreHash("study", 2, b, &half, scored))
	d.add("other resamples", sweep.ScoreHash("study", 1, sweep.Bootstrap{Resamples: 11, Units: b.Units}, &half, scored))
	d.add("other units", sweep.ScoreHash("study", 1, sweep.Bootstrap{Resamples: 10, Units: []string{"both"}}, &half, scored))
	d.add("other parameters", sweep.ScoreHash("study", 1, b, &one, scored))
	for name, other := range map[string][]result.Prediction{
		"other probability": {{Rows: [][]float64{{0.25, 0.75}}}, {Rows: [][]float64{{0, 1}}}},
		"other stimulus":    {{Rows: [][]float64{{0.25, 0.75}, {1, 0}}}, {}},
		"undefined":         {{Rows: [][]float64{{0.25, 0.75}}}, {Rows: [][]float64{{1, 0}}, Undefined: true}},
		"a run":             {{Rows: [][]float64{{0.25, 0.75}}, Runs: result.RunsOf([][]float64{{0.25, 0.75}})}, {Rows: [][]float64{{1, 0}}}},
		"two runs":          {{Rows: [][]float64{{0.25, 0.75}}, Runs: result.RunsOf([][]float64{{0.25, 0.75}}, [][]float64{{0.25, 0.75}})}, {Rows: [][]float64{{1, 0}}}},
		"other runs":        {{Rows: [][]float64{{0.25, 0.75}}, Runs: result.RunsOf([][]float64{{0.5, 0.5}}, [][]float64{{0, 1}})}, {Rows: [][]float64{{1, 0}}}},
		"runs in other order": {
			{Rows: [][]float64{{0.25, 0.75}}, Runs: result.RunsOf([][]float64{{0, 1}}, [][]float64{{0.5, 0.5}})},
			{Rows: [][]float64{{1, 0}}},
		},
		"a run of another stimulus": {{Rows: [][]float64{{0.25, 0.75}}}, {Rows: [][]float64{{1, 0}}, Runs: result.RunsOf([][]float64{{0.25, 0.75}})}},
		"a row in place of a run":   {{Rows: [][]float64{{0.25, 0.75}, {0.25, 0.75}}}, {Rows: [][]float64{{1, 0}}}},
		"a run of two rows":         {{Rows: [][]float64{{0.25, 0.75}}, Runs: result.RunsOf([][]float64{{0.5, 0.5}, {0, 1}})}, {Rows: [][]float64{{1, 0}}}},
	} {
		d.add(name, sweep.ScoreHash("study", 1, b, &half, other))
	}
}

func TestID(t *testing.T) {
	sets := []model.ParameterSet{boltzmann(0.5), boltzmann(1)}
	c := aConfig()
	c.Bootstrap, c.Seed = sweep.Bootstrap{Resamples: 10, Units: []string{"stimuli"}}, 1
	d := distinct{t: t}
	d.add("this", []byte((&sweep.Resolved{Config: c, Sets: sets}).ID("study", "v1")))
	d.add("other study", []byte((&sweep.Resolved{Config: c, Sets: sets}).ID("studies", "v1")))
	d.add("other version", []byte((&sweep.Resolved{Config: c, Sets: sets}).ID("study", "v2")))
	d.add("fewer sets", []byte((&sweep.Resolved{Config: c, Sets: sets[:1]}).ID("study", "v1")))
	d.add("other order", []byte((&sweep.Resolved{Config: c, Sets: []model.ParameterSet{sets[1], sets[0]}}).ID("study", "v1")))
	seed, runs, resamples, units := c, c, c, c
	seed.Seed, runs.Fit.Runs, resamples.Bootstrap.Resamples, units.Bootstrap.Units = 2, 2, 11, []string{"both"}
	particles, reportRuns, reportParticles := c, c, c
	particles.Fit.ParticlesPerGoal, reportRuns.Report.Runs, reportParticles.Report.ParticlesPerGoal = 2, 0, 2
	d.add("other particles", []byte((&sweep.Resolved{Config: particles, Sets: sets}).ID("study", "v1")))
	d.add("no report", []byte((&sweep.Resolved{Config: reportRuns, Sets: sets}).ID("study", "v1")))
	d.add("other particles of the report", []byte((&sweep.Resolved{Config: reportParticles, Sets: sets}).ID("study", "v1")))
	for name, other := range otherInferences(c.Inference) {
		c := c
		c.Inference = other
		d.add("other "+name, []byte((&sweep.Resolved{Config: c, Sets: sets}).ID("study", "v1")))
	}
	d.add("other seed", []byte((&sweep.Resolved{Config: seed, Sets: sets}).ID("study", "v1")))
	d.add("other runs", []byte((&sweep.Resolved{Config: runs, Sets: sets}).ID("study", "v1")))
	d.add("other resamples", []byte((&sweep.Resolved{Config: resamples, Sets: sets}).ID("study", "v1")))
	d.add("other units", []byte((&sweep.Resolved{Config: units, Sets: sets}).ID("study", "v1")))

	again := c
	again.Models = []sweep.ModelGrid{{Model: "boltzmann"}} // how the sets were asked for plays no part
	if (&sweep.Resolved{Config: again, Sets: sets}).ID("study", "v1") != (&sweep.Resolved{Config: c, Sets: sets}).ID("study", "v1") {
		t.Error("the same sweep has two ids")
	}
}

// A stream is one for (seed, stage, parameters, stimulus, run) and depends on nothing
// else; no two of them, nor of the bootstrap, begin alike.
func TestStreams(t *testing.T) {
	d := distinct{t: t}
	start := func(name string, draw func() uint64) {
		d.add(name, fmt.Appendf(nil, "%d %d", draw(), draw()))
	}
	for seed := range uint64(3) {
		for _, alpha := range []float64{0.5, 1} {
			set := boltzmann(alpha)
			for _, stimulus := range []string{"1-1", "1-11", "1-2"} {
				for _, stage := range []string{sweep.FitStage, sweep.ReportStage} {
					for run := range 12 {
						start(fmt.Sprint(seed, " ", stage, " ", &set, " ", stimulus, " ", run), random.RunStream(seed, stage, &set, stimulus, run).Uint64)
					}
				}
			}
		}
		for _, stage := range []string{sweep.FitStage, sweep.ReportStage} {
			for _, name := range [][2]string{{"1-1", "red"}, {"1-1r", "ed"}, {"1-1", "blue"}} { // stimulus and goal
				for tau := range 3 {
					for _, noise := range []float64{0, 0.02, 0.5} {
						for block := range 3 {
							searches := random.Searches{Seed: seed, Stage: stage, Stimulus: name[0], Tau: tau, Goal: name[1], SearchNoise: noise, Block: block}
							start(fmt.Sprint("sample ", seed, stage, name, tau, noise, block), random.SampleStream(&searches).Uint64)
						}
					}
				}
			}
		}
		for _, unit := range sweep.DefaultBootstrap.Units {
			start(fmt.Sprint(seed, " ", unit), random.BootstrapStream(seed, unit).Uint64)
		}
	}
	set, equal := boltzmann(1), boltzmann(1)
	a, b := random.RunStream(7, "fit", &set, "x", 3), random.RunStream(7, "fit", &equal, "x", 3)
	for range 100 {
		if a.Uint64() != b.Uint64() {
			t.Fatal("the same stream differs")
		}
	}
}

func TestGetSet(t *testing.T) {
	set := boltzmann(0.1)
	for axis, want := range map[string]string{"alpha": "0.1", "value": "optimal", "unreachable_value": "-1000"} {
		if v, ok := set.Get(axis); !ok || v.String() != want {
			t.Errorf("%s: %v, %v", axis, v, ok)
		}
	}
	withModel(t, model.Model{Name: "dull", Axes: []string{"alpha"}})
	set.Model = "dull"
	if v, ok := set.Get("value"); ok {
		t.Errorf("an axis that the model has not: %v", v)
	}
	if set.String() != "dull alpha=0.1" {
		t.Error(set.String())
	}
	defer func() {
		if recover() == nil {
			t.Error("an axis that does not exist was set")
		}
	}()
	set.Set("beta", model.Setting{})
}

// A hasher that has made other hashes before makes the same ones.
func TestHashersForgetNothing(t *testing.T) {
	c := sweep.Config{Models: []sweep.ModelGrid{
		{Model: "full", Axes: map[string][]model.Setting{"goal_noise": {{Number: 0.1}, {Number: 0.125}}, "action_noise": {{Number: 0.1}, {Number: 0.125}, {Number: 1}}}},
		{Model: "boltzmann", Axes: map[string][]model.Setting{"alpha": {{Number: 0.125}, {Number: 10}}, "value": {{Word: "optimal"}, {Word: "heuristic"}}}},
		{Model: "plan-lesioned", Axes: map[string][]model.Setting{"goal_noise": {{Number: 0.1}}}},
	}}
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	zero := sets[0]
	zero.Set("goal_noise", model.Setting{})
	minus := zero
	minus.Set("goal_noise", model.Setting{Number: math.Copysign(0, -1)})
	sets = append(sets, zero, minus, sets[0], sets[len(sets)-1], model.ParameterSet{Model: "unknown"}, sets[0])
	procedure := sweep.Procedure{StageName: sweep.FitStage, Stage: sweep.MarginalFit, Inference: sweep.MarginalInference}
	of := []result.Prediction{{Rows: [][]float64{{0.25, 0.75}}, Runs: result.RunsOf([][]float64{{0.5, 0.5}})}, {Undefined: true}}
	cells, scores := sweep.NewCellHash("study", "1-1", 1, procedure), sweep.NewScoreHash("study", 1, sweep.Bootstrap{})
	for i := range sets {
		if got := cells.Append([]byte("x"), &sets[i]); string(got) != "x"+string(sweep.CellHash("study", "1-1", 1, procedure, &sets[i])) {
			t.Errorf("cell of %v: %x", &sets[i], got)
		}
		if got := scores.Of(&sets[i], of[:1+i%2]); string(got) != string(sweep.ScoreHash("study", 1, sweep.Bootstrap{}, &sets[i], of[:1+i%2])) {
			t.Errorf("fit of %v: %x", &sets[i], got)
		}
	}
	// Runs count by their numbers, not by how precisely those are kept.
	short := slices.Clone(of)
	short[0].Runs = result.ShortRuns(of[0].Runs.Short(), 1, 2)
	if a, b := scores.Of(&sets[0], of), scores.Of(&sets[0], short); !slices.Equal(a, b) {
		t.Errorf("%x, then %x", a, b)
	}
}

// A copy has all that is known of a parameter set, and no number in common with it.
func TestCopyOfGathered(t *testing.T) {
	of := func() *sweep.Gathered {
		rows := func() [][]float64 { return [][]float64{{0.25, 0.75}, {1, 0}} }
		xs := func() []float64 { return []float64{1, 2} }
		return &sweep.Gathered{Index: 3, Fit: &result.Fit{MCSE: 0.5}, Cells: []*result.Cell{nil, {
			Posterior: rows(), SE: rows(), LogEvidence: rows(), Runs: result.RunsOf(rows()), Samples: 4,
			Filter: result.Filter{ESS: xs(), Alive: xs(), Evidence: xs()},
		}}}
	}
	g := of()
	kept := g.Copy()
	c := g.Cells[1]
	for _, xs := range [][]float64{c.Posterior[0], c.SE[1], c.LogEvidence[0], c.ESS, c.Alive, c.Evidence, c.Runs.Numbers()} {
		xs[0] = 9
	}
	c.Posterior[1], g.Fit.MCSE = nil, 9
	if want := of(); !reflect.DeepEqual(kept, want) {
		t.Errorf("got %+v, want %+v", kept, want)
	}
}
