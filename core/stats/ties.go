package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Tie is a setting that may be the best, by its place among those given.
type Tie struct {
	Index       int
	Probability float64 // of being the best
}

// TieLevel is the probability that the best is among the ties.
const TieLevel = 0.95

// Draws of Ties, and of how many numbers in all they are not more.
const (
	mostDraws  = 2000
	leastDraws = 200
	drawn      = 20_000_000
)

// Ties are the settings which are the best with a probability of 0.95 together, the
// most probable first: the fewest for which this is true, if each r is off by
// independent normal errors. Settings of marginal inference that share samples are off
// together, so that in truth fewer may be tied.
func Ties(rs, ses []float64, rng *rand.Rand) []Tie {
	const far = 4 // standard errors, beyond which none is the best
	least := math.Inf(-1)
	for i, r := range rs {
		least = max(least, r-far*ses[i])
	}
	var near []int
	for i, r := range rs {
		if r+far*ses[i] >= least {
			near = append(near, i)
		}
	}
	draws := max(leastDraws, min(mostDraws, drawn/max(1, len(near))))
	wins := make([]int, len(near))
	for range draws {
		best, at := math.Inf(-1), 0
		for k, i := range near {
			x := rs[i]
			if ses[i] > 0 {
				x += float64(ses[i] * rng.NormFloat64())
			}
			if x > best {
				best, at = x, k
			}
		}
		wins[at]++
	}
	order := make([]int, len(near))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(wins[b], wins[a]), cmp.Compare(rs[near[b]], rs[near[a]]))
	})
	var ties []Tie
	sum := 0
	for _, k := range order {
		ties = append(ties, Tie{near[k], float64(wins[k]) / float64(draws)})
		if sum += wins[k]; float64(sum) >= TieLevel*float64(draws) {
			break
		}
	}
	return ties
}
