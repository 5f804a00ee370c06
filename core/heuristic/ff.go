package heuristic

import (
	"math"

	"foible/core/ground"
)

// FF is the length of a relaxed plan (Hoffmann & Nebel 2001): every fact is
// achieved by its first achiever, and an operator counts once. What achieves a
// fact does not depend on the goal, so the heuristics of all goals share it.
func (r *Relaxation) FF(goal int) *Table {
	facts := r.task.Goals[goal]
	return NewTable(func(s ground.StateID) float64 { return r.plan(r.achievers(s), facts) })
}

const (
	holds    = -1 // in the place of an achiever: the fact is true already
	hopeless = -2 // nothing makes it true
)

// roomForAchievers bounds what is kept of them, in numbers of 4 bytes: 7,000 states
// of the published 6-block tasks take 350,000. It is computed anew beyond.
const roomForAchievers = 1 << 24

// achievers are, by fact, the operators by which facts first become true from s.
// They are good until the next call.
func (r *Relaxation) achievers(s ground.StateID) []int32 {
	if int(s) < len(r.known) && r.known[s] >= 0 {
		at := int(r.known[s])
		return r.kept[at : at+len(r.level)]
	}
	r.explore(s)
	for f, level := range r.level {
		switch level {
		case 0:
			r.achiever[f] = holds
		case unreached:
			r.achiever[f] = hopeless
		}
	}
	if len(r.kept)+len(r.level) <= roomForAchievers {
		for len(r.known) <= int(s) {
			r.known = append(r.known, -1)
		}
		r.known[s] = int32(len(r.kept))
		r.kept = append(r.kept, r.achiever...)
	}
	return r.achiever
}

// plan counts the operators that facts rest on; +Inf if one is hopeless.
func (r *Relaxation) plan(achiever, facts []int32) float64 {
	clear(r.used)
	n := 0
	r.open = append(r.open[:0], facts...)
	for len(r.open) > 0 {
		op := achiever[r.open[len(r.open)-1]]
		r.open = r.open[:len(r.open)-1]
		switch {
		case op == hopeless:
			return math.Inf(1)
		case op == holds || r.used[op]:
			continue
		}
		r.used[op] = true
		n++
		r.open = append(r.open, r.pre.list(op)...)
	}
	return float64(n)
}
