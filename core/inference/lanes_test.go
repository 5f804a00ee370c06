package inference

import (
	"fmt"
	"math"
	"testing"
)

func randomLanes(n int, seed uint64) []lane {
	rng := seeded(seed)
	all := make([]lane, n)
	for i := range all {
		for b := range lanes {
			all[i][b] = math.Ldexp(rng.Float64(), -rng.IntN(300)) // products reach the subnormal numbers
		}
	}
	return all
}

// What runs on this machine gives the same bits as the loops in Go.
func TestLanesAreTheSameToTheLastBit(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 7, 119, 719} {
		rng := seeded(uint64(n))
		order, share := make([]int32, n), make([]float64, n)
		for i, place := range rng.Perm(n) {
			order[i], share[i] = int32(place), rng.Float64()
		}
		a, b, inflow := randomLanes(n, 1), randomLanes(n, 2), randomLanes(1, 3)[0]
		to, want := randomLanes(n, 4), randomLanes(n, 4)

		if got, sum := dot(a, b), dotGo(a, b); got != sum {
			t.Errorf("dot of %d: %v, want %v", n, got, sum)
		}
		if got, sum := advance(a, b, order, to, 0.9), advanceGo(a, b, order, want, 0.9); got != sum {
			t.Errorf("advance of %d: %v, want %v", n, got, sum)
		}
		equal(t, fmt.Sprintf("advance of %d", n), to, want)
		gather(to, a, order, share, &inflow)
		gatherGo(want, a, order, share, &inflow)
		equal(t, fmt.Sprintf("gather of %d", n), to, want)
		mix(to, a, b, 0.3, 1e-200)
		mixGo(want, a, b, 0.3, 1e-200)
		equal(t, fmt.Sprintf("mix of %d", n), to, want)
	}
}

func equal(t *testing.T, what string, got, want []lane) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: %v at %d, want %v", what, got[i], i, want[i])
		}
	}
}
