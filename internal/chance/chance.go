// Package chance says how far what a test estimates may be off by chance, so that a test with many comparisons fails by
// chance no more often than one with few, and lets such tests be repeated with other random numbers: by -tags long.
package chance

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// FalseAlarms is the probability that a test which is right fails with random numbers that nobody has tried. As its seeds
// are fixed, that can happen only when something else than what it tests changes which numbers are drawn.
const FalseAlarms = 1e-6

// Bound returns how many standard errors an estimate may be off the truth. A test makes a number of comparisons; the standard
// errors are estimated with a number of degrees of freedom, [Known] if they are not estimated. All of them together exceed
// it with a probability of at most [FalseAlarms], if the estimates are normal.
func Bound(comparisons int, freedom float64) float64 {
	each := FalseAlarms / float64(comparisons)
	return least(func(x float64) bool { return beyond(x, freedom) <= each })
}

// Known are the degrees of freedom of a standard error that is not estimated.
var Known = math.Inf(1)

// beyond is the probability that Student's t is off 0 by more than x.
func beyond(x, freedom float64) float64 {
	if math.IsInf(freedom, 1) {
		return math.Erfc(x / math.Sqrt2)
	}
	return mathext.RegIncBeta(freedom/2, 0.5, freedom/(freedom+x*x))
}

// ChiSquare returns how large a chi-square of a number of cells may be, among those that a test looks at.
func ChiSquare(tests, cells int) float64 {
	if cells == 0 {
		return 0
	}
	each := FalseAlarms / float64(tests)
	return least(func(x float64) bool { return mathext.GammaIncRegComp(float64(cells)/2, x/2) <= each })
}

// least finds the smallest number for which something holds, as it does for all larger ones.
func least(so func(float64) bool) float64 {
	low, high := 0.0, 1e6
	for range 200 {
		if middle := (low + high) / 2; so(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// fewEvents is how often an event must be expected for its frequency to be about normal, far from its mean too.
const fewEvents = 200

// RareVariance is what to add to the estimated variance of the mean of n numbers in [0, 1], which is expected to be p: of
// events that are rare, or rarely missing, so few come, or none, that the spread that they have does not show.
func RareVariance(p, n float64) float64 {
	if rare := min(p, 1-p); rare*n < fewEvents {
		return max(0, rare) / n
	}
	return 0
}

// stream is that of the repetition that runs.
var stream uint64

// Seed is a seed of its own for each repetition of a test, and the given one in the first.
func Seed(seed uint64) uint64 { return seed + stream<<32 }

// Repeat runs a test that takes its seeds from [Seed]; by -tags long, with other random numbers too.
func Repeat(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	test(t)
	defer func() { stream = 0 }()
	for stream = 1; stream <= more; stream++ {
		t.Run(fmt.Sprintf("stream=%d", stream), test)
	}
}
