package inference

import (
	"context"
	"math"
)

// abreast is how many goal noises the forward recursion is computed for side by side:
// all else that it needs is the same for all of them.
const abreast = 4

// row is a number of each goal noise and lane.
type row [abreast]lane

func (r *row) times(x float64) {
	for i := range r {
		for b := range r[i] {
			r[i][b] *= x
		}
	}
}

// recursion has room for the forward recursion.
type recursion struct {
	noises int     // goal noises in use, at most abreast
	now    []row   // by place in order: weight of those who plan at tau, by hidden goal
	own    []row   // [step]: weight of those who plan there for their own goal
	inflow []row   // [step]: weight that has come to every hidden goal, by its share
	hidden [][]row // [step][hidden goal]: other weight
	total  []row   // [step]: evidence
	scale  []int   // [step]: of all these, as a power of 2
	powers []power // of the goal transition, from 0
	// confusable: hidden and now are in use.
	confusable bool
	of         transition
}

// power is the n-th power of a goal transition.
type power struct {
	stay     row    // (1 - e)^n
	own      [2]row // weight of its own goal, from that of its own and of all others
	toOthers [2]row // weight that has come to the others
}

// transition says what goal transitions are of.
type transition struct {
	noises [abreast]float64
	itself float64
}

// transit makes sure of powers 0 to n of the goal transition: with probability e, one
// of each of the noises, the own goal is taken for another, by share, or another given
// up for it. itself is the share of the goal itself.
func (r *recursion) transit(noises [abreast]float64, itself float64, n int) {
	if of := (transition{noises, itself}); of != r.of {
		r.of, r.powers = of, r.powers[:0]
	}
	if len(r.powers) == 0 {
		var p power
		for i := range abreast {
			p.stay[i], p.own[0][i] = all(1), all(1)
		}
		r.powers = append(r.powers, p)
	}
	for len(r.powers) <= n {
		p := &r.powers[len(r.powers)-1]
		var next power
		for i, e := range noises {
			next.stay[i] = all(float64(p.stay[i][0] * (1 - e)))
			for k := range 2 {
				others := float64(p.toOthers[k][i][0] * (1 - itself))
				if k == 1 {
					others += p.stay[i][0]
				}
				next.own[k][i] = all(float64(p.own[k][i][0]*(1-e+float64(e*itself))) + float64(e*others))
				next.toOthers[k][i] = all(float64(p.toOthers[k][i][0]*(1-e)) + float64(e*p.own[k][i][0]))
			}
		}
		r.powers = append(r.powers, next)
	}
}

// all lanes have the number.
func all(x float64) lane { return lane{x, x, x, x} }

// forward is the recursion for a candidate goal and some goal noises: the evidence at
// every step is left in total, to be multiplied with 2^-scale. With origins of the links it
// is right at the steps that they name, and not kept from underflow; weights of hidden goals
// are not made. The error is that of ctx, if it ends before.
func (r *recursion) forward(ctx context.Context, h *hidden, links []link, noises []float64, o *origins) error {
	steps := len(links)
	r.noises = len(noises)
	confusable := len(h.goals) > 1 && noises[0] > 0 // the others are then, too
	r.reset(steps, len(h.goals), confusable && o == nil)
	var e [abreast]float64
	if confusable {
		copy(e[:], noises)
	}
	r.transit(e, h.share[0], steps)
	for i := range r.noises {
		r.own[0][i], r.inflow[0][i], r.total[0][i] = r.powers[1].own[0][i], r.powers[1].toOthers[0][i], all(1)
	}
	var none row
	one := all(1)
	var pairs []pair
	if o != nil {
		pairs = o.pairs
	}
	for tau := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if tau > 0 && o == nil {
			r.rescale(tau)
		}
		l := &links[tau]
		for m := range max(len(l.next), len(l.nextOf)) {
			to := tau + m + 1
			counts := m > 0 && (o == nil || o.named[tau+m])
			power := &r.powers[m+1]
			others := &none
			var sum row
			hasOwn, hasOthers := m < len(l.next), confusable && m < len(l.nextOf)
			if hasOwn && counts {
				gain(&r.total[tau+m], &r.own[tau], &l.live[m], r.noises)
			}
			switch {
			case !hasOthers:
			case o != nil:
				stay := &r.powers[1].stay
				fold(r.inflow[:tau+1], pairs[0].over, stay, &sum, r.noises)
				if pairs[0].live != nil {
					var live row
					fold(r.inflow[:tau+1], pairs[0].live, stay, &live, r.noises)
					gain(&r.total[tau+m], &live, &one, r.noises)
				}
				pairs = pairs[1:]
				others = &sum
			default:
				r.advance(l, tau, m, &r.inflow[tau], &power.stay, &sum, r.noises)
				if counts {
					var live row
					dot(r.now, l.left[m], &live, r.noises)
					right := all(l.right[m])
					gain(&r.total[tau+m], &live, &right, r.noises)
				}
				others = &sum
			}
			next := &none[0]
			if hasOwn {
				next = &l.next[m]
			}
			pass(&r.own[tau], next, others, power, &r.total[to], &r.own[to], &r.inflow[to], r.noises)
		}
	}
	return nil
}

// advance takes on the hidden goals of those who plan at a step, where inflow has come, to
// where their plans are over that got m actions right.
func (r *recursion) advance(l *link, tau, m int, inflow, stay, sum *row, noises int) {
	to := r.hidden[tau+m+1]
	if m > 0 {
		advance(r.now, l.nextOf[m], l.order, to, stay, sum, noises)
		return
	}
	kept := 0 // those who may get more right
	if len(l.nextOf) > 1 {
		kept = len(l.nextOf[1])
	}
	begin(r.now, r.hidden[tau], l.nextOf[0], l.order, l.share, kept, inflow, to, stay, sum, noises)
}

// reset makes room for a plan of so many steps and hidden goals.
func (r *recursion) reset(steps, hidden int, confusable bool) {
	if len(r.own) < steps+1 {
		r.own, r.inflow, r.total, r.scale = make([]row, steps+1), make([]row, steps+1), make([]row, steps+1), make([]int, steps+1)
	}
	clear(r.own)
	clear(r.inflow)
	clear(r.total)
	clear(r.scale)
	r.confusable = confusable
	if !confusable {
		return
	}
	r.clearHidden(0, steps, hidden)
}

// clearHidden makes the weights of hidden goals 0 from one step to another.
func (r *recursion) clearHidden(from, to, hidden int) {
	if len(r.hidden) < to+1 || len(r.hidden[0]) < hidden {
		flat := make([]row, (to+1)*hidden)
		r.hidden = nil
		for i := range to + 1 {
			r.hidden = append(r.hidden, flat[i*hidden:(i+1)*hidden])
		}
		r.now = make([]row, hidden)
		return
	}
	for _, rows := range r.hidden[from : to+1] {
		clear(rows[:hidden])
	}
}

// rescale keeps weights from underflow, from a step on.
func (r *recursion) rescale(tau int) {
	const by = 400
	most := 0.0
	for i := range r.noises {
		for b := range lanes {
			most = max(most, r.total[tau][i][b])
		}
	}
	if most == 0 || most > 0x1p-400 {
		return
	}
	factor := math.Ldexp(1, by)
	for step := tau; step < len(r.total); step++ {
		r.scale[step] += by
		r.total[step].times(factor)
		r.own[step].times(factor)
		r.inflow[step].times(factor)
		if step < len(r.hidden) {
			for i := range r.hidden[step] {
				r.hidden[step][i].times(factor)
			}
		}
	}
}

// goals is how many hidden goals of a candidate have weights.
func (r *recursion) goals(h *hidden) int {
	if r.confusable {
		return len(h.goals)
	}
	return 1
}

// planning is the weight of those who plan at a step for a hidden goal, of a goal noise and a lane.
func (r *recursion) planning(h *hidden, tau, noise, lane, c int) float64 {
	if c == 0 {
		return r.own[tau][noise][lane]
	}
	return r.hidden[tau][c][noise][lane] + float64(h.share[c]*r.inflow[tau][noise][lane])
}
