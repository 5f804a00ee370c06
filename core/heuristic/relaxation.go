package heuristic

import (
	"slices"

	"foible.dev/foible/core/ground"
)

// Relaxation is a task in which nothing ever becomes false (Bonet & Geffner
// 2001), compiled once and shared by the heuristics of all its goals.
type Relaxation struct {
	task    *ground.Propositional
	pre     rows    // operator -> facts it needs
	add     rows    // operator -> facts it makes true
	readers rows    // fact -> operators that need it
	needs   []int32 // operator -> len(pre)
	free    []int32 // operators that need nothing

	// Scratch of one exploration.
	left     []int32 // operator -> needs that are not reached yet
	level    []int32 // fact -> layer in which it is first true; unreached
	achiever []int32 // fact -> operator that made it true
	reached  []int32 // facts in order of their layers
	state    []int32

	// FF's sets of operators that facts rest on, each of the same number of words.
	words int
	rest  []uint64 // fact -> set, in the state explored last
	goals []int32  // facts of any goal, ascending
	place []int    // fact -> its place in goals; only of these
	kept  []uint64 // [place]: sets, one state after another
	known []int32  // by state: where they are in kept; -1 if nowhere
	room  int      // of kept
}

const unreached = -1

// rows are lists of numbers in compressed sparse form: list i is at[from[i]:from[i+1]].
type rows struct {
	from []int32
	at   []int32
}

func (r *rows) list(i int32) []int32 { return r.at[r.from[i]:r.from[i+1]] }

func newRows(lists [][]int32) rows {
	r := rows{from: make([]int32, 1, len(lists)+1)}
	for _, l := range lists {
		r.at = append(r.at, l...)
		r.from = append(r.from, int32(len(r.at)))
	}
	return r
}

// NewRelaxation compiles a task.
func NewRelaxation(p *ground.Propositional) *Relaxation {
	r := &Relaxation{task: p}
	pre := make([][]int32, len(p.Operators))
	add := make([][]int32, len(p.Operators))
	readers := make([][]int32, p.Facts)
	for i, op := range p.Operators {
		pre[i], add[i] = op.Precondition, op.Add
		for _, f := range op.Precondition {
			readers[f] = append(readers[f], int32(i))
		}
		r.needs = append(r.needs, int32(len(op.Precondition)))
		if len(op.Precondition) == 0 {
			r.free = append(r.free, int32(i))
		}
	}
	r.pre, r.add, r.readers = newRows(pre), newRows(add), newRows(readers)

	r.left = make([]int32, len(p.Operators))
	r.level = make([]int32, p.Facts)
	r.achiever = make([]int32, p.Facts)
	r.reached = make([]int32, 0, p.Facts)
	r.state = make([]int32, 0, p.Facts)

	r.room = roomForRests
	r.words = len(p.Operators)/64 + 1
	r.rest = make([]uint64, p.Facts*r.words)
	for _, goal := range p.Goals {
		r.goals = append(r.goals, goal...)
	}
	slices.Sort(r.goals)
	r.goals = slices.Compact(r.goals)
	r.place = make([]int, p.Facts)
	for place, f := range r.goals {
		r.place[f] = place
	}
	return r
}

// explore applies all operators, layer by layer, to the facts of s until nothing is
// new. Facts then have their layer, and the achiever of a fact is the first
// operator, in the task's order, of the layer before.
func (r *Relaxation) explore(s ground.StateID) {
	copy(r.left, r.needs)
	for f := range r.level {
		r.level[f] = unreached
	}
	r.reached = r.task.True(s, r.reached[:0])
	for _, f := range r.reached {
		r.level[f] = 0
	}
	head := 0
	for layer := int32(1); layer == 1 || head < len(r.reached); layer++ {
		end := len(r.reached)
		if layer == 1 {
			for _, op := range r.free {
				r.apply(op, layer)
			}
		}
		for ; head < end; head++ {
			for _, op := range r.readers.list(r.reached[head]) {
				if r.left[op]--; r.left[op] == 0 {
					r.apply(op, layer)
				}
			}
		}
	}
}

// apply makes an operator's facts true in a layer.
func (r *Relaxation) apply(op, layer int32) {
	for _, f := range r.add.list(op) {
		switch {
		case r.level[f] == unreached:
			r.level[f] = layer
			r.achiever[f] = op
			r.reached = append(r.reached, f)
		case r.level[f] == layer && op < r.achiever[f]:
			r.achiever[f] = op
		}
	}
}
