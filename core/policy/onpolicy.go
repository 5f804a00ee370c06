package policy

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// How far the on-policy values are iterated, and when that is given up.
const (
	tolerance = 1e-10 // largest step that a value would take in a pass, cost
	// rounding is that step as a part of the largest value, where this is so large that a
	// number has not the digits for less.
	rounding  = 1e-15
	maxPasses = 100_000
	// window is how many passes there are between looks for values that go round in a circle,
	// the first after patience passes. They do if they have come less far in it than
	// circling steps as large as the last would lead.
	window   = 500
	patience = 2000
	circling = 25
)

// onPolicyValues solves V(s) = sum_a pi(a|s) [-1 + V(s')] with V = 0 at goal
// states and V = unreachable where there is no way to one, by Gauss-Seidel
// passes from the goal outwards, starting at the optimal values. A pass that
// brings no progress is followed by one of half steps, since a value that its
// successors answer to by going the other way would swing for ever. Where values go
// round in a circle even so, all further steps are half as long. The error is of
// values that do not settle, or that of ctx, if it ends before.
func onPolicyValues(ctx context.Context, g *graph, d distance, alpha, unreachable float64) (v []float64, passes int, err error) {
	v = make([]float64, len(d.dist))
	for s, dist := range d.dist {
		v[s] = -float64(dist)
		if dist < 0 {
			v[s] = unreachable
		}
	}
	step, longest, last := 1.0, 1.0, math.Inf(1)
	enough := tolerance
	before := v // at the last look
	for passes = 1; passes <= maxPasses; passes++ {
		var change float64
		for i, s := range d.order {
			if i%often == 0 && ctx.Err() != nil {
				return nil, 0, ctx.Err()
			}
			if d.dist[s] == 0 {
				continue
			}
			by := expected(v, g.successors(s), alpha) - v[s]
			change = max(change, math.Abs(by))
			v[s] += float64(step * by)
		}
		if change < enough {
			return v, passes, nil
		}
		if passes == patience-window {
			before = slices.Clone(v)
		} else if passes >= patience && passes%window == 0 {
			if farthest(before, v) < circling*change {
				longest /= 2
			}
			enough = max(tolerance, rounding*farthest(v, nil))
			copy(before, v)
		}
		if step = longest; change >= last {
			step = min(step, 0.5)
		}
		last = change
	}
	return nil, 0, fmt.Errorf("on-policy values do not settle within %d passes at alpha %v", maxPasses, alpha)
}

// farthest is the largest difference of two lists, or from 0 if there is no second one.
func farthest(a, b []float64) (most float64) {
	for i, x := range a {
		if b != nil {
			x -= b[i]
		}
		most = max(most, math.Abs(x))
	}
	return most
}

// expected is sum_a pi(a|s) [-1 + V(s')] for pi(a|s) ~ exp(alpha [-1 + V(s')]).
func expected(v []float64, successors []int32, alpha float64) float64 {
	best := math.Inf(-1)
	for _, t := range successors {
		best = max(best, v[t])
	}
	var weight, sum float64
	for _, t := range successors {
		w := math.Exp(alpha * (v[t] - best))
		weight += w
		sum += float64(w * (v[t] - best))
	}
	return -1 + best + sum/weight
}
