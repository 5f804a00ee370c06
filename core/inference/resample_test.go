package inference

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"foible/core/agent"
)

func logs(w ...float64) Weights {
	for i := range w {
		w[i] = math.Log(w[i])
	}
	return w
}

// Each kind gives a particle N w children on average: within 4.5 standard errors
// of 20,000 resamplings. Residual gives at least floor(N w), systematic that or one more.
func TestExpectedChildren(t *testing.T) {
	const n = 20000
	rng := rand.New(rand.NewPCG(1, 8))
	for _, kind := range []Resampling{Residual, Systematic, Multinomial} {
		for _, w := range []Weights{
			logs(0.1, 0.2, 0.05, 0.35, 0, 0.17, 0.13),
			logs(0, 0, 1, 0),
			logs(0.25, 0.25, 0.25, 0.25),
			logs(0.999999, 0.0000005, 0, 0.0000005),
			logs(1),
		} {
			sum, squares := make([]float64, len(w)), make([]float64, len(w))
			var parents []int32
			for range n {
				parents = kind.parents(w, rng, parents)
				if len(parents) != len(w) || kind != Residual && !slices.IsSorted(parents) {
					t.Fatalf("%s: parents %v of %d", kind, parents, len(w))
				}
				children := make([]float64, len(w))
				for _, p := range parents {
					children[p]++
				}
				for i, c := range children {
					nw := float64(len(w)) * math.Exp(w[i])
					if kind != Multinomial && c < math.Floor(nw-1e-9) || kind == Systematic && c > math.Ceil(nw+1e-9) || nw == 0 && c > 0 {
						t.Fatalf("%s: %v children of weight %v", kind, c, math.Exp(w[i]))
					}
					sum[i] += c
					squares[i] += c * c
				}
			}
			for i := range w {
				want := float64(len(w)) * math.Exp(w[i])
				mean := sum[i] / n
				// What is rarer than once in all resamplings may have been missed.
				se := math.Sqrt(max(squares[i]/n-mean*mean, 0)/n) + 1.0/n
				if math.Abs(mean-want) > 4.5*se {
					t.Errorf("%s of %v: %v children of particle %d, want %v +- %v", kind, w, mean, i, want, se)
				}
			}
		}
	}
}

// A child is a copy of its parent, in everything, and all weigh the same.
func TestChildrenAreTheirParents(t *testing.T) {
	s := threeBlocks(t)
	a, err := agent.New(s.task, &s.goals, s.search, agent.Parameters{BudgetR: 2, BudgetQ: 0.8, SearchNoise: 1})
	check(t, err)
	for _, kind := range []Resampling{Residual, Systematic, Multinomial} {
		o := DefaultOptions()
		o.ParticlesPerGoal, o.Kind = 50, kind
		f := &filter{SIPS: s, agent: a, o: o, rng: rand.New(rand.NewPCG(2, 2))}
		f.begin()
		p := &f.populations[0]
		for round := range 3 {
			for i := range p.weights {
				p.particles[i].Goal = int32(1000*round + i) // marks it
				p.weights[i] = f.rng.NormFloat64() * 2
			}
			p.weights.Normalize()
			before := slices.Clone(p.particles)
			weights := slices.Clone(p.weights)
			f.resample(p, 0)
			for i, parent := range f.parents {
				child, want := p.particles[i], before[parent]
				if child.Goal != want.Goal || child.Original != want.Original || child.at != want.at || !slices.Equal(child.Plan, want.Plan) || child.Next != want.Next {
					t.Fatalf("%s: child %d is %+v, its parent %+v", kind, i, child, want)
				}
				if math.Abs(p.weights[i]+math.Log(100)) > 1e-12 {
					t.Fatalf("weight %v", p.weights[i])
				}
			}
			if top := slices.Index(weights, slices.Max(weights)); !slices.Contains(f.parents, int32(top)) && kind != Multinomial {
				t.Errorf("%s: the particle of most weight has no child", kind)
			}
		}
	}
}

func TestWeights(t *testing.T) {
	w := Weights{-2000, -2000 + math.Log(3), math.Inf(-1)}
	if sum := w.Normalize(); math.Abs(sum-(-2000+math.Log(4))) > 1e-9 || math.Abs(math.Exp(w[1])-0.75) > 1e-9 || !math.IsInf(w[2], -1) {
		t.Errorf("sum %v, weights %v", sum, w)
	}
	if ess := w.EffectiveSize(); math.Abs(ess-1/(0.75*0.75+0.25*0.25)) > 1e-9 {
		t.Errorf("effective size %v", ess)
	}
	dead := Weights{math.Inf(-1), math.Inf(-1)}
	if sum := dead.Normalize(); !math.IsInf(sum, -1) || dead.EffectiveSize() != 0 {
		t.Errorf("sum %v, effective size %v of dead weights", sum, dead.EffectiveSize())
	}
}
