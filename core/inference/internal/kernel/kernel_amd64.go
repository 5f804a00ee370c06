//go:build !noasm

package kernel

import "golang.org/x/sys/cpu"

var hasAVX = cpu.X86.HasAVX

//go:noescape
func beginAVX(t *Transfer, p *Planning)

//go:noescape
func advanceAVX(t *Transfer, weights *Row)

//go:noescape
func dotAVX(a *Row, b *Lane, n int, sum *Row)

//go:noescape
func decayAVX(a *Row, b *Lane, n int, factor, sum *Row)

//go:noescape
func combineAVX(to, a, b *Lane, n int, xy *[2]float64)

//go:noescape
func passAVX(h *Handover)

// Begin moves on the weights of those who plan now, and keeps the first of them.
func Begin(t *Transfer, p *Planning) {
	switch {
	case !hasAVX:
		beginGo(t, p)
	case len(t.Next) == 0:
		*t.Sum = Row{}
	default:
		t.check(p)
		beginAVX(t, p)
	}
}

// Advance moves on weights by place; there are at least as many as Next has places.
func Advance(t *Transfer, weights []Row) {
	switch {
	case !hasAVX:
		advanceGo(t, weights)
	case len(t.Next) == 0:
		*t.Sum = Row{}
	default:
		t.checkWeights(weights)
		advanceAVX(t, &weights[0])
	}
}

// Dot sets sum to Σ a b over the places of b.
func Dot(a []Row, b []Lane, sum *Row, noises int) {
	switch n := len(b); {
	case !hasAVX:
		dotGo(a, b, sum, noises)
	case n == 0:
		*sum = Row{}
	default:
		check(len(a) >= n)
		dotAVX(&a[0], &b[0], n, sum)
	}
}

// Decay sets sum to Σ a b factor^k over the places of a, where k places follow. The factor
// is the same in all lanes of a goal noise.
func Decay(a []Row, b []Lane, factor, sum *Row, noises int) {
	switch n := len(a); {
	case !hasAVX:
		decayGo(a, b, factor, sum, noises)
	case n == 0:
		*sum = Row{}
	default:
		check(len(b) >= n)
		decayAVX(&a[0], &b[0], n, factor, sum)
	}
}

// Combine sets to to x a + y b.
func Combine(to, a, b []Lane, x, y float64) {
	n := len(to)
	if !hasAVX || n == 0 {
		combineGo(to, a, b, x, y)
		return
	}
	check(len(a) >= n && len(b) >= n)
	combineAVX(&to[0], &a[0], &b[0], n, &[2]float64{x, y})
}

// Pass does what a Handover says.
func Pass(h *Handover) {
	if !hasAVX {
		passGo(h)
		return
	}
	passAVX(h)
}
