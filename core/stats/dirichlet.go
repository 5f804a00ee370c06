package stats

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
)

// expectedLogs are the means of the logs of frequencies that have a Dirichlet distribution.
func expectedLogs(alpha []float64) []float64 {
	all := mathext.Digamma(floats.Sum(alpha))
	logs := make([]float64, len(alpha))
	for k, a := range alpha {
		logs[k] = mathext.Digamma(a) - all
	}
	return logs
}

// exceedance is, of each frequency of a Dirichlet distribution, the probability
// that it is the highest. The frequencies are gamma variates over their sum, so
// that is the integral of one's density times the others' distribution functions.
// Every alpha is at least 1. It is accurate to about 1e-9.
func exceedance(alpha []float64) []float64 {
	highest := make([]float64, len(alpha))
	for k, a := range alpha {
		spread := 10*math.Sqrt(a) + 30
		xs, weights := legendre(1000, max(0, a-spread), a+spread)
		for i, x := range xs {
			p := weights[i] * math.Exp(float64((a-1)*math.Log(x))-x-lgamma(a))
			for j, b := range alpha {
				if j != k {
					p *= mathext.GammaIncReg(b, x)
				}
			}
			highest[k] += p
		}
	}
	floats.Scale(1/floats.Sum(highest), highest)
	return highest
}

func lgamma(x float64) float64 {
	y, _ := math.Lgamma(x)
	return y
}
