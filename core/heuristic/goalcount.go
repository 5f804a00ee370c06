package heuristic

import "foible.dev/foible/core/ground"

// GoalCount is the number of the goal's facts that do not hold.
func (r *Relaxation) GoalCount(goal int) *Table {
	facts := r.task.Goals[goal]
	holds := make([]bool, r.task.Facts)
	return NewTable(func(s ground.StateID) float64 {
		r.state = r.task.True(s, r.state[:0])
		for _, f := range r.state {
			holds[f] = true
		}
		n := 0
		for _, f := range facts {
			if !holds[f] {
				n++
			}
		}
		for _, f := range r.state {
			holds[f] = false
		}
		return float64(n)
	})
}
