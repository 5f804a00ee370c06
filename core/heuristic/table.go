package heuristic

import (
	"math"

	"foible.dev/foible/core/ground"
)

// Table holds one heuristic's estimates of one goal, each computed when first
// asked for. Like the task it is not safe for concurrent use.
type Table struct {
	evaluate func(ground.StateID) float64
	values   []int16 // by state: an estimate, DeadEnd or unknown
	computed int
}

// Computed is the number of states whose estimate has been computed.
func (t *Table) Computed() int { return t.computed }

// Largest is the largest estimate that is kept: larger ones count as it.
const Largest = math.MaxInt16

// DeadEnd is the estimate of a state from which the goal cannot be reached.
const DeadEnd = -2

const unknown = -1

// NewTable keeps the values of evaluate, which must be whole numbers from 0, or +Inf.
func NewTable(evaluate func(ground.StateID) float64) *Table {
	return &Table{evaluate: evaluate}
}

// Zero is the blind heuristic: every state is 0 away.
func Zero() *Table { return NewTable(func(ground.StateID) float64 { return 0 }) }

// Estimate is the estimated number of actions from s to the goal, or DeadEnd.
func (t *Table) Estimate(s ground.StateID) int32 {
	if values := t.values; int(s) < len(values) && values[s] != unknown {
		return int32(values[s])
	}
	return t.compute(s)
}

// Value is the estimated number of actions from s to the goal; +Inf for a dead end.
func (t *Table) Value(s ground.StateID) float64 {
	if v := t.Estimate(s); v != DeadEnd {
		return float64(v)
	}
	return math.Inf(1)
}

func (t *Table) compute(s ground.StateID) int32 {
	v := t.evaluate(s)
	kept := int16(DeadEnd)
	if !math.IsInf(v, 1) {
		if !(v >= 0) || v != math.Trunc(v) {
			panic("heuristic: an estimate that is not a whole number from 0")
		}
		kept = int16(min(v, Largest))
	}
	for len(t.values) <= int(s) {
		t.values = append(t.values, unknown)
	}
	t.values[s] = kept
	t.computed++
	return int32(kept)
}
