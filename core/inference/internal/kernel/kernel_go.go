//go:build !amd64 || noasm

package kernel

// Begin moves on the weights of those who plan now, and keeps the first of them.
func Begin(t *Transfer, p *Planning) { beginGo(t, p) }

// Advance moves on weights by place; there are at least as many as Next has places.
func Advance(t *Transfer, weights []Row) { advanceGo(t, weights) }

// Dot sets sum to Σ a b over the places of b.
func Dot(a []Row, b []Lane, sum *Row, noises int) { dotGo(a, b, sum, noises) }

// Decay sets sum to Σ a b factor^k over the places of a, where k places follow. The factor
// is the same in all lanes of a goal noise.
func Decay(a []Row, b []Lane, factor, sum *Row, noises int) { decayGo(a, b, factor, sum, noises) }

// Combine sets to to x a + y b.
func Combine(to, a, b []Lane, x, y float64) { combineGo(to, a, b, x, y) }

// Pass does what a Handover says.
func Pass(h *Handover) { passGo(h) }
