// Package participant simulates people who judge goals: observers of a model who
// report what they infer with noise. Read [Noise] and [Participant] first.
package participant

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Noise is how the beliefs of participants scatter round a posterior q over n
// goals: a belief is a draw from Dirichlet(c [(1 - lapse) q + lapse / n]), where
// the concentration c of a participant is log-normal.
type Noise struct {
	Concentration float64 `json:"concentration"` // median of c; the greater, the closer to q
	Spread        float64 `json:"spread"`        // standard deviation of ln c
	Lapse         float64 `json:"lapse"`         // part of the uniform distribution, in [0, 1]
}

// DefaultNoise is that of the sample studies.
var DefaultNoise = Noise{Concentration: 8, Spread: 0.4, Lapse: 0.02}

// Participant is an observer who reports noisily.
type Participant struct {
	concentration, lapse float64
}

// Recruit draws a participant.
func (n Noise) Recruit(rng *rand.Rand) Participant {
	return Participant{concentration: n.Concentration * math.Exp(n.Spread*rng.NormFloat64()), lapse: n.Lapse}
}

// Belief draws what the participant believes of a posterior over goals; both sum to 1.
func (p Participant) Belief(posterior []float64, rng *rand.Rand) []float64 {
	n := float64(len(posterior))
	belief := make([]float64, len(posterior))
	mixed := make([]float64, len(posterior))
	sum := 0.0
	for g, q := range posterior {
		mixed[g] = float64((1-p.lapse)*q) + p.lapse/n
		if shape := p.concentration * mixed[g]; shape > 0 {
			belief[g] = distuv.Gamma{Alpha: shape, Beta: 1, Src: rng}.Rand()
		}
		sum += belief[g]
	}
	if sum == 0 { // every draw was too small to be distinguished from 0
		return mixed
	}
	for g := range belief {
		belief[g] /= sum
	}
	return belief
}

// Parts is into how many parts the probabilities of an answer are divided.
const Parts = 20

// Round is a belief in whole parts, of [Parts] in all: rounded down, and what is
// missing given to the largest remainders.
func Round(belief []float64) []int {
	units := make([]int, len(belief))
	order := make([]int, len(belief))
	missing := Parts
	for g, p := range belief {
		units[g] = int(Parts * p)
		missing -= units[g]
		order[g] = g
	}
	remainder := func(g int) float64 { return float64(Parts*belief[g]) - float64(units[g]) }
	slices.SortStableFunc(order, func(a, b int) int {
		switch ra, rb := remainder(a), remainder(b); {
		case ra > rb:
			return -1
		case ra < rb:
			return 1
		}
		return 0
	})
	for _, g := range order[:missing] {
		units[g]++
	}
	return units
}

// Choose are the goals that a participant of a belief ticks: those at least half
// as probable as the most probable one.
func Choose(belief []float64) []int {
	top := slices.Max(belief)
	var chosen []int
	for g, p := range belief {
		if 2*p >= top {
			chosen = append(chosen, g)
		}
	}
	return chosen
}
