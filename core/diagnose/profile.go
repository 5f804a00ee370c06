package diagnose

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"foible.dev/foible/core/model"
)

// AxisProfile is how r depends on one axis of a model.
type AxisProfile struct {
	Axis   string
	Values []model.Setting // numbers ascending; words in order of first appearance
	Best   []float64       // highest r over the other axes, at each value; NaN = undefined
	Mean   []float64       // mean r over the other axes
}

// Profiles has each axis of a model on which the parameter sets have more than
// one value. sets gives some of the model's parameter sets with their r, NaN
// where it is undefined, and is called twice an axis.
func Profiles(m model.Model, sets iter.Seq2[*model.ParameterSet, float64]) []AxisProfile {
	var all []AxisProfile
	for _, axis := range m.Axes {
		if p := profile(axis, sets); len(p.Values) > 1 {
			all = append(all, p)
		}
	}
	return all
}

func profile(axis string, sets iter.Seq2[*model.ParameterSet, float64]) AxisProfile {
	p := AxisProfile{Axis: axis}
	a := model.FindAxis(axis)
	at := map[model.Setting]int{} // of a value in Values
	for set := range sets {
		if v := *a.Of(set); !has(at, v) {
			at[v] = 0
			p.Values = append(p.Values, v)
		}
	}
	slices.SortStableFunc(p.Values, func(a, b model.Setting) int { return cmp.Compare(a.Number, b.Number) })
	count := make([]float64, len(p.Values))
	for k, v := range p.Values {
		at[v] = k
		p.Best, p.Mean = append(p.Best, math.NaN()), append(p.Mean, 0)
	}
	for set, r := range sets {
		if math.IsNaN(r) {
			continue
		}
		k := at[*a.Of(set)]
		if !(p.Best[k] >= r) {
			p.Best[k] = r
		}
		p.Mean[k] += r
		count[k]++
	}
	for k := range count {
		p.Mean[k] /= count[k] // NaN without any
	}
	return p
}

func has[K comparable, V any](m map[K]V, key K) bool {
	_, ok := m[key]
	return ok
}
