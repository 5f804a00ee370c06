package inference

// lanes are batches that are computed side by side.
const lanes = 4

// lane is a number of each.
type lane = [lanes]float64

// The loops that the forward recursion spends its time in, over hidden goals, goal
// noises and lanes. They are the same, to the last bit, in Go and in assembly, which
// does four or eight numbers at once: no products are fused into sums, and sums run in
// the same order. Of a row only the first noises are asked for; assembly does all.

// places are indexes of hidden goals. They are checked once, when they are made, so that
// the loops need not: assembly would write wherever an index leads.
type places struct {
	at  []int32 // not to be changed
	end int     // all are below it
}

// newPlaces panics at an index below 0. The indexes then belong to the places.
func newPlaces(at []int32) places {
	p := places{at: at}
	for _, i := range at {
		if i < 0 {
			panic("inference: a place below 0")
		}
		p.end = max(p.end, int(i)+1)
	}
	return p
}

// within panics unless the lengths that a loop relies on are there. Assembly checks none.
func within(ok bool) {
	if !ok {
		panic("inference: slices are too short for their loop")
	}
}

// fitBegin reports whether begin finds all that it takes within its slices.
func fitBegin(now, hidden []row, next []lane, order places, share []float64, kept int, to []row) bool {
	n := len(next)
	return 0 <= kept && kept <= n && len(now) >= kept && len(order.at) >= n && len(share) >= n && len(hidden) >= order.end && len(to) >= order.end
}

// fitAdvance is fitBegin of advance.
func fitAdvance(now []row, next []lane, order places, to []row) bool {
	return len(now) >= len(next) && len(order.at) >= len(next) && len(to) >= order.end
}

// begin gathers the weights of those who plan now, hidden weight and a share of what has
// flowed in, of which the first are kept, in the order of now; adds them, advanced and
// times stay, to the weights to come; and leaves the sum without stay.
func beginGo(now, hidden []row, next []lane, order places, share []float64, kept int, inflow *row, to []row, stay, sum *row, noises int) {
	within(fitBegin(now, hidden, next, order, share, kept, to))
	at, share := order.at[:len(next)], share[:len(next)]
	now = now[:kept]
	for i := range noises {
		f, z := inflow[i], stay[i][0]
		var s0, s1, s2, s3 float64
		for place := range next {
			c := at[place]
			x, s, h, t := &next[place], share[place], &hidden[c][i], &to[c][i]
			w := lane{h[0] + float64(s*f[0]), h[1] + float64(s*f[1]), h[2] + float64(s*f[2]), h[3] + float64(s*f[3])}
			if place < kept {
				now[place][i] = w
			}
			y0, y1, y2, y3 := float64(w[0]*x[0]), float64(w[1]*x[1]), float64(w[2]*x[2]), float64(w[3]*x[3])
			s0 += y0
			s1 += y1
			s2 += y2
			s3 += y3
			t[0] += float64(z * y0)
			t[1] += float64(z * y1)
			t[2] += float64(z * y2)
			t[3] += float64(z * y3)
		}
		sum[i] = lane{s0, s1, s2, s3}
	}
}

// advance adds to the weight of hidden goals what comes from those who plan now,
// times stay, and leaves the sum without.
func advanceGo(now []row, next []lane, order places, to []row, stay, sum *row, noises int) {
	within(fitAdvance(now, next, order, to))
	now, at := now[:len(next)], order.at[:len(next)]
	for i := range noises {
		z := stay[i][0]
		var s0, s1, s2, s3 float64
		for place := range next {
			x, w, t := &next[place], &now[place][i], &to[at[place]][i]
			y0, y1, y2, y3 := float64(w[0]*x[0]), float64(w[1]*x[1]), float64(w[2]*x[2]), float64(w[3]*x[3])
			s0 += y0
			s1 += y1
			s2 += y2
			s3 += y3
			t[0] += float64(z * y0)
			t[1] += float64(z * y1)
			t[2] += float64(z * y2)
			t[3] += float64(z * y3)
		}
		sum[i] = lane{s0, s1, s2, s3}
	}
}

// dot is the sum of products.
func dotGo(a []row, b []lane, sum *row, noises int) {
	within(len(a) >= len(b))
	a = a[:len(b)]
	for i := range noises {
		var s0, s1, s2, s3 float64
		for place := range b {
			x, w := &b[place], &a[place][i]
			s0 += float64(w[0] * x[0])
			s1 += float64(w[1] * x[1])
			s2 += float64(w[2] * x[2])
			s3 += float64(w[3] * x[3])
		}
		sum[i] = lane{s0, s1, s2, s3}
	}
}

// fold is the sum of products, each times stay for every one that stands after it.
func foldGo(a []row, b []lane, stay, sum *row, noises int) {
	within(len(b) >= len(a))
	b = b[:len(a)]
	for i := range noises {
		z := stay[i][0]
		var s0, s1, s2, s3 float64
		for place := range a {
			x, w := &b[place], &a[place][i]
			s0 = float64(s0*z) + float64(w[0]*x[0])
			s1 = float64(s1*z) + float64(w[1]*x[1])
			s2 = float64(s2*z) + float64(w[2]*x[2])
			s3 = float64(s3*z) + float64(w[3]*x[3])
		}
		sum[i] = lane{s0, s1, s2, s3}
	}
}

// gain adds a b.
func gainGo(to, a *row, b *lane, noises int) {
	for i := range noises {
		t, u := &to[i], &a[i]
		t[0] += float64(u[0] * b[0])
		t[1] += float64(u[1] * b[1])
		t[2] += float64(u[2] * b[2])
		t[3] += float64(u[3] * b[3])
	}
}

// pass hands on what those who plan now for their own goal come to, own times next, and
// what others do.
func passGo(own *row, next *lane, others *row, p *power, total, ownTo, inflowTo *row, noises int) {
	for i := range noises {
		for b := range lanes {
			y, z := float64(own[i][b]*next[b]), others[i][b]
			total[i][b] += y + z
			ownTo[i][b] += float64(p.own[0][i][b]*y) + float64(p.own[1][i][b]*z)
			inflowTo[i][b] += float64(p.toOthers[0][i][b]*y) + float64(p.toOthers[1][i][b]*z)
		}
	}
}

// mix is x a + y b.
func mixGo(to, a, b []lane, x, y float64) {
	within(len(a) >= len(to) && len(b) >= len(to))
	a, b = a[:len(to)], b[:len(to)]
	for place := range to {
		t, u, v := &to[place], &a[place], &b[place]
		t[0] = float64(x*u[0]) + float64(y*v[0])
		t[1] = float64(x*u[1]) + float64(y*v[1])
		t[2] = float64(x*u[2]) + float64(y*v[2])
		t[3] = float64(x*u[3]) + float64(y*v[3])
	}
}
