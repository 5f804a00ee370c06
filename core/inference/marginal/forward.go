package marginal

import (
	"context"
	"math"

	"foible.dev/foible/core/inference/internal/kernel"
	"foible.dev/foible/core/inference/internal/observed"
)

// forward computes the recursion (3) and the evidence (4) of the package comment, for one
// original goal g, some goal noises and one group of batches. Its slices are buffers that
// every run uses again.
//
// F_τ(c), the weight of those who plan at step τ for the goal c, is own[τ] for c = g and
// hidden[τ][c] + share(c) inflow[τ] for other goals.
type forward struct {
	noises      int // goal noises in use, at most kernel.Noises
	transitions transitions
	own         []kernel.Row   // [step]
	inflow      []kernel.Row   // [step]
	hidden      [][]kernel.Row // [step][hidden goal]; the first, which is g, is not used
	evidence    []kernel.Row   // [step]: Z, to be multiplied by 2^-scale
	scale       []int          // [step]: of all of these
	planning    []kernel.Row   // [place]: F_τ(c) of the hidden goals whose plans may match a second action
	confusable  bool           // hidden and planning are in use
}

// run computes the evidence at every step. With switches made from the segments, it is
// right only at the steps that they name, is not kept from underflow, and hidden is not
// made. The error is that of ctx, if it ends before.
func (f *forward) run(ctx context.Context, h *observed.Hidden, segments []segment, noises []float64, s *switches) error {
	steps := len(segments)
	f.noises = len(noises)
	confusable := len(h.Goals) > 1 && noises[0] > 0 // the other noises are then above 0, too
	f.reset(steps, len(h.Goals), confusable && s == nil)
	var e [kernel.Noises]float64
	if confusable {
		copy(e[:], noises)
	}
	f.transitions.extend(e, h.Share[0], steps)
	first := &f.transitions.powers[1]
	for i := range f.noises {
		f.own[0][i], f.inflow[0][i], f.evidence[0][i] = first.Own[0][i], first.ToOthers[0][i], kernel.Fill(1)
	}
	at := 0 // of the sums of switches
	for tau := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if tau > 0 && s == nil {
			f.rescale(tau)
		}
		l := &segments[tau]
		for m := range max(len(l.next), len(l.nextHidden)) {
			if m > 0 && m < len(l.next) && (s == nil || s.named[tau+m]) {
				kernel.MulAdd(&f.evidence[tau+m], &f.own[tau], &l.live[m], f.noises)
			}
			var others kernel.Row // weight of plans for other goals that are over after these m + 1 actions
			switch {
			case !confusable || m >= len(l.nextHidden):
			case s != nil:
				f.fold(&s.sums[at], tau, m, &others)
				at++
			default:
				f.advance(l, tau, m, &others)
			}
			f.passOn(l, tau, m, &others)
		}
	}
	return nil
}

// passOn hands over the weight of all plans made at tau that are over after m + 1 actions;
// others is that of plans for other goals than the original one.
func (f *forward) passOn(l *segment, tau, m int, others *kernel.Row) {
	to := tau + m + 1
	var none kernel.Lane
	next := &none
	if m < len(l.next) {
		next = &l.next[m]
	}
	kernel.Pass(&kernel.Handover{
		Own: &f.own[tau], Next: next, Others: others, Power: &f.transitions.powers[m+1],
		Total: &f.evidence[to], OwnTo: &f.own[to], Inflow: &f.inflow[to], Noises: f.noises,
	})
}

// advance moves on the weight of plans made at tau for other goals that are over after
// m + 1 actions, and adds to the evidence what is still kept after m.
func (f *forward) advance(l *segment, tau, m int, others *kernel.Row) {
	f.move(l, tau, m, &kernel.Transfer{Stay: &f.transitions.powers[m+1].Stay, Sum: others, Noises: f.noises}, &f.inflow[tau])
	if m > 0 {
		var live kernel.Row
		kernel.Dot(f.planning, l.left[m], &live, f.noises)
		matched := kernel.Fill(l.matched[m])
		kernel.MulAdd(&f.evidence[tau+m], &live, &matched, f.noises)
	}
}

// move transfers the weight of plans made at tau for other goals, where inflow
// is shared out at tau, to where they are over after m + 1 actions. For m = 0, it finds
// the weights; for others they are those of m - 1.
func (f *forward) move(l *segment, tau, m int, t *kernel.Transfer, inflow *kernel.Row) {
	t.Next, t.Order, t.To = l.nextHidden[m], l.order, f.hidden[tau+m+1]
	if m > 0 {
		kernel.Advance(t, f.planning)
		return
	}
	kept := 0
	if len(l.nextHidden) > 1 {
		kept = len(l.nextHidden[1])
	}
	kernel.Begin(t, &kernel.Planning{Hidden: f.hidden[tau], Share: l.share, Inflow: inflow, Kept: f.planning[:kept]})
}

// fold is advance by sums over hidden goals that are there already.
func (f *forward) fold(sums *switchSums, tau, m int, others *kernel.Row) {
	stay := &f.transitions.powers[1].Stay
	kernel.Decay(f.inflow[:tau+1], sums.over, stay, others, f.noises)
	if sums.live != nil {
		var live kernel.Row
		one := kernel.Fill(1)
		kernel.Decay(f.inflow[:tau+1], sums.live, stay, &live, f.noises)
		kernel.MulAdd(&f.evidence[tau+m], &live, &one, f.noises)
	}
}

// reset clears the buffers for a number of steps and of hidden goals.
func (f *forward) reset(steps, hidden int, confusable bool) {
	if len(f.own) < steps+1 {
		f.own, f.inflow, f.evidence, f.scale = make([]kernel.Row, steps+1), make([]kernel.Row, steps+1), make([]kernel.Row, steps+1), make([]int, steps+1)
	}
	clear(f.own)
	clear(f.inflow)
	clear(f.evidence)
	clear(f.scale)
	f.confusable = confusable
	if !confusable {
		return
	}
	f.clearHidden(0, steps, hidden)
}

// clearHidden clears the weights of hidden goals from one step to another, inclusive.
func (f *forward) clearHidden(from, to, hidden int) {
	if len(f.hidden) < to+1 || len(f.hidden[0]) < hidden {
		flat := make([]kernel.Row, (to+1)*hidden)
		f.hidden = nil
		for i := range to + 1 {
			f.hidden = append(f.hidden, flat[i*hidden:(i+1)*hidden])
		}
		f.planning = make([]kernel.Row, hidden)
		return
	}
	for _, rows := range f.hidden[from : to+1] {
		clear(rows[:hidden])
	}
}

// rescale keeps weights from underflow, from a step on.
func (f *forward) rescale(tau int) {
	const by = 400
	greatest := 0.0
	for i := range f.noises {
		for b := range kernel.Lanes {
			greatest = max(greatest, f.evidence[tau][i][b])
		}
	}
	if greatest == 0 || greatest > 0x1p-400 {
		return
	}
	factor := math.Ldexp(1, by)
	for step := tau; step < len(f.evidence); step++ {
		f.scale[step] += by
		f.evidence[step].Scale(factor)
		f.own[step].Scale(factor)
		f.inflow[step].Scale(factor)
		if step < len(f.hidden) {
			for i := range f.hidden[step] {
				f.hidden[step][i].Scale(factor)
			}
		}
	}
}

// goals is how many hidden goals of an original goal have weights.
func (f *forward) goals(h *observed.Hidden) int {
	if f.confusable {
		return len(h.Goals)
	}
	return 1
}

// weight is F_τ(c) of the c-th hidden goal, for the first goal noise and a lane.
func (f *forward) weight(h *observed.Hidden, tau, lane, c int) float64 {
	if c == 0 {
		return f.own[tau][0][lane]
	}
	return f.hidden[tau][c][0][lane] + float64(h.Share[c]*f.inflow[tau][0][lane])
}
