package marginal

import (
	"math"
	"slices"

	"foible/core/inference/internal/kernel"
	"foible/core/sweep"
)

// result of marginal inference.
type result struct {
	// evidence is [step][goal][batch]: the probability of the actions so far, times
	// exp(-shift[step]).
	evidence [][][]float64
	shift    []float64
	samples  int
	// What follows from it, by step, once it is asked for; and room.
	posteriors []posterior
	scale      [][]int // [step][group of lanes x goal]: of evidence before it is brought to one
}

// posterior over goals at a step, and without each of the batches that leave any.
type posterior struct {
	known   bool
	none    bool // there is no posterior
	all     []float64
	without [][]float64 // [batch][goal]
	left    int         // so many rows of without are in use
}

// begin makes room for a result of so many batches, goals and steps.
func (r *result) begin(batches, goals, steps int) {
	if len(r.evidence) == 0 || len(r.evidence[0][0]) != batches {
		*r = result{shift: make([]float64, steps), evidence: make([][][]float64, steps), scale: make([][]int, steps), posteriors: make([]posterior, steps)}
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
func (r *result) align(batches, goals int) {
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
func (r *result) sum(step int) (sum float64) {
	for _, by := range r.evidence[step] {
		for _, e := range by {
			sum += e
		}
	}
	return sum
}

// ofR is the variance of the probabilities, on average, by that of r, over some ten
// stimuli: a rule of thumb from the published grids. A worker has one stimulus and so
// cannot know; the score of all says what the error of r came to.
const ofR = 25

// sure reports whether the standard errors at the judgement steps are as small as
// asked for: of every probability, and of all together so that r's is.
//
// The errors are of a few batches and so uncertain themselves. Where a sweep is so
// large that the samples must do as the probes have sized them, only clear cases
// count as unsure.
func (r *result) sure(judged []int, q *sweep.Procedure) bool {
	slack := 1.0
	if q.Detail == sweep.DetailJudged {
		slack = sweep.ClearlyUnsure * sweep.ClearlyUnsure
	}
	var squares, n float64
	for _, step := range judged {
		if step >= len(r.evidence) {
			break
		}
		_, without := r.posterior(step)
		for goal := range r.evidence[step] {
			v := jackknife(without, goal)
			if v > slack*q.PosteriorSE*q.PosteriorSE {
				return false
			}
			squares += v
			n++
		}
	}
	return n == 0 || squares/n <= slack*ofR*q.MCSE*q.MCSE
}

// posterior over goals at a step, and without each of the batches that leave any;
// nil if there is none. They are good as long as the result.
func (r *result) posterior(step int) (all []float64, without [][]float64) {
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
		one := p.without[p.left]
		for goal, by := range evidence {
			var sum float64
			for i, e := range by {
				if i != batch {
					sum += e
				}
			}
			one[goal] = sum
		}
		if normalize(one) {
			p.left++
		}
	}
	p.known, p.none = true, !normalize(p.all)
}

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

// jackknife is the variance of a goal's probability.
func jackknife(without [][]float64, goal int) float64 {
	return jackknifed(len(without), func(i int) float64 { return without[i][goal] })
}

// jackknifed is the variance of a statistic by its values without each one of n
// batches (Quenouille, Tukey), which are near their mean; 0 for fewer than two.
func jackknifed(n int, without func(i int) float64) float64 {
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
	return squares * float64(n-1) / (near * near * float64(n))
}
