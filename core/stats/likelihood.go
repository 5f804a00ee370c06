package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
)

// LogLikelihood is the natural log of the likelihood of one participant's
// answers under a model, both [answer][goal] and distributions over goals:
//
//	ln ∫₀¹ ∏_a ∏_g ((1 - λ) p_ag + λ/G_a)^y_ag dλ
//
// An answer y is taken as one categorical observation in the proportions it
// gives: a chosen goal as itself, k goals checked as 1/k of an observation each.
// Of whole observations this is the multinomial likelihood, of parts its
// quasi-likelihood (Papke and Wooldridge 1996), greatest in expectation where the
// model gives the mean answer. λ is the participant's lapse rate, the probability
// of answering at random; its prior is uniform, so that what is returned is a
// log marginal likelihood. It is finite whatever the model holds impossible.
// lapse is the posterior mean of λ. Answers are taken as independent given λ.
func LogLikelihood(answers, model [][]float64) (log, lapse float64) {
	if len(answers) != len(model) {
		panic("stats: length mismatch of answers and model")
	}
	at := make([]float64, len(lapses))
	for i, lambda := range lapses {
		at[i] = math.Log(lapseWeights[i])
		for a, y := range answers {
			if len(y) != len(model[a]) {
				panic("stats: length mismatch of goals")
			}
			for g, share := range y {
				if share > 0 {
					p := float64((1-lambda)*model[a][g]) + lambda/float64(len(y))
					at[i] += float64(share * math.Log(p))
				}
			}
		}
	}
	log = floats.LogSumExp(at)
	for i, lambda := range lapses {
		lapse += float64(lambda * math.Exp(at[i]-log))
	}
	return log, lapse
}

// lapses are the nodes of a Gauss-Legendre rule over [0, 1], inside of it.
var lapses, lapseWeights = legendre(64, 0, 1)

func legendre(n int, low, high float64) (at, weight []float64) {
	at, weight = make([]float64, n), make([]float64, n)
	quad.Legendre{}.FixedLocations(at, weight, low, high)
	return at, weight
}

// ChanceLogLikelihood is that of answers of someone who always answers at random.
func ChanceLogLikelihood(answers [][]float64) float64 {
	var log float64
	for _, y := range answers {
		log -= float64(floats.Sum(y) * math.Log(float64(len(y))))
	}
	return log
}

// RandomEffects is a comparison of models where participants may differ in the
// model that describes them.
type RandomEffects struct {
	Frequency   []float64 // [model] expected share of the participants
	Exceedance  []float64 // [model] probability that it is the most frequent
	Protected   []float64 // [model] the same, allowing for all being equally frequent
	OmnibusRisk float64   // probability that all are equally frequent
}

// CompareRandomEffects is random-effects Bayesian model selection by variational
// Bayes over [participant][model] log marginal likelihoods, with a uniform prior
// over the frequencies of models (Stephan et al. 2009, eq. 7 to 14); the omnibus
// risk and protected exceedance probabilities are those of Rigoux et al. (2014,
// eq. 7). Exceedance probabilities are integrated numerically, not sampled. It
// needs a participant and two models.
func CompareRandomEffects(log [][]float64) RandomEffects {
	models := len(log[0])
	alpha := slices.Repeat([]float64{1}, models) // of the Dirichlet posterior
	share := make([][]float64, len(log))         // [participant][model] probability
	for range 10_000 {
		next := slices.Repeat([]float64{1}, models)
		expected := expectedLogs(alpha)
		for i, row := range log {
			if len(row) != models {
				panic("stats: length mismatch of models")
			}
			u := make([]float64, models)
			floats.AddTo(u, row, expected)
			floats.AddConst(-floats.LogSumExp(u), u)
			for k := range u {
				u[k] = math.Exp(u[k])
			}
			share[i] = u
			floats.Add(next, u)
		}
		moved := floats.Distance(alpha, next, math.Inf(1))
		alpha = next
		if moved < 1e-10 {
			break
		}
	}
	c := RandomEffects{Frequency: slices.Clone(alpha), Exceedance: exceedance(alpha)}
	floats.Scale(1/floats.Sum(alpha), c.Frequency)
	c.OmnibusRisk = 1 / (1 + math.Exp(freeEnergy(log, share, alpha)-equalEvidence(log)))
	for _, x := range c.Exceedance {
		c.Protected = append(c.Protected, float64((1-c.OmnibusRisk)*x)+c.OmnibusRisk/float64(models))
	}
	return c
}

// freeEnergy bounds the log evidence of different frequencies.
func freeEnergy(log, share [][]float64, alpha []float64) float64 {
	expected := expectedLogs(alpha)
	f := lgamma(float64(len(alpha))) - lgamma(floats.Sum(alpha))
	for k, a := range alpha {
		f += lgamma(a) - float64((a-1)*expected[k])
	}
	for i, row := range share {
		for k, g := range row {
			if g > 0 {
				f += float64(g * (expected[k] + log[i][k] - math.Log(g)))
			}
		}
	}
	return f
}

// equalEvidence is the log evidence of all models being equally frequent.
func equalEvidence(log [][]float64) float64 {
	var f float64
	for _, row := range log {
		f += floats.LogSumExp(row) - math.Log(float64(len(row)))
	}
	return f
}
