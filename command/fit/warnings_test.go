package fit

import (
	"bytes"
	"testing"

	"foible.dev/foible/command/input"
	"foible.dev/foible/command/results"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/diagnose"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/domains"
)

// The command beyond an edge keeps what was asked for, but the axes at whose edge the best lies.
func TestWarn(t *testing.T) {
	c := sweep.Config{Models: []sweep.ModelGrid{
		{Model: "full", Axes: map[string][]model.Setting{"action_noise": {{Number: 0.2}, {Number: 0.1}}}},
		{Model: "plan-lesioned", Axes: map[string][]model.Setting{"action_noise": {{Number: 0.05}, {Number: 0.1}}, "goal_noise": {{Number: 0.1}, {Number: 0.2}}}},
	}}
	warnings := []diagnose.Warning{
		{Text: "first"},
		{Text: "second", Edges: []diagnose.Edge{{Axis: "goal_noise", Beyond: model.Setting{Number: 0.4}}, {Axis: "action_noise", Beyond: model.Setting{Number: 0.4}}}},
		{Text: "third", Edges: []diagnose.Edge{{Axis: "action_noise", Beyond: model.Setting{Number: 0.4}}}},
	}
	o := &Options{
		Study: "my study", Out: "out", Workers: 2,
		Sweep: input.SweepChoice{Models: []string{"full", "plan-lesioned"}, Set: []string{"action_noise=0.1,0.2", "budget_r=2"}, Method: "sips", Runs: 3, Seed: "7"},
	}
	s := &domains.Study{Study: &study.Study{Name: "mine"}}
	var out bytes.Buffer
	e := &terminal.Terminal{Out: &out}
	results.PrintWarnings(e, warnings, &c, fitting(o, s))
	want := `Warning: first.
Warning: second.
Warning: third.
To go on beyond the edge: foible fit 'my study' --models full,plan-lesioned --set budget_r=2 --method sips --runs 3 --seed 7 --set goal_noise=0,0.1,0.2,0.4 --set action_noise=0.05,0.1,0.2,0.4 --workers 2 --out out-2
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	results.PrintWarnings(e, warnings[:1], &c, fitting(o, s))
	if out.String() != "Warning: first.\n" {
		t.Errorf("got %q", out.String())
	}
}
