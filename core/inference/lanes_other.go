//go:build !amd64

package inference

func gather(now, hidden []lane, order []int32, share []float64, inflow *lane) {
	gatherGo(now, hidden, order, share, inflow)
}

func advance(now, next []lane, order []int32, to []lane, stay float64) (sum lane) {
	return advanceGo(now, next, order, to, stay)
}

func dot(a, b []lane) (sum lane) { return dotGo(a, b) }

func mix(to, a, b []lane, x, y float64) { mixGo(to, a, b, x, y) }
