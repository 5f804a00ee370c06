package sweep_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/sweep"
)

// withModel adds a model for one test.
func withModel(t *testing.T, m model.Model) {
	t.Helper()
	all := model.Models
	model.Models = append(slices.Clone(all), m)
	t.Cleanup(func() { model.Models = all })
}

func number(xs ...float64) []model.Setting {
	var out []model.Setting
	for _, x := range xs {
		out = append(out, model.Setting{Number: x})
	}
	return out
}

func word(ws ...string) []model.Setting {
	var out []model.Setting
	for _, w := range ws {
		out = append(out, model.Setting{Word: w})
	}
	return out
}

type (
	axes  = map[string][]model.Setting
	grids = []sweep.ModelGrid
)

func grid(model string, a axes) sweep.ModelGrid { return sweep.ModelGrid{Model: model, Axes: a} }

// gridTests are grids and their parameter sets.
var gridTests = []struct {
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
		"alpha": number(0.5, 1, 0.25+0.25), "value": word("optimal", "optimal"), "unreachable_value": number(math.Copysign(0, -1), 0),
	})}, []string{
		"boltzmann alpha=0.5 value=optimal unreachable_value=0",
		"boltzmann alpha=1 value=optimal unreachable_value=0",
	}},
	{"neighbouring numbers are two points", grids{grid("boltzmann", axes{"alpha": number(0.1, math.Nextafter(0.1, 1))})}, []string{
		"boltzmann alpha=0.1 value=optimal unreachable_value=-1000",
		"boltzmann alpha=0.10000000000000002 value=optimal unreachable_value=-1000",
	}},
	{"what costs most to change varies slowest", grids{grid("full", axes{
		"goal_noise": number(0.1, 0.2), "budget_r": number(2, 4), "budget_q": number(0.9), "search_noise": number(0.5, 0.02), "action_noise": number(0.05, 0.1),
	})}, []string{
		"full goal_noise=0.1 budget_r=2 budget_q=0.9 search_noise=0.5 action_noise=0.05",
		"full goal_noise=0.2 budget_r=2 budget_q=0.9 search_noise=0.5 action_noise=0.05",
		"full goal_noise=0.1 budget_r=2 budget_q=0.9 search_noise=0.5 action_noise=0.1",
		"full goal_noise=0.2 budget_r=2 budget_q=0.9 search_noise=0.5 action_noise=0.1",
		"full goal_noise=0.1 budget_r=4 budget_q=0.9 search_noise=0.5 action_noise=0.05",
		"full goal_noise=0.2 budget_r=4 budget_q=0.9 search_noise=0.5 action_noise=0.05",
		"full goal_noise=0.1 budget_r=4 budget_q=0.9 search_noise=0.5 action_noise=0.1",
		"full goal_noise=0.2 budget_r=4 budget_q=0.9 search_noise=0.5 action_noise=0.1",
		"full goal_noise=0.1 budget_r=2 budget_q=0.9 search_noise=0.02 action_noise=0.05",
		"full goal_noise=0.2 budget_r=2 budget_q=0.9 search_noise=0.02 action_noise=0.05",
		"full goal_noise=0.1 budget_r=2 budget_q=0.9 search_noise=0.02 action_noise=0.1",
		"full goal_noise=0.2 budget_r=2 budget_q=0.9 search_noise=0.02 action_noise=0.1",
		"full goal_noise=0.1 budget_r=4 budget_q=0.9 search_noise=0.02 action_noise=0.05",
		"full goal_noise=0.2 budget_r=4 budget_q=0.9 search_noise=0.02 action_noise=0.05",
		"full goal_noise=0.1 budget_r=4 budget_q=0.9 search_noise=0.02 action_noise=0.1",
		"full goal_noise=0.2 budget_r=4 budget_q=0.9 search_noise=0.02 action_noise=0.1",
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

func TestParameterSets(t *testing.T) {
	withModel(t, model.Model{Name: "dull", Axes: []string{"alpha"}})
	for _, test := range gridTests {
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
	withModel(t, model.Model{Name: "dull", Axes: []string{"alpha"}})
	many := number()
	for i := range 2048 {
		many = append(many, model.Setting{Number: float64(i + 1)})
	}
	deep := number()
	for i := range 2048 {
		deep = append(deep, model.Setting{Number: float64(-i)})
	}
	tests := []struct {
		grids grids
		want  string
	}{
		{nil, `no model to sweep; there are full, goal-lesioned, plan-lesioned, action-lesioned, boltzmann, dull`},
		{grids{grid("bolzmann", nil)}, `unknown model "bolzmann"; there are full, goal-lesioned, plan-lesioned, action-lesioned, boltzmann, dull; did you mean "boltzmann"?`},
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
		{grids{grid("full", axes{"goal_noise": number(0.1), "budget_r": number(2, 2.5)})}, `model "full": budget_r is 2.5, not a whole number`},
		{grids{grid("full", axes{"budget_r": number(0)})}, `model "full": budget_r is 0; it must lie between 1 and 10000`},
		{grids{grid("full", axes{"budget_r": number(math.NaN())})}, `model "full": budget_r is NaN, not a whole number`},
		{grids{grid("full", axes{"budget_r": number(math.Inf(1))})}, `model "full": budget_r is +Inf; it must lie between 1 and 10000`},
		{grids{grid("full", axes{"budget_q": number(1)})}, `model "full": budget_q is 1; it must lie between 0 and 0.9999`},
		{grids{grid("full", axes{"goal_noise": number(1.5)})}, `model "full": goal_noise is 1.5; it must lie between 0 and 1`},
		{grids{grid("full", axes{"action_noise": number(-0.1)})}, `model "full": action_noise is -0.1; it must lie between 0 and 1`},
		{grids{grid("full", axes{"search_noise": number(-1)})}, `model "full": search_noise is -1; it must lie between 0 and 1e+06`},
		{grids{grid("full", axes{"alpha": number(1)})}, `model "full" has no axis "alpha"; it has goal_noise, budget_r, budget_q, search_noise, action_noise`},
		{grids{grid("goal-lesioned", axes{"goal_noise": number(0.1)})}, `model "goal-lesioned" has no axis "goal_noise"; it has budget_r, budget_q, search_noise, action_noise`},
		{grids{grid("plan-lesioned", axes{"search_noise": number(0.1)})}, `model "plan-lesioned" has no axis "search_noise"; it has goal_noise, action_noise`},
		{grids{grid("action-lesioned", axes{"action_noise": number(0.1)})}, `model "action-lesioned" has no axis "action_noise"; it has goal_noise, budget_r, budget_q, search_noise`},
		{grids{grid("boltzmann", axes{"alpha": many, "unreachable_value": deep, "value": word("optimal", "heuristic")})}, `8,388,608 parameter sets are more than a sweep's 4,194,304; leave out some values`},
	}
	for _, test := range tests {
		_, err := (&sweep.Config{Models: test.grids}).ParameterSets()
		if err == nil || err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
}

// A lesion takes axes away and has no point twice: no two parameter sets of a
// model differ by what it does not use.
func TestLesionsHaveNoUnusedAxes(t *testing.T) {
	everything := axes{
		"goal_noise": number(0.1, 0.2), "budget_r": number(2, 4), "budget_q": number(0.9, 0.95),
		"search_noise": number(0.02, 0.5), "action_noise": number(0.05, 0.1, 0.2),
	}
	for name, want := range map[string]struct {
		without []string
		sets    int
	}{
		"full":            {nil, 48},
		"goal-lesioned":   {[]string{"goal_noise"}, 24},
		"plan-lesioned":   {[]string{"budget_r", "budget_q", "search_noise"}, 6},
		"action-lesioned": {[]string{"action_noise"}, 16},
	} {
		m, ok := model.ByName(name)
		if !ok || m.Exact {
			t.Fatalf("%s: %+v", name, m)
		}
		own := axes{}
		for axis, values := range everything {
			if has := !slices.Contains(want.without, axis); m.Has(axis) != has {
				t.Errorf("%s has %s: %v", name, axis, !has)
			} else if has {
				own[axis] = values
			}
		}
		sets, err := (&sweep.Config{Models: grids{grid(name, own)}}).ParameterSets()
		if err != nil || len(sets) != want.sets {
			t.Errorf("%s: %d parameter sets, want %d; %v", name, len(sets), want.sets, err)
		}
		seen := map[model.ParameterSet]bool{}
		for i := range sets {
			if seen[sets[i]] {
				t.Errorf("%s is there twice", &sets[i])
			}
			seen[sets[i]] = true
			for _, axis := range model.Axes {
				blank := sets[i]
				blank.Set(axis.Name, model.Setting{})
				if v, ok := sets[i].Get(axis.Name); ok != m.Has(axis.Name) || !ok && blank != sets[i] {
					t.Errorf("%s: %s is %v, %v", &sets[i], axis.Name, v, ok)
				}
			}
		}
	}
}
