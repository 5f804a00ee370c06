package policy

import (
	"context"
	"fmt"
	"math"
)

// How far the on-policy values are iterated, and when that is given up.
const (
	tolerance = 1e-10 // largest step that a value would take in a pass, cost
	maxPasses = 100_000
)

// onPolicyValues solves V(s) = sum_a pi(a|s) [-1 + V(s')] with V = 0 at goal
// states and V = unreachable where there is no way to one, by Gauss-Seidel
// passes from the goal outwards, starting at the optimal values. A pass that
// brings no progress is followed by one of half steps, since a value that its
// successors answer to by going the other way would swing for ever. The error is of
// values that do not settle, or that of ctx, if it ends before.
func onPolicyValues(ctx context.Context, g *graph, d distance, alpha, unreachable float64) (v []float64, passes int, err error) {
	v = make([]float64, len(d.dist))
	for s, dist := range d.dist {
		v[s] = -float64(dist)
		if dist < 0 {
			v[s] = unreachable
		}
	}
	step, last := 1.0, math.Inf(1)
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
		if change < tolerance {
			return v, passes, nil
		}
		if step = 1; change >= last {
			step = 0.5
		}
		last = change
	}
	return nil, 0, fmt.Errorf("on-policy values do not settle within %d passes at alpha %v", maxPasses, alpha)
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
