package inference

import (
	"context"
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
// 0 and twice as many at each further level. Another goal, for which it may be taken,
// is one of many: its table has one search at level 0, which stands for all batches,
// two at level 1, one a batch at level apart, and from there on twice as many a level.
const (
	firstSearches = 8
	lastLevel     = 10 // of an original goal
	apart         = 2
	lastConfused  = 12
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

// searches of each batch that has any, up to a level.
func searches(level int, original bool) int {
	if original {
		return firstSearches << level
	}
	return 1 << max(0, level-apart)
}

// near is how far batches of a table keep from their mean, as a part of what they
// differ by: so near that products of tables are as linear in them as errors by the
// delta method take them to be, and no batch has a part of a mean that is mere chance.
const near = 1.0 / 16

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
	of      int32 // twice the draw, and 1 if just so many draws
	meeting search.Meeting
	plans   float32
}

func (e *event) draw() int { return int(e.of / 2) }

// sampled are the searches for a goal from the state after tau actions.
type sampled struct {
	seed     [2]uint64
	original bool
	levels   []level
	most     []int                                    // by level: actions that some plan gets right, up to there
	effort   []float64                                // by level: successors that a search generates, up to there
	stray    func(to ground.StateID, length int) bool // nil where it is not asked or not known
	known    []event                                  // of one search, if all tell the same: there is no need to search
}

// allSearches are those of all batches, up to a level.
func allSearches(level, batches int, original bool) int {
	if !original && level < apart {
		return min(batches, 1<<level)
	}
	return batches * searches(level, original)
}

// in reports whether a batch has any search of its own at a level.
func (t *sampled) in(level, batch int) bool {
	return t.original || level >= apart || batch < 1<<level
}

// expected is what a search for another goal is likely to tell: no action agrees.
func expected(unlimited bool) []event {
	if unlimited {
		return []event{{2 * 1, 0, 1}}
	}
	return []event{{2*1 + 1, search.NoPlan, 1}, {2 * 2, 0, 1}}
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

// reach extends a table to a level. The error is that of ctx, if it ends before; the
// table is then of no use.
func (s *sampler) reach(ctx context.Context, all *store, t *sampled, tau, goal, upTo int) error {
	if len(t.levels) == 0 && t.known == nil {
		var err error
		if t.known, err = s.know(ctx, all, t, tau, goal); err != nil {
			return err
		}
	}
	if t.known != nil {
		return nil
	}
	batches := all.batches
	for l := len(t.levels); l <= upTo; l++ {
		t.levels = append(t.levels, make(level, batches))
		most, generated := 0, -float64(s.sips.search.Generated)
		if l > 0 {
			most = t.most[l-1]
			generated += float64(allSearches(l-1, batches, t.original)) * t.effort[l-1]
		}
		for batch := range batches {
			if !t.in(l, batch) {
				continue
			}
			from := 0
			if l > 0 && t.in(l-1, batch) {
				from = searches(l-1, t.original)
			}
			if to := searches(l, t.original); from < to {
				var err error
				if t.levels[l][batch], err = s.batch(ctx, all, t, tau, goal, batch, from, to); err != nil {
					return err
				}
				all.size += len(t.levels[l][batch])
			}
			most = max(most, right(t.levels[l][batch]))
		}
		generated += float64(s.sips.search.Generated)
		t.most, t.effort = append(t.most, most), append(t.effort, generated/float64(allSearches(l, batches, t.original)))
	}
	return nil
}

// right is the greatest number of actions that events get right.
func right(events []event) (most int) {
	for i := range events {
		most = max(most, events[i].meeting.Matched())
	}
	return most
}

// know tells what all searches do if they can go in one way only; nil if chance has a part.
// The error is that of ctx, if it ends before.
func (s *sampler) know(ctx context.Context, all *store, t *sampled, tau, goal int) ([]event, error) {
	o := search.Options{Noise: all.noise, Budget: all.draws, Sure: true}
	if all.unlimited {
		o.Budget = search.Unlimited
	}
	start, observed := s.sips.states[tau], s.sips.states[tau+1:]
	var ended int
	var err error
	s.turns, ended, err = s.sips.search.Trace(ctx, start, goal, s.sips.goals.Heuristic[goal], o, observed, t.stray, s.rng, s.turns[:0])
	if err != nil || ended < 0 {
		return nil, err
	}
	s.events = s.events[:0]
	if all.unlimited {
		s.note(1, s.turns[len(s.turns)-1].Meeting, 1)
		return slices.Clone(s.events), nil
	}
	meeting := search.NoPlan
	for i, turn := range s.turns {
		if i > 0 {
			s.note(int(turn.Draw), meeting, -1)
		}
		s.note(int(turn.Draw), turn.Meeting, 1)
		meeting = turn.Meeting
	}
	return slices.Clone(s.events), nil
}

// batch makes the searches from one number to another, exclusive, of a batch. The error
// is that of ctx, if it ends before.
func (s *sampler) batch(ctx context.Context, all *store, t *sampled, tau, goal, batch, from, to int) ([]event, error) {
	start, observed := s.sips.states[tau], s.sips.states[tau+1:]
	if s.just == nil || s.draws < all.draws {
		s.draws = all.draws
		s.just, s.from = search.NewTally(s.draws, len(s.sips.states)), search.NewTally(s.draws, len(s.sips.states))
	}
	s.events = s.events[:0]
	add := s.from.Add
	if to-from == 1 {
		add = s.note // there is nothing to sum up
	}
	h := s.sips.goals.Heuristic[goal]
	var err error
	for i := from; i < to; i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := uint64(batch)<<32 | uint64(i)
		s.pcg.Seed(scramble(t.seed[0]+n), scramble(t.seed[1]+n))
		o := search.Options{Noise: all.noise, Budget: all.draws}
		if all.unlimited {
			o.Budget = search.Unlimited
		}
		switch {
		case all.unlimited: // never given up: where the end alone counts, few that count for many would be all there is
			s.turns, _, err = s.sips.search.Trace(ctx, start, goal, h, o, observed, t.stray, s.rng, s.turns[:0])
			if err != nil {
				return nil, err
			}
			add(1, s.turns[len(s.turns)-1].Meeting, 1)
		case t.original:
			if i%firstSearches != 0 {
				o.Budget = min(o.Budget, s.thinFrom<<bits.TrailingZeros(uint(i)))
			}
			draw, meeting, err := s.sips.search.Weigh(ctx, start, goal, h, o, observed, t.stray, s.rng, s.worth, s.just)
			if err != nil {
				return nil, err
			}
			if 0 < draw && draw <= all.draws {
				add(draw, meeting, s.worth(draw-1))
			}
		default:
			o.Budget = min(o.Budget, s.thinFrom<<bits.TrailingZeros64(s.pcg.Uint64()|1<<20))
			var ended int
			s.turns, ended, err = s.sips.search.Trace(ctx, start, goal, h, o, observed, t.stray, s.rng, s.turns[:0])
			if err != nil {
				return nil, err
			}
			s.confused(all.draws, o.Budget, ended, add)
		}
	}
	s.just.Drain(func(draw int, m search.Meeting, sum float64) {
		s.events = append(s.events, event{int32(2*draw + 1), m, float32(sum)})
	})
	s.from.Drain(s.note)
	return slices.Clone(s.events), nil
}

// note adds an event: so many of the plans of that many draws or more.
func (s *sampler) note(draw int, m search.Meeting, plans float64) {
	s.events = append(s.events, event{int32(2 * draw), m, float32(plans)})
}

// confused notes what the turns of a search for another goal tell.
func (s *sampler) confused(draws, budget, ended int, add func(draw int, m search.Meeting, plans float64)) {
	x, meeting := 0.0, search.NoPlan
	note := func(draw int, now search.Meeting, worth float64) {
		if draw <= draws {
			if x != 0 {
				add(draw, meeting, -x)
			}
			add(draw, now, worth)
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

// weights are what events add to the probabilities of their meetings under a budget, a
// search's part of it, by what they are of: the probability that the budget is the draw or
// more, and that it is just the draw.
type weights []float64

func newWeights(b agent.Budget, unlimited bool, n, draws int) weights {
	w := make(weights, 2*(draws+1))
	if unlimited {
		w[2*1] = 1 / float64(n)
		return w
	}
	atLeast := make([]float64, draws+2) // the last is 0: larger budgets count as the largest looked at
	atLeast[1] = 1                      // a budget of 0 leaves no plan either
	for draw := 2; draw <= draws; draw++ {
		atLeast[draw] = b.AtLeast(draw)
	}
	for draw := 1; draw <= draws; draw++ {
		w[2*draw] = atLeast[draw] / float64(n)
		w[2*draw+1] = (atLeast[draw] - atLeast[draw+1]) / float64(n)
	}
	return w
}
