package policy

import "foible/core/ground"

// Distances are the shortest numbers of actions to the goals of a task, by
// backward breadth-first search when first asked for.
type Distances struct {
	task    *ground.Task
	reverse *graph
	dist    [][]int32 // by goal; nil = not known yet
}

// NewDistances finds the states that can be reached; ok is false if they are
// more than the limit.
func NewDistances(t *ground.Task, limit int) (d *Distances, ok bool) {
	if !t.Enumerate(limit) {
		return nil, false
	}
	return &Distances{task: t, reverse: taskGraph(t).reverse(), dist: make([][]int32, len(t.Goals))}, true
}

// To is the distance of a goal, by its index in the task, from a state; -1 if
// there is no way.
func (d *Distances) To(goal int, from ground.StateID) int {
	if d.dist[goal] == nil {
		d.dist[goal], _ = distances(d.reverse, satisfying(d.task, goal, d.reverse.n()))
	}
	return int(d.dist[goal][from])
}

// taskGraph is the graph of a task whose states are enumerated.
func taskGraph(t *ground.Task) *graph {
	n := t.Len()
	g := &graph{row: make([]int32, 1, n+1), to: make([]int32, 0, 4*n)}
	for s := range ground.StateID(n) {
		for _, succ := range t.Successors(s) {
			g.to = append(g.to, int32(succ.State))
		}
		g.row = append(g.row, int32(len(g.to)))
	}
	return g
}

// satisfying are the states among the first n that satisfy a goal.
func satisfying(t *ground.Task, goal, n int) []int32 {
	var states []int32
	for s := range ground.StateID(n) {
		if t.Satisfies(s, goal) {
			states = append(states, int32(s))
		}
	}
	return states
}
