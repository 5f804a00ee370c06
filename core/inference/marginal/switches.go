package marginal

import (
	"context"
	"slices"

	"foible.dev/foible/core/inference/internal/kernel"
	"foible.dev/foible/core/inference/internal/observed"
)

// switches are sums over the hidden goals of one original goal, by the step at which the
// agent switched to the hidden goal. The probability to keep that goal from then on,
// (1-ε)^n, does not depend on which goal it is, so the sums serve every goal noise ε: they
// are made once, and [forward.fold] weighs them.
type switches struct {
	segments *segments // that the sums were made from
	named    []bool    // [step]: evidence is asked for here
	sums     []switchSums
	buffer   []kernel.Lane
}

// switchSums belong to plans made at a step τ with m matching actions; they are in the
// order of τ, then m. Entry σ ≤ τ stands for agents that switched at step σ to a hidden
// goal, by share, and never switched again: a weight of 1 that did so comes to that sum
// times (1-ε)^n. Entries from τ + 1 to the next multiple of kernel.Noises are 0.
type switchSums struct {
	over []kernel.Lane // of plans that are over with the action after the m that matched
	live []kernel.Lane // of plans that are still kept after m actions; nil at steps that are not named
}

// switchesFor finds or makes those of a group of batches and a candidate. The error is
// that of ctx, if it ends before.
func (m *Inference) switchesFor(ctx context.Context, l *segments, at place, named []bool) (*switches, error) {
	index := at.group*len(m.hidden) + at.candidate
	for len(m.switches) <= index {
		m.switches = append(m.switches, switches{})
	}
	s := &m.switches[index]
	if s.segments != l || !slices.Equal(s.named, named) {
		s.segments, s.named = l, append(s.named[:0], named...)
		if err := s.sum(ctx, l.at[at.group][at.candidate], &m.hidden[at.candidate], &m.forward); err != nil {
			return nil, err
		}
		m.done.Recursions += 2 * len(m.steps) * len(m.hidden[at.candidate].Goals) // from all steps
	}
	return s, nil
}

// sum makes the sums, with the buffers of the ones before. Steps of the switch take the
// place of goal noises in the recursion. The error is that of ctx, if it ends before.
func (s *switches) sum(ctx context.Context, of []segment, h *observed.Hidden, f *forward) error {
	s.prepare(of)
	if len(s.sums) == 0 {
		return nil
	}
	var ones kernel.Row
	for i := range ones {
		ones[i] = kernel.Fill(1)
	}
	steps := len(of)
	for first := 0; first < steps; first += kernel.Noises {
		f.clearHidden(first, steps, len(h.Goals))
		n := min(kernel.Noises, steps-first)
		at := 0
		for tau := range of {
			if err := ctx.Err(); err != nil {
				return err
			}
			l := &of[tau]
			if tau < first {
				at += len(l.nextHidden)
				continue
			}
			var inflow kernel.Row
			if tau-first < kernel.Noises {
				inflow[tau-first] = ones[0]
			}
			for m := range l.nextHidden {
				sums := &s.sums[at]
				at++
				f.move(l, tau, m, &kernel.Transfer{Stay: &ones, Sum: (*kernel.Row)(sums.over[first:]), Noises: n}, &inflow)
				if sums.live != nil {
					live := (*kernel.Row)(sums.live[first:])
					kernel.Dot(f.planning, l.left[m], live, n)
					live.Scale(l.matched[m])
				}
			}
		}
	}
	return nil
}

// prepare allots the sums in the buffer.
func (s *switches) prepare(of []segment) {
	size := 0
	for tau := range of {
		size += 2 * len(of[tau].nextHidden) * width(tau)
	}
	s.buffer = slices.Grow(s.buffer[:0], size)[:size]
	s.sums = s.sums[:0]
	rest := s.buffer
	for tau := range of {
		n := width(tau)
		for m := range of[tau].nextHidden {
			sums := switchSums{over: rest[:n:n]}
			rest = rest[n:]
			if m > 0 && s.named[tau+m] {
				sums.live = rest[:n:n]
				rest = rest[n:]
			}
			s.sums = append(s.sums, sums)
		}
	}
}

// width is how many entries sums of plans made at tau have.
func width(tau int) int { return (tau/kernel.Noises + 1) * kernel.Noises }
