package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// participant is an observer who reports noisily.
type participant struct {
	concentration float64 // of its beliefs round the posterior
}

// recruit draws participants.
func recruit(rng *rand.Rand, n int) []participant {
	people := make([]participant, n)
	for i := range people {
		people[i].concentration = 8 * math.Exp(0.4*rng.NormFloat64())
	}
	return people
}

// belief is a draw from the Dirichlet distribution round a posterior into
// which 2 % of the uniform distribution is mixed.
func (p participant) belief(posterior []float64, rng *rand.Rand) []float64 {
	n := float64(len(posterior))
	belief := make([]float64, len(posterior))
	sum := 0.0
	for g, q := range posterior {
		shape := p.concentration * (float64(0.98*q) + 0.02/n)
		belief[g] = distuv.Gamma{Alpha: shape, Beta: 1, Src: rng}.Rand()
		sum += belief[g]
	}
	for g := range belief {
		belief[g] /= sum
	}
	return belief
}

// probabilities are those of all goals, in multiples of 0.05 that sum to 1:
// rounded down, and what is missing given to the largest remainders.
func probabilities(goals []string, belief []float64) []string {
	const parts = 20
	units := make([]int, len(belief))
	order := make([]int, len(belief))
	missing := parts
	for g, p := range belief {
		units[g] = int(parts * p)
		missing -= units[g]
		order[g] = g
	}
	remainder := func(g int) float64 { return float64(parts*belief[g]) - float64(units[g]) }
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
	rows := make([]string, len(goals))
	for g, goal := range goals {
		rows[g] = fmt.Sprintf("%s,%d.%02d", goal, units[g]/parts, units[g]%parts*100/parts)
	}
	return rows
}

// selection are the goals at least half as probable as the most probable
// one, or "don't know" for all of them.
func selection(goals []string, belief []float64) []string {
	top := slices.Max(belief)
	var chosen []string
	for g, goal := range goals {
		if 2*belief[g] >= top {
			chosen = append(chosen, goal)
		}
	}
	if len(chosen) == len(goals) {
		return []string{"don't know"}
	}
	return chosen
}
