package heuristic

import (
	"math"

	"foible/core/ground"
)

// FF is the length of a relaxed plan (Hoffmann & Nebel 2001): every fact is
// achieved by its first achiever, and an operator counts once.
func (r *Relaxation) FF(goal int) *Table {
	facts := r.task.Goals[goal]
	return NewTable(func(s ground.StateID) float64 {
		if !r.explore(s, facts) {
			return math.Inf(1)
		}
		return float64(r.plan(facts))
	})
}

// plan counts the operators that the explored facts rest on.
func (r *Relaxation) plan(facts []int32) int {
	clear(r.used)
	n := 0
	r.open = append(r.open[:0], facts...)
	for len(r.open) > 0 {
		f := r.open[len(r.open)-1]
		r.open = r.open[:len(r.open)-1]
		if r.level[f] == 0 || r.used[r.achiever[f]] {
			continue
		}
		r.used[r.achiever[f]] = true
		n++
		r.open = append(r.open, r.pre.list(r.achiever[f])...)
	}
	return n
}
