package policy

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// graphOf makes a graph of the successors of each state.
func graphOf(successors ...[]int32) *graph {
	g := &graph{row: []int32{0}}
	for _, ts := range successors {
		g.to = append(g.to, ts...)
		g.row = append(g.row, int32(len(g.to)))
	}
	return g
}

func randomGraph(rng *rand.Rand) (g *graph, goals []int32) {
	n := 1 + rng.IntN(12)
	successors := make([][]int32, n)
	for s := range successors {
		for range rng.IntN(5) { // repeats: two operators may lead to one state
			successors[s] = append(successors[s], int32(rng.IntN(n)))
		}
	}
	for s := range int32(n) {
		if rng.IntN(4) == 0 {
			goals = append(goals, s)
		}
	}
	return graphOf(successors...), goals
}

func TestReverse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		g, _ := randomGraph(rng)
		arrows := map[[2]int32]int{}
		for s := range int32(g.n()) {
			for _, to := range g.successors(s) {
				arrows[[2]int32{s, to}]++
			}
		}
		r := g.reverse()
		for s := range int32(r.n()) {
			for _, to := range r.successors(s) {
				arrows[[2]int32{to, s}]--
			}
		}
		for arrow, n := range arrows {
			if n != 0 {
				t.Fatalf("arrow %v: %d too few in the reverse", arrow, n)
			}
		}
	}
}

// Distances against relaxing every arrow until nothing changes.
func TestDistances(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		g, goals := randomGraph(rng)
		dist, order, _ := distances(context.Background(), g.reverse(), goals)
		want := make([]int32, g.n())
		for s := range want {
			if want[s] = math.MaxInt32; slices.Contains(goals, int32(s)) {
				want[s] = 0
			}
		}
		for range g.n() {
			for s := range int32(g.n()) {
				for _, to := range g.successors(s) {
					if want[to] != math.MaxInt32 {
						want[s] = min(want[s], want[to]+1)
					}
				}
			}
		}
		reachable := 0
		for s := range want {
			if want[s] == math.MaxInt32 {
				want[s] = -1
			} else {
				reachable++
			}
		}
		if !slices.Equal(dist, want) {
			t.Fatalf("got %v, want %v", dist, want)
		}
		if len(order) != reachable || !slices.IsSortedFunc(order, func(a, b int32) int { return int(dist[a] - dist[b]) }) {
			t.Fatalf("order %v of distances %v", order, dist)
		}
	}
}

func onPolicy(t testing.TB, g *graph, goals []int32, alpha, unreachable float64) ([]float64, distance) {
	t.Helper()
	dist, order, _ := distances(context.Background(), g.reverse(), goals)
	d := distance{dist, order}
	v, _, err := onPolicyValues(context.Background(), g, d, alpha, unreachable)
	if err != nil {
		t.Fatalf("alpha %v, unreachable %v: %v", alpha, unreachable, err)
	}
	return v, d
}

// From s one action leads to the goal and one stays: with p the probability of
// the first, V = -1/p and p = 1/(1 + exp(alpha V)), so V = -1.5 at alpha = ln 2 / 1.5.
func TestOnPolicyByHand(t *testing.T) {
	v, _ := onPolicy(t, graphOf([]int32{0, 1}, nil), []int32{1}, math.Ln2/1.5, -1000)
	if math.Abs(v[0]+1.5) > 1e-9 || v[1] != 0 {
		t.Errorf("V = %v, want -1.5 and 0", v)
	}

	// Two equal actions to the goal and one that stays: V = -1/p, p = 2/(2 + exp(alpha V)).
	// At V = -1.25, p = 4/5 and exp(alpha V) = 1/2.
	v, _ = onPolicy(t, graphOf([]int32{0, 1, 1}, nil), []int32{1}, math.Ln2/1.25, -1000)
	if math.Abs(v[0]+1.25) > 1e-9 {
		t.Errorf("V = %v, want -1.25", v[0])
	}

	// One action to the goal and one to a dead end worth U: V = -1 + (1-p) U, with p =
	// 1/(1 + exp(alpha U)); at U = -2 and alpha = ln 3 / 2, 1-p = 1/4 and V = -1.5.
	v, _ = onPolicy(t, graphOf([]int32{1, 2}, nil, []int32{2}), []int32{1}, math.Log(3)/2, -2)
	if math.Abs(v[0]+1.5) > 1e-9 || v[2] != -2 {
		t.Errorf("V = %v, want -1.5, 0, -2", v)
	}

	// No choice: V counts the steps, whatever alpha.
	v, _ = onPolicy(t, graphOf([]int32{1}, []int32{2}, nil), []int32{2}, 0.125, -1000)
	if want := []float64{-2, -1, 0}; !slices.Equal(v, want) {
		t.Errorf("V = %v, want %v", v, want)
	}
}

// The values are a fixed point, on every graph and at every temperature; they
// approach the optimal ones as alpha grows, and are nowhere better.
func TestOnPolicyFixedPoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for range 400 {
		g, goals := randomGraph(rng)
		for _, alpha := range []float64{1e-3, 0.125, 0.5, 1, 3, 8, 64, 1e6} {
			for _, unreachable := range []float64{-1000, -40, -1e6} {
				v, d := onPolicy(t, g, goals, alpha, unreachable)
				for s, dist := range d.dist {
					name := fmt.Sprintf("alpha %v, unreachable %v, state %d of %v, goals %v: V = %v", alpha, unreachable, s, g, goals, v[s])
					switch {
					case dist < 0 && v[s] != unreachable, dist == 0 && v[s] != 0:
						t.Fatal(name)
					case dist > 0:
						if residual := math.Abs(expected(v, g.successors(int32(s)), alpha) - v[s]); !(residual <= 1e-9*max(1, math.Abs(v[s]))) {
							t.Fatalf("%s, residual %v", name, residual)
						}
						if unreachable < -float64(len(d.dist)) && v[s] > -float64(dist)+1e-9 {
							t.Fatalf("%s, better than the optimal %d", name, -dist)
						}
						if alpha >= 64 && math.Abs(v[s]+float64(dist)) > 1e-9 && unreachable != -1e6 {
							t.Fatalf("%s, optimal is %d", name, -dist)
						}
					}
				}
			}
		}
	}
}

// mazeGraph is a maze of cells side by side, from each of which one can go to any other; of
// the walls that are left a part is open as well.
func mazeGraph(width, height int, open float64, seed uint64) *graph {
	rng := rand.New(rand.NewPCG(seed, 4))
	successors := make([][]int32, width*height)
	link := func(a, b int) {
		successors[a], successors[b] = append(successors[a], int32(b)), append(successors[b], int32(a))
	}
	around := func(cell int) (all []int) {
		if cell%width > 0 {
			all = append(all, cell-1)
		}
		if cell%width < width-1 {
			all = append(all, cell+1)
		}
		if cell >= width {
			all = append(all, cell-width)
		}
		if cell < width*(height-1) {
			all = append(all, cell+width)
		}
		return all
	}
	seen := make([]bool, width*height)
	seen[0] = true
	for path := []int{0}; len(path) > 0; {
		at := path[len(path)-1]
		ways := slices.DeleteFunc(around(at), func(to int) bool { return seen[to] })
		if len(ways) == 0 {
			path = path[:len(path)-1]
			continue
		}
		to := ways[rng.IntN(len(ways))]
		seen[to] = true
		link(at, to)
		path = append(path, to)
	}
	for at := range successors {
		for _, to := range around(at) {
			if to > at && rng.Float64() < open && !slices.Contains(successors[at], int32(to)) {
				link(at, to)
			}
		}
	}
	return graphOf(successors...)
}

// In large mazes, values of neighbours answer to each other for ever unless steps are damped
// for good; at low temperatures they take thousands of passes.
func TestOnPolicySettlesInMazes(t *testing.T) {
	for _, open := range []float64{0, 0.1} {
		g := mazeGraph(40, 40, open, 1)
		for _, alpha := range []float64{0.03, 0.73, 1, 2} {
			v, d := onPolicy(t, g, []int32{int32(g.n() - 1)}, alpha, -1000)
			for s, dist := range d.dist {
				if dist == 0 {
					continue
				}
				if residual := math.Abs(expected(v, g.successors(int32(s)), alpha) - v[s]); !(residual < tolerance) || v[s] > -float64(dist) {
					t.Fatalf("alpha %v, part open %v: V(%d) = %v, %d away, residual %v", alpha, open, s, v[s], dist, residual)
				}
			}
		}
	}
}
