package inference

import "golang.org/x/sys/cpu"

var hasAVX = cpu.X86.HasAVX

//go:noescape
func gatherAVX(now, hidden *lane, order *int32, share *float64, n int, inflow *lane)

//go:noescape
func advanceAVX(now, next *lane, order *int32, to *lane, n int, stay float64, sum *lane)

//go:noescape
func dotAVX(a, b *lane, n int, sum *lane)

//go:noescape
func mixAVX(to, a, b *lane, n int, x, y float64)

func gather(now, hidden []lane, order []int32, share []float64, inflow *lane) {
	if !hasAVX {
		gatherGo(now, hidden, order, share, inflow)
		return
	}
	if n := len(order); n > 0 {
		_, _ = now[n-1], share[n-1]
		gatherAVX(&now[0], &hidden[0], &order[0], &share[0], n, inflow)
	}
}

func advance(now, next []lane, order []int32, to []lane, stay float64) (sum lane) {
	if !hasAVX {
		return advanceGo(now, next, order, to, stay)
	}
	if n := len(next); n > 0 {
		_, _ = now[n-1], order[n-1]
		advanceAVX(&now[0], &next[0], &order[0], &to[0], n, stay, &sum)
	}
	return sum
}

func dot(a, b []lane) (sum lane) {
	if !hasAVX {
		return dotGo(a, b)
	}
	if n := len(b); n > 0 {
		_ = a[n-1]
		dotAVX(&a[0], &b[0], n, &sum)
	}
	return sum
}

func mix(to, a, b []lane, x, y float64) {
	if !hasAVX {
		mixGo(to, a, b, x, y)
		return
	}
	if n := len(to); n > 0 {
		_, _ = a[n-1], b[n-1]
		mixAVX(&to[0], &a[0], &b[0], n, x, y)
	}
}
