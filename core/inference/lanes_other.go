//go:build !amd64

package inference

func begin(now, hidden []row, next []lane, order places, share []float64, kept int, inflow *row, to []row, stay, sum *row, noises int) {
	beginGo(now, hidden, next, order, share, kept, inflow, to, stay, sum, noises)
}

func advance(now []row, next []lane, order places, to []row, stay, sum *row, noises int) {
	advanceGo(now, next, order, to, stay, sum, noises)
}

func dot(a []row, b []lane, sum *row, noises int) { dotGo(a, b, sum, noises) }

func fold(a []row, b []lane, stay, sum *row, noises int) { foldGo(a, b, stay, sum, noises) }

func gain(to, a *row, b *lane, noises int) { gainGo(to, a, b, noises) }

func pass(own *row, next *lane, others *row, p *power, total, ownTo, inflowTo *row, noises int) {
	passGo(own, next, others, p, total, ownTo, inflowTo, noises)
}

func mix(to, a, b []lane, x, y float64) { mixGo(to, a, b, x, y) }
