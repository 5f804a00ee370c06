package recovery

import (
	"fmt"
	"slices"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/random"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/stats"
	"foible.dev/foible/core/sweep"
)

// Axis is how well a parameter of a model comes back, at a sample size.
type Axis struct {
	Model, Name  string
	Participants int
	Values       []model.Setting // of the grid, in its order
	True, Fitted []int           // of each dataset that has a fit, indexes into Values

	// Rho is Spearman's rank correlation of the true and the fitted values, with a
	// 95 % percentile interval over resampled datasets, given the stimuli and the
	// sweeps, which all datasets share; there is none where Reason says why.
	Rho       float64
	Low, High float64
	Resamples int // in which it is defined
	Reason    string
	constant  bool    // one value is fitted to datasets of several
	Exact     float64 // part of the datasets whose fitted value is the true one
	// Parts of the datasets whose fitted value is greater or less than the true
	// one; 0 of words.
	Above, Below float64
}

// Resamples of datasets behind an interval.
const Resamples = 1000

// N is the number of datasets.
func (a *Axis) N() int { return len(a.True) }

// Chance is the part of exact values that guessing has.
func (a *Axis) Chance() float64 { return 1 / float64(len(a.Values)) }

// Bounds of rank correlations between verdicts.
const (
	wellRecovered   = 0.7
	hardlyRecovered = 0.4
)

// Verdict says how well the axis is recovered: well from a rank correlation of
// .7 on, in part from .4 on, and below that, where the interval has 0, or where
// one value is fitted to all datasets, not.
func (a *Axis) Verdict() string {
	switch {
	case a.Reason != "" && !a.constant:
		return "not known"
	case a.constant || a.Rho < hardlyRecovered || a.Low <= 0:
		return "not recovered"
	case a.Rho < wellRecovered:
		return "recovered in part"
	}
	return "recovered"
}

// biased is the part of datasets on one side from which on it is reported.
const biased = 0.25

// Bias says on which side fitted values lie, if a quarter of the datasets or
// more do, and few on the other; "" otherwise.
func (a *Axis) Bias() string {
	switch {
	case a.Above >= biased && a.Above >= 4*a.Below:
		return "fitted too high"
	case a.Below >= biased && a.Below >= 4*a.Above:
		return "fitted too low"
	}
	return ""
}

// Axes are those of every model, by model, axis and sample size.
func (r *Result) Axes() []Axis {
	var all []Axis
	for _, m := range r.Models {
		named, _ := model.ByName(m.Name)
		for _, name := range named.Axes {
			values := valuesOf(r.Sets[m.First:m.End], name)
			for _, size := range r.Participants {
				a := Axis{Model: m.Name, Name: name, Participants: size, Values: values}
				for i := range r.Datasets {
					d := &r.Datasets[i]
					if d.Participants != size || d.True < m.First || d.True >= m.End {
						continue
					}
					if fit := d.Fits[r.model(m.Name)]; fit.Set >= 0 {
						a.True = append(a.True, indexOf(values, &r.Sets[d.True], name))
						a.Fitted = append(a.Fitted, indexOf(values, &r.Sets[fit.Set], name))
					}
				}
				a.correlate(r.Seed)
				all = append(all, a)
			}
		}
	}
	return all
}

// model is the index of a model.
func (r *Result) model(name string) int {
	return slices.IndexFunc(r.Models, func(m sweep.ModelSets) bool { return m.Name == name })
}

// valuesOf an axis, ascending; words in their order.
func valuesOf(sets []model.ParameterSet, axis string) []model.Setting {
	var values []model.Setting
	for i := range sets {
		if v, _ := sets[i].Get(axis); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	slices.SortStableFunc(values, func(a, b model.Setting) int {
		switch {
		case a.Number < b.Number:
			return -1
		case a.Number > b.Number:
			return 1
		}
		return 0
	})
	return values
}

func indexOf(values []model.Setting, set *model.ParameterSet, axis string) int {
	v, _ := set.Get(axis)
	return slices.Index(values, v)
}

// correlate fills in what follows from the true and the fitted values.
func (a *Axis) correlate(seed uint64) {
	n := a.N()
	exact, above, below := 0, 0, 0
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], y[i] = float64(a.True[i]), float64(a.Fitted[i])
		switch {
		case a.True[i] == a.Fitted[i]:
			exact++
		case a.Values[0].Word != "":
		case a.True[i] < a.Fitted[i]:
			above++
		default:
			below++
		}
	}
	if n > 0 {
		a.Exact, a.Above, a.Below = float64(exact)/float64(n), float64(above)/float64(n), float64(below)/float64(n)
	}
	rho, ok := stats.Spearman(x, y)
	switch {
	case len(a.Values) == 1:
		a.Reason = "the grid has one value"
	case a.Values[0].Word != "":
		a.Reason = "words have no order"
	case n < score.FewestUnits:
		a.Reason = fmt.Sprintf("%s a fit, and %d are needed", map[bool]string{true: "1 dataset has", false: fmt.Sprintf("%d datasets have", n)}[n == 1], score.FewestUnits)
	case !ok && slices.Min(a.True) == slices.Max(a.True):
		a.Reason = fmt.Sprintf("all datasets have %s", a.Values[a.True[0]])
	case !ok:
		a.constant = true
		a.Reason = fmt.Sprintf("%s is fitted to all datasets", a.Values[a.Fitted[0]])
	}
	if a.Reason != "" {
		return
	}
	a.Rho = rho
	rng := random.RecoveryStream(seed, "intervals", a.Model+" "+a.Name, a.Participants)
	var rhos []float64
	xs, ys := make([]float64, n), make([]float64, n)
	for range Resamples {
		for i := range n {
			k := rng.IntN(n)
			xs[i], ys[i] = x[k], y[k]
		}
		if rho, ok := stats.Spearman(xs, ys); ok {
			rhos = append(rhos, rho)
		}
	}
	a.Low, a.High, _ = stats.Interval(rhos, 0.95)
	a.Resamples = len(rhos)
}

// Matrix counts datasets by the model that judged and the one that was fitted.
type Matrix struct {
	Criterion    string // one of Criteria
	Participants int
	Models       []string
	Count        [][]int // [true][fitted]
	None         []int   // [true], where no model has an r
}

// Confusion matrix of a sample size, by a criterion as numbered in [Criteria].
func (r *Result) Confusion(criterion, participants int) *Matrix {
	m := &Matrix{Criterion: Criteria[criterion], Participants: participants, None: make([]int, len(r.Models))}
	for _, model := range r.Models {
		m.Models = append(m.Models, model.Name)
		m.Count = append(m.Count, make([]int, len(r.Models)))
	}
	for i := range r.Datasets {
		d := &r.Datasets[i]
		if d.Participants != participants {
			continue
		}
		of := r.model(r.Sets[d.True].Model)
		if fitted := d.Fitted[criterion]; fitted >= 0 {
			m.Count[of][fitted]++
		} else {
			m.None[of]++
		}
	}
	return m
}

// Fitted is P(fitted | true), and the datasets that it is a part of: those of the
// true model. Not ok without any.
func (m *Matrix) Fitted(truth, fitted int) (p float64, n int, ok bool) {
	n = m.None[truth]
	for _, count := range m.Count[truth] {
		n += count
	}
	return part(m.Count[truth][fitted], n)
}

// True is P(true | fitted) if all models are equally probable at first, and the
// datasets that it is a part of: those to which the model was fitted. All models
// have equally many datasets. Not ok where the model was never fitted.
func (m *Matrix) True(truth, fitted int) (p float64, n int, ok bool) {
	for _, row := range m.Count {
		n += row[fitted]
	}
	return part(m.Count[truth][fitted], n)
}

func part(count, n int) (float64, int, bool) {
	if n == 0 {
		return 0, 0, false
	}
	return float64(count) / float64(n), n, true
}
