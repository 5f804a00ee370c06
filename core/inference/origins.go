package inference

import (
	"context"
	"slices"
)

// origins are of a candidate goal what becomes of those who take another goal for it, as
// long as they keep that goal. The chance to keep it does not depend on which goal it is, so
// sums over goals made once, by the step at which it was taken up, serve every goal noise.
type origins struct {
	of    *links // found of these
	named []bool // steps at which evidence is asked for
	pairs []pair // of the steps and the numbers of right actions of links, in their order
	room  []lane
}

// pair is of plans made at a step, by the step of origin up to there: times the probability
// to keep a goal so long, the sum over goals is what a weight of 1 that has gone to others,
// by share, comes to. From the last origin to a multiple of abreast there are zeros.
type pair struct {
	over []lane // over after m + 1 actions
	live []lane // not over after m; nil at steps that are not named
}

// originsFor finds those of a group of lanes and a candidate. The error is that of ctx,
// if it ends before.
func (m *Marginal) originsFor(ctx context.Context, l *links, group, candidate int, named []bool) (*origins, error) {
	at := group*len(m.hidden) + candidate
	for len(m.origins) <= at {
		m.origins = append(m.origins, origins{})
	}
	o := &m.origins[at]
	if o.of != l || !slices.Equal(o.named, named) {
		o.of, o.named = l, append(o.named[:0], named...)
		if err := o.find(ctx, l.of[group][candidate], &m.hidden[candidate], &m.room); err != nil {
			return nil, err
		}
		m.done.recursions += 2 * len(m.steps) * len(m.hidden[candidate].goals) // from all steps
	}
	return o, nil
}

// find finds them anew. The memory of what was found before is used again. The
// error is that of ctx, if it ends before.
func (o *origins) find(ctx context.Context, of []link, h *hidden, r *recursion) error {
	o.prepare(of)
	if len(o.pairs) == 0 {
		return nil
	}
	var ones row
	for i := range ones {
		ones[i] = all(1)
	}
	steps := len(of)
	for first := 0; first < steps; first += abreast {
		r.clearHidden(first, steps, len(h.goals))
		n := min(abreast, steps-first)
		k := 0
		for tau := range of {
			if err := ctx.Err(); err != nil {
				return err
			}
			l := &of[tau]
			if tau < first {
				k += len(l.nextOf)
				continue
			}
			var inflow row
			if tau-first < abreast {
				inflow[tau-first] = ones[0]
			}
			for m := range l.nextOf {
				p := &o.pairs[k]
				k++
				r.advance(l, tau, m, &inflow, &ones, (*row)(p.over[first:]), n)
				if p.live != nil {
					live := (*row)(p.live[first:])
					dot(r.now, l.left[m], live, n)
					live.times(l.right[m])
				}
			}
		}
	}
	return nil
}

// prepare makes pairs with room.
func (o *origins) prepare(of []link) {
	size := 0
	for tau := range of {
		size += 2 * len(of[tau].nextOf) * width(tau)
	}
	o.room = slices.Grow(o.room[:0], size)[:size]
	o.pairs = o.pairs[:0]
	room := o.room
	for tau := range of {
		n := width(tau)
		for m := range of[tau].nextOf {
			p := pair{over: room[:n:n]}
			room = room[n:]
			if m > 0 && o.named[tau+m] {
				p.live = room[:n:n]
				room = room[n:]
			}
			o.pairs = append(o.pairs, p)
		}
	}
}

// width is how many origins there is room for, of plans made at a step.
func width(tau int) int { return (tau/abreast + 1) * abreast }
