package inference

import (
	"math/bits"
	"math/rand/v2"
	"slices"

	"foible/core/agent"
	"foible/core/ground"
	"foible/core/search"
)

// Marginal inference samples searches into tables. A table is of a goal, a step
// tau at which a plan may be made, and a search noise. It serves every budget,
// since a search tells what the plan of each budget would be, and every goal and
// action noise, which play no part in a search.

// Sizes of samples. A batch of an original goal's table has firstSearches at level
// 0 and twice as many at each further level; that of another goal, for which it may
// be taken, begins with one, since there are many.
const (
	firstSearches = 16
	lastLevel     = 9 // of an original goal
	lastConfused  = 10
)

// Sizes of searches. After some draws every other search is given up and counts no
// more, and those that go on count twice; again after twice as many draws, and so
// on: what a plan is after so many draws is of little weight, or it is much the same
// as before. Which ones are given up is a matter of their numbers, or of chance.
const (
	thinFrom  = 96
	leastLong = 320 // draws of the longest searches, at least
)

// negligibleTail is a probability of larger budgets that are taken for the largest one looked at.
const negligibleTail = 1e-4

// searches in a batch at a level.
func searches(level int, original bool) int {
	if original {
		return firstSearches << level
	}
	return 1 << level
}

// worth is how many searches for an original goal one counts for after so many
// draws. Of the fewest there may be, one goes on to the end.
func (s *sampler) worth(draw int) float64 {
	x := 1.0
	for limit := s.thinFrom; limit < draw && x < firstSearches; limit *= 2 {
		x *= 2
	}
	return x
}

// event is a part of what searches tell of plans: how many of the plans of a
// budget have a meeting, if the budget is just so many draws or, otherwise, at
// least so many.
type event struct {
	draw    int32
	meeting search.Meeting
	just    bool
	plans   float32
}

// sampled are the searches for a goal from the state after tau actions.
type sampled struct {
	seed     [2]uint64
	original bool
	levels   []level
	stray    func(to ground.StateID, length int) bool
}

// level has the searches that a level adds: the events of each batch, by draw.
type level [][]event

// sampler draws searches.
type sampler struct {
	sips     *SIPS
	thinFrom int // draws
	turns    []search.Turn
	pcg      rand.PCG
	rng      *rand.Rand
	// Room for what searches tell, for so many draws.
	draws      int
	just, from *search.Tally
	events     []event
}

// reach extends a table to a level, for so many batches.
func (s *sampler) reach(all *store, t *sampled, tau, goal, upTo, batches int) {
	from := 0
	for l := range upTo + 1 {
		to := searches(l, t.original)
		if len(t.levels) == l {
			t.levels = append(t.levels, make(level, batches))
			for batch := range batches {
				t.levels[l][batch] = s.batch(all, t, tau, goal, batch, from, to)
				all.size += len(t.levels[l][batch])
			}
		}
		from = to
	}
}

// batch makes the searches from one number to another, exclusive, of a batch.
func (s *sampler) batch(all *store, t *sampled, tau, goal, batch, from, to int) []event {
	start, observed := s.sips.states[tau], s.sips.states[tau+1:]
	if s.sips.task.Satisfies(start, goal) {
		return []event{{1, search.NoPlan, false, float32(to - from)}}
	}
	if s.just == nil || s.draws < all.draws {
		s.draws = all.draws
		s.just, s.from = search.NewTally(s.draws, len(s.sips.states)), search.NewTally(s.draws, len(s.sips.states))
	}
	h := s.sips.goals.Heuristic[goal]
	for i := from; i < to; i++ {
		n := uint64(batch)<<32 | uint64(i)
		s.pcg.Seed(scramble(t.seed[0]+n), scramble(t.seed[1]+n))
		o := search.Options{Noise: all.noise, Budget: all.draws}
		if all.unlimited {
			o.Budget = search.Unlimited
		}
		switch {
		case all.unlimited: // never given up: where the end alone counts, few that count for many would be all there is
			s.turns, _ = s.sips.search.Trace(start, goal, h, o, observed, t.stray, s.rng, s.turns[:0])
			s.from.Add(1, s.turns[len(s.turns)-1].Meeting, 1)
		case t.original:
			if i%firstSearches != 0 {
				o.Budget = min(o.Budget, s.thinFrom<<bits.TrailingZeros(uint(i)))
			}
			if draw, meeting := s.sips.search.Weigh(start, goal, h, o, observed, t.stray, s.rng, s.worth, s.just); 0 < draw && draw <= all.draws {
				s.from.Add(draw, meeting, s.worth(draw-1))
			}
		default:
			o.Budget = min(o.Budget, s.thinFrom<<bits.TrailingZeros64(s.pcg.Uint64()|1<<20))
			var ended int
			s.turns, ended = s.sips.search.Trace(start, goal, h, o, observed, t.stray, s.rng, s.turns[:0])
			s.confused(all.draws, o.Budget, ended)
		}
	}
	s.events = s.events[:0]
	s.just.Drain(func(draw int, m search.Meeting, sum float64) {
		s.events = append(s.events, event{int32(draw), m, true, float32(sum)})
	})
	s.from.Drain(func(draw int, m search.Meeting, sum float64) {
		s.events = append(s.events, event{int32(draw), m, false, float32(sum)})
	})
	return slices.Clone(s.events)
}

// confused notes what the turns of a search for another goal tell.
func (s *sampler) confused(draws, budget, ended int) {
	x, meeting := 0.0, search.NoPlan
	note := func(draw int, now search.Meeting, worth float64) {
		if draw <= draws {
			s.from.Add(draw, meeting, -x)
			s.from.Add(draw, now, worth)
		}
		x, meeting = worth, now
	}
	next := s.thinFrom + 1 // the first draw that counts for more
	for _, turn := range s.turns {
		for ; next <= int(turn.Draw); next = 2*next - 1 {
			note(next, meeting, 2*x)
		}
		if turn.Draw == 1 {
			x = 0
			note(1, turn.Meeting, 1)
			continue
		}
		note(int(turn.Draw), turn.Meeting, x)
	}
	last := budget
	if ended > 0 {
		last = ended
	}
	for ; next <= last; next = 2*next - 1 {
		note(next, meeting, 2*x)
	}
	if ended == 0 {
		note(budget+1, meeting, 0)
	}
}

// scramble is the finalizer of SplitMix64 (Steele, Lea and Flood 2014).
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// weights are what events at each draw add to the probabilities of their meetings
// under a budget: the probability that the budget is just the draw, and that it is
// the draw or more, a search's part of them.
type weights struct{ just, from []float64 }

func newWeights(b agent.Budget, unlimited bool, n, draws int) *weights {
	w := &weights{make([]float64, draws+1), make([]float64, draws+1)}
	if unlimited {
		w.from[1] = 1 / float64(n)
		return w
	}
	atLeast := make([]float64, draws+2) // the last is 0: larger budgets count as the largest looked at
	atLeast[1] = 1                      // a budget of 0 leaves no plan either
	for draw := 2; draw <= draws; draw++ {
		atLeast[draw] = b.AtLeast(draw)
	}
	for draw := 1; draw <= draws; draw++ {
		w.just[draw] = (atLeast[draw] - atLeast[draw+1]) / float64(n)
		w.from[draw] = atLeast[draw] / float64(n)
	}
	return w
}
