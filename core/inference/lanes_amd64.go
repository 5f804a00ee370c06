package inference

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var hasAVX, hasAVX512 = cpu.X86.HasAVX, cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ

//go:noescape
func beginAVX(now, hidden *row, next *lane, order *int32, share *float64, kept, n int, inflow, to, stay, sum *row)

//go:noescape
func beginAVX512(now, hidden *row, next *lane, order *int32, share *float64, kept, n int, inflow, to, stay, sum *row)

//go:noescape
func advanceAVX(now *row, next *lane, order *int32, to *row, n int, stay, sum *row)

//go:noescape
func advanceAVX512(now *row, next *lane, order *int32, to *row, n int, stay, sum *row)

//go:noescape
func dotAVX(a *row, b *lane, n int, sum *row)

//go:noescape
func foldAVX(a *row, b *lane, n int, stay, sum *row)

//go:noescape
func gainAVX(to, a *row, b *lane)

//go:noescape
func passAVX(own *row, next *lane, others, powers, total, ownTo, inflowTo *row)

//go:noescape
func mixAVX(to, a, b *lane, n int, x, y float64)

func begin(now, hidden []row, next []lane, order places, share []float64, kept int, inflow *row, to []row, stay, sum *row, noises int) {
	if !hasAVX {
		beginGo(now, hidden, next, order, share, kept, inflow, to, stay, sum, noises)
		return
	}
	n := len(next)
	if n == 0 {
		*sum = row{}
		return
	}
	within(fitBegin(now, hidden, next, order, share, kept, to))
	if hasAVX512 {
		beginAVX512(unsafe.SliceData(now), &hidden[0], &next[0], &order.at[0], &share[0], kept, n, inflow, &to[0], stay, sum)
		return
	}
	beginAVX(unsafe.SliceData(now), &hidden[0], &next[0], &order.at[0], &share[0], kept, n, inflow, &to[0], stay, sum)
}

func advance(now []row, next []lane, order places, to []row, stay, sum *row, noises int) {
	if !hasAVX {
		advanceGo(now, next, order, to, stay, sum, noises)
		return
	}
	n := len(next)
	if n == 0 {
		*sum = row{}
		return
	}
	within(fitAdvance(now, next, order, to))
	if hasAVX512 {
		advanceAVX512(&now[0], &next[0], &order.at[0], &to[0], n, stay, sum)
		return
	}
	advanceAVX(&now[0], &next[0], &order.at[0], &to[0], n, stay, sum)
}

func dot(a []row, b []lane, sum *row, noises int) {
	if !hasAVX {
		dotGo(a, b, sum, noises)
		return
	}
	n := len(b)
	if n == 0 {
		*sum = row{}
		return
	}
	within(len(a) >= n)
	dotAVX(&a[0], &b[0], n, sum)
}

func fold(a []row, b []lane, stay, sum *row, noises int) {
	if !hasAVX {
		foldGo(a, b, stay, sum, noises)
		return
	}
	n := len(a)
	if n == 0 {
		*sum = row{}
		return
	}
	within(len(b) >= n)
	foldAVX(&a[0], &b[0], n, stay, sum)
}

func gain(to, a *row, b *lane, noises int) {
	if !hasAVX {
		gainGo(to, a, b, noises)
		return
	}
	gainAVX(to, a, b)
}

func pass(own *row, next *lane, others *row, p *power, total, ownTo, inflowTo *row, noises int) {
	if !hasAVX {
		passGo(own, next, others, p, total, ownTo, inflowTo, noises)
		return
	}
	passAVX(own, next, others, &p.own[0], total, ownTo, inflowTo) // the rows of a power stand in a row
}

func mix(to, a, b []lane, x, y float64) {
	if !hasAVX {
		mixGo(to, a, b, x, y)
		return
	}
	if n := len(to); n > 0 {
		within(len(a) >= n && len(b) >= n)
		mixAVX(&to[0], &a[0], &b[0], n, x, y)
	}
}
