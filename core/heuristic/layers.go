package heuristic

import (
	"math"

	"foible.dev/foible/core/ground"
)

// Max is the number of layers until the goal is reached: hmax (Bonet &
// Geffner 2001), which never overestimates.
func (r *Relaxation) Max(goal int) *Table {
	facts := r.task.Goals[goal]
	return NewTable(func(s ground.StateID) float64 {
		r.explore(s)
		deepest := int32(0)
		for _, f := range facts {
			if r.level[f] == unreached {
				return math.Inf(1)
			}
			deepest = max(deepest, r.level[f])
		}
		return float64(deepest)
	})
}

// Add is the sum over the goal's facts of what each costs by itself, where an
// operator costs 1 and what its facts cost: hadd (Bonet & Geffner 2001).
func (r *Relaxation) Add(goal int) *Table {
	facts := r.task.Goals[goal]
	cost := make([]float64, r.task.Facts)
	sum := func(facts []int32) float64 {
		total := 0.0
		for _, f := range facts {
			total += cost[f]
		}
		return total
	}
	return NewTable(func(s ground.StateID) float64 {
		for f := range cost {
			cost[f] = math.Inf(1)
		}
		r.state = r.task.True(s, r.state[:0])
		for _, f := range r.state {
			cost[f] = 0
		}
		for improved := true; improved; {
			improved = false
			for op := range int32(len(r.needs)) {
				c := 1 + sum(r.pre.list(op))
				for _, f := range r.add.list(op) {
					if c < cost[f] {
						cost[f], improved = c, true
					}
				}
			}
		}
		return sum(facts)
	})
}
