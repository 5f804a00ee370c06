package score_test

import (
	"math"
	"testing"

	"foible.dev/foible/core/internal/madeup"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/sweep"
)

func TestPseudoValues(t *testing.T) {
	st, model := madeup.Published()
	s, err := score.NewScorer(st, sweep.Bootstrap{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := s.Score(model)
	if err != nil {
		t.Fatal(err)
	}
	values := s.PseudoValues(model)
	var mean, squares float64
	for _, v := range values {
		mean += v / 4
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	// Their bias is of the second order in the errors; their spread, of 4 runs over 16
	// stimuli, is that of the jackknife by stimulus but for a chi-squared of 3 degrees of freedom.
	se := math.Sqrt(squares / 12)
	if len(values) != 4 || math.Abs(mean-fit.Overall.PearsonR) > 0.02 || se < fit.MCSE/6 || se > 3*fit.MCSE {
		t.Errorf("values %v of mean %v and error %v; r is %v, its error %v", values, mean, se, fit.Overall.PearsonR, fit.MCSE)
	}
	for i := range model {
		model[i].Runs = result.Runs{}
	}
	if s.PseudoValues(model) != nil {
		t.Error("pseudo-values without runs")
	}
}
