package sweep_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"foible.dev/foible/core/sweep"
)

// Runs say the same however they were given, single precision but for its rounding.
func TestRuns(t *testing.T) {
	a, b := [][]float64{{0.25, 0.75}, {1, 0}}, [][]float64{{-0.5, 1.5}, {0.125, 0.875}}
	flat := []float64{0.25, 0.75, 1, 0, -0.5, 1.5, 0.125, 0.875}
	runs := sweep.RunsOf(a, b)
	short := sweep.ShortRuns(runs.Short(), 2, 2)
	longer := sweep.ShortRuns(sweep.RunsOf(a).Short(), 2, 2)
	longer.Add(b)
	for name, r := range map[string]sweep.Runs{"copied": runs, "flat": sweep.NewRuns(flat, 2, 2), "short": short, "made longer": longer} {
		if r.Len() != 2 || r.Rows() != 2 || !slices.Equal(r.Numbers(), flat) {
			t.Errorf("%s: %d runs of %d rows: %v", name, r.Len(), r.Rows(), r.Numbers())
		}
		if got := r.AppendRun([]float64{9}, 1); !slices.Equal(got, append([]float64{9}, flat[4:]...)) {
			t.Errorf("%s: second run %v", name, got)
		}
		if x, y := r.At(0, 1, 0), r.At(1, 0, 1); x != 1 || y != 1.5 {
			t.Errorf("%s: %v, %v", name, x, y)
		}
	}
	third := sweep.RunsOf([][]float64{{1.0 / 3, 2.0 / 3}})
	if got := sweep.ShortRuns(third.Short(), 1, 2).At(0, 0, 0); got != float64(float32(1.0/3)) {
		t.Errorf("%v", got)
	}
	for name, none := range map[string]sweep.Runs{
		"zero": {}, "no runs": sweep.NewRuns(nil, 2, 2), "no rows": sweep.NewRuns([]float64{}, 0, 2), "none short": sweep.ShortRuns(sweep.Runs{}.Short(), 0, 0),
		"runs without rows": sweep.RunsOf(nil, [][]float64{}),
	} {
		if !reflect.DeepEqual(none, sweep.Runs{}) || none.Len() != 0 || none.Numbers() != nil {
			t.Errorf("%s: %+v", name, none)
		}
	}
	for name, wrong := range map[string]func(){
		"cut":        func() { sweep.NewRuns(flat[:7], 2, 2) },
		"no size":    func() { sweep.NewRuns(flat, 0, 2) },
		"fewer rows": func() { sweep.RunsOf(a, b[:1]) },
		"more goals": func() { sweep.RunsOf(a, [][]float64{{1, 0, 0}, {1, 0, 0}}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			wrong()
		}()
	}
}

// A hasher that has made other hashes before makes the same ones.
func TestHashersForgetNothing(t *testing.T) {
	c := sweep.Config{Models: []sweep.ModelGrid{
		{Model: "full", Axes: map[string][]sweep.Setting{"goal_noise": {{Number: 0.1}, {Number: 0.125}}, "action_noise": {{Number: 0.1}, {Number: 0.125}, {Number: 1}}}},
		{Model: "boltzmann", Axes: map[string][]sweep.Setting{"alpha": {{Number: 0.125}, {Number: 10}}, "value": {{Word: "optimal"}, {Word: "heuristic"}}}},
		{Model: "plan-lesioned", Axes: map[string][]sweep.Setting{"goal_noise": {{Number: 0.1}}}},
	}}
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	zero := sets[0]
	zero.Set("goal_noise", sweep.Setting{})
	minus := zero
	minus.Set("goal_noise", sweep.Setting{Number: math.Copysign(0, -1)})
	sets = append(sets, zero, minus, sets[0], sets[len(sets)-1], sweep.ParameterSet{Model: "unknown"}, sets[0])
	procedure := sweep.Procedure{StageName: sweep.FitStage, Stage: sweep.MarginalFit, Inference: sweep.MarginalInference}
	of := []sweep.Prediction{{Rows: [][]float64{{0.25, 0.75}}, Runs: sweep.RunsOf([][]float64{{0.5, 0.5}})}, {Undefined: true}}
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
	short[0].Runs = sweep.ShortRuns(of[0].Runs.Short(), 1, 2)
	if a, b := scores.Of(&sets[0], of), scores.Of(&sets[0], short); !slices.Equal(a, b) {
		t.Errorf("%x, then %x", a, b)
	}
}

// A copy has all that is known of a parameter set, and no number in common with it.
func TestCopyOfGathered(t *testing.T) {
	of := func() *sweep.Gathered {
		rows := func() [][]float64 { return [][]float64{{0.25, 0.75}, {1, 0}} }
		xs := func() []float64 { return []float64{1, 2} }
		return &sweep.Gathered{Index: 3, Fit: &sweep.Fit{MCSE: 0.5}, Cells: []*sweep.Cell{nil, {
			Posterior: rows(), SE: rows(), LogEvidence: rows(), Runs: sweep.RunsOf(rows()), Samples: 4,
			Filter: sweep.Filter{ESS: xs(), Alive: xs(), Evidence: xs()},
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
