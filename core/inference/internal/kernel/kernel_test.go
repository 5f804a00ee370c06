package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func randomLanes(n int, seed uint64) []Lane {
	rng := rand.New(rand.NewPCG(seed, 0))
	all := make([]Lane, n)
	for i := range all {
		for b := range Lanes {
			all[i][b] = math.Ldexp(rng.Float64(), -rng.IntN(300)) // products reach the subnormal numbers
		}
	}
	return all
}

func randomRows(n int, seed uint64) []Row {
	all := make([]Row, n)
	for i, x := range randomLanes(n*Noises, seed) {
		all[i/Noises][i%Noises] = x
	}
	return all
}

// randomOrder are n of the indexes below hidden, in any order, and the last of them, with
// a share for each.
func randomOrder(n, hidden int) (Indexes, []float64) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(hidden)))
	at, share := make([]int32, n), make([]float64, n)
	for i, place := range rng.Perm(hidden)[:n] {
		at[i], share[i] = int32(place), rng.Float64()
	}
	if n > 0 && hidden > n {
		at[rng.IntN(n)] = int32(hidden - 1)
	}
	return NewIndexes(at), share
}

// constant makes the numbers of a goal noise the same in all lanes.
func constant(r Row) *Row {
	for i := range r {
		r[i] = Fill(r[i][0])
	}
	return &r
}

// The functions that are called give the same bits as the loops in Go.
func TestSameBitsAsGo(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 7, 119, 719} {
		order, share := randomOrder(n, n)
		weights, next := randomRows(n, 1), randomLanes(n, 2)
		inflow, stay := randomRows(1, 3)[0], constant(randomRows(1, 4)[0])
		var sum, wantSum Row

		Dot(weights, next, &sum, Noises)
		dotGo(weights, next, &wantSum, Noises)
		equal(t, "Dot", n, []Row{sum}, []Row{wantSum})

		Decay(weights, next, stay, &sum, Noises)
		decayGo(weights, next, stay, &wantSum, Noises)
		equal(t, "Decay", n, []Row{sum}, []Row{wantSum})

		got := Transfer{next, order, randomRows(n, 5), stay, &sum, Noises}
		want := Transfer{next, order, randomRows(n, 5), stay, &wantSum, Noises}
		Advance(&got, weights)
		advanceGo(&want, weights)
		equal(t, "Advance", n, append(got.To, sum), append(want.To, wantSum))

		for _, kept := range []int{0, n / 3, n} {
			p := Planning{weights, share, &inflow, randomRows(kept, 6)}
			q := Planning{weights, share, &inflow, randomRows(kept, 6)}
			Begin(&got, &p)
			beginGo(&want, &q)
			equal(t, "Begin", n, append(got.To, sum), append(want.To, wantSum))
			equal(t, "Begin, kept", n, p.Kept, q.Kept)
		}

		combined, wantCombined := randomLanes(n, 8), randomLanes(n, 9)
		Combine(combined, next, randomLanes(n, 10), 0.3, 1e-200)
		combineGo(wantCombined, next, randomLanes(n, 10), 0.3, 1e-200)
		equal(t, "Combine", n, combined, wantCombined)
	}
	next, in, rows := randomLanes(1, 11)[0], randomRows(2, 12), randomRows(4, 13)
	power := Power{Own: [2]Row{rows[0], rows[1]}, ToOthers: [2]Row{rows[2], rows[3]}}
	got, want := randomRows(3, 14), randomRows(3, 14)
	Pass(&Handover{&in[0], &next, &in[1], &power, &got[0], &got[1], &got[2], Noises})
	passGo(&Handover{&in[0], &next, &in[1], &power, &want[0], &want[1], &want[2], Noises})
	equal(t, "Pass", 1, got, want)
}

func equal[T comparable](t *testing.T, what string, n int, got, want []T) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s of %d: %v at %d, want %v", what, n, got[i], i, want[i])
		}
	}
}

// guarded are the given elements inside a longer slice, whose rest is marked; intact fails
// the test if a mark has changed.
func guarded[T comparable](all []T, mark T) (inside []T, intact func(t *testing.T, what string, n int)) {
	const margin = 8
	outer := make([]T, len(all)+2*margin)
	for i := range outer {
		outer[i] = mark
	}
	inside = outer[margin : margin+len(all) : margin+len(all)]
	copy(inside, all)
	return inside, func(t *testing.T, what string, n int) {
		t.Helper()
		for i := range outer {
			if (i < margin || i >= margin+len(all)) && outer[i] != mark {
				t.Fatalf("%s of %d: writes at %d", what, n, i-margin)
			}
		}
	}
}

func guardedRows(n int, seed uint64) (inside []Row, intact func(t *testing.T, what string, n int)) {
	return guarded(randomRows(n, seed), Row{Fill(0x1p100), Fill(0x1p100), Fill(0x1p100), Fill(0x1p100)})
}

// Nothing is written outside the slices.
func TestWritesStayInside(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 64} {
		for _, hidden := range []int{n, n + 3} {
			order, share := randomOrder(n, hidden)
			weights, next, ones := randomRows(hidden, 1), randomLanes(n, 2), randomRows(2, 3)
			sum, intactSum := guardedRows(1, 4)
			to, intactTo := guardedRows(hidden, 5)
			transfer := Transfer{next, order, to, &ones[1], &sum[0], Noises}
			for _, kept := range []int{0, n / 2, n} {
				now, intactKept := guardedRows(kept, 6)
				Begin(&transfer, &Planning{weights, share, &ones[0], now})
				intactKept(t, "Begin, kept", n)
			}
			Advance(&transfer, weights[:n])
			Dot(weights[:n], next, &sum[0], Noises)
			Decay(weights[:n], next, &ones[1], &sum[0], Noises)
			intactTo(t, "Begin and Advance", n)
			intactSum(t, "sum", n)
			combined, intactCombined := guarded(randomLanes(n, 7), Fill(0x1p100))
			Combine(combined, next, randomLanes(n, 8), 0.5, 0.25)
			intactCombined(t, "Combine", n)
			three, intact := guardedRows(3, 9)
			p := Power{Own: [2]Row{ones[0], ones[1]}, ToOthers: [2]Row{ones[1], ones[0]}}
			Pass(&Handover{&ones[0], &next[0], &ones[1], &p, &three[0], &three[1], &three[2], Noises})
			MulAdd(&three[0], &ones[0], &next[0], Noises)
			intact(t, "Pass and MulAdd", n)
		}
	}
}

// A slice that is too short and an index that points outside panic, before anything is written.
func TestShortSlicesPanic(t *testing.T) {
	const n = 4
	whole, share := NewIndexes([]int32{4, 1, 3, 0}), make([]float64, n)
	short := NewIndexes([]int32{4, 1, 3})
	rows, lanes := func(n int) []Row { return make([]Row, n) }, func(n int) []Lane { return make([]Lane, n) }
	var in, stay, sum Row
	transfer := func(order Indexes, to int) *Transfer {
		return &Transfer{lanes(n), order, rows(to), &stay, &sum, Noises}
	}
	plan := func(hidden, shares, kept int) *Planning {
		return &Planning{rows(hidden), share[:shares], &in, rows(kept)}
	}
	for name, calls := range map[string][2]func(){
		"Begin, hidden":    {func() { Begin(transfer(whole, 5), plan(4, n, n)) }, func() { beginGo(transfer(whole, 5), plan(4, n, n)) }},
		"Begin, to":        {func() { Begin(transfer(whole, 4), plan(5, n, n)) }, func() { beginGo(transfer(whole, 4), plan(5, n, n)) }},
		"Begin, order":     {func() { Begin(transfer(short, 5), plan(5, n, 3)) }, func() { beginGo(transfer(short, 5), plan(5, n, 3)) }},
		"Begin, share":     {func() { Begin(transfer(whole, 5), plan(5, 3, n)) }, func() { beginGo(transfer(whole, 5), plan(5, 3, n)) }},
		"Begin, kept":      {func() { Begin(transfer(whole, 5), plan(5, n, n+1)) }, func() { beginGo(transfer(whole, 5), plan(5, n, n+1)) }},
		"Advance, weights": {func() { Advance(transfer(whole, 5), rows(3)) }, func() { advanceGo(transfer(whole, 5), rows(3)) }},
		"Advance, order":   {func() { Advance(transfer(short, 5), rows(n)) }, func() { advanceGo(transfer(short, 5), rows(n)) }},
		"Advance, to":      {func() { Advance(transfer(whole, 4), rows(n)) }, func() { advanceGo(transfer(whole, 4), rows(n)) }},
		"Dot":              {func() { Dot(rows(3), lanes(n), &sum, Noises) }, func() { dotGo(rows(3), lanes(n), &sum, Noises) }},
		"Decay":            {func() { Decay(rows(n), lanes(3), &stay, &sum, Noises) }, func() { decayGo(rows(n), lanes(3), &stay, &sum, Noises) }},
		"Combine, a":       {func() { Combine(lanes(n), lanes(3), lanes(n), 1, 1) }, func() { combineGo(lanes(n), lanes(3), lanes(n), 1, 1) }},
		"Combine, b":       {func() { Combine(lanes(n), lanes(n), lanes(3), 1, 1) }, func() { combineGo(lanes(n), lanes(n), lanes(3), 1, 1) }},
		"a negative index": {func() { NewIndexes([]int32{0, -1}) }, func() { NewIndexes([]int32{-1}) }},
	} {
		for i, call := range calls {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s, call %d: no panic", name, i)
					}
				}()
				call()
			}()
		}
	}
}

// BenchmarkKernel compares the loops that are called with those in Go; the package comment
// has the numbers. With the tag noasm both are the same.
func BenchmarkKernel(b *testing.B) {
	const n = 119 // what a word of five letters can be confused with
	order, share := randomOrder(n, n)
	weights, next, others := make([]Row, n), make([]Lane, n), make([]Lane, n)
	for i := range weights { // no subnormal numbers, which are slow
		weights[i], next[i], others[i] = Row{Fill(0.5), Fill(0.25), Fill(0.125), Fill(1)}, Fill(0.5), Fill(0.25)
	}
	var sum Row
	small := Row{Fill(0x1p-60), Fill(0x1p-60), Fill(0x1p-60), Fill(0x1p-60)}
	t := &Transfer{next, order, make([]Row, n), &small, &sum, Noises}
	p := &Planning{weights, share, &small, make([]Row, n)}
	power := Power{Own: [2]Row{small, small}, ToOthers: [2]Row{small, small}}
	h := &Handover{&weights[0], &next[0], &small, &power, new(Row), new(Row), new(Row), Noises}
	for _, bench := range []struct {
		name      string
		asm, inGo func()
	}{
		{"Begin", func() { Begin(t, p) }, func() { beginGo(t, p) }},
		{"Advance", func() { Advance(t, weights) }, func() { advanceGo(t, weights) }},
		{"Dot", func() { Dot(weights, next, &sum, Noises) }, func() { dotGo(weights, next, &sum, Noises) }},
		{"Decay", func() { Decay(weights, next, &small, &sum, Noises) }, func() { decayGo(weights, next, &small, &sum, Noises) }},
		{"Combine", func() { Combine(t.Next, next, others, 0.5, 0.25) }, func() { combineGo(t.Next, next, others, 0.5, 0.25) }},
		{"Pass", func() { Pass(h) }, func() { passGo(h) }},
	} {
		b.Run(bench.name+"/go", func(b *testing.B) {
			for b.Loop() {
				bench.inGo()
			}
		})
		b.Run(bench.name+"/asm", func(b *testing.B) {
			for b.Loop() {
				bench.asm()
			}
		})
	}
}
