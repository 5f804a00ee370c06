package marginal

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"

	"foible/core/agent"
	"foible/core/inference/internal/observed"
	"foible/core/search"
)

// sampler draws searches.
type sampler struct {
	path     *observed.Path
	thinFrom int // draws
	turns    []search.Turn
	pcg      rand.PCG
	rng      *rand.Rand
	// Room for what searches tell, for so many draws.
	draws      int
	just, from *search.Tally
	events     []event
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

// reach extends a table to a level. The error is that of ctx, if it ends before; the
// table is then of no use.
func (s *sampler) reach(ctx context.Context, all *samples, t *table, tau, goal, upTo int) error {
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
		most, generated := 0, -float64(s.path.Search.Generated)
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
		generated += float64(s.path.Search.Generated)
		t.most, t.effort = append(t.most, most), append(t.effort, generated/float64(allSearches(l, batches, t.original)))
	}
	return nil
}

// know tells what all searches do if they can go in one way only; nil if chance has a part.
// The error is that of ctx, if it ends before.
func (s *sampler) know(ctx context.Context, all *samples, t *table, tau, goal int) ([]event, error) {
	o := search.Options{Noise: all.noise, Budget: all.draws, Sure: true}
	if all.unlimited {
		o.Budget = search.Unlimited
	}
	start, observed := s.path.States[tau], s.path.States[tau+1:]
	var ended int
	var err error
	s.turns, ended, err = s.path.Search.Trace(ctx, start, goal, s.path.Goals.Heuristic[goal], o, observed, t.stray, s.rng, s.turns[:0])
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
func (s *sampler) batch(ctx context.Context, all *samples, t *table, tau, goal, batch, from, to int) ([]event, error) {
	start, observed := s.path.States[tau], s.path.States[tau+1:]
	if s.just == nil || s.draws < all.draws {
		s.draws = all.draws
		s.just, s.from = search.NewTally(s.draws, len(s.path.States)), search.NewTally(s.draws, len(s.path.States))
	}
	s.events = s.events[:0]
	add := s.from.Add
	if to-from == 1 {
		add = s.note // there is nothing to sum up
	}
	h := s.path.Goals.Heuristic[goal]
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
			s.turns, _, err = s.path.Search.Trace(ctx, start, goal, h, o, observed, t.stray, s.rng, s.turns[:0])
			if err != nil {
				return nil, err
			}
			add(1, s.turns[len(s.turns)-1].Meeting, 1)
		case t.original:
			if i%firstSearches != 0 {
				o.Budget = min(o.Budget, s.thinFrom<<bits.TrailingZeros(uint(i)))
			}
			draw, meeting, err := s.path.Search.Weigh(ctx, start, goal, h, o, observed, t.stray, s.rng, s.worth, s.just)
			if err != nil {
				return nil, err
			}
			if 0 < draw && draw <= all.draws {
				add(draw, meeting, s.worth(draw-1))
			}
		default:
			o.Budget = min(o.Budget, s.thinFrom<<bits.TrailingZeros64(s.pcg.Uint64()|1<<20))
			var ended int
			s.turns, ended, err = s.path.Search.Trace(ctx, start, goal, h, o, observed, t.stray, s.rng, s.turns[:0])
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
