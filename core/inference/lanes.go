package inference

// lanes are batches that are computed side by side.
const lanes = 4

// lane is a number of each.
type lane = [lanes]float64

// The loops over hidden goals that the forward recursion spends its time in. They
// are the same, to the last bit, in Go and in assembly, which does four lanes at
// once: no products are fused into sums, and sums run in the same order.

// gather puts weights into the order of now: hidden weight, and a share of what has flowed in.
func gatherGo(now, hidden []lane, order []int32, share []float64, inflow *lane) {
	now, share = now[:len(order)], share[:len(order)]
	for place, i := range order {
		s, h, w := share[place], &hidden[i], &now[place]
		w[0] = h[0] + float64(s*inflow[0])
		w[1] = h[1] + float64(s*inflow[1])
		w[2] = h[2] + float64(s*inflow[2])
		w[3] = h[3] + float64(s*inflow[3])
	}
}

// advance adds to the weight of hidden goals what comes from those who plan now,
// times stay, and returns the sum without.
func advanceGo(now, next []lane, order []int32, to []lane, stay float64) (sum lane) {
	now, order = now[:len(next)], order[:len(next)]
	var s0, s1, s2, s3 float64
	for place := range next {
		x, w := &next[place], &now[place]
		y0, y1, y2, y3 := float64(w[0]*x[0]), float64(w[1]*x[1]), float64(w[2]*x[2]), float64(w[3]*x[3])
		s0 += y0
		s1 += y1
		s2 += y2
		s3 += y3
		t := &to[order[place]]
		t[0] += float64(stay * y0)
		t[1] += float64(stay * y1)
		t[2] += float64(stay * y2)
		t[3] += float64(stay * y3)
	}
	return lane{s0, s1, s2, s3}
}

// dot is the sum of products.
func dotGo(a, b []lane) (sum lane) {
	a = a[:len(b)]
	var s0, s1, s2, s3 float64
	for place := range b {
		x, w := &b[place], &a[place]
		s0 += float64(w[0] * x[0])
		s1 += float64(w[1] * x[1])
		s2 += float64(w[2] * x[2])
		s3 += float64(w[3] * x[3])
	}
	return lane{s0, s1, s2, s3}
}

// mix is x a + y b.
func mixGo(to, a, b []lane, x, y float64) {
	a, b = a[:len(to)], b[:len(to)]
	for place := range to {
		t, u, v := &to[place], &a[place], &b[place]
		t[0] = float64(x*u[0]) + float64(y*v[0])
		t[1] = float64(x*u[1]) + float64(y*v[1])
		t[2] = float64(x*u[2]) + float64(y*v[2])
		t[3] = float64(x*u[3]) + float64(y*v[3])
	}
}
