package samples

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"

	"foible.dev/foible/core/inference/internal/observed"
	"foible.dev/foible/core/search"
)

// sampler fills tables. Its fields but the first two are buffers.
type sampler struct {
	path     *observed.Path
	thinFrom int // see Limits
	pcg      rand.PCG
	rng      *rand.Rand // draws from pcg
	turns    []search.Turn
	events   []Event
	// Sums of what searches found, up to tallied draws.
	tallied         int
	exactly, onward *search.Tally
}

// weight is how many searches for an original goal one counts for after a number of draws.
// Of firstSearches, one goes on to the end.
func (s *sampler) weight(draw int) float64 {
	x := 1.0
	for limit := s.thinFrom; limit < draw && x < firstSearches; limit *= 2 {
		x *= 2
	}
	return x
}

// extend samples a table up to a level. The error is that of ctx, if it ends before; the
// table is then of no use.
func (s *sampler) extend(ctx context.Context, all *Samples, t *Table, upTo int) error {
	if len(t.levels) == 0 && t.certain == nil {
		var err error
		if t.certain, err = s.certain(ctx, all, t); err != nil {
			return err
		}
	}
	if t.certain != nil {
		return nil
	}
	for l := len(t.levels); l <= upTo; l++ {
		if err := s.addLevel(ctx, all, t); err != nil {
			return err
		}
	}
	return nil
}

// addLevel samples one more level of a table.
func (s *sampler) addLevel(ctx context.Context, all *Samples, t *Table) error {
	l := len(t.levels)
	t.levels = append(t.levels, make(level, all.Batches))
	most, generated := 0, -float64(s.path.Search.Generated)
	if l > 0 {
		most = t.maxMatched[l-1]
		generated += float64(tableSearches(l-1, all.Batches, t.original)) * t.effort[l-1]
	}
	for batch := range all.Batches {
		if !t.Has(l, batch) {
			continue
		}
		from := 0
		if l > 0 && t.Has(l-1, batch) {
			from = BatchSearches(l-1, t.original)
		}
		if to := BatchSearches(l, t.original); from < to {
			if err := s.search(ctx, all, t, uint64(batch)<<32|uint64(from), to-from); err != nil {
				return err
			}
			t.levels[l][batch] = slices.Clone(s.events)
			all.events += len(s.events)
		}
		most = max(most, maxMatched(t.levels[l][batch]))
	}
	generated += float64(s.path.Search.Generated)
	t.maxMatched = append(t.maxMatched, most)
	t.effort = append(t.effort, generated/float64(tableSearches(l, all.Batches, t.original)))
	return nil
}

// trace searches and leaves what it found in turns. ended is the draw at which the search
// ended by itself, or as package search says.
func (s *sampler) trace(ctx context.Context, t *Table, o search.Options) (ended int, err error) {
	s.turns, ended, err = s.path.Search.Trace(ctx, s.query(t, o), s.rng, s.turns)
	return ended, err
}

func (s *sampler) query(t *Table, o search.Options) *search.Query {
	return &search.Query{
		From: s.path.States[t.tau], Goal: t.goal, Heuristic: s.path.Goals.Heuristic[t.goal], Options: o,
		Trail: search.Trail{Observed: s.path.States[t.tau+1:], OffPath: t.offPath},
	}
}

func (all *Samples) options() search.Options {
	o := search.Options{Noise: all.Noise, Budget: all.Draws}
	if all.Unlimited {
		o.Budget = search.Unlimited
	}
	return o
}

// certain is what every search finds if searches can go in one way only; nil if chance has
// a part. The error is that of ctx, if it ends before.
func (s *sampler) certain(ctx context.Context, all *Samples, t *Table) ([]Event, error) {
	o := all.options()
	o.Sure = true
	if ended, err := s.trace(ctx, t, o); err != nil || ended < 0 {
		return nil, err
	}
	if all.Unlimited {
		return []Event{atLeast(1, s.turns[len(s.turns)-1].Meeting, 1)}, nil
	}
	var events []Event
	meeting := search.NoPlan
	for i, turn := range s.turns {
		if i > 0 {
			events = append(events, atLeast(int(turn.Draw), meeting, -1))
		}
		events = append(events, atLeast(int(turn.Draw), turn.Meeting, 1))
		meeting = turn.Meeting
	}
	return events, nil
}

// search leaves in events what n searches of a batch found, from a first one on. first has
// the batch in its upper half and the number of the search in its lower. The error is that
// of ctx, if it ends before.
func (s *sampler) search(ctx context.Context, all *Samples, t *Table, first uint64, n int) error {
	if s.exactly == nil || s.tallied < all.Draws {
		s.tallied = all.Draws
		s.exactly, s.onward = search.NewTally(s.tallied, len(s.path.States)), search.NewTally(s.tallied, len(s.path.States))
	}
	s.events = s.events[:0]
	add := s.onward.Add
	if n == 1 {
		add = s.add // there is nothing to sum up
	}
	for number := first; number < first+uint64(n); number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.pcg.Seed(scramble(t.seed[0]+number), scramble(t.seed[1]+number))
		var err error
		switch {
		case all.Unlimited: // never thinned out: only the end counts, and a few searches that count for many would be all there is
			if _, err = s.trace(ctx, t, all.options()); err == nil {
				add(1, s.turns[len(s.turns)-1].Meeting, 1)
			}
		case t.original:
			err = s.searchOriginal(ctx, all, t, int(uint32(number)), add)
		default:
			err = s.searchHidden(ctx, all, t, add)
		}
		if err != nil {
			return err
		}
	}
	s.exactly.Drain(func(draw int, m search.Meeting, sum float64) { s.events = append(s.events, exactly(draw, m, sum)) })
	s.onward.Drain(s.add)
	return nil
}

// searchOriginal is one search for an original goal. How far it goes depends on its number
// in its batch.
func (s *sampler) searchOriginal(ctx context.Context, all *Samples, t *Table, number int, add func(draw int, m search.Meeting, plans float64)) error {
	o := all.options()
	if number%firstSearches != 0 {
		o.Budget = min(o.Budget, s.thinFrom<<bits.TrailingZeros(uint(number)))
	}
	draw, meeting, err := s.path.Search.Weigh(ctx, s.query(t, o), s.rng, s.weight, s.exactly)
	if err == nil && 0 < draw && draw <= all.Draws {
		add(draw, meeting, s.weight(draw-1))
	}
	return err
}

// searchHidden is one search for a goal of confusion. How far it goes is left to chance.
func (s *sampler) searchHidden(ctx context.Context, all *Samples, t *Table, add func(draw int, m search.Meeting, plans float64)) error {
	o := all.options()
	o.Budget = min(o.Budget, s.thinFrom<<bits.TrailingZeros64(s.pcg.Uint64()|1<<20))
	ended, err := s.trace(ctx, t, o)
	if err != nil {
		return err
	}
	x, meeting := 0.0, search.NoPlan
	turn := func(draw int, now search.Meeting, weight float64) { // the plan changes at a draw, or its weight
		if draw <= all.Draws {
			if x != 0 {
				add(draw, meeting, -x)
			}
			add(draw, now, weight)
		}
		x, meeting = weight, now
	}
	next := s.thinFrom + 1 // the first draw that counts for more
	for _, t := range s.turns {
		for ; next <= int(t.Draw); next = 2*next - 1 {
			turn(next, meeting, 2*x)
		}
		if t.Draw == 1 {
			x = 0
			turn(1, t.Meeting, 1)
			continue
		}
		turn(int(t.Draw), t.Meeting, x)
	}
	last := o.Budget
	if ended > 0 {
		last = ended
	}
	for ; next <= last; next = 2*next - 1 {
		turn(next, meeting, 2*x)
	}
	if ended == 0 {
		turn(o.Budget+1, meeting, 0)
	}
	return nil
}

// add adds an event for budgets of a draw or more.
func (s *sampler) add(draw int, m search.Meeting, plans float64) {
	s.events = append(s.events, atLeast(draw, m, plans))
}

// scramble is the finalizer of SplitMix64 (Steele, Lea and Flood 2014).
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
