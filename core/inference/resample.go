package inference

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Resampling is how parents are drawn. Each kind keeps the expected number of
// children of a particle at N times its weight.
type Resampling string

const (
	// Residual gives each particle floor(N w) children, and the rest by multinomial draws of what is left.
	Residual Resampling = "residual"
	// Systematic uses one uniform number for N evenly spaced points.
	Systematic Resampling = "systematic"
	// Multinomial draws each child on its own.
	Multinomial Resampling = "multinomial"
)

// parents draws len(w) parents from normalized weights.
func (r Resampling) parents(w Weights, rng *rand.Rand, into []int32) []int32 {
	n := len(w)
	into = into[:0]
	switch r {
	case Systematic:
		at, cumulative := 0, math.Exp(w[0])
		u := rng.Float64()
		for i := range n {
			point := (float64(i) + u) / float64(n)
			for cumulative < point && at < n-1 {
				at++
				cumulative += math.Exp(w[at])
			}
			into = append(into, int32(at))
		}
		return into
	case Multinomial:
		return draw(w, func(i int) float64 { return math.Exp(w[i]) }, n, rng, into)
	case Residual:
		for i, x := range w {
			for range int(float64(n) * math.Exp(x)) {
				into = append(into, int32(i))
			}
		}
		rest := func(i int) float64 {
			x := float64(n) * math.Exp(w[i])
			return x - math.Floor(x)
		}
		return draw(w, rest, n-len(into), rng, into)
	}
	panic(fmt.Sprintf("inference: no resampling %q", string(r)))
}

// draw appends k parents drawn with probability proportional to a weight: k
// ordered uniform numbers walk the cumulative weights once.
func draw(w Weights, weight func(i int) float64, k int, rng *rand.Rand, into []int32) []int32 {
	if k <= 0 {
		return into
	}
	var total float64
	last := 0
	for i := range w {
		if x := weight(i); x > 0 {
			total += x
			last = i
		}
	}
	// The gaps of k ordered uniforms are exponential numbers divided by their sum.
	gaps := make([]float64, k+1)
	var sum float64
	for i := range gaps {
		gaps[i] = rng.ExpFloat64()
		sum += gaps[i]
	}
	at, cumulative, point := 0, weight(0), 0.0
	for i := range k {
		point += gaps[i]
		for cumulative < point/sum*total && at < last {
			at++
			cumulative += weight(at)
		}
		into = append(into, int32(at))
	}
	return into
}
