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

func randomRows(n int, seed uint64) []row {
	all := make([]row, n)
	for i, x := range randomLanes(n*abreast, seed) {
		all[i/abreast][i%abreast] = x
	}
	return all
}

// What runs on this machine gives the same bits as the loops in Go, with eight numbers
// at once and with four.
func TestLanesAreTheSameToTheLastBit(t *testing.T) {
	defer func(is bool) { hasAVX512 = is }(hasAVX512)
	for _, hasAVX512 = range []bool{hasAVX512, false} {
		for _, n := range []int{0, 1, 2, 3, 7, 119, 719} {
			testLanes(t, n)
		}
	}
}

func testLanes(t *testing.T, n int) {
	rng := seeded(uint64(n))
	order, share := make([]int32, n), make([]float64, n)
	for i, place := range rng.Perm(n) {
		order[i], share[i] = int32(place), rng.Float64()
	}
	weights, next := randomRows(n, 1), randomLanes(n, 2)
	inflow, stay := randomRows(1, 3)[0], randomRows(1, 4)[0]
	for i := range stay {
		stay[i] = all(stay[i][0])
	}
	to, want := randomRows(n, 5), randomRows(n, 5)
	var sum, wantSum row

	dot(weights, next, &sum, abreast)
	dotGo(weights, next, &wantSum, abreast)
	equal(t, fmt.Sprintf("dot of %d", n), []row{sum}, []row{wantSum})

	fold(weights, next, &stay, &sum, abreast)
	foldGo(weights, next, &stay, &wantSum, abreast)
	equal(t, fmt.Sprintf("fold of %d", n), []row{sum}, []row{wantSum})

	advance(weights, next, order, to, &stay, &sum, abreast)
	advanceGo(weights, next, order, want, &stay, &wantSum, abreast)
	equal(t, fmt.Sprintf("advance of %d", n), append(to, sum), append(want, wantSum))

	for _, kept := range []int{0, n / 3, n} {
		now, wantNow := randomRows(n, 6), randomRows(n, 6)
		begin(now, weights, next, order, share, kept, &inflow, to, &stay, &sum, abreast)
		beginGo(wantNow, weights, next, order, share, kept, &inflow, want, &stay, &wantSum, abreast)
		equal(t, fmt.Sprintf("begin of %d", n), append(to, sum), append(want, wantSum))
		equal(t, fmt.Sprintf("begin of %d, weights", n), now, wantNow)
	}

	mixed, wantMixed := randomLanes(n, 8), randomLanes(n, 9)
	mix(mixed, next, randomLanes(n, 10), 0.3, 1e-200)
	mixGo(wantMixed, next, randomLanes(n, 10), 0.3, 1e-200)
	equal(t, fmt.Sprintf("mix of %d", n), mixed, wantMixed)

	one := randomLanes(1, 11)[0]
	gain(&sum, &stay, &one, abreast)
	gainGo(&wantSum, &stay, &one, abreast)
	rows := randomRows(5, 12)
	p := power{stay: rows[0], own: [2]row{rows[1], rows[2]}, toOthers: [2]row{rows[3], rows[4]}}
	got, wantRows := randomRows(3, 13), randomRows(3, 13)
	pass(&inflow, &one, &stay, &p, &got[0], &got[1], &got[2], abreast)
	passGo(&inflow, &one, &stay, &p, &wantRows[0], &wantRows[1], &wantRows[2], abreast)
	equal(t, "pass and gain", append(got, sum), append(wantRows, wantSum))
}

func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: %v at %d, want %v", what, got[i], i, want[i])
		}
	}
}
