package marginal

import (
	"math"
	"slices"

	"foible.dev/foible/core/inference/internal/kernel"
)

// setResult is the evidence of a parameter set.
type setResult struct {
	// evidence is [step][goal][batch]: Z of each candidate goal, times exp(-shift[step]).
	evidence [][][]float64
	shift    []float64
	samples  int // searches of an original goal
	// Buffers.
	posteriors []posterior // [step]
	scale      [][]int     // [step][group of batches × goal]: powers of 2 in evidence before it is aligned
}

// posterior over goals at a step, and without each of the batches.
type posterior struct {
	known   bool
	none    bool // there is no posterior
	all     []float64
	without [][]float64 // [batch][goal]; batches without which nothing is left are left out
	left    int         // rows of without in use
}

// reset makes an empty result.
func (r *setResult) reset(batches, goals, steps int) {
	if len(r.evidence) == 0 || len(r.evidence[0][0]) != batches {
		*r = setResult{shift: make([]float64, steps), evidence: make([][][]float64, steps), scale: make([][]int, steps), posteriors: make([]posterior, steps)}
		for step := range r.evidence {
			r.evidence[step], r.scale[step] = rows(goals, batches), make([]int, groups(batches)*goals)
			r.posteriors[step] = posterior{all: make([]float64, goals), without: rows(batches, goals)}
		}
	}
	for step := range r.posteriors {
		r.posteriors[step].known = false
	}
}

// align brings the evidence of a step to one scale.
func (r *setResult) align(batches, goals int) {
	for step, scales := range r.scale {
		least := slices.Min(scales)
		r.shift[step] = -float64(least) * math.Ln2
		for i, scale := range scales {
			if scale == least {
				continue
			}
			group, goal := i/goals, i%goals
			for b := group * kernel.Lanes; b < min((group+1)*kernel.Lanes, batches); b++ {
				r.evidence[step][goal][b] = math.Ldexp(r.evidence[step][goal][b], least-scale)
			}
		}
	}
}

// sum of the evidence at a step.
func (r *setResult) sum(step int) (sum float64) {
	for _, by := range r.evidence[step] {
		for _, e := range by {
			sum += e
		}
	}
	return sum
}

// vanishes reports whether the evidence at a named step is so small that it may have lost
// digits, or none.
func (r *setResult) vanishes(named []bool) bool {
	for step := range r.evidence {
		if named[step] && r.sum(step) < 1e-200 {
			return true
		}
	}
	return false
}

// posterior over goals at a step, and without each of the batches that leave any; nil if
// there is none. They are good as long as the result.
func (r *setResult) posterior(step int) (all []float64, without [][]float64) {
	p := &r.posteriors[step]
	if !p.known {
		p.find(r.evidence[step])
	}
	if p.none {
		return nil, nil
	}
	return p.all, p.without[:p.left]
}

// find makes the posterior from evidence, [goal][batch].
func (p *posterior) find(evidence [][]float64) {
	for goal, by := range evidence {
		var sum float64
		for _, e := range by {
			sum += e
		}
		p.all[goal] = max(0, sum)
	}
	p.left = 0
	for batch := range p.without {
		rest := p.without[p.left]
		for goal, by := range evidence {
			var sum float64
			for i, e := range by {
				if i != batch {
					sum += e
				}
			}
			rest[goal] = sum
		}
		if normalize(rest) {
			p.left++
		}
	}
	p.known, p.none = true, !normalize(p.all)
}

// normalize makes the sum 1, and reports whether it was above 0.
func normalize(p []float64) bool {
	var sum float64
	for _, x := range p {
		sum += x
	}
	if sum <= 0 {
		return false
	}
	for i := range p {
		p[i] /= sum
	}
	return true
}

// goalVariance is the variance of a goal's probability, by the jackknife.
func goalVariance(without [][]float64, goal int) float64 {
	return jackknife(len(without), func(i int) float64 { return without[i][goal] })
}

// jackknife is the variance of a statistic by its n values without each one of n batches
// (Quenouille, Tukey), with the shrinkage of batches taken back; 0 for fewer than two.
func jackknife(n int, without func(i int) float64) float64 {
	if n < 2 {
		return 0
	}
	var mean, squares float64
	for i := range n {
		mean += without(i) / float64(n)
	}
	for i := range n {
		d := without(i) - mean
		squares += float64(d * d)
	}
	return squares * float64(n-1) / (shrinkage * shrinkage * float64(n))
}
