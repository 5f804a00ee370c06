// Package schedule decides which sweep's job goes to which free slot. [Stride] shares the free slots among the sweeps that
// run, and [Demand] hands the jobs that were fetched for them to the workers whose slots are free.
package schedule

import "math"

// Stride shares slots among sweeps in proportion to their weights. It is stride scheduling (Waldspurger and Weihl, 1995):
// every sweep has a pass, each job that it is given moves its pass forward by its stride, 1 / weight, and the sweep with
// the smallest pass is next. A sweep that had nothing to do starts again where the others are, so that it saves up nothing.
//
// The zero value is ready for use. It is not safe for concurrent use.
type Stride struct {
	pass float64 // of the sweep that was served last, before it was served
}

// Share is the part of one sweep. Only its Stride changes it.
type Share struct {
	Weight float64 // above 0; the caller may change it between calls of Stride
	pass   float64
}

// Split says how many of the slots each sweep is to have. If two passes are equal, the first sweep is next.
func (s *Stride) Split(shares []*Share, slots int) []int {
	n, passes := make([]int, len(shares)), make([]float64, len(shares))
	for i, share := range shares {
		passes[i] = max(s.pass, share.pass)
	}
	for range slots {
		next := 0
		for i := range passes {
			if passes[i] < passes[next] {
				next = i
			}
		}
		n[next]++
		passes[next] += 1 / shares[next].Weight
	}
	return n
}

// Charge notes how many jobs each sweep was given. len(jobs) must be len(shares).
func (s *Stride) Charge(shares []*Share, jobs []int) {
	first := math.Inf(1)
	for i, share := range shares {
		if jobs[i] > 0 {
			begin := max(s.pass, share.pass)
			first = min(first, begin)
			share.pass = begin + float64(jobs[i])/share.Weight
		}
	}
	if !math.IsInf(first, 1) {
		s.pass = max(s.pass, first)
	}
}
