package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Permutations of the test of [Alike], and of how many values in all they are not fewer.
const (
	mostPermutations  = 999
	leastPermutations = 199
	permutedValues    = 20_000_000
)

// Alike is a permutation F test of settings that differ no more than repeats of
// one: values are [setting][run], levels [axis][setting] the numbers of the values
// that settings have on each axis. It returns p and the number of permutations.
//
// Runs are blocks, since settings of marginal inference share the samples of a batch:
// values are permuted within a run, which under the hypothesis may stand in any
// order. The statistics are the sums of squares between settings, between the values
// of each axis, and of all axes together, and the most improbable of them counts
// (Westfall and Young 1993): a grid is distinguished by its axes where its settings, one
// by one, are not. Given the runs, an F is a monotone function of such a sum.
func Alike(values [][]float64, levels [][]int, rng *rand.Rand) (p float64, permutations int) {
	runs := len(values[0])
	for _, v := range values {
		runs = min(runs, len(v))
	}
	blocks := make([][]float64, runs)
	for b := range blocks {
		block := make([]float64, len(values))
		size := 0.0
		for i := range values {
			block[i] = values[i][b]
			size = max(size, math.Abs(block[i]))
		}
		m := Mean(block)
		for i := range block {
			if block[i] -= m; math.Abs(block[i]) <= 1e-12*size {
				block[i] = 0 // but for rounding
			}
		}
		blocks[b] = block
	}
	f := newSquares(len(values), levels)
	permutations = max(leastPermutations, min(mostPermutations, permutedValues/(len(values)*runs)))
	stats := make([][]float64, f.n)
	for range permutations + 1 { // the first as they stand
		for k, x := range f.of(blocks) {
			stats[k] = append(stats[k], x)
		}
		for _, block := range blocks {
			rng.Shuffle(len(block), func(i, j int) { block[i], block[j] = block[j], block[i] })
		}
	}
	least := slices.Repeat([]float64{1}, permutations+1)
	for _, xs := range stats {
		for i, tail := range tails(xs) {
			least[i] = min(least[i], tail)
		}
	}
	extreme := 0
	for _, x := range least {
		if x <= least[0] {
			extreme++
		}
	}
	return float64(extreme) / float64(permutations+1), permutations
}

// sumsOfSquares between settings, axes together, and each axis.
type sumsOfSquares struct {
	n      int
	levels [][]int
	count  [][]float64 // [axis][value]
	totals []float64   // by setting
	of1    []float64
	by     []float64
}

func newSquares(settings int, levels [][]int) *sumsOfSquares {
	f := &sumsOfSquares{n: 1, levels: levels, totals: make([]float64, settings)}
	if len(levels) > 1 {
		f.n = 2 + len(levels)
	}
	for _, level := range levels {
		count := make([]float64, slices.Max(level)+1)
		for _, l := range level {
			count[l]++
		}
		f.count = append(f.count, count)
	}
	f.of1 = make([]float64, f.n)
	return f
}

// of blocks of values; good until the next call.
func (f *sumsOfSquares) of(blocks [][]float64) []float64 {
	clear(f.totals)
	clear(f.of1)
	for _, block := range blocks {
		for i, x := range block {
			f.totals[i] += x
		}
	}
	for _, t := range f.totals {
		f.of1[0] += float64(t * t)
	}
	if f.n == 1 {
		return f.of1
	}
	for a, level := range f.levels {
		f.by = append(f.by[:0], make([]float64, len(f.count[a]))...)
		for i, t := range f.totals {
			f.by[level[i]] += t
		}
		for l, t := range f.by {
			if f.count[a][l] > 0 {
				f.of1[2+a] += float64(t*t) / f.count[a][l]
			}
		}
		f.of1[1] += f.of1[2+a]
	}
	return f.of1
}

// tails are, of each number, the part of all that are at least as large, but for rounding.
func tails(xs []float64) []float64 {
	order := make([]int, len(xs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(xs[b], xs[a]) })
	out := make([]float64, len(xs))
	for first := 0; first < len(order); {
		last := first
		for last+1 < len(order) && xs[order[last+1]] >= xs[order[first]]*(1-1e-9) {
			last++
		}
		for ; first <= last; first++ {
			out[order[first]] = float64(last+1) / float64(len(xs))
		}
	}
	return out
}

// AlikeByErrors is p of a chi-squared test of equal r, where there are too few runs to
// permute: errors are taken as independent, and normal.
func AlikeByErrors(rs, ses []float64) float64 {
	var weights, sum float64
	for i, r := range rs {
		w := 1 / max(1e-24, float64(ses[i]*ses[i]))
		weights += w
		sum += float64(w * r)
	}
	m, q := sum/weights, 0.0
	for i, r := range rs {
		q += float64((r-m)*(r-m)) / max(1e-24, float64(ses[i]*ses[i]))
	}
	return distuv.ChiSquared{K: float64(len(rs) - 1)}.Survival(q)
}
