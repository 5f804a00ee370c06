package result_test

import (
	"reflect"
	"slices"
	"testing"

	"foible.dev/foible/core/result"
)

// Runs say the same however they were given, single precision but for its rounding.
func TestRuns(t *testing.T) {
	a, b := [][]float64{{0.25, 0.75}, {1, 0}}, [][]float64{{-0.5, 1.5}, {0.125, 0.875}}
	flat := []float64{0.25, 0.75, 1, 0, -0.5, 1.5, 0.125, 0.875}
	runs := result.RunsOf(a, b)
	short := result.ShortRuns(runs.Short(), 2, 2)
	longer := result.ShortRuns(result.RunsOf(a).Short(), 2, 2)
	longer.Add(b)
	for name, r := range map[string]result.Runs{"copied": runs, "flat": result.NewRuns(flat, 2, 2), "short": short, "made longer": longer} {
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
	third := result.RunsOf([][]float64{{1.0 / 3, 2.0 / 3}})
	if got := result.ShortRuns(third.Short(), 1, 2).At(0, 0, 0); got != float64(float32(1.0/3)) {
		t.Errorf("%v", got)
	}
	for name, none := range map[string]result.Runs{
		"zero": {}, "no runs": result.NewRuns(nil, 2, 2), "no rows": result.NewRuns([]float64{}, 0, 2), "none short": result.ShortRuns(result.Runs{}.Short(), 0, 0),
		"runs without rows": result.RunsOf(nil, [][]float64{}),
	} {
		if !reflect.DeepEqual(none, result.Runs{}) || none.Len() != 0 || none.Numbers() != nil {
			t.Errorf("%s: %+v", name, none)
		}
	}
	for name, wrong := range map[string]func(){
		"cut":        func() { result.NewRuns(flat[:7], 2, 2) },
		"no size":    func() { result.NewRuns(flat, 0, 2) },
		"fewer rows": func() { result.RunsOf(a, b[:1]) },
		"more goals": func() { result.RunsOf(a, [][]float64{{1, 0, 0}, {1, 0, 0}}) },
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
