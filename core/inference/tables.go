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
	firstSearches = 32
	lastLevel     = 8 // of an original goal
	lastConfused  = 10
)

// Sizes of searches. Half of them end after thinFrom draws, half of the others
// after twice as many, and so on: what a plan is after so many draws is of little
// weight, or it is much the same as before. Searches for an original goal are
// thinned out by their numbers, others by chance, since they are few.
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

// thin is how often searches have been thinned out before a draw, and the last
// draw before they are again.
func thin(draw int) (times, last int) {
	if draw <= thinFrom {
		return 0, thinFrom
	}
	times = bits.Len(uint((draw - 1) / thinFrom))
	return times, thinFrom << times
}

// event is a part of what searches tell of plans: how many of the plans of a
// budget have a meeting, if the budget is just so many draws or, otherwise, from so
// many draws on until searches are thinned out.
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
	sips  *SIPS
	turns []search.Turn
	pcg   rand.PCG
	rng   *rand.Rand
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
		switch {
		case all.unlimited:
			o.Budget = search.Unlimited
			s.turns = s.sips.search.Trace(start, goal, h, o, observed, t.stray, s.rng, s.turns[:0])
			s.from.Add(1, s.turns[len(s.turns)-1].Meeting, 1)
		case t.original:
			if i > 0 {
				o.Budget = min(o.Budget, thinFrom<<bits.TrailingZeros(uint(i)))
			}
			if draw, meeting := s.sips.search.Weigh(start, goal, h, o, observed, t.stray, s.rng, s.just); draw > 0 {
				s.last(draw, o.Budget, meeting, 1)
			}
		default: // a single one is soon told
			o.Budget = min(o.Budget, thinFrom<<bits.TrailingZeros64(s.pcg.Uint64()|1<<20))
			s.turns = s.sips.search.Trace(start, goal, h, o, observed, t.stray, s.rng, s.turns[:0])
			for j, turn := range s.turns {
				last := o.Budget
				if j+1 < len(s.turns) {
					last = int(s.turns[j+1].Draw) - 1
				}
				s.last(int(turn.Draw), last, turn.Meeting, 2)
			}
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

// last notes that plans have a meeting from one draw to another, inclusive. After
// each thinning they are counted anew, as so many times more.
func (s *sampler) last(from, to int, m search.Meeting, times float64) {
	for from <= to {
		thinned, end := thin(from)
		x := 1.0
		for range thinned {
			x *= times
		}
		s.from.Add(from, m, x)
		if to < end && to < s.draws {
			s.from.Add(to+1, m, -x)
		}
		from = end + 1
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
// under a budget, by the number of searches still counted: the probability that
// the budget is just the draw, and that it lies between the draw and the next
// thinning.
type weights struct{ just, from []float64 }

func newWeights(b agent.Budget, unlimited, original bool, n, draws int) *weights {
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
		times, last := thin(draw)
		left := float64(n)
		if original {
			left = float64((n-1)>>times + 1)
		}
		w.just[draw] = (atLeast[draw] - atLeast[draw+1]) / left
		w.from[draw] = (atLeast[draw] - atLeast[min(last, draws)+1]) / left
	}
	return w
}
