package search

import (
	"math/rand/v2"

	"foible/core/ground"
)

// Meeting says how a partial plan meets the states that were observed after it
// was made: for how many actions it leads to them, and whether it ends there or
// leads elsewhere next. A plan that goes on after the last observed state counts
// as ending there. Meetings are small numbers from 0.
type Meeting uint16

const (
	meetingEnds  Meeting = 1 << iota // as far as it agrees; otherwise it differs next
	meetingStray                     // see Options of Trace
	meetingOne                       // an action that agrees
)

// Matched is the number of actions that lead to the observed states.
func (m Meeting) Matched() int { return int(m / meetingOne) }

// Ends reports whether the plan ends after these; otherwise it leads elsewhere next.
func (m Meeting) Ends() bool { return m&meetingEnds != 0 }

// Stray reports whether the plan strays, in the sense of [Searcher.Trace].
func (m Meeting) Stray() bool { return m&meetingStray != 0 }

// NoPlan is the meeting of an empty plan.
const NoPlan = meetingEnds

// Turn is a draw of a search from which on its partial plan meets what was
// observed in another way, until the next turn.
type Turn struct {
	Draw    int32
	Meeting Meeting
}

// Trace searches as [Searcher.Run] does, and tells for every draw how the path to
// the node drawn meets the states observed: the plan of a search whose budget ends
// there. So one search serves all budgets up to its own. What the last turn tells
// is true of larger budgets too if the search was solved or exhausted (which
// leaves no plan). stray, if not nil, says whether a path of some length to a node
// strays; an empty plan does not. The turns are appended to room.
func (s *Searcher) Trace(from ground.StateID, goal int, h Heuristic, o Options, observed []ground.StateID, stray func(to ground.StateID, length int) bool, rng *rand.Rand, room []Turn) []Turn {
	room = append(room, Turn{1, NoPlan})
	if s.task.Satisfies(from, goal) {
		return room
	}
	s.begin(from, o.Noise, rng)
	for len(s.met) < len(s.nodes) {
		s.met = append(s.met, 0)
	}
	s.met[from] = NoPlan
	var result Result
	last, drawn := NoPlan, from
	for draw := int32(2); int(draw) <= o.Budget; draw++ {
		s.expand(drawn, h, &result)
		if s.open.size == 0 {
			if last != NoPlan {
				room = append(room, Turn{draw, NoPlan})
			}
			break
		}
		var h0 int32
		drawn, h0 = s.draw()
		for len(s.met) < len(s.nodes) {
			s.met = append(s.met, 0)
		}
		meeting := s.meet(drawn, observed, result.Reopened > 0)
		s.met[drawn] = meeting
		if stray != nil && stray(drawn, s.length(drawn)) {
			meeting |= meetingStray
		}
		if meeting != last {
			room = append(room, Turn{draw, meeting})
			last = meeting
		}
		if h0 == 0 && s.task.Satisfies(drawn, goal) {
			break
		}
	}
	return room
}

// meet is how the path to a node meets the observed states. The meetings of the
// nodes drawn before are known, and still true unless nodes were opened again.
func (s *Searcher) meet(to ground.StateID, observed []ground.StateID, reopened bool) Meeting {
	parent := s.nodes[to].parent
	if parent < 0 {
		return NoPlan
	}
	m := s.met[parent]
	if reopened {
		m = s.meet(parent, observed, true)
	}
	switch {
	case !m.Ends() || m.Matched() == len(observed):
		return m
	case observed[m.Matched()] == to:
		return m + meetingOne
	}
	return m &^ meetingEnds
}

// length is the number of actions of the path to a node.
func (s *Searcher) length(to ground.StateID) int {
	n := 0
	for ; s.nodes[to].parent >= 0; to = s.nodes[to].parent {
		n++
	}
	return n
}
