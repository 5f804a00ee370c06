package policy

import "context"

// graph is a task's reachable states and which leads to which, in compressed
// sparse rows: the successors of s are to[row[s]:row[s+1]], one an operator.
type graph struct {
	row []int32 // len n+1
	to  []int32
}

func (g *graph) n() int { return len(g.row) - 1 }

func (g *graph) successors(s int32) []int32 { return g.to[g.row[s]:g.row[s+1]] }

// reverse is the graph with every arrow turned round.
func (g *graph) reverse() *graph {
	n := g.n()
	r := &graph{row: make([]int32, n+1), to: make([]int32, len(g.to))}
	for _, t := range g.to {
		r.row[t+1]++
	}
	for i := range n {
		r.row[i+1] += r.row[i]
	}
	next := make([]int32, n)
	copy(next, r.row)
	for s := range int32(n) {
		for _, t := range g.successors(s) {
			r.to[next[t]] = s
			next[t]++
		}
	}
	return r
}

// distances are shortest numbers of actions to a goal state, by breadth-first
// search backwards; -1 where no goal state can be reached. order lists the
// states that can reach one, nearest first. The error is that of ctx, if it ends before.
func distances(ctx context.Context, reverse *graph, goals []int32) (dist, order []int32, err error) {
	dist = make([]int32, reverse.n())
	for i := range dist {
		dist[i] = -1
	}
	order = make([]int32, 0, reverse.n())
	for _, s := range goals {
		dist[s] = 0
		order = append(order, s)
	}
	for head := 0; head < len(order); head++ {
		if head%often == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		t := order[head]
		for _, s := range reverse.successors(t) {
			if dist[s] < 0 {
				dist[s] = dist[t] + 1
				order = append(order, s)
			}
		}
	}
	return dist, order, nil
}
