package report_test

import (
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/report"
	"foible.dev/foible/core/sweep"
)

// The settings that are read are those that were written, in their order.
func TestSettings(t *testing.T) {
	c := sweep.Config{
		Models:    []sweep.ModelGrid{{Model: "boltzmann", Axes: map[string][]model.Setting{"alpha": {{Number: 0.5}, {Number: 1}}, "value": {{Word: "optimal"}}}}},
		Bootstrap: sweep.Bootstrap{Resamples: 20, Units: []string{"stimuli", "both"}}, Seed: 7,
	}
	c.Inference, c.Fit, c.Report = sweep.DefaultsOf(sweep.Marginal)
	var b strings.Builder
	if err := report.WriteConfig(&b, &c); err != nil {
		t.Fatal(err)
	}
	settings, err := report.ReadSettings(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []report.Setting{
		{Key: "models boltzmann alpha", Value: "0.5, 1"},
		{Key: "models boltzmann value", Value: "optimal"},
		{Key: "inference method", Value: "marginal"},
		{Key: "bootstrap units", Value: "stimuli, both"},
		{Key: "seed", Value: "7"},
	} {
		if !slices.Contains(settings, want) {
			t.Errorf("no %v in\n%s", want, b.String())
		}
	}
	if last := settings[len(settings)-1]; last.Key != "seed" {
		t.Errorf("the last setting is %v", last)
	}
	if _, err := report.ReadSettings(strings.NewReader("models: [\n")); err == nil {
		t.Error("what is not YAML is read")
	}
}
