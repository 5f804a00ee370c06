package policy

import (
	"context"
	"fmt"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/words"
)

// Distances are the shortest numbers of actions to the goals of a task, by
// backward breadth-first search when first asked for.
type Distances struct {
	task    *ground.Task
	reverse *graph
	dist    [][]int32 // by goal; nil = not known yet
}

// NewDistances finds the states that can be reached. The error is [ErrTooLarge] if
// they are more than the limit, or that of ctx, if it ends before.
func NewDistances(ctx context.Context, t *ground.Task, limit int) (*Distances, error) {
	complete, err := t.Enumerate(ctx, limit)
	if err != nil {
		return nil, err
	}
	if !complete {
		return nil, fmt.Errorf("more than %s states can be reached: %w", words.Thousands(limit), ErrTooLarge)
	}
	g, err := taskGraph(ctx, t)
	if err != nil {
		return nil, err
	}
	return &Distances{task: t, reverse: g.reverse(), dist: make([][]int32, len(t.Goals))}, nil
}

// To finds the distances to a goal, by its index in the task: of each state, -1 if there
// is no way. The error is that of ctx, if it ends before.
func (d *Distances) To(ctx context.Context, goal int) (func(from ground.StateID) int, error) {
	if d.dist[goal] == nil {
		dist, _, err := distances(ctx, d.reverse, satisfying(d.task, goal, d.reverse.n()))
		if err != nil {
			return nil, err
		}
		d.dist[goal] = dist
	}
	dist := d.dist[goal]
	return func(from ground.StateID) int { return int(dist[from]) }, nil
}

// often is after how many states or edges loops look at their context: a few milliseconds.
const often = 1 << 16

// taskGraph is the graph of a task whose states are enumerated. The error is that of
// ctx, if it ends before.
func taskGraph(ctx context.Context, t *ground.Task) (*graph, error) {
	n := t.Len()
	g := &graph{row: make([]int32, 1, n+1), to: make([]int32, 0, 4*n)}
	for s := range ground.StateID(n) {
		for _, succ := range t.Successors(s) {
			g.to = append(g.to, int32(succ.State))
		}
		g.row = append(g.row, int32(len(g.to)))
		if s%often == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return g, nil
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
