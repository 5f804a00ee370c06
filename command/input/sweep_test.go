package input

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/domains"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

const sweepYAML = `
models:
  boltzmann: {alpha: [1, 2], value: heuristic}
fit: {runs: 3}
seed: 7
`

func TestSweepChoice(t *testing.T) {
	file := filepath.Join(t.TempDir(), "other.yaml")
	if err := os.WriteFile(file, []byte("models: {boltzmann: {alpha: 16}}\nseed: 9\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	own := fstest.MapFS{"sweep.yaml": {Data: []byte(sweepYAML)}}
	all := []string{"action-lesioned", "boltzmann", "full", "plan-lesioned"} // goals are not mistaken in this domain
	boltzmann := []string{"boltzmann"}
	for _, c := range []struct {
		name   string
		study  fstest.MapFS
		choice SweepChoice
		alpha  []float64
		value  []string
		runs   int32
		parts  int32 // particles a goal; 0: the default
		seed   uint64
		models []string
	}{
		{"the domain's", fstest.MapFS{}, SweepChoice{}, []float64{.125, .25, .5, 1, 2, 4, 8}, []string{"optimal"}, 4, 0, 2021, all},
		{"the study's", own, SweepChoice{}, []float64{1, 2}, []string{"heuristic"}, 3, 0, 7, boltzmann},
		{"a file", own, SweepChoice{File: file}, []float64{16}, nil, 4, 0, 9, boltzmann},
		{"narrowed", own, SweepChoice{Set: []string{"alpha=0.5, 4", "value=on_policy,optimal"}, Method: "sips", Runs: 8, Particles: 9, Seed: "0"}, []float64{.5, 4}, []string{"on_policy", "optimal"}, 8, 9, 0, boltzmann},
		{"one model", own, SweepChoice{Models: []string{"boltzmann"}}, []float64{1, 2}, []string{"heuristic"}, 3, 0, 7, boltzmann},
		{"a model more", own, SweepChoice{Models: []string{"full", "boltzmann"}, Set: []string{"alpha=3", "goal_noise=0.1"}}, []float64{3}, []string{"heuristic"}, 3, 0, 7, []string{"boltzmann", "full"}},
		{"published", own, SweepChoice{Preset: "published"}, []float64{.125, .25, .5, 1, 2, 4, 8}, []string{"optimal"}, 5, 60, 2021, all},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := c.choice.Config(c.study, &domains.All[0])
			if err != nil {
				t.Fatal(err)
			}
			b := m.GetModels()["boltzmann"]
			if !slices.Equal(b.GetAlpha(), c.alpha) || !slices.Equal(b.GetValue(), c.value) || m.GetFit().GetRuns() != c.runs || m.GetFit().GetParticlesPerGoal() != c.parts || m.GetSeed() != c.seed {
				t.Errorf("got %v", m)
			}
			if got := slices.Sorted(maps.Keys(m.GetModels())); !slices.Equal(got, c.models) {
				t.Errorf("models %v, want %v", got, c.models)
			}
			kind := ""
			if len(c.models) > 2 { // the domain's
				kind = "total"
			}
			if c.choice.Preset == published {
				kind = "per_action_odds"
			}
			if m.GetActionNoiseKind() != kind {
				t.Errorf("action_noise_kind %q, want %q", m.GetActionNoiseKind(), kind)
			}
		})
	}
}

func TestSweepChoiceRefused(t *testing.T) {
	for _, c := range []struct {
		want   string
		choice SweepChoice
	}{
		{`--models: unknown model "a"; it can be full, goal-lesioned, plan-lesioned, action-lesioned, boltzmann`, SweepChoice{Models: []string{"a"}}},
		{`--set alpha is given twice; write all its values as --set alpha=value,value`, SweepChoice{Set: []string{"alpha=1", "alpha=2"}}},
		{`--runs -1: must be 1 to 100000`, SweepChoice{Runs: -1}},
		{`--runs 100001: must be 1 to 100000`, SweepChoice{Runs: 100_001}},
		{`--top-up -1: must be 1 to 1000, 1 being none`, SweepChoice{TopUp: -1}},
		{`--top-up 1001: must be 1 to 1000, 1 being none`, SweepChoice{TopUp: 1001}},
		{`top_up needs 2 runs in the fit stage at least, to know the errors by which contenders are found`, SweepChoice{Method: "sips", Runs: 1, TopUp: 2}},
		{`top_up of 8 times 20,000 runs is more than the 100,000 that a cell may have`, SweepChoice{Method: "sips", Runs: 20_000, TopUp: 8}},
		{`--particles -1: must be 1 to 10000000`, SweepChoice{Particles: -1}},
		{`--particles 10000001: must be 1 to 10000000`, SweepChoice{Particles: 10_000_001}},
		{`--mc-se -1: must be above 0, and at most 1`, SweepChoice{MCSE: -1}},
		{`--posterior-se 2: must be above 0, and at most 1`, SweepChoice{PosteriorSE: 2}},
		{`mc_se does not apply to the method sips; leave it out, or choose the method marginal`, SweepChoice{Method: "sips", MCSE: 0.1}},
		{`--method "exact": it can be marginal, sips`, SweepChoice{Method: "exact"}},
		{`--preset published is of the method sips; leave out one of --preset and --method`, SweepChoice{Preset: published, Method: "marginal"}},
		{`marginal inference has no particles; leave particles_per_goal out, or choose the method sips`, SweepChoice{Particles: 5}},
		{`marginal inference needs 2 runs at least, to know its error`, SweepChoice{Runs: 1}},
		{`--preset "best": it can be published`, SweepChoice{Preset: "best"}},
		{`--preset and --sweep both name a sweep; give one of them`, SweepChoice{Preset: published, File: "sweep.yaml"}},
		{`--set "budget_r=1.5": budget_r cannot be 1.5; it must be a whole number`, SweepChoice{Set: []string{"budget_r=1.5"}}},
		{`--set "goal_noise=0.1": none of the sweep's models has the axis goal_noise`, SweepChoice{Models: []string{"boltzmann"}, Set: []string{"goal_noise=0.1"}}},
		{`--seed "-1": must be a whole number from 0`, SweepChoice{Seed: "-1"}},
		{`--set "alpha": write it as axis=value or axis=value,value`, SweepChoice{Set: []string{"alpha"}}},
		{`--set "=1": write it as axis=value or axis=value,value`, SweepChoice{Set: []string{"=1"}}},
		{`--set "alpha= ": write it as axis=value or axis=value,value`, SweepChoice{Set: []string{"alpha= "}}},
		{`--set "alpha=1,": a value is missing`, SweepChoice{Set: []string{"alpha=1,"}}},
		{`--set "alpha=one": "one" is not a number`, SweepChoice{Set: []string{"alpha=one"}}},
		{`--set "alpha=NaN": alpha cannot be NaN; it must lie in [1e-09, 1e+06]`, SweepChoice{Set: []string{"alpha=NaN"}}},
		{`--set "alpha=0": alpha cannot be 0; it must lie in [1e-09, 1e+06]`, SweepChoice{Set: []string{"alpha=0"}}},
		{`--set "value=best": value cannot be "best"; it can be optimal, on_policy, heuristic`, SweepChoice{Set: []string{"value=best"}}},
		{`--set "beta=1": unknown axis "beta"; it can be goal_noise, budget_r, budget_q, search_noise, action_noise, alpha, value, unreachable_value`, SweepChoice{Set: []string{"beta=1"}}},
	} {
		_, err := c.choice.Config(fstest.MapFS{}, &domains.All[0])
		if usage := (*cli.UsageError)(nil); !errors.As(err, &usage) || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	// Files are no misuse of the command.
	for want, choice := range map[string]SweepChoice{
		"--sweep 'no such.yaml': no such file or directory": {File: "no such.yaml"},
		"sweep.yaml:1:10: ": {},
	} {
		_, err := choice.Config(fstest.MapFS{"sweep.yaml": {Data: []byte("models: {bolzmann: {}}\n")}}, &domains.All[0])
		if usage := (*cli.UsageError)(nil); err == nil || errors.As(err, &usage) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// Contenders are topped up as the sweep says, or the command line.
func TestSweepTopUp(t *testing.T) {
	own := fstest.MapFS{"sweep.yaml": {Data: []byte("models: {full: {}}\ntop_up: 4\n")}}
	for times, want := range map[int]int32{0: 4, 1: 1, 16: 16} {
		m, err := (&SweepChoice{TopUp: times}).Config(own, &domains.All[0])
		if err != nil || m.GetTopUp() != want {
			t.Errorf("--top-up %d: %d, %v; want %d", times, m.GetTopUp(), err, want)
		}
	}
}

// The method of the command line goes before the sweep's, with its own defaults.
func TestSweepMethod(t *testing.T) {
	paper := fstest.MapFS{"sweep.yaml": {Data: []byte("models: {full: {}}\ninference: {method: sips, filters: per_goal}\nfit: {runs: 3}\n")}}
	for _, c := range []struct {
		study  fstest.MapFS
		choice SweepChoice
		in     sweep.Inference
		fit    sweep.Stage
	}{
		{fstest.MapFS{}, SweepChoice{}, sweep.MarginalInference, sweep.MarginalFit},
		{fstest.MapFS{}, SweepChoice{Method: "sips"}, sweep.PaperInference, sweep.PaperFit},
		{paper, SweepChoice{Method: "marginal"}, sweep.MarginalInference, sweep.MarginalFit},
		{paper, SweepChoice{Method: "sips"}, func() sweep.Inference { in := sweep.PaperInference; in.Filters = "per_goal"; return in }(), sweep.Stage{Runs: 3, ParticlesPerGoal: 60}},
		{fstest.MapFS{}, SweepChoice{MCSE: 0.25, PosteriorSE: 0.5}, func() sweep.Inference {
			in := sweep.MarginalInference
			in.MCSE, in.PosteriorSE = 0.25, 0.5
			return in
		}(), sweep.MarginalFit},
		{paper, SweepChoice{Preset: published}, func() sweep.Inference {
			in := sweep.PaperInference
			in.ActionNoiseKind = "per_action_odds"
			return in
		}(), sweep.PaperFit},
	} {
		m, err := c.choice.Config(c.study, &domains.All[0])
		if err != nil {
			t.Fatal(err)
		}
		if got, err := codec.Config(m); err != nil || got.Inference != c.in || got.Fit != c.fit {
			t.Errorf("%+v: %+v, %+v, %v", c.choice, got.Inference, got.Fit, err)
		}
	}
}

// An axis that none of the models has is refused, not ignored.
func TestSetUnused(t *testing.T) {
	m := &foiblev1.SweepConfig{Models: map[string]*foiblev1.ModelConfig{"another": {}}}
	if _, err := set(m, "alpha=1"); err == nil || err.Error() != `--set "alpha=1": none of the sweep's models has the axis alpha` {
		t.Errorf("got %v", err)
	}
}
