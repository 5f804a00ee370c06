package sips

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

// resampler draws parents; its room is kept.
type resampler struct {
	kind    Resampling
	weights []float64
	points  []float64
	found   []int32
}

// parents draws len(w) parents from normalized weights. The slice is good until the
// next call.
func (r *resampler) parents(w Weights, rng *rand.Rand) []int32 {
	r.weights = r.weights[:0]
	for _, x := range w {
		r.weights = append(r.weights, math.Exp(x))
	}
	r.found = r.found[:0]
	switch r.kind {
	case Systematic:
		u := rng.Float64()
		r.points = r.points[:0]
		for i := range w {
			r.points = append(r.points, (float64(i)+u)/float64(len(w)))
		}
		r.find()
	case Multinomial:
		r.draw(len(w), rng)
	case Residual:
		for i, x := range r.weights {
			expected := x * float64(len(w))
			whole := math.Floor(expected + 1e-9) // rounding of equal weights must cost no child
			for range int(whole) {
				r.found = append(r.found, int32(i))
			}
			r.weights[i] = max(0, expected-whole)
		}
		r.draw(len(w)-len(r.found), rng)
	default:
		panic(fmt.Sprintf("inference: no resampling %q", string(r.kind)))
	}
	return r.found
}

// draw draws n parents, each on its own.
func (r *resampler) draw(n int, rng *rand.Rand) {
	if n <= 0 {
		return
	}
	// Ordered uniform numbers are sums of exponential ones divided by all of them.
	r.points = r.points[:0]
	var sum float64
	for range n {
		sum += rng.ExpFloat64()
		r.points = append(r.points, sum)
	}
	sum += rng.ExpFloat64()
	for i := range r.points {
		r.points[i] /= sum
	}
	r.find()
}

// find adds the parent on which each point falls: ascending, in [0, 1).
func (r *resampler) find() {
	var total float64
	last := 0
	for i, x := range r.weights {
		if total += x; x > 0 {
			last = i
		}
	}
	at, cumulative := 0, r.weights[0]
	for _, point := range r.points {
		for cumulative <= point*total && at < last {
			at++
			cumulative += r.weights[at]
		}
		r.found = append(r.found, int32(at))
	}
}
