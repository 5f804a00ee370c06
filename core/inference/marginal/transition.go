package marginal

import "foible.dev/foible/core/inference/internal/kernel"

// transitions has powers of the goal transition T, for several goal noises at once; see
// "Powers of the goal transition" in the package comment.
type transitions struct {
	noises   [kernel.Noises]float64
	identity float64        // share of the original goal itself among its confusions
	powers   []kernel.Power // from T^0
}

// extend makes sure that there are the powers 0 to n for given goal noises and identity.
func (t *transitions) extend(noises [kernel.Noises]float64, identity float64, n int) {
	if noises != t.noises || identity != t.identity {
		t.noises, t.identity, t.powers = noises, identity, t.powers[:0]
	}
	if len(t.powers) == 0 {
		var p kernel.Power
		for i := range kernel.Noises {
			p.Stay[i], p.Own[0][i] = kernel.Fill(1), kernel.Fill(1)
		}
		t.powers = append(t.powers, p)
	}
	for len(t.powers) <= n {
		t.powers = append(t.powers, t.next(&t.powers[len(t.powers)-1]))
	}
}

// next is the power that follows p. From the original goal, the goal changes with
// probability ε, and by share; from another goal, it changes with probability ε back to
// the original one.
func (t *transitions) next(p *kernel.Power) kernel.Power {
	var next kernel.Power
	for i, e := range t.noises {
		next.Stay[i] = kernel.Fill(float64(p.Stay[i][0] * (1 - e)))
		for k := range 2 {
			others := float64(p.ToOthers[k][i][0] * (1 - t.identity))
			if k == 1 {
				others += p.Stay[i][0]
			}
			next.Own[k][i] = kernel.Fill(float64(p.Own[k][i][0]*(1-e+float64(e*t.identity))) + float64(e*others))
			next.ToOthers[k][i] = kernel.Fill(float64(p.ToOthers[k][i][0]*(1-e)) + float64(e*p.Own[k][i][0]))
		}
	}
	return next
}
