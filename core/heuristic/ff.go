package heuristic

import (
	"math"
	"math/bits"

	"foible.dev/foible/core/ground"
)

// FF is the length of a relaxed plan (Hoffmann & Nebel 2001): every fact is
// achieved by its first achiever, and an operator counts once. The operators that a
// fact rests on do not depend on the goal, so the heuristics of all goals share them.
func (r *Relaxation) FF(goal int) *Table {
	var places []int
	for _, f := range r.task.Goals[goal] {
		places = append(places, r.place[f]*r.words)
	}
	hopeless := uint64(1) << (len(r.needs) % 64)
	return NewTable(func(s ground.StateID) float64 {
		rests := r.rests(s)
		n := 0
		var plan uint64
		for word := range r.words {
			plan = 0
			for _, at := range places {
				plan |= rests[at+word]
			}
			n += bits.OnesCount64(plan)
		}
		if plan&hopeless != 0 {
			return math.Inf(1)
		}
		return float64(n)
	})
}

// roomForRests bounds what is kept of them, in numbers of 8 bytes: 7,000 states of the
// published 6-block tasks take 600,000. Beyond, all that is kept is forgotten.
const roomForRests = 1 << 23

// rests are the operators that each fact of some goal rests on in s, by place: its first
// achiever, and those that the conditions of this one rest on. They are sets of r.words
// words; one more bit than there are operators stands for what nothing makes true. They
// are good until the next call.
func (r *Relaxation) rests(s ground.StateID) []uint64 {
	size := len(r.goals) * r.words
	if int(s) < len(r.known) && r.known[s] >= 0 {
		at := int(r.known[s])
		return r.kept[at : at+size]
	}
	r.explore(s)
	clear(r.rest)
	for f, level := range r.level {
		if level == unreached {
			r.restOf(int32(f))[len(r.needs)/64] = 1 << (len(r.needs) % 64)
		}
	}
	for _, f := range r.reached { // conditions before what rests on them
		if r.level[f] == 0 {
			continue
		}
		op := r.achiever[f]
		set := r.restOf(f)
		for _, condition := range r.pre.list(op) {
			for i, word := range r.restOf(condition) {
				set[i] |= word
			}
		}
		set[op/64] |= 1 << (op % 64)
	}
	start := len(r.kept)
	if start+size > r.room {
		start = 0
		r.kept, r.known = r.kept[:0], r.known[:0]
	}
	for len(r.known) <= int(s) {
		r.known = append(r.known, -1)
	}
	r.known[s] = int32(start)
	for _, f := range r.goals {
		r.kept = append(r.kept, r.restOf(f)...)
	}
	return r.kept[start : start+size]
}

func (r *Relaxation) restOf(f int32) []uint64 {
	return r.rest[int(f)*r.words : (int(f)+1)*r.words]
}
