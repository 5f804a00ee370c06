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
	places, share := make([]int32, n), make([]float64, n)
	for i, place := range rng.Perm(n) {
		places[i], share[i] = int32(place), rng.Float64()
	}
	order := newPlaces(places)
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

// guarded are n numbers of T in a larger array whose rest is marked; intact fails if a mark
// has changed.
func guarded[T any](all []T, mark func(*T), same func(a, b *T) bool) (inside []T, intact func(t *testing.T, what string)) {
	const margin = 8
	outer := make([]T, len(all)+2*margin)
	for i := range outer {
		mark(&outer[i])
	}
	var want T
	mark(&want)
	inside = outer[margin : margin+len(all) : margin+len(all)]
	copy(inside, all)
	return inside, func(t *testing.T, what string) {
		t.Helper()
		for i := range outer {
			if (i < margin || i >= margin+len(all)) && !same(&outer[i], &want) {
				t.Fatalf("%s: writes at %d of %d", what, i-margin, len(all))
			}
		}
	}
}

func guardedRows(n int, seed uint64) (inside []row, intact func(t *testing.T, what string)) {
	return guarded(randomRows(n, seed), func(r *row) {
		for i := range r {
			r[i] = all(0x1p100)
		}
	}, func(a, b *row) bool { return *a == *b })
}

func guardedLanes(n int, seed uint64) (inside []lane, intact func(t *testing.T, what string)) {
	return guarded(randomLanes(n, seed), func(l *lane) { *l = all(0x1p100) }, func(a, b *lane) bool { return *a == *b })
}

// Nothing is written beside the slices, wherever the indexes lead within them.
func TestLanesStayWithinTheirSlices(t *testing.T) {
	defer func(is bool) { hasAVX512 = is }(hasAVX512)
	for _, hasAVX512 = range []bool{hasAVX512, false} {
		for _, n := range []int{1, 2, 3, 5, 64} {
			for _, hidden := range []int{n, n + 3} { // hidden goals; n of them have a place
				rng := seeded(uint64(n))
				at, share := make([]int32, n), make([]float64, n)
				for i, place := range rng.Perm(hidden)[:n] {
					at[i], share[i] = int32(place), rng.Float64()
				}
				at[rng.IntN(n)] = int32(hidden - 1)
				order := newPlaces(at)
				weights, next := randomRows(hidden, 1), randomLanes(n, 2)
				ones := randomRows(2, 3)
				sum, intactSum := guardedRows(1, 4)
				to, intactTo := guardedRows(hidden, 5)
				for _, kept := range []int{0, n / 2, n} {
					now, intactNow := guardedRows(kept, 6)
					begin(now, weights, next, order, share, kept, &ones[0], to, &ones[1], &sum[0], abreast)
					intactNow(t, fmt.Sprintf("begin of %d, now", n))
				}
				advance(weights[:n], next, order, to, &ones[1], &sum[0], abreast)
				dot(weights[:n], next, &sum[0], abreast)
				fold(weights[:n], next, &ones[1], &sum[0], abreast)
				intactTo(t, fmt.Sprintf("begin and advance of %d, to", n))
				intactSum(t, fmt.Sprintf("sums of %d", n))
				mixed, intactMixed := guardedLanes(n, 7)
				mix(mixed, next, randomLanes(n, 8), 0.5, 0.25)
				intactMixed(t, fmt.Sprintf("mix of %d", n))
				three, intact := guardedRows(3, 9)
				p := power{own: [2]row{ones[0], ones[1]}, toOthers: [2]row{ones[1], ones[0]}}
				pass(&ones[0], &next[0], &ones[1], &p, &three[0], &three[1], &three[2], abreast)
				gain(&three[0], &ones[0], &next[0], abreast)
				intact(t, "pass and gain")
			}
		}
	}
}

// A slice that is too short, or an index beyond it, panics: in assembly as in Go.
func TestLanesRefuseSlicesThatAreTooShort(t *testing.T) {
	defer func(avx, avx512 bool) { hasAVX, hasAVX512 = avx, avx512 }(hasAVX, hasAVX512)
	has, has512 := hasAVX, hasAVX512
	const n = 4
	order, share := newPlaces([]int32{4, 1, 3, 0}), make([]float64, n)
	short := newPlaces([]int32{4, 1, 3})
	rows, ls := func(n int) []row { return make([]row, n) }, func(n int) []lane { return make([]lane, n) }
	var in, stay, sum row
	for name, call := range map[string]func(){
		"begin, now":        func() { begin(rows(2), rows(5), ls(n), order, share, 3, &in, rows(5), &stay, &sum, abreast) },
		"begin, hidden":     func() { begin(rows(n), rows(4), ls(n), order, share, n, &in, rows(5), &stay, &sum, abreast) },
		"begin, to":         func() { begin(rows(n), rows(5), ls(n), order, share, n, &in, rows(4), &stay, &sum, abreast) },
		"begin, order":      func() { begin(rows(n), rows(5), ls(n), short, share, 3, &in, rows(5), &stay, &sum, abreast) },
		"begin, share":      func() { begin(rows(n), rows(5), ls(n), order, share[:3], 3, &in, rows(5), &stay, &sum, abreast) },
		"begin, kept":       func() { begin(rows(9), rows(5), ls(n), order, share, n+1, &in, rows(5), &stay, &sum, abreast) },
		"begin, kept below": func() { begin(rows(9), rows(5), ls(n), order, share, -1, &in, rows(5), &stay, &sum, abreast) },
		"advance, now":      func() { advance(rows(3), ls(n), order, rows(5), &stay, &sum, abreast) },
		"advance, order":    func() { advance(rows(n), ls(n), short, rows(5), &stay, &sum, abreast) },
		"advance, to":       func() { advance(rows(n), ls(n), order, rows(4), &stay, &sum, abreast) },
		"dot":               func() { dot(rows(3), ls(n), &sum, abreast) },
		"fold":              func() { fold(rows(n), ls(3), &stay, &sum, abreast) },
		"mix, a":            func() { mix(ls(n), ls(3), ls(n), 1, 1) },
		"mix, b":            func() { mix(ls(n), ls(n), ls(3), 1, 1) },
		"an index below 0":  func() { newPlaces([]int32{0, -1}) },
	} {
		for _, on := range [][2]bool{{has, has512}, {has, false}, {false, false}} {
			hasAVX, hasAVX512 = on[0], on[1]
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s, AVX %v, AVX-512 %v: no panic", name, on[0], on[1])
					}
				}()
				call()
			}()
		}
	}
}
