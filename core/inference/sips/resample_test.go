package sips

import (
	"context"
	"math"
	"slices"
	"testing"

	"foible.dev/foible/core/agent"
	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/inference/internal/worlds"
	"foible.dev/foible/internal/chance"
)

var kinds = []Resampling{Residual, Systematic, Multinomial}

func logs(p ...float64) Weights {
	w := make(Weights, len(p))
	for i, x := range p {
		w[i] = math.Log(x)
	}
	return w
}

// A particle of weight w has N w children on average, whatever the kind, one of
// weight 0 none; within [chance.Bound]. Floor(N w) or its successor are all that the
// systematic kind gives, and floor(N w) is the least of the residual kind.
func TestExpectedChildren(t *testing.T) { chance.Repeat(t, expectedChildren) }

func expectedChildren(t *testing.T) {
	const n = 20_000
	for _, p := range [][]float64{
		{0.1, 0.2, 0.3, 0.4},
		{0, 0.5, 0, 0, 0.26, 0.24, 0},
		{1, 0, 0},
		{0, 0, 1},
		{0.25, 0.25, 0.25, 0.25},
		{1e-300, 0.7, 0.3},
		{1},
	} {
		for _, kind := range kinds {
			rng := seeded(1)
			r := resampler{kind: kind}
			children := make([]estimate, len(p))
			for range n {
				parents := r.parents(logs(p...), rng)
				if len(parents) != len(p) {
					t.Fatalf("%s, %v: parents %v", kind, p, parents)
				}
				count := make([]float64, len(p))
				for _, i := range parents {
					count[i]++
				}
				for i, c := range count {
					expected := p[i] * float64(len(p))
					children[i].add(c)
					if p[i] == 0 && c > 0 {
						t.Fatalf("%s, %v: a child of weight 0", kind, p)
					}
					if kind != Multinomial && c < math.Floor(expected) || kind == Systematic && c > math.Floor(expected)+1 {
						t.Fatalf("%s, %v: particle %d has %v children of %v", kind, p, i, c, expected)
					}
				}
			}
			for i := range p {
				want := p[i] * float64(len(p))
				if z := (children[i].mean() - want) / math.Sqrt(children[i].variance()+1e-18); math.Abs(z) > chance.Bound(100, n-1) {
					t.Errorf("%s, %v: particle %d has %v children, want %v (z %.1f)", kind, p, i, children[i].mean(), want, z)
				}
			}
		}
	}
}

// Equal weights cost nobody its child with less than multinomial noise.
func TestEqualWeightsKeepAll(t *testing.T) {
	for n := 1; n < 400; n++ {
		w := make(Weights, n)
		w.Equalize()
		for _, kind := range []Resampling{Residual, Systematic} {
			r := resampler{kind: kind}
			for i, parent := range r.parents(w, seeded(uint64(n))) {
				if int(parent) != i {
					t.Fatalf("%s of %d: child %d of %d", kind, n, i, parent)
				}
			}
		}
	}
}

// Children are whole copies of the parents that were drawn, as these were before,
// and parents are not changed: the published library filled a copy of the
// particles and left the old ones in place.
func TestChildrenComeFromTheirParents(t *testing.T) {
	w := of(worlds.ThreeBlocks(t))
	a, err := agent.New(w.sips.Task, &w.sips.Goals, w.sips.Search, worlds.Agents["full"])
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		o := DefaultOptions()
		o.ParticlesPerGoal, o.Kind = 10, kind
		f := begin(w.sips, a, o, seeded(1))
		p := &f.populations[0]
		for round := range 50 {
			for i := range p.particles {
				q := &p.particles[i]
				must(f.agent.Think(context.Background(), &q.Mind, w.sips.States[0], f.rng))
				q.at = ground.StateID(100*round + i) // names the particle
				p.weights[i] = math.Log(f.rng.Float64()) * 3
				if i%3 == round%3 {
					p.weights[i] = math.Inf(-1)
				}
			}
			p.weights.Normalize()
			before := slices.Clone(p.particles)
			drawn := map[int]int{}
			r := resampler{kind: kind}
			f.rng = seeded(uint64(round))
			for _, i := range r.parents(p.weights, seeded(uint64(round))) {
				drawn[int(i)]++
			}
			f.resample(context.Background(), p, 0)
			for i := range p.particles {
				child := &p.particles[i]
				parent := int(child.at) - 100*round
				if parent%3 == round%3 {
					t.Fatalf("%s: a child of a parent of weight 0", kind)
				}
				from := &before[parent]
				if child.Original != from.Original || child.Goal != from.Goal || !slices.Equal(child.Plan, from.Plan) {
					t.Fatalf("%s: child %d is not its parent", kind, i)
				}
				drawn[parent]--
				if math.Abs(p.weights[i]+math.Log(20)) > 1e-12 {
					t.Fatalf("%s: weight %v", kind, p.weights[i])
				}
			}
			for parent, left := range drawn {
				if left != 0 {
					t.Fatalf("%s: parent %d has %d children too few", kind, parent, left)
				}
			}
		}
	}
}

func TestWeights(t *testing.T) {
	w := logs(0.5, 1, 0, 0.5)
	if sum := w.Normalize(); math.Abs(sum-math.Log(2)) > 1e-15 {
		t.Errorf("sum %v", sum)
	}
	if n := w.EffectiveSize(); math.Abs(n-1/(0.0625+0.25+0.0625)) > 1e-12 {
		t.Errorf("effective size %v", n)
	}
	// So small that their exponentials are 0.
	w = Weights{-2000, -2000, math.Inf(-1)}
	if sum := w.Normalize(); math.Abs(sum-(math.Ln2-2000)) > 1e-9 {
		t.Errorf("sum %v", sum)
	}
	if n := w.EffectiveSize(); math.Abs(n-2) > 1e-9 {
		t.Errorf("effective size %v", n)
	}
	w = logs(0, 0)
	if sum := w.Normalize(); !math.IsInf(sum, -1) || w.EffectiveSize() != 0 || math.IsNaN(w[0]) {
		t.Errorf("no weight: sum %v, %v", sum, w)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v is a weight", bad)
				}
			}()
			Weights{0, bad}.Normalize()
		}()
	}
}
