package kernel

const (
	// Lanes is how many batches of samples are computed side by side.
	Lanes = 4
	// Noises is how many goal noises are computed side by side.
	Noises = 4
)

// Lane is one number for each of Lanes batches.
type Lane = [Lanes]float64

// Row is one number for each goal noise and batch. Functions that take a number of noises
// need only the first ones; assembly computes all.
type Row [Noises]Lane

// Scale multiplies every number by x.
func (r *Row) Scale(x float64) {
	for i := range r {
		for b := range r[i] {
			r[i][b] *= x
		}
	}
}

// Fill is a lane whose numbers are all x.
func Fill(x float64) Lane { return Lane{x, x, x, x} }

// Indexes are indexes of hidden goals. They are checked when they are made, because
// assembly writes wherever an index points.
type Indexes struct {
	at  []int32
	end int // greater than every index
}

// NewIndexes takes over the slice, which is not to be changed afterwards. It panics at a
// negative index.
func NewIndexes(at []int32) Indexes {
	x := Indexes{at: at}
	for _, i := range at {
		if i < 0 {
			panic("kernel: negative index")
		}
		x.end = max(x.end, int(i)+1)
	}
	return x
}

// At is the index at a place.
func (x Indexes) At(place int) int { return int(x.at[place]) }

// Power is the n-th power of the goal transition. The numbers of a goal noise are the same
// in all its lanes.
type Power struct {
	Stay     Row    // probability to keep one's goal for n steps: (1-ε)^n
	Own      [2]Row // weight of the original goal after n steps: from that goal, from another one
	ToOthers [2]Row // weight that has left for other goals after n steps: from the original goal, from another one
}

// Transfer says how weights of hidden goals, those that an original goal can be confused
// with, move on to a later step. All that is indexed by place has the order of Order.
type Transfer struct {
	Next   []Lane  // [place]: factor of each weight
	Order  Indexes // [place]: the hidden goal; at least as long as Next
	To     []Row   // [hidden goal]: weight × Next × Stay is added here
	Stay   *Row    // the same number in all lanes of a goal noise
	Sum    *Row    // set to Σ weight × Next
	Noises int
}

// Planning has the weights of those who plan at a step: for the hidden goal c at a place,
// Hidden[c] + Share[place] × Inflow.
type Planning struct {
	Hidden []Row     // [hidden goal]
	Share  []float64 // [place]
	Inflow *Row
	Kept   []Row // [place]: set to the weights of the first places
}

// check panics unless the lengths that a loop relies on are there.
func check(ok bool) {
	if !ok {
		panic("kernel: slices are too short for their loop")
	}
}

func (t *Transfer) check(p *Planning) {
	n := len(t.Next)
	check(len(p.Kept) <= n && len(t.Order.at) >= n && len(p.Share) >= n && len(p.Hidden) >= t.Order.end && len(t.To) >= t.Order.end)
}

func (t *Transfer) checkWeights(weights []Row) {
	n := len(t.Next)
	check(len(weights) >= n && len(t.Order.at) >= n && len(t.To) >= t.Order.end)
}

func beginGo(t *Transfer, p *Planning) {
	t.check(p)
	at, share, kept := t.Order.at[:len(t.Next)], p.Share[:len(t.Next)], p.Kept
	for i := range t.Noises {
		f, z := p.Inflow[i], t.Stay[i][0]
		var s0, s1, s2, s3 float64
		for place := range t.Next {
			c := at[place]
			x, s, h, to := &t.Next[place], share[place], &p.Hidden[c][i], &t.To[c][i]
			w := Lane{h[0] + float64(s*f[0]), h[1] + float64(s*f[1]), h[2] + float64(s*f[2]), h[3] + float64(s*f[3])}
			if place < len(kept) {
				kept[place][i] = w
			}
			y0, y1, y2, y3 := float64(w[0]*x[0]), float64(w[1]*x[1]), float64(w[2]*x[2]), float64(w[3]*x[3])
			s0, s1, s2, s3 = s0+y0, s1+y1, s2+y2, s3+y3
			to[0], to[1], to[2], to[3] = to[0]+float64(z*y0), to[1]+float64(z*y1), to[2]+float64(z*y2), to[3]+float64(z*y3)
		}
		t.Sum[i] = Lane{s0, s1, s2, s3}
	}
}

func advanceGo(t *Transfer, weights []Row) {
	t.checkWeights(weights)
	weights, at := weights[:len(t.Next)], t.Order.at[:len(t.Next)]
	for i := range t.Noises {
		z := t.Stay[i][0]
		var s0, s1, s2, s3 float64
		for place := range t.Next {
			x, w, to := &t.Next[place], &weights[place][i], &t.To[at[place]][i]
			y0, y1, y2, y3 := float64(w[0]*x[0]), float64(w[1]*x[1]), float64(w[2]*x[2]), float64(w[3]*x[3])
			s0, s1, s2, s3 = s0+y0, s1+y1, s2+y2, s3+y3
			to[0], to[1], to[2], to[3] = to[0]+float64(z*y0), to[1]+float64(z*y1), to[2]+float64(z*y2), to[3]+float64(z*y3)
		}
		t.Sum[i] = Lane{s0, s1, s2, s3}
	}
}

func dotGo(a []Row, b []Lane, sum *Row, noises int) {
	check(len(a) >= len(b))
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
		sum[i] = Lane{s0, s1, s2, s3}
	}
}

func decayGo(a []Row, b []Lane, factor, sum *Row, noises int) {
	check(len(b) >= len(a))
	b = b[:len(a)]
	for i := range noises {
		z := factor[i][0]
		var s0, s1, s2, s3 float64
		for place := range a {
			x, w := &b[place], &a[place][i]
			s0 = float64(s0*z) + float64(w[0]*x[0])
			s1 = float64(s1*z) + float64(w[1]*x[1])
			s2 = float64(s2*z) + float64(w[2]*x[2])
			s3 = float64(s3*z) + float64(w[3]*x[3])
		}
		sum[i] = Lane{s0, s1, s2, s3}
	}
}

func combineGo(to, a, b []Lane, x, y float64) {
	check(len(a) >= len(to) && len(b) >= len(to))
	a, b = a[:len(to)], b[:len(to)]
	for place := range to {
		t, u, v := &to[place], &a[place], &b[place]
		t[0] = float64(x*u[0]) + float64(y*v[0])
		t[1] = float64(x*u[1]) + float64(y*v[1])
		t[2] = float64(x*u[2]) + float64(y*v[2])
		t[3] = float64(x*u[3]) + float64(y*v[3])
	}
}

// MulAdd adds a × b to sum, lane by lane.
func MulAdd(sum, a *Row, b *Lane, noises int) {
	for i := range noises {
		t, u := &sum[i], &a[i]
		t[0] += float64(u[0] * b[0])
		t[1] += float64(u[1] * b[1])
		t[2] += float64(u[2] * b[2])
		t[3] += float64(u[3] * b[3])
	}
}

// Handover passes on the weight of plans that are over: own × Next, of those who planned
// for the original goal, and Others, of those who planned for another one. Power says what
// goal they have by then.
type Handover struct {
	Own    *Row
	Next   *Lane
	Others *Row
	Power  *Power
	Total  *Row // all weight is added here
	OwnTo  *Row // the weight of the original goal is added here
	// Inflow is where the weight of the other goals is added, which they share out.
	Inflow *Row
	Noises int
}

func passGo(h *Handover) {
	p := h.Power
	for i := range h.Noises {
		for b := range Lanes {
			y, z := float64(h.Own[i][b]*h.Next[b]), h.Others[i][b]
			h.Total[i][b] += y + z
			h.OwnTo[i][b] += float64(p.Own[0][i][b]*y) + float64(p.Own[1][i][b]*z)
			h.Inflow[i][b] += float64(p.ToOthers[0][i][b]*y) + float64(p.ToOthers[1][i][b]*z)
		}
	}
}
