package sweep_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"foible/core/sweep"
)

// withModel adds a model for one test.
func withModel(t *testing.T, m sweep.Model) {
	t.Helper()
	all := sweep.Models
	sweep.Models = append(slices.Clone(all), m)
	t.Cleanup(func() { sweep.Models = all })
}

func number(xs ...float64) []sweep.Setting {
	var out []sweep.Setting
	for _, x := range xs {
		out = append(out, sweep.Setting{Number: x})
	}
	return out
}

func word(ws ...string) []sweep.Setting {
	var out []sweep.Setting
	for _, w := range ws {
		out = append(out, sweep.Setting{Word: w})
	}
	return out
}

type (
	axes  = map[string][]sweep.Setting
	grids = []sweep.ModelGrid
)

func grid(model string, a axes) sweep.ModelGrid { return sweep.ModelGrid{Model: model, Axes: a} }

func TestParameterSets(t *testing.T) {
	withModel(t, sweep.Model{Name: "dull", Axes: []string{"alpha"}})
	negativeZero := math.Copysign(0, -1)
	tests := []struct {
		name  string
		grids grids
		want  []string
	}{
		{"last axis fastest, values as given", grids{grid("boltzmann", axes{
			"unreachable_value": number(-40, -1000), "value": word("on_policy", "optimal"), "alpha": number(2, 1),
		})}, []string{
			"boltzmann alpha=2 value=on_policy unreachable_value=-40",
			"boltzmann alpha=2 value=on_policy unreachable_value=-1000",
			"boltzmann alpha=2 value=optimal unreachable_value=-40",
			"boltzmann alpha=2 value=optimal unreachable_value=-1000",
			"boltzmann alpha=1 value=on_policy unreachable_value=-40",
			"boltzmann alpha=1 value=on_policy unreachable_value=-1000",
			"boltzmann alpha=1 value=optimal unreachable_value=-40",
			"boltzmann alpha=1 value=optimal unreachable_value=-1000",
		}},
		{"equal values are one point, where the first stands", grids{grid("boltzmann", axes{
			"alpha": number(0.5, 1, 0.25+0.25), "value": word("optimal", "optimal"), "unreachable_value": number(negativeZero, 0),
		})}, []string{
			"boltzmann alpha=0.5 value=optimal unreachable_value=0",
			"boltzmann alpha=1 value=optimal unreachable_value=0",
		}},
		{"neighbouring numbers are two points", grids{grid("boltzmann", axes{"alpha": number(0.1, math.Nextafter(0.1, 1))})}, []string{
			"boltzmann alpha=0.1 value=optimal unreachable_value=-1000",
			"boltzmann alpha=0.10000000000000002 value=optimal unreachable_value=-1000",
		}},
		{"defaults", grids{grid("boltzmann", nil)}, []string{
			"boltzmann alpha=0.125 value=optimal unreachable_value=-1000",
			"boltzmann alpha=0.25 value=optimal unreachable_value=-1000",
			"boltzmann alpha=0.5 value=optimal unreachable_value=-1000",
			"boltzmann alpha=1 value=optimal unreachable_value=-1000",
			"boltzmann alpha=2 value=optimal unreachable_value=-1000",
			"boltzmann alpha=4 value=optimal unreachable_value=-1000",
			"boltzmann alpha=8 value=optimal unreachable_value=-1000",
		}},
		{"models in their own order, with their own axes", grids{
			grid("dull", axes{"alpha": number(3)}),
			grid("boltzmann", axes{"alpha": number(1e-9, 1e6)}),
		}, []string{
			"boltzmann alpha=1e-09 value=optimal unreachable_value=-1000",
			"boltzmann alpha=1e+06 value=optimal unreachable_value=-1000",
			"dull alpha=3",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			sets, err := (&sweep.Config{Models: test.grids}).ParameterSets()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range sets {
				got = append(got, sets[i].String())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// Not even the bits of a parameter set tell -0 from 0.
func TestNegativeZero(t *testing.T) {
	c := sweep.Config{Models: grids{grid("boltzmann", axes{"alpha": number(1), "unreachable_value": number(math.Copysign(0, -1))})}}
	sets, err := c.ParameterSets()
	if err != nil || math.Signbit(sets[0].UnreachableValue.Number) {
		t.Errorf("%v, %v", sets, err)
	}
}

func TestMalformedGrids(t *testing.T) {
	withModel(t, sweep.Model{Name: "dull", Axes: []string{"alpha"}})
	many := number()
	for i := range 2048 {
		many = append(many, sweep.Setting{Number: float64(i + 1)})
	}
	deep := number()
	for i := range 2048 {
		deep = append(deep, sweep.Setting{Number: float64(-i)})
	}
	tests := []struct {
		grids grids
		want  string
	}{
		{nil, `no model to sweep; there are boltzmann, dull`},
		{grids{grid("bolzmann", nil)}, `unknown model "bolzmann"; there are boltzmann, dull`},
		{grids{grid("boltzmann", nil), grid("dull", nil), grid("boltzmann", nil)}, `model "boltzmann" is there twice`},
		{grids{grid("dull", axes{"value": word("optimal")})}, `model "dull" has no axis "value"; it has alpha`},
		{grids{grid("boltzmann", axes{"zeta": number(1), "alfa": number(1)})}, `model "boltzmann" has no axis "alfa"; it has alpha, value, unreachable_value`},
		{grids{grid("boltzmann", axes{"alpha": number(1, 0)})}, `model "boltzmann": alpha is 0; it must lie between 1e-09 and 1e+06`},
		{grids{grid("boltzmann", axes{"alpha": number(math.NaN())})}, `model "boltzmann": alpha is NaN; it must lie between 1e-09 and 1e+06`},
		{grids{grid("boltzmann", axes{"alpha": number(math.Inf(1))})}, `model "boltzmann": alpha is +Inf; it must lie between 1e-09 and 1e+06`},
		{grids{grid("boltzmann", axes{"alpha": word("warm")})}, `model "boltzmann": alpha is "warm", not a number`},
		{grids{grid("boltzmann", axes{"value": word("best")})}, `model "boltzmann": value is "best"; it can be optimal, on_policy, heuristic`},
		{grids{grid("boltzmann", axes{"value": number(1)})}, `model "boltzmann": value is "1"; it can be optimal, on_policy, heuristic`},
		{grids{grid("boltzmann", axes{"unreachable_value": number(1)})}, `model "boltzmann": unreachable_value is 1; it must lie between -1e+06 and 0`},
		{grids{grid("boltzmann", axes{"alpha": many, "unreachable_value": deep, "value": word("optimal", "heuristic")})}, `8388608 parameter sets are more than a sweep's 4194304; leave out some values`},
	}
	for _, test := range tests {
		_, err := (&sweep.Config{Models: test.grids}).ParameterSets()
		if err == nil || err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
}
