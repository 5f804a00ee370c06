package heuristic

import (
	"math"

	"foible.dev/foible/core/ground"
)

// Cut is the number of landmark cuts that are found one after the other: LM-cut (Helmert &
// Domshlak 2009), which never overestimates and is at least [Relaxation.Max]. A cut is a
// set of operators such that every plan has one of them; those of a cut are free in later ones.
func (r *Relaxation) Cut(goal int) *Table {
	c := newCuts(r.task, goal)
	return NewTable(func(s ground.StateID) float64 {
		clear(c.free)
		c.state = append(r.task.True(s, c.state[:0]), c.nothing)
		for n := 0; ; n++ {
			c.explore()
			switch {
			case !c.settled[c.end]:
				return math.Inf(1)
			case c.cost[c.end] == 0:
				return float64(n)
			}
			c.cut()
		}
	})
}

// cuts finds the cuts of one goal. There is one operator more than in the task, the last,
// which needs the goal's facts and makes the end true; and one fact more, nothing, which is
// always true and which operators need that need nothing else.
type cuts struct {
	pre, add, readers, makers rows // of operators: what they need and make true; of facts: the reverse
	end, nothing              int32

	// Of a state:
	state   []int32 // facts that are true
	free    []bool  // operators that cost nothing; others cost 1
	waits   []int32 // operator -> what it needs that is not settled
	hardest []int32 // operator -> a fact among those that it needs that costs the most
	settled []bool  // facts whose cost is known
	cost    []int32 // of a fact that is settled: the most costly of what its operator needs, and the operator
	open    [2][]int32
	isNear  []bool // facts from which free operators lead to the end
	seen    []bool
	stack   []int32
}

func newCuts(task *ground.Propositional, goal int) *cuts {
	operators, facts := len(task.Operators)+1, task.Facts+2
	c := &cuts{end: int32(task.Facts), nothing: int32(task.Facts) + 1}
	pre, add := make([][]int32, operators), make([][]int32, operators)
	for op := range task.Operators {
		pre[op], add[op] = task.Operators[op].Precondition, task.Operators[op].Add
	}
	pre[operators-1], add[operators-1] = task.Goals[goal], []int32{c.end}
	readers, makers := make([][]int32, facts), make([][]int32, facts)
	for op := range pre {
		if len(pre[op]) == 0 {
			pre[op] = []int32{c.nothing}
		}
		for _, f := range pre[op] {
			readers[f] = append(readers[f], int32(op))
		}
		for _, f := range add[op] {
			makers[f] = append(makers[f], int32(op))
		}
	}
	c.pre, c.add, c.readers, c.makers = newRows(pre), newRows(add), newRows(readers), newRows(makers)
	c.free, c.waits, c.hardest = make([]bool, operators), make([]int32, operators), make([]int32, operators)
	c.settled, c.cost, c.isNear, c.seen = make([]bool, facts), make([]int32, facts), make([]bool, facts), make([]bool, facts)
	return c
}

// explore finds what every fact costs, where nothing ever becomes false and an operator costs
// as much as the most costly fact that it needs, and itself. Facts are settled in order of
// their costs, so that the hardest fact of an operator is the one settled last.
func (c *cuts) explore() {
	clear(c.settled)
	for op := range c.waits {
		c.waits[op] = c.pre.from[op+1] - c.pre.from[op]
	}
	last := len(c.free) - 1
	now, next := append(c.open[0][:0], c.state...), c.open[1][:0]
	for cost := int32(0); len(now) > 0; cost++ {
		for i := 0; i < len(now); i++ { // now grows
			f := now[i]
			if c.settled[f] {
				continue
			}
			c.settled[f], c.cost[f] = true, cost
			for _, op := range c.readers.list(f) {
				if c.waits[op]--; c.waits[op] > 0 {
					continue
				}
				c.hardest[op] = f
				if c.free[op] || int(op) == last {
					now = append(now, c.add.list(op)...)
				} else {
					next = append(next, c.add.list(op)...)
				}
			}
		}
		now, next = next, now[:0]
	}
	c.open = [2][]int32{now, next}
}

// cut makes the operators of a cut free: those that lead from facts which can be made true
// away from the end to facts from which the end is free, by the hardest fact of each.
func (c *cuts) cut() {
	last := int32(len(c.free) - 1)
	clear(c.isNear)
	c.isNear[c.end] = true
	c.stack = append(c.stack[:0], c.end)
	for len(c.stack) > 0 {
		f := c.stack[len(c.stack)-1]
		c.stack = c.stack[:len(c.stack)-1]
		for _, op := range c.makers.list(f) {
			if c.waits[op] > 0 || !c.free[op] && op != last {
				continue
			}
			if from := c.hardest[op]; !c.isNear[from] {
				c.isNear[from] = true
				c.stack = append(c.stack, from)
			}
		}
	}
	clear(c.seen)
	c.stack = append(c.stack[:0], c.state...)
	for _, f := range c.state {
		c.seen[f] = true
	}
	for len(c.stack) > 0 {
		f := c.stack[len(c.stack)-1]
		c.stack = c.stack[:len(c.stack)-1]
		for _, op := range c.readers.list(f) {
			if c.waits[op] > 0 || c.hardest[op] != f {
				continue
			}
			for _, to := range c.add.list(op) {
				switch {
				case c.isNear[to]:
					c.free[op] = true
				case !c.seen[to]:
					c.seen[to] = true
					c.stack = append(c.stack, to)
				}
			}
		}
	}
}
