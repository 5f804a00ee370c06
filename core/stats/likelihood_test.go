package stats

import (
	"math"
	"testing"
)

// Of chosen goals the likelihood is an integral of a polynomial in the lapse rate.
func TestLogLikelihoodOfChoices(t *testing.T) {
	red, green := []float64{1, 0}, []float64{0, 1}
	for _, c := range []struct {
		name              string
		answers, model    [][]float64
		likelihood, lapse float64
	}{
		{"no answers", nil, nil, 1, 0.5},
		{"what was sure", [][]float64{red}, [][]float64{red}, 3. / 4, 4. / 9},
		{"what was impossible", [][]float64{green}, [][]float64{red}, 1. / 4, 2. / 3},
		{"thrice what was impossible", [][]float64{green, green, green}, [][]float64{red, red, red}, 1. / 32, 4. / 5},
		{"chance, whatever the lapse", [][]float64{green}, [][]float64{{0.5, 0.5}}, 1. / 2, 1. / 2},
	} {
		log, lapse := LogLikelihood(c.answers, c.model)
		if math.Abs(log-math.Log(c.likelihood)) > 1e-12 || math.Abs(lapse-c.lapse) > 1e-12 {
			t.Errorf("%s: %v with a lapse of %v, want %v and %v", c.name, log, lapse, math.Log(c.likelihood), c.lapse)
		}
	}
}

// Two goals checked are half a choice of each; a model that gives the answers is
// more likely than one that gives others; nothing is infinite.
func TestLogLikelihoodOfShares(t *testing.T) {
	answer := [][]float64{{0.5, 0.5, 0}}
	same, _ := LogLikelihood(answer, [][]float64{{0.5, 0.5, 0}})
	other, _ := LogLikelihood(answer, [][]float64{{1, 0, 0}})
	impossible, _ := LogLikelihood(answer, [][]float64{{0, 0, 1}})
	if !(same > other && other > impossible) || math.IsInf(impossible, 0) {
		t.Errorf("log likelihoods %v, %v, %v", same, other, impossible)
	}
	if chance := ChanceLogLikelihood(answer); math.Abs(chance+math.Log(3)) > 1e-15 {
		t.Errorf("by chance %v, want %v", chance, -math.Log(3))
	}
}

// Without a difference between models they share everything, and the risk that
// they are equally frequent is high; with differences that all participants have,
// there is none.
func TestCompareRandomEffects(t *testing.T) {
	alike, apart := make([][]float64, 20), make([][]float64, 20)
	for i := range alike {
		alike[i] = []float64{-1e3, -1e3, -1e3}
		apart[i] = []float64{-1e4, -1e3, -1e5}
	}
	got := CompareRandomEffects(alike)
	for k := range 3 {
		for _, p := range []float64{got.Frequency[k], got.Exceedance[k], got.Protected[k]} {
			if math.Abs(p-1./3) > 1e-9 {
				t.Errorf("models that are alike: %+v", got)
			}
		}
	}
	if got.OmnibusRisk < 0.5 {
		t.Errorf("models that are alike: %+v", got)
	}
	got = CompareRandomEffects(apart)
	if math.Abs(got.Frequency[1]-21./23) > 1e-9 || got.Protected[1] < 0.99999 || got.OmnibusRisk > 1e-6 {
		t.Errorf("the second is the model of all: %+v", got)
	}
}

// Of two frequencies with Dirichlet(2, 1), the first exceeds the other with
// probability 3/4; exceedance holds for many participants, too.
func TestExceedance(t *testing.T) {
	for _, c := range []struct {
		alpha []float64
		want  float64
	}{{[]float64{2, 1}, 0.75}, {[]float64{1, 1}, 0.5}, {[]float64{5000, 5000}, 0.5}, {[]float64{1, 1, 1, 1}, 0.25}, {[]float64{1e5, 1, 1}, 1}} {
		if got := exceedance(c.alpha); math.Abs(got[0]-c.want) > 1e-9 {
			t.Errorf("alpha %v: %v, want %v", c.alpha, got, c.want)
		}
	}
}
