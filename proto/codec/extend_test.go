package codec_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// TestExtend: new values take their place, and what was there keeps its order, and the configuration given stays as it is.
func TestExtend(t *testing.T) {
	for _, test := range []struct {
		name       string
		has, more  *foiblev1.ModelConfig
		want       *foiblev1.ModelConfig
		wrongWords string // of an error
	}{
		{"between", &foiblev1.ModelConfig{Alpha: []float64{1, 2, 4}}, &foiblev1.ModelConfig{Alpha: []float64{8, 3, 2, 3}}, &foiblev1.ModelConfig{Alpha: []float64{1, 2, 3, 4, 8}}, ""},
		{"at the end of what does not ascend", &foiblev1.ModelConfig{Alpha: []float64{4, 1}}, &foiblev1.ModelConfig{Alpha: []float64{3, 2}}, &foiblev1.ModelConfig{Alpha: []float64{4, 1, 3, 2}}, ""},
		{"words", &foiblev1.ModelConfig{Value: []string{"optimal"}}, &foiblev1.ModelConfig{Value: []string{"heuristic", "optimal"}}, &foiblev1.ModelConfig{Value: []string{"optimal", "heuristic"}}, ""},
		{"to the defaults", &foiblev1.ModelConfig{}, &foiblev1.ModelConfig{Alpha: []float64{3}}, &foiblev1.ModelConfig{Alpha: []float64{0.125, 0.25, 0.5, 1, 2, 3, 4, 8}}, ""},
		{"of another model", &foiblev1.ModelConfig{}, &foiblev1.ModelConfig{GoalNoise: []float64{0.1}}, nil, `has no axis "goal_noise"`},
		{"out of range", &foiblev1.ModelConfig{}, &foiblev1.ModelConfig{Alpha: []float64{-1}}, nil, "must lie between"},
	} {
		m := &foiblev1.SweepConfig{Models: map[string]*foiblev1.ModelConfig{"boltzmann": test.has}, Seed: 3}
		before := proto.CloneOf(m)
		got, err := codec.Extend(m, map[string]*foiblev1.ModelConfig{"boltzmann": test.more})
		switch {
		case test.wrongWords != "":
			if err == nil || !strings.Contains(err.Error(), test.wrongWords) {
				t.Errorf("%s: %v", test.name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", test.name, err)
		case !proto.Equal(got.GetModels()["boltzmann"], test.want) || got.GetSeed() != 3:
			t.Errorf("%s: %v", test.name, got)
		}
		if !proto.Equal(m, before) {
			t.Errorf("%s: what was given is now %v", test.name, m)
		}
	}

	m := &foiblev1.SweepConfig{Models: map[string]*foiblev1.ModelConfig{"boltzmann": {}}}
	got, err := codec.Extend(m, map[string]*foiblev1.ModelConfig{"plan-lesioned": {GoalNoise: []float64{0.1}, ActionNoise: []float64{0.1}}})
	if err != nil {
		t.Fatal(err)
	}
	config, err := codec.Config(got)
	if err != nil || len(config.Models) != 2 || len(m.GetModels()) != 1 {
		t.Errorf("with another model: %v, %v", config, err)
	}
	budgets := map[string]*foiblev1.ModelConfig{"full": {BudgetR: []int32{2}, GoalNoise: []float64{0}, BudgetQ: []float64{0.9}, SearchNoise: []float64{0.1}, ActionNoise: []float64{0.1}}}
	got, err = codec.Extend(&foiblev1.SweepConfig{Models: budgets}, map[string]*foiblev1.ModelConfig{"full": {BudgetR: []int32{4, 1}, GoalNoise: []float64{0.2}}})
	if err != nil || !slices.Equal(got.GetModels()["full"].GetBudgetR(), []int32{1, 2, 4}) || !slices.Equal(got.GetModels()["full"].GetGoalNoise(), []float64{0, 0.2}) {
		t.Errorf("of several axes: %v, %v", got, err)
	}
}
