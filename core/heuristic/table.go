package heuristic

import "foible/core/ground"

// Table holds one heuristic's estimates of one goal, each computed when first
// asked for. Like the task it is not safe for concurrent use.
type Table struct {
	evaluate func(ground.StateID) float64
	values   []float64 // by state; unknown where not yet computed
}

const unknown = -1

// NewTable keeps the values of evaluate, which must be 0 or more, or +Inf.
func NewTable(evaluate func(ground.StateID) float64) *Table {
	return &Table{evaluate: evaluate}
}

// Zero is the blind heuristic: every state is 0 away.
func Zero() *Table { return NewTable(func(ground.StateID) float64 { return 0 }) }

// Value is the estimated number of actions from s to the goal.
func (t *Table) Value(s ground.StateID) float64 {
	if int(s) < len(t.values) && t.values[s] != unknown {
		return t.values[s]
	}
	return t.compute(s)
}

func (t *Table) compute(s ground.StateID) float64 {
	v := t.evaluate(s)
	if !(v >= 0) {
		panic("heuristic: a negative estimate")
	}
	for len(t.values) <= int(s) {
		t.values = append(t.values, unknown)
	}
	t.values[s] = v
	return v
}
